"""Tools on this computer: compilers, simulators, and folders of build products."""

import atexit
import os
import platform
import re
import shutil
import stat
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Literal

from bncc.errors import MeasurementError, ToolchainError
from bncc.targets import TARGETS


def cache_folder(name: str) -> Path:
    """
    Return a folder in the user's cache, or a temporary one where that is not safe or writable.

    Its contents are loaded as code, so only the user may own it and write to it.
    """
    try:
        cached = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
        folder = Path(cached).absolute() / name
        folder.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        folder.mkdir(exist_ok=True, mode=0o700)
        is_usable = is_ours(folder) and os.access(folder, os.W_OK | os.X_OK)
    except (OSError, RuntimeError):  # the latter for a user without a home directory
        return _temporary(name)
    return folder if is_usable and not _is_replaceable(folder) else _temporary(name)


def is_ours(path: Path) -> bool:
    """Return whether a file or folder belongs to the user, and nobody else can write it."""
    about = path.lstat()
    if stat.S_ISLNK(about.st_mode):
        return False
    if not hasattr(os, "geteuid"):  # Windows, where permissions are not mode bits
        return True
    return about.st_uid == os.geteuid() and not about.st_mode & (stat.S_IWGRP | stat.S_IWOTH)


def _is_replaceable(folder: Path) -> bool:
    """Return whether another user can rename a folder and replace it."""
    about = folder.parent.stat()
    is_shared = about.st_mode & stat.S_IWOTH and not about.st_mode & stat.S_ISVTX
    return bool(is_shared) and hasattr(os, "geteuid")


@cache
def _temporary(name: str) -> Path:
    """Return a folder that exists as long as this process, shared by all its builds."""
    folder = TemporaryDirectory(prefix=f"bncc-{name}-")
    atexit.register(folder.cleanup)
    return Path(folder.name)


def zig_environment() -> Mapping[str, str]:
    """
    Return additional environment variables for zig.

    zig builds a runtime library for each target, which takes seconds, and keeps it in the user's
    cache; it fails if that is not writable. Its build products for a model would stay there
    forever, so they go into the temporary working folder instead.
    """
    chosen = os.environ.get
    return {
        "ZIG_GLOBAL_CACHE_DIR": chosen("ZIG_GLOBAL_CACHE_DIR") or str(cache_folder("bncc-zig")),
        "ZIG_LOCAL_CACHE_DIR": chosen("ZIG_LOCAL_CACHE_DIR") or ".zig-cache",
    }


STRICT_FLAGS = (
    "-pedantic",
    "-Wall",
    "-Wextra",
    "-Wconversion",
    "-Wsign-conversion",
    "-Wshadow",
    "-Wcast-qual",
    "-Wundef",
    "-Wdate-time",
    "-Werror",
    "-ffreestanding",
)
"""Flags under which all C that bncc emits compiles without a warning, as C and as C++."""

STRICT_C_FLAGS = ("-Wstrict-prototypes", "-Wmissing-prototypes")
"""Further strict flags that apply to C only."""

SANITIZERS = ("-fsanitize=address,undefined", "-fno-sanitize-recover=all")

Role = Literal["compiler", "simulator"]


@dataclass(frozen=True)
class Tool:
    """A compiler or simulator that bncc can use, installed or not."""

    name: str  # The command, or the Python package for ``ziglang`` and ``unicorn``
    path: str | None  # Location; None when it is not installed
    version: str | None  # Version; None when it is not installed or reports none
    serves: tuple[str, ...]  # Targets (``--target``) that it builds for or runs
    install_hint: str  # Command that installs it
    role: Role = "compiler"  # Its function for those targets

    @property
    def is_installed(self) -> bool:
        """True if the tool is installed."""
        return self.path is not None

    @property
    def command(self) -> tuple[str, ...]:
        """Command line that starts it; ``zig cc`` is the compiler of the ziglang wheel."""
        if self.path is None:
            raise ToolchainError(f"{self.name} is not installed; run `{self.install_hint}`")
        return (self.path, "cc") if self.name == "ziglang" else (self.path,)

    def __str__(self) -> str:
        return " ".join(word for word in (self.name, self.version) if word)


_COMMANDS: tuple[tuple[str, Role, str], ...] = (
    ("gcc", "compiler", "apt install gcc"),
    ("clang", "compiler", "apt install clang"),
    ("avr-gcc", "compiler", "apt install gcc-avr avr-libc"),
    ("arm-none-eabi-gcc", "compiler", "apt install gcc-arm-none-eabi"),
    ("riscv64-unknown-elf-gcc", "compiler", "apt install gcc-riscv64-unknown-elf"),
    ("mips-linux-gnu-gcc", "compiler", "apt install gcc-mips-linux-gnu"),
    ("qemu-system-arm", "simulator", "apt install qemu-system-arm"),
    ("qemu-system-riscv32", "simulator", "apt install qemu-system-misc"),
)
_WHEELS: tuple[tuple[str, Role, str], ...] = (
    ("ziglang", "compiler", "pip install ziglang"),
    ("unicorn", "simulator", "pip install unicorn"),
)
_FOR_HOST = ("gcc", "clang", "ziglang")
"""Compilers that build for this computer."""


def _served(tool: str) -> tuple[str, ...]:
    """Return the machines that a tool builds for or runs, this one first."""
    host = ("host",) if tool in _FOR_HOST else ()
    return host + tuple(target.name for target in TARGETS.values() if tool in target.tools)


def is_x86() -> bool:
    """Return whether this computer runs code for the target ``x86``."""
    return platform.machine().lower() in ("x86_64", "amd64")


def find_tools() -> tuple[Tool, ...]:
    """Find every command and wheel that bncc supports; simavr's library has its own module."""
    # On other processors a command called gcc builds for that processor only.
    foreign = () if is_x86() else ("x86",)
    commands = tuple(
        Tool(name, path, _version(path), served, hint, role)
        for name, role, hint in _COMMANDS
        for path in (shutil.which(name),)
        for served in (tuple(each for each in _served(name) if each not in foreign),)
    )
    wheels = tuple(_wheel(name, role, _served(name), hint) for name, role, hint in _WHEELS)
    chosen = os.environ.get("CC", "").strip()
    preferred = tuple(tool for tool in commands if tool.name == chosen)
    if chosen and not preferred:
        preferred = (_named(chosen),)
    return preferred + tuple(tool for tool in commands if tool not in preferred) + wheels


def host_compilers(choice: str | None = None) -> tuple[Tool, ...]:
    """Return the compilers to use for this computer."""
    if choice not in (None, "all"):
        foreign = [t for t in find_tools() if t.name == choice and "host" not in t.serves]
        if foreign:
            raise ToolchainError(f"'{choice}' does not build for host; use gcc, clang or ziglang")
        tool = _named(choice)
        if not tool.is_installed:
            raise ToolchainError(
                f"compiler '{choice}' is not installed; run `{tool.install_hint}`, or choose "
                "another with --compiler"
            )
        return (tool,)
    found = [tool for tool in find_tools() if tool.is_installed and tool.role == "compiler"]
    found = [tool for tool in found if "host" in tool.serves]
    if not found and _named("cc").is_installed:
        found = [_named("cc")]
    if not found:
        raise ToolchainError(
            "no C compiler is installed on this computer; run `apt install gcc` or `pip install "
            "ziglang`, or name one with --compiler"
        )
    return tuple(found) if choice == "all" else (found[0],)


def require(name: str) -> Tool:
    """Return a tool that is installed."""
    for tool in find_tools():
        if tool.name == name:
            if not tool.is_installed:
                raise ToolchainError(f"{name} is not installed; run `{tool.install_hint}`")
            if (name, "simulator") in ((wheel, role) for wheel, role, _ in _WHEELS):
                _load(name)  # Other wheels are run as commands
            return tool
    raise ToolchainError(f"unknown tool '{name}'; `bncc targets` lists the known ones")


def _load(wheel: str) -> None:
    """Verify that a wheel can be imported, whose library may be of another machine."""
    try:
        import_module(wheel)
    except Exception as error:  # of any type: it is the wheel's own code
        raise ToolchainError(
            f"{wheel} cannot be loaded ({error}); run `pip install --force-reinstall {wheel}`"
        ) from None


def run(command: Sequence[str], folder: Path, *, timeout: float = 300.0) -> str:
    """Run a compiler or another build tool in a folder; Ctrl-C of a terminal does not reach it."""
    name = Path(command[0]).name
    own = zig_environment() if name == "zig" else {}
    try:
        done = subprocess.run(
            command, cwd=folder, capture_output=True, text=True, errors="replace", timeout=timeout,
            env={**os.environ, "LC_ALL": "C", **own}, check=False, start_new_session=True,
        )  # fmt: skip
    except OSError as error:
        raise ToolchainError(f"{name} cannot be started: {error.strerror}; reinstall it") from None
    except subprocess.TimeoutExpired:
        raise MeasurementError(
            f"{name} did not finish within {timeout:.0f} s; use a smaller model or a lower "
            "optimization level"
        ) from None
    if done.returncode != 0:
        raise MeasurementError(
            f"{name} failed: {_first_error(done.stderr, folder)}; try another compiler, and "
            "report it if the code is bncc's"
        )
    return done.stdout


def _first_error(stderr: str, folder: Path) -> str:
    lines = [line.strip() for line in stderr.splitlines() if line.strip()]
    telling_words = r"\berror\b|undefined reference|cannot find|overflowed by"
    lines = [line for line in lines if not line.startswith("collect2:")]  # ld is clearer
    telling = [line for line in lines if re.search(telling_words, line)]
    line = (telling or lines or ["no message"])[0]
    line = line.replace(f"{folder.resolve()}/", "").replace(f"{folder}/", "")
    return re.sub(r"(?<![\w.])/(?:[\w.+-]+/)+(?=[\w.+-])", "", line).rstrip(".;")


def _named(command: str) -> Tool:
    known = {name: hint for name, _, hint in _COMMANDS + _WHEELS}
    name = Path(command).name
    if name == "ziglang":
        return _wheel(name, "compiler", ("host",), known[name])
    path = shutil.which(command)
    return Tool(name, path, _version(path), ("host",), known.get(name, "bncc targets"))


@cache  # every run of a simulator looks up its tool
def _version(path: str | None) -> str | None:
    """Return the version a command reports."""
    if path is None:
        return None
    try:
        done = subprocess.run(
            (path, "--version"), capture_output=True, text=True, errors="replace", timeout=20,
            check=False,
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired):
        return None
    # The Debian package number in parentheses comes first, followed by the actual version.
    line = re.sub(r"\([^)]*\)", "", (done.stdout.splitlines() or [""])[0])
    found = re.search(r"\d+(?:\.\d+)+", line) or re.search(r"\d+(?:\.\d+)+", done.stdout)
    return found.group() if found else None


def load_decoder() -> None:
    """Load capstone, or refuse one that does not load, such as one without its library."""
    try:
        import_module("capstone")
    except ImportError as error:
        raise ToolchainError(
            f"capstone is installed, but does not load ({error}); install it again by "
            "`pip install --force-reinstall capstone`"
        ) from None


def _wheel(name: str, role: Role, serves: tuple[str, ...], hint: str) -> Tool:
    spec = find_spec(name)
    if spec is None or spec.origin is None:
        return Tool(name, None, None, serves, hint, role)
    folder = Path(spec.origin).parent
    try:
        number = version(name)
    except PackageNotFoundError:
        number = None
    return Tool(
        name, str(folder / "zig" if name == "ziglang" else folder), number, serves, hint, role
    )
