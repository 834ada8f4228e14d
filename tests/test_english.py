"""The text of the project follows its style: words, headlines, spelling."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.english import files, findings, in_lines, in_markdown, in_python

ROOT = Path(__file__).resolve().parent.parent


def test_no_text_has_a_pattern_to_avoid() -> None:
    """README, documentation, messages, docstrings, comments and emitted C."""
    lines = [f"{f.path}:{f.line}: {f.kind} {f.text!r}: {f.instead}" for f in findings()]
    assert not lines, "\n".join(lines)


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
