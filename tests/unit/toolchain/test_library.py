"""The native engine's library: built once, kept, and built again when what is kept is no good."""

import subprocess
import sys

import pytest

from bncc.errors import ToolchainError
from bncc.toolchain import library as module
from bncc.toolchain.library import native_library
from bncc.train.boosting.native import steps
from bncc.train.native.parts import DESCENT

pytestmark = pytest.mark.cc


@pytest.fixture
def cache(require_tool, monkeypatch, tmp_path):
    """Return an empty cache, and forget what this process has loaded."""
    require_tool("gcc")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    native_library.cache_clear()
    yield tmp_path / "bncc"
    native_library.cache_clear()


def test_it_is_built_once(cache, monkeypatch):
    native_library(DESCENT)
    kept = sorted(cache.iterdir())
    native_library.cache_clear()
    monkeypatch.setattr(module, "run", None)
    native_library(DESCENT)
    assert sorted(cache.iterdir()) == kept


@pytest.mark.parametrize("n_bytes", [100, 8000])
def test_what_is_cut_off_is_built_again(cache, n_bytes):
    """In processes of their own: one that has loaded a library never opens it again."""
    code = (
        "from bncc.toolchain.library import *; from bncc.train.native.parts import *; "
        "native_library(DESCENT)"
    )
    words = (sys.executable, "-c", code)
    subprocess.run(words, check=True)
    (kept,) = cache.glob("*.so")
    size = kept.stat().st_size
    kept.write_bytes(kept.read_bytes()[:n_bytes])
    subprocess.run(words, check=True)
    assert kept.stat().st_size == size


def test_other_flags_make_another_library(cache, monkeypatch):
    native_library(DESCENT)
    native_library.cache_clear()
    monkeypatch.setattr(module, "FLAGS", (*module.FLAGS, "-DOTHER"))
    native_library(DESCENT)
    assert len(list(cache.glob("*.so"))) == 2


def test_a_compiler_that_does_not_know_this_machine_serves_too(cache, monkeypatch):
    monkeypatch.setattr(module, "NATIVE", "-march=abacus")
    assert native_library(DESCENT)[1].bncc_tables_epoch


def test_a_compiler_that_fails_leaves_nothing(cache, monkeypatch):
    monkeypatch.setattr(module, "FLAGS", ("-std=none",))
    with pytest.raises(ToolchainError, match="failed"):
        native_library(DESCENT)
    assert list(cache.iterdir()) == []


def test_other_parts_make_a_library_of_their_own(require_tool):
    require_tool("gcc")
    assert native_library(steps.PARTS)[1].bncc_best_cut
    assert not hasattr(native_library(steps.PARTS)[1], "bncc_tables_epoch")
    assert native_library(steps.PARTS)[0] is native_library(steps.PARTS)[0]
