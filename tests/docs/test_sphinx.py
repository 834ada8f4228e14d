"""The documentation builds without a warning, is complete, and makes no network request."""

import json
import os
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import click
import pytest
from sphinx.search.en import SearchEnglish

from bncc.cli.main import COMMANDS, main
from tests.docs.blocks import ROOT
from tests.test_architecture import MACHINE_PATH

DOCS = ROOT / "docs"
SOURCES = sorted(
    path
    for path in DOCS.rglob("*")
    if path.suffix in {".md", ".rst", ".py"} and "_build" not in path.parts
)
DATE = re.compile(r"\b20\d\d-[01]\d-[0-3]\d\b")


class Fetched(HTMLParser):
    """Collector of the resources that a browser loads when it opens a page."""

    def __init__(self) -> None:
        super().__init__()
        self.addresses: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        named = dict(attrs)
        if tag in {"script", "img", "iframe", "source"}:
            self.addresses.append(named.get("src") or "")
        if tag == "link":
            self.addresses.append(named.get("href") or "")


def sphinx(source: Path, output: Path) -> subprocess.CompletedProcess[str]:
    """Build as `make docs` does."""
    options = ["-W", "--keep-going", "-q", "-b", "html"]
    return subprocess.run(
        [sys.executable, "-m", "sphinx", *options, str(source), str(output)],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture(scope="module")
def html(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the built pages. A page in no table of contents, or a dead reference, is a warning."""
    output = tmp_path_factory.mktemp("html")
    done = sphinx(DOCS, output)
    assert done.returncode == 0, done.stderr
    return output


def test_all_pages_are_there(html: Path) -> None:
    for path in SOURCES:
        if path.suffix != ".py":
            assert (html / path.relative_to(DOCS)).with_suffix(".html").is_file(), path


@pytest.mark.parametrize(
    "phrase",
    [
        "gradient boosting",
        "look-up table",
        "latency",
        "imputation",
        "regularization",
        "cross-validation",
        "ensemble",
        "marginalization",
        "SWAR packed lanes",
        "quantization-aware training",
        "footprint",
    ],
)
def test_a_search_finds_the_terms_of_the_field(phrase: str, html: Path) -> None:
    """One page at least has all words of the phrase, as the site's search sees them."""
    text = (html / "searchindex.js").read_text("utf-8")
    index = json.loads(text.removeprefix("Search.setIndex(").removesuffix(")"))
    language = SearchEnglish({})
    words = [word for word in re.findall(r"\w+", phrase.lower()) if language.word_filter(word)]
    found = [_pages_with(index, language.stem(word)) for word in words]
    assert set.intersection(*found), phrase


def _pages_with(index: dict[str, dict[str, int | list[int]]], stem: str) -> set[int]:
    pages = (index[part].get(stem, []) for part in ("terms", "titleterms"))
    return {number for each in pages for number in ([each] if isinstance(each, int) else each)}


def test_nothing_is_fetched_from_elsewhere(html: Path) -> None:
    """Neither scripts nor fonts nor pictures: the pages are read without a network."""
    for page in html.rglob("*.html"):
        fetched = Fetched()
        fetched.feed(page.read_text("utf-8"))
        assert fetched.addresses
        assert not [a for a in fetched.addresses if re.match(r"(https?:)?//", a)], page
    for style in html.rglob("*.css"):
        assert not re.search(r"(@import|url\()\s*['\"]?(https?:)?//", style.read_text("utf-8"))


def test_every_option_is_in_the_reference(html: Path) -> None:
    """All commands, all options, by their own help."""
    page = (html / "reference" / "cli.html").read_text("utf-8")
    for name in COMMANDS:
        command = main.get_command(click.Context(main), name)
        assert command is not None
        shown = (p for p in command.params if isinstance(p, click.Option) and not p.hidden)
        for option in (option for param in shown for option in param.opts):
            anchor = f'id="cmdoption-bncc-{name}-{option.lstrip("-")}"'
            assert anchor in page, f"bncc {name} {option}"


def test_light_and_dark_are_offered(html: Path) -> None:
    assert 'class="theme-toggle"' in (html / "index.html").read_text("utf-8")


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.relative_to(DOCS).as_posix())
def test_sources_name_no_machine_and_no_day(path: Path) -> None:
    """The same sources on any day and any machine."""
    text = path.read_text("utf-8")
    assert not MACHINE_PATH.search(text)
    assert not DATE.search(text)


def test_a_broken_page_is_noticed(tmp_path: Path) -> None:
    """An orphan and a dead link make the build fail."""
    (tmp_path / "conf.py").write_text("extensions = ['myst_parser']\nmaster_doc = 'index'\n")
    (tmp_path / "index.md").write_text("# Start\n")
    (tmp_path / "page.md").write_text("# A page\n\n[nowhere](none.md)\n")
    done = sphinx(tmp_path, tmp_path / "html")
    assert done.returncode != 0
    assert "isn't included in any toctree" in done.stderr
    assert "cross-reference target not found" in done.stderr
