"""The Makefile reports obstacles before it does anything."""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture
def make(tmp_path: Path, require_tool: Callable[[str], str]) -> Callable[..., tuple[int, str]]:
    """Return a function that runs make in a folder with an existing `.venv`."""
    command = require_tool("make")
    shutil.copy(ROOT / "Makefile", tmp_path)
    environment = tmp_path / ".venv"
    (environment / "bin").mkdir(parents=True)
    (environment / "bin" / "python").symlink_to(sys.executable)
    (environment / ".stamp-venv").touch()

    # As from a shell, even where `make test` runs these tests and passes its flags.
    handed_on = ("MAKEFLAGS", "MAKELEVEL", "PYTHON", "VENV")
    variables = {k: v for k, v in os.environ.items() if k not in handed_on}

    def run(*words: str) -> tuple[int, str]:
        done = subprocess.run(
            [command, *words],
            cwd=tmp_path,
            env=variables,
            capture_output=True,
            text=True,
            check=False,
        )
        return done.returncode, done.stderr

    return run


@pytest.mark.cc
def test_another_interpreter_is_refused(
    make: Callable[..., tuple[int, str]], tmp_path: Path
) -> None:
    """An environment keeps the interpreter that created it; the same one may be named again."""
    other = tmp_path / "a folder" / "python9"
    other.parent.mkdir()
    other.write_text("#!/bin/sh\necho Python 9.0.0\n")
    other.chmod(0o755)
    status, said = make("python-unchanged", f"PYTHON={other}")
    assert status == 2
    assert f"not by {other}; run 'make clean' first" in said
    assert make("python-unchanged", f"PYTHON={sys.executable}") == (0, "")


@pytest.mark.cc
def test_clean_removes_what_was_built(make: Callable[..., tuple[int, str]], tmp_path: Path) -> None:
    """The documentation and the images of the examples too, and nothing else."""
    built = [tmp_path / "docs" / "_build", tmp_path / "firmware_examples" / "uno" / "build"]
    for folder in built:
        folder.mkdir(parents=True)
    assert make("clean") == (0, "")
    assert not any(folder.exists() for folder in [*built, tmp_path / ".venv"])
    assert all(folder.parent.is_dir() for folder in built)


def test_the_gate_uses_every_processor_whatever_openmp_is_told(
    require_tool: Callable[[str], str],
) -> None:
    """A limit of the threads in a process is none of the processes."""
    require_tool("nproc")
    (line,) = re.findall(r"^export JOBS=.*$", (ROOT / ".ci" / "run").read_text("utf-8"), re.M)
    words = [require_tool("bash"), "-c", f'{line}; echo "$JOBS"']
    variables = {k: v for k, v in os.environ.items() if k != "JOBS"}
    for limit in ("OMP_NUM_THREADS", "OMP_THREAD_LIMIT"):
        said = subprocess.run(words, env={**variables, limit: "1"}, capture_output=True, check=True)
        assert int(said.stdout) == len(os.sched_getaffinity(0))
    said = subprocess.run(words, env={**variables, "JOBS": "7"}, capture_output=True, check=True)
    assert int(said.stdout) == 7
