"""A sweep in its own process that is killed and resumed, for the tests of sweeps."""

import dataclasses
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from bncc.data.readers import bundled_path
from bncc.search.study import read_study

SPACE = """
[structure]
choices = ["naive", "chow-liu"]
[parameters]
value = "ml"
[bits]
low = 1
high = 6
[discretize]
choices = ["mdl", "quantile", "width"]
[n-bins]
low = 2
high = 9
log = true
when = { discretize = ["quantile", "width"] }
"""
"""Counted tables: a training takes hundredths of a second."""


class Sweeps:
    """
    Sweeps of the bundled wifi data from the same space, each in a process of its own.

    Parameters
    ----------
    folder : Path
        For the space, and for the remains of killed processes.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._token = f"BNCC_TEST_{os.urandom(8).hex()}"
        (folder / "space.toml").write_text(SPACE)
        (folder / "scratch").mkdir()
        self._started: list[subprocess.Popen[str]] = []

    def start(self, study: object, *options: object) -> subprocess.Popen[str]:
        """Begin a sweep of 12 trials that measures nothing."""
        data, space = bundled_path("wifi"), self._folder / "space.toml"
        words = [data, "--study", study, "--space", space, "--target", "none", "--trials", 12]
        words += ["--jobs", 2, "--repeats", 6, "-v", *options]
        environ = {**os.environ, self._token: "1", "TMPDIR": str(self._folder / "scratch")}
        process = subprocess.Popen(
            [sys.executable, "-m", "bncc", "sweep", *map(str, words)], env=environ, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip
        self._started.append(process)
        return process

    def end(self) -> None:
        """Kill the remaining processes."""
        for process in self._started:
            if process.returncode is None:
                process.kill()
                process.communicate()

    def finish(self, study: object, *options: object) -> None:
        """Run a sweep until it is done."""
        process = self.start(study, *options)
        _, said = process.communicate(timeout=300)
        assert process.returncode == 0, said

    def alive(self) -> list[int]:
        """Return the processes that belong to the sweeps."""
        found = []
        for folder in Path("/proc").iterdir():
            try:
                if folder.name.isdigit() and self._token.encode() in _environ(folder):
                    found.append(int(folder.name))
            except OSError:
                continue
        return found

    def await_end(self) -> None:
        """Wait until all of these processes have ended."""
        end = time.monotonic() + 30
        while alive := self.alive():
            assert time.monotonic() < end, f"{len(alive)} processes have outlived their sweep"
            time.sleep(0.01)


def _environ(folder: Path) -> bytes:
    """Return the environment of a process; that of one that has ended is empty."""
    return (folder / "environ").read_bytes()


def wait_for(process: subprocess.Popen[str], text: str) -> bool:
    """Read the output of a process until a line contains the text; return whether one did."""
    assert process.stderr is not None
    return any(text in line for line in process.stderr)


def found_in(study: object) -> dict[int, dict[str, Any]]:
    """Return all facts about the trials of a study except their durations."""
    (found,) = read_study(str(study))
    assert found.failed == {}
    return {p.number: dataclasses.asdict(p) | {"seconds": None} for p in found.points}
