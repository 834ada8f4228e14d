"""The examples in docstrings, which the Python reference shows, run."""

import doctest
from importlib import import_module
from pathlib import Path

from tests.docs.blocks import ROOT


def modules() -> list[str]:
    """Return the modules with examples in docstrings."""
    sources = sorted((ROOT / "bncc").rglob("*.py"))
    with_examples = [path for path in sources if ">>> " in path.read_text("utf-8")]
    return [module_of(path) for path in with_examples]


def module_of(path: Path) -> str:
    """Return the module name of a source file."""
    return ".".join(path.relative_to(ROOT).with_suffix("").parts)


def test_examples_in_docstrings_run() -> None:
    """At least one per module; doctest prints the one that fails."""
    results = {name: doctest.testmod(import_module(name)) for name in modules()}
    assert results
    assert [name for name, found in results.items() if found.failed] == []
    assert [name for name, found in results.items() if not found.attempted] == []
