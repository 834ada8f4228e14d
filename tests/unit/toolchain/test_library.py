"""The native engine's library: built once, cached, and built again if the cache is invalid."""

import os
import stat
import subprocess
import sys
from hashlib import sha256

import pytest

from bncc.errors import ToolchainError
from bncc.native import BOOSTING, DESCENT
from bncc.toolchain import library as module
from bncc.toolchain.library import native_library

pytestmark = pytest.mark.cc


@pytest.fixture
def cache(require_tool, monkeypatch, tmp_path):
    """Return an empty cache, and forget what this process has loaded."""
    require_tool("gcc")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    native_library.cache_clear()
    yield tmp_path / "bncc-engines"
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
        "from bncc.toolchain.library import *; from bncc.native import *; native_library(DESCENT)"
    )
    words = (sys.executable, "-c", code)
    subprocess.run(words, check=True)
    (kept,) = cache.glob("*.so")
    size = kept.stat().st_size
    kept.write_bytes(kept.read_bytes()[:n_bytes])
    subprocess.run(words, check=True)
    assert kept.stat().st_size == size


LOAD = (
    "import os; os.umask({umask}); "
    "from bncc.toolchain import library; from bncc.native import *; "
    "library.FLAGS, library.NATIVE = (*library.FLAGS, '-O0'), '-O0'; "
    "library.native_library(DESCENT)"
)
PLANTED = """
#include <stdio.h>
__attribute__((constructor)) static void planted(void) { puts("planted code ran"); }
"""


def plant(cache):
    """Put another library in the place of the one that was built, with its digest."""
    said_when_loaded()
    (kept,) = cache.glob("*.so")
    kept.unlink()
    (cache / "p.c").write_text(PLANTED)
    subprocess.run(("gcc", "-shared", "-fPIC", "p.c", "-o", kept.name), cwd=cache, check=True)
    (cache / "p.c").unlink()
    kept.with_suffix(".sha256").write_text(sha256(kept.read_bytes()).hexdigest())
    return kept


def said_when_loaded(umask=0o22):
    command = (sys.executable, "-c", LOAD.format(umask=umask))
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def others_can_write_the_folder(cache, kept):
    cache.chmod(0o777)


def others_can_write_the_file(cache, kept):
    kept.chmod(0o666)


def the_folder_is_a_link(cache, kept):
    cache.rename(cache.with_name("elsewhere"))
    cache.symlink_to("elsewhere")


def others_can_replace_the_folder(cache, kept):
    cache.parent.chmod(0o777)


def the_folder_is_of_another_user(cache, kept):
    os.chown(cache, 12345, 12345)


def the_file_is_of_another_user(cache, kept):
    os.chown(kept, 12345, 12345)


@pytest.mark.parametrize(
    "exposed",
    [
        others_can_write_the_folder, others_can_write_the_file, the_folder_is_a_link,
        others_can_replace_the_folder, the_folder_is_of_another_user, the_file_is_of_another_user,
    ],
)  # fmt: skip
def test_what_others_could_have_planted_is_not_loaded(cache, exposed):
    if "another_user" in exposed.__name__ and os.geteuid() != 0:
        pytest.skip("root alone gives files away")
    kept = plant(cache)
    assert said_when_loaded() == "planted code ran\n"  # so the test can see it
    exposed(cache, kept)
    assert said_when_loaded() == ""


def test_everything_is_private_whatever_the_umask(cache):
    said_when_loaded(umask=0)
    modes = {stat.S_IMODE(path.stat().st_mode) for path in (cache, *cache.iterdir())}
    assert modes <= {0o700, 0o600}


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
    assert native_library(BOOSTING)[1].bncc_best_cut
    assert not hasattr(native_library(BOOSTING)[1], "bncc_tables_epoch")
    assert native_library(BOOSTING)[0] is native_library(BOOSTING)[0]
