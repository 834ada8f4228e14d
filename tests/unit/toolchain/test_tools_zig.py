"""The ziglang wheel on machines of all kinds: missing or read-only home folders."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from bncc.errors import ToolchainError
from bncc.toolchain import tools as zig
from bncc.toolchain.tools import require, run, zig_environment

VARIABLES = ("ZIG_GLOBAL_CACHE_DIR", "ZIG_LOCAL_CACHE_DIR", "XDG_CACHE_HOME")
FLAGS = ("-target", "thumb-freestanding-eabi", "-mcpu=cortex_m0", "-c", "f.c", "-o", "f.o")


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return an empty home that a test may damage."""
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)
    folder = tmp_path / "home"
    folder.mkdir()
    monkeypatch.setenv("HOME", str(folder))
    return folder


@pytest.fixture
def ziglang(missing: Callable[[str], None]) -> tuple[str, ...]:
    """Return the command that compiles."""
    try:
        return require("ziglang").command
    except ToolchainError as error:
        missing(str(error))
        raise


def test_the_cache_is_the_users(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The default cache of zig, so that objects of other projects are reused."""
    assert zig_environment()["ZIG_GLOBAL_CACHE_DIR"] == str(home / ".cache" / "bncc-zig")
    monkeypatch.setenv("XDG_CACHE_HOME", str(home / "cached"))
    assert zig_environment()["ZIG_GLOBAL_CACHE_DIR"] == str(home / "cached" / "bncc-zig")


def test_what_the_user_chose_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    """Either folder."""
    for name in VARIABLES[:2]:
        monkeypatch.setenv(name, f"/chosen/{name}")
    assert zig_environment() == {name: f"/chosen/{name}" for name in VARIABLES[:2]}


def test_a_home_that_cannot_hold_a_cache_is_replaced(home: Path) -> None:
    """By one folder for all builds of this process, which only this user can write."""
    (home / ".cache").write_text("a file is in the way")
    folder = Path(zig_environment()["ZIG_GLOBAL_CACHE_DIR"])
    assert folder.is_dir()
    assert folder.stat().st_mode & 0o777 == 0o700
    assert zig_environment()["ZIG_GLOBAL_CACHE_DIR"] == str(folder)


def test_a_cache_of_another_user_is_replaced(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As after a first run with sudo, or on a read-only disk; root may write where it likes."""
    (home / ".cache" / "bncc-zig").mkdir(parents=True)
    monkeypatch.setattr(zig.os, "access", lambda folder, how: False)
    assert not zig_environment()["ZIG_GLOBAL_CACHE_DIR"].startswith(str(home))


def test_a_user_without_a_home_has_a_cache(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`Path.home` raises for a user number that no one entered."""

    def unknown() -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr(Path, "home", unknown)
    assert Path(zig_environment()["ZIG_GLOBAL_CACHE_DIR"]).is_dir()


def test_the_replacement_goes_with_the_process(home: Path) -> None:
    """Nothing is left in the folder for temporary files."""
    (home / ".cache").write_text("a file is in the way")
    program = (
        "from bncc.toolchain.tools import zig_environment as e; print(e()['ZIG_GLOBAL_CACHE_DIR'])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert not done.returncode, done.stderr
    assert not Path(done.stdout.strip()).exists()


def test_it_compiles_where_home_is_a_file(
    home: Path, tmp_path: Path, ziglang: tuple[str, ...]
) -> None:
    """Without help zig fails: `unable to open global cache directory`."""
    home.rmdir()
    home.write_text("no folder")
    (tmp_path / "f.c").write_text("int f(int x);\nint f(int x) { return x + 1; }\n")
    run((*ziglang, *FLAGS), tmp_path)
    assert (tmp_path / "f.o").stat().st_size > 0


def test_models_leave_nothing_in_the_cache(
    home: Path, tmp_path: Path, ziglang: tuple[str, ...]
) -> None:
    """Objects of a model stay in the folder of the build; the cache is for what all share."""
    (tmp_path / "f.c").write_text("int f(int x);\nint f(int x) { return x + 1; }\n")
    run((*ziglang, *FLAGS), tmp_path)
    assert list((tmp_path / ".zig-cache").rglob("f.o"))
    assert not list(home.rglob("f.o"))
