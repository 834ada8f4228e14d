"""Paths in documents for developers exist, and so does the line of the compiler."""

import re

import pytest

from tests.docs.blocks import ROOT, blocks

PAGES = ("docs/DESIGN.md", "CONTRIBUTING.md")
HOMES = (ROOT, ROOT / "bncc", ROOT / "templates", ROOT / "docs")
NOT_THERE = frozenset({"docs/_build/html/index.html", "../shared/data"})
"""Paths that are built, or outside the repository."""
WRITTEN = re.compile(r"(?m)^<!-- file: (\S+) -->$")
PATH = re.compile(r"(?:[\w.-]+/)+(?:[\w.-]+)?|[\w-]+\.py")


def named(text: str) -> set[str]:
    """Return the paths in the inline code of a page, except those with a placeholder."""
    prose = re.sub(r"(?ms)^```.*?^```", "", text)
    quoted = re.findall(r"`([^`\n]+)`", prose)
    return {each for each in quoted if PATH.fullmatch(each)} - NOT_THERE - {*WRITTEN.findall(text)}


def exists(path: str) -> bool:
    """Return whether a path exists; a bare file name may be that of any module."""
    if "/" not in path:
        return any((ROOT / "bncc").rglob(path))
    return any(
        (home / path).is_dir() if path.endswith("/") else (home / path).exists() for home in HOMES
    )


@pytest.mark.parametrize("page", PAGES)
def test_every_path_that_a_page_names_exists(page: str) -> None:
    paths = named((ROOT / page).read_text("utf-8"))
    assert len(paths) > 10
    assert sorted(path for path in paths if not exists(path)) == []


def test_paths_are_told_from_other_code() -> None:
    text = "`lower/` `a/b.py` `c.py` `--x` `x/<name>.py` `a / b`\n```text\n`d.py`\n```\n"
    text += "<!-- file: e.py -->\n`e.py`\n"
    assert named(text) == {"lower/", "a/b.py", "c.py"}
    assert not exists("compiler/")
    assert exists("lower/")
    assert exists("layout.py")
    assert not exists("lower/none.py")


def test_the_line_of_the_design_is_in_the_emitter() -> None:
    block = next(
        each for each in blocks(ROOT / "docs/DESIGN.md")
        if each.marks.get("checked by") == "tests/docs/test_paths.py"
    )  # fmt: skip
    assert block.text.strip() in (ROOT / "bncc/emit/emitter.py").read_text("utf-8")


def test_the_list_of_benchmarks_has_every_script_once():
    """Each script that runs by itself has one row, and each row a script."""
    scripts = [
        path.name
        for path in (ROOT / "benchmarks").rglob("*.py")
        if 'if __name__ == "__main__"' in path.read_text("utf-8")
    ]
    listed = re.findall(
        r"(?m)^\| `([\w-]+\.py)`", (ROOT / "benchmarks/README.md").read_text("utf-8")
    )
    assert sorted(listed) == sorted(scripts)
