"""Fixtures of the tests in Chromium: the browser of this machine, and pages of studies."""

import shutil
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NoReturn

import pytest

from bncc.report.page import page_html
from bncc.report.sheets import sheets_of
from bncc.search.trial_result import Study
from tests import studies

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
QUIET = (
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
)  # fmt: skip


@dataclass
class Opened:
    """A page in the browser, with its console messages and requests."""

    page: Any
    complaints: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)

    def shown(self) -> int:
        """Return the number of trials that pass the filters, once the page is idle."""
        self.settle()
        return int(self.page.locator("#status").inner_text().split(" of ")[0].replace(",", ""))

    def reload(self) -> None:
        """Reload the page, and wait until it is idle."""
        self.page.reload()
        self.page.wait_for_selector("html[data-ready=true]")
        self.requests.remove(self.page.url)

    def settle(self) -> None:
        """Wait until the result of the last action is drawn."""
        self.page.evaluate(
            "() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"
        )
        self.page.wait_for_selector("html[data-ready=true]")

    def drawn(self, plot: int) -> int:
        """Return the number of marks in a plot."""
        self.settle()
        count: int = self.page.evaluate(
            """(k) => ["cloud_marks", "sure_marks", "unsure_marks"].reduce((sum, name) =>
                 sum + (window.bnccReport.marks(k, name)), 0)""",
            plot,
        )
        return count


Open = Callable[..., Opened]


@pytest.fixture(scope="session")
def browser(missing: Callable[[str], NoReturn]) -> Iterator[Any]:
    """Return the Chromium of this machine, without a window."""
    path = next((found for name in NAMES if (found := shutil.which(name))), None)
    if path is None:
        missing("chromium is not installed")
    sync_api = pytest.importorskip("playwright.sync_api")
    with sync_api.sync_playwright() as play:
        chromium = play.chromium.launch(executable_path=path, args=list(QUIET))
        yield chromium
        chromium.close()


@pytest.fixture
def open_page(browser: Any, tmp_path: Path) -> Iterator[Open]:
    """
    Return ``open_page(studies, **context)``: their page, opened from a file, idle.

    The console must have no error, and the page itself must be the only request.
    """
    opened: list[Opened] = []

    def load(
        some: Sequence[Study] = (), *, target: str | None = None, wait: bool = True, **context: Any
    ) -> Opened:
        file = tmp_path / f"report-{len(opened)}.html"
        file.write_text(page_html(sheets_of(some or [STUDY], target), "Which one?"), "utf-8")
        sized = {"viewport": {"width": 1280, "height": 900}, **context}
        found = Opened(browser.new_context(**sized).new_page())
        opened.append(found)
        found.page.set_default_timeout(20_000)
        found.page.on("pageerror", lambda error: found.complaints.append(str(error)))
        found.page.on(
            "console",
            lambda said: found.complaints.append(said.text) if said.type == "error" else None,
        )
        found.page.on("request", lambda request: found.requests.append(request.url))
        found.page.goto(file.as_uri())
        if wait:
            found.page.wait_for_selector("html[data-ready=true]")
        return found

    yield load
    for k, found in enumerate(opened):
        found.page.context.close()
        assert not found.complaints
        addresses = [url for url in found.requests if not url.startswith(("data:", "blob:"))]
        assert addresses == [(tmp_path / f"report-{k}.html").as_uri()]


STUDY = studies.study(160)
