"""
The pictures of `docs/recipes/`, which the commands of its pages draw.

    python -m benchmarks.accuracy.recipe_pictures

It runs each page's command as the tests of the documentation do; half a minute.
"""

import shutil
from pathlib import Path
from tempfile import TemporaryDirectory

import click

from tests.docs.blocks import ROOT, blocks
from tests.docs.session import Session

FOLDER = ROOT / "docs" / "recipes"
INDEX = FOLDER / "README.md"


def recipes() -> list[Path]:
    """Return the pages of all recipes."""
    return sorted(path for path in FOLDER.glob("*.md") if path != INDEX)


def draw(page: Path, folder: Path) -> Path:
    """Run a recipe in an empty folder, and return the picture that its command draws."""
    session = Session(folder)
    try:
        for block in blocks(page):
            session.do(block)
    finally:
        session.close()
    return folder / f"{page.stem}.svg"


@click.command()
def main() -> None:
    """Draw the picture of each recipe next to its page."""
    for page in recipes():
        with TemporaryDirectory(prefix="bncc-") as folder:
            shutil.copy(draw(page, Path(folder)), page.with_suffix(".svg"))
        click.echo(f"{page.stem}.svg: {page.with_suffix('.svg').stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
