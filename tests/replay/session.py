"""Commands of bncc in a folder of their own, and their output without machine-specific parts."""

import json
import os
import re
import subprocess
import sys
import zipfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import sha256
from math import inf
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NoReturn
from unittest.mock import patch

import numpy as np
from click.testing import CliRunner

from bncc import __version__
from bncc.cli.main import EXIT_INTERNAL, main
from bncc.errors import ToolchainError

ROOT = Path(__file__).resolve().parents[2]
Files = Mapping[str, str]
"""Texts of a product by file name, whose suffix determines the type."""
Task = Callable[[], Files]
"""Function that makes a product."""
HIDDEN = "<hidden>"
HIDDEN_KEYS = frozenset(
    {"bncc", "compiler", "path", "seconds", "simulator", "toolchain", "toolchains", "version"}
)
"""Fields of JSON objects whose values depend on the machine, the time or the release."""
_VERSION = re.compile(rf"(?<![\w.]){re.escape(__version__)}(?!\.?\w)")
_SECONDS = re.compile(r"\b\d+(\.\d+)? (s|seconds?|minutes?)\b")
_DIGITS = 9
"""Significant digits of a float, all of float32; processors differ in the last of 16."""


@dataclass(frozen=True)
class Result:
    """The result of a command."""

    exit_code: int
    stdout: str
    stderr: str


Run = Callable[..., Result]


class LeftOut(Exception):  # noqa: N818  # not an error: the machine lacks a tool
    """A product that this machine cannot make."""


@contextmanager
def session() -> Iterator[Run]:
    """Yield a runner of command lines in a new folder, in which no compiler prices a model."""
    here = Path.cwd()
    environment = {"COLUMNS": "100", "NO_COLOR": "1", "TZ": "UTC"}
    in_folder, never = TemporaryDirectory(), patch("bncc.cli.console.EVERY", inf)
    with in_folder as folder, patch.dict(os.environ, environment), never:
        os.chdir(folder)
        try:
            yield _run
        finally:
            os.chdir(here)


@contextmanager
def no_tools() -> Iterator[None]:
    """Price models by estimate, which is the same on all machines."""

    def find(*_: object, **__: object) -> NoReturn:
        raise ToolchainError("no compiler is installed")

    with patch("bncc.device.cross.find_toolchain", find):
        yield


def _run(*words: object, width: int = 100) -> Result:
    done = CliRunner().invoke(main, [str(word) for word in words], terminal_width=width)
    return _checked(Result(done.exit_code, done.stdout, done.stderr))


def _checked(result: Result) -> Result:
    if result.exit_code == EXIT_INTERNAL:
        raise RuntimeError(result.stderr)
    return result


def run_apart(*words: object) -> Result:
    """Run a command line in a process of its own, as commands that start processes need it."""
    done = subprocess.run(
        [sys.executable, "-m", "bncc", *map(str, words)],
        env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    return _checked(Result(done.returncode, done.stdout, done.stderr))


def masked(text: str) -> str:
    """Return a text without the version of bncc and without durations."""
    return _SECONDS.sub(HIDDEN, _VERSION.sub(HIDDEN, text))


def said(result: Result) -> str:
    """Return exit code and output of a command, masked."""
    return masked(f"exit code {result.exit_code}\n{result.stdout}--- stderr\n{result.stderr}")


def facts(result: Result, *, only_structure: bool = False) -> str:
    """Return the JSON object that a command printed, masked; or its message if it failed."""
    if result.exit_code not in (0, 1) or not result.stdout.startswith("{"):
        return json.dumps({"failed": said(result)}, indent=1)
    found = json.loads(result.stdout)
    return as_json(structure(found) if only_structure else found)


def as_json(value: object) -> str:
    """Return a JSON text, masked."""
    return json.dumps(_masked_value(value), indent=1, ensure_ascii=True) + "\n"


def structure(value: object) -> object:
    """Return a JSON value with the names of types for its scalars, and of lists the first item."""
    if isinstance(value, dict):
        return {key: structure(each) for key, each in value.items()}
    if isinstance(value, list):
        return [structure(each) for each in value[:1]]
    number = isinstance(value, int | float) and not isinstance(value, bool)
    return "number" if number else type(value).__name__


def model_text(path: str, *, has_bytes: bool) -> str:
    """Return the entries of a model file, and the digest of its bytes."""
    data = Path(path).read_bytes()
    entries: dict[str, Any] = {"sha256": sha256(data).hexdigest()} if has_bytes else {}
    with zipfile.ZipFile(path) as archive:
        for name in archive.namelist():
            with archive.open(name) as entry:
                if name.endswith(".json"):
                    entries[name] = json.load(entry)
                elif name.endswith(".npy"):
                    array = np.load(entry)
                    entries[name] = {"dtype": str(array.dtype), "values": array.tolist()}
    return as_json(entries)


def _masked_value(value: object) -> object:
    if isinstance(value, dict):
        return {k: HIDDEN if k in HIDDEN_KEYS else _masked_value(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [_masked_value(each) for each in value]
    if isinstance(value, float):
        return float(f"{value:.{_DIGITS}g}")
    return masked(value) if isinstance(value, str) else value
