"""Training that is killed, stopped and resumed ends with the same model."""

import os
import random
import signal
import sys
import time
from collections.abc import Callable, Sequence
from multiprocessing import get_context
from multiprocessing.context import ForkServerProcess
from pathlib import Path

import pytest
from click.testing import Result

from bncc.cli.main import main
from bncc.data.readers import bundled_path
from bncc.train.checkpoint import callbacks as course
from bncc.train.checkpoint.folder import HALF, NAME

Run = Callable[..., Result]
Refused = Callable[..., str]

MODEL, FOLDER, SAID = "m.bncc", "kept", "said"
PROCESSES = get_context("forkserver")
"""Separate processes that need not import numpy again, which takes seconds."""
PROCESSES.set_forkserver_preload(
    ["bncc.cli.train", "bncc.train.train_model", "tests.cli.test_resume"]
)


def train_in_process(home: Path, arguments: Sequence[str]) -> None:
    """Run ``bncc train``, and save it every few epochs, so that many kills hit a write."""
    course.INTERVAL, course.LARGEST_SHARE = 0.01, float("inf")
    with (home / SAID).open("wb") as said:
        for stream in (1, 2):
            os.dup2(said.fileno(), stream)
    sys.argv = ["bncc", "train", *arguments]
    main()


def started(data: Path, home: Path, *options: str) -> ForkServerProcess:
    """Start ``bncc train`` in a process of its own."""
    arguments = [str(data), "-o", str(home / MODEL), "--checkpoint", str(home / FOLDER), *options]
    process = PROCESSES.Process(target=train_in_process, args=(home, arguments))
    process.start()
    return process


def age(home: Path) -> int | None:
    """Return the modification time of the checkpoint, which differs from the previous one's."""
    path = home / FOLDER / NAME
    return path.stat().st_mtime_ns if path.exists() else None


def wait_until_kept(process: ForkServerProcess, home: Path, before: int | None) -> None:
    """Wait until a process has saved its training."""
    while process.is_alive() and age(home) == before:
        time.sleep(0.002)


@pytest.mark.cc
@pytest.mark.parametrize(
    ("structure", "epochs", "n_kills"), [("chow-liu", 5000, 20), ("tan-subset", 1000, 5)]
)
def test_a_killed_training_ends_with_the_model_of_one_that_was_not(
    require_tool: Callable[[str], None], run: Run, tmp_path: Path,
    structure: str, epochs: int, n_kills: int,
) -> None:  # fmt: skip
    require_tool("gcc")
    data = bundled_path("wifi")
    options = ("--structure", structure, "--epochs", str(epochs), "--folds", "0")
    run("train", data, "-o", tmp_path / "whole.bncc", *options)
    rng = random.Random(0)
    for kill in range(n_kills):
        before = age(tmp_path)
        process = started(data, tmp_path, *options, "--resume")
        if kill % 4:  # otherwise possibly before training has begun
            wait_until_kept(process, tmp_path, before)
        time.sleep(rng.uniform(0.0, 0.2))
        process.kill()
        process.join()
        assert process.exitcode == -signal.SIGKILL, (tmp_path / SAID).read_text()
        assert {path.name for path in (tmp_path / FOLDER).glob("*")} <= {NAME, HALF}
        assert not (tmp_path / MODEL).exists()
    process = started(data, tmp_path, *options, "--resume")
    process.join()
    said = (tmp_path / SAID).read_text()
    assert process.exitcode == 0, said
    assert f"of {2 * epochs} epochs" in said
    assert (tmp_path / MODEL).read_bytes() == (tmp_path / "whole.bncc").read_bytes()
    assert list((tmp_path / FOLDER).iterdir()) == []
