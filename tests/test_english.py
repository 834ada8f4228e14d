"""The text of the project follows its style: words, headlines, spelling."""

import subprocess
import sys
from collections import Counter
from functools import cache
from pathlib import Path

import pytest

from tests.english import Finding, area_of, files, findings, in_lines, in_markdown, in_python

ROOT = Path(__file__).resolve().parent.parent
STRICT = ("README", "docs", "templates", "bncc/cli", "bncc/emit", "build")
MOST = 5
"""Findings that a package outside of `STRICT` may have, each with its reason."""

# Path and phrase, with the reason.
REASONS: dict[tuple[str, str], str] = {}


@cache
def found() -> tuple[Finding, ...]:
    """Return every finding of the tree."""
    return tuple(findings())


def shown(some: list[Finding]) -> str:
    """Return findings as lines that an editor can follow."""
    return "\n".join(f"{f.path}:{f.line}: {f.kind} {f.text!r}: {f.instead}" for f in some)


def test_text_that_users_read_has_no_pattern_to_avoid() -> None:
    """README, documentation, command line, messages and emitted C."""
    some = [f for f in found() if area_of(f.path) in STRICT or f.kind == "message"]
    assert not some, shown(some)


def test_other_packages_have_few_and_each_has_a_reason() -> None:
    """Every finding is listed with its reason, at most five per package."""
    some = [f for f in found() if (f.path, f.text) not in REASONS]
    assert not some, shown(some)
    counts = Counter(area_of(f.path) for f in found())
    assert max(counts.values(), default=0) <= MOST
    assert {(f.path, f.text) for f in found()} == set(REASONS), "a reason without a finding"


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        ("# What it costs\n", ["clause"]),
        ("Rows lie in flash. Of two rows the first is taken.\n", ["word", "sentence"]),
        ("```\nWhether this errs\n```\nThe forest errs.\n", ["word"]),
        ("A line\nthat goes over the edge `mend`.\n", []),
    ],
)
def test_patterns_in_markdown(text: str, kinds: list[str]) -> None:
    """Prose counts, code does not."""
    assert [f.kind for f in in_markdown("page.md", text)] == kinds


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        ('"""What a module holds."""\n', ["clause"]),
        ('x = 1\n"""How often."""\n', ["clause"]),
        ("x = 1  # Whether it is mended\n", ["word", "sentence"]),
        ('def f():\n    """Return a table.\n\n    Of two, the first.\n    """\n', ["sentence"]),
        ('raise ValueError(f"mend the cell of {row}")\n', ["message"]),
        ('name = "beside"\n', []),
    ],
)
def test_patterns_in_python(text: str, kinds: list[str]) -> None:
    """Docstrings, comments and messages count, names do not."""
    assert [f.kind for f in in_python("module.py", text, with_messages=True)] == kinds


def test_patterns_in_templates() -> None:
    """Comments and text of emitted C count."""
    found = in_lines("model.c.j2", "/* Whether a row\n * lies in flash */\nint x;\n")
    assert [(f.line, f.kind) for f in found] == [(2, "word"), (1, "sentence")]


def test_spelling() -> None:
    """Codespell knows every word; its exceptions are in pyproject.toml."""
    _passes("-m", "codespell_lib", *files())


def test_style_of_pages() -> None:
    """Proselint has nothing against any page; its configuration is tests/proselint.json."""
    pages = [str(path) for path in ROOT.glob("*.md")]
    pages += [str(path) for path in (ROOT / "docs").rglob("*.md") if "_build" not in path.parts]
    _passes("-m", "proselint", "check", "--config", str(ROOT / "tests" / "proselint.json"), *pages)


def _passes(*words: str) -> None:
    done = subprocess.run(
        [sys.executable, *words], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
