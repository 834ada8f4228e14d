"""
Take the picture of the README and docs/report.md: the top of the demo's report.

    bncc demo -o demo && python -m benchmarks.accuracy.report_picture demo/report.html

Opens the page in the system's Chromium, which playwright of the test requirements drives.
"""

import shutil
from pathlib import Path

import click

PICTURE = Path(__file__).resolve().parents[2] / "docs" / "report.png"
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
WIDTH, HEIGHT = 1100, 1350
"""Pixels: recommendations and plots, without the tables below them."""


@click.command()
@click.argument("report", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("-o", "--output", type=click.Path(dir_okay=False, path_type=Path), default=PICTURE)
def main(report: Path, output: Path) -> None:
    """Take a picture of the top of REPORT, as `bncc report` or `bncc demo` wrote it."""
    from playwright.sync_api import sync_playwright

    browser = next((path for name in BROWSERS if (path := shutil.which(name))), None)
    if browser is None:
        raise click.ClickException(f"needs one of the browsers {', '.join(BROWSERS)}")
    with sync_playwright() as play:
        opened = play.chromium.launch(executable_path=browser, args=["--no-sandbox"])
        page = opened.new_page(viewport={"width": WIDTH, "height": HEIGHT})
        page.goto(report.resolve().as_uri())
        page.wait_for_selector("html[data-ready=true]")
        page.screenshot(path=output)
        opened.close()


if __name__ == "__main__":
    main()
