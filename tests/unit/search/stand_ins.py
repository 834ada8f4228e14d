"""Trials that take no time, as work for processes and clusters in tests."""

import os
import signal
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from bncc.data.dataset import Column, Dataset, Table
from bncc.errors import OptionError
from bncc.search.trial import Workload
from bncc.search.trial_result import Choice, Footprint, Point, Rate


def workload(folder: Path) -> Workload:
    """Return a workload of two rows; `folder` is where its trials leave traces."""
    column = Column("x", "integer", np.arange(2), np.zeros(2, dtype=bool))
    train = Dataset(Table((column,)), np.arange(2), ("a", "b"), "class")
    return Workload(train, None, None, (str(folder),), (), 0, 1, ())


def point(number: int, **facts: object) -> Point:
    """Return a point whose figures are a function of its number."""
    usual = {
        "number": number, "family": "naive", "params": {"bits": number},
        "validation": Rate((number / 100,), 50), "test": None, "entries": 10, "bits": 10 * number,
        "operations": 4, "q_format": (1, 1), "costs": {}, "parents": (("class",),), "seconds": 0.0,
        "command": f"bncc train --bits {number}",
    }  # fmt: skip
    return Point(**{**usual, **facts})  # type: ignore[arg-type]


def measured(number: int, error: float, flash: int, most: int) -> Point:
    """Return a point with a footprint on the Cortex-M0."""
    costs = {"cortex-m0": Footprint(flash, 0, 8, "instructions", most - 1.0, most)}
    return point(number, validation=Rate((error,), 100), costs=costs)


def plain(work: Workload, number: int, params: Mapping[str, Choice]) -> Point:
    """Return a result at once."""
    return point(number, params=dict(params))


def refused(work: Workload, number: int, params: Mapping[str, Choice]) -> Point:
    """Return no result in every third trial."""
    if number % 3 == 2:
        raise OptionError(f"{number} is too many")
    return point(number, params=dict(params))


def halved(more: float, number: float) -> float:
    """Halve a number, and add some more."""
    if number < 0:
        raise OptionError("less than nothing")
    return number / 2 + more


def broken(work: Workload, number: int, params: Mapping[str, Choice]) -> Point:
    """Fail as a program with an error does."""
    raise ZeroDivisionError("by zero")


def deadly(work: Workload, number: int, params: Mapping[str, Choice]) -> Point:
    """Kill the process of trial 1 whenever it is tried; leave a trace each time."""
    if number == 1:
        Path(work.source[0], f"death-{os.getpid()}").touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return point(number, params=dict(params))


def deadly_once(work: Workload, number: int, params: Mapping[str, Choice]) -> Point:
    """Kill the process of trial 1 the first time."""
    trace = Path(work.source[0], "death")
    if number == 1 and not trace.exists():
        trace.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return point(number, params=dict(params))


def endless(work: Workload, number: int, params: Mapping[str, Choice]) -> Point:
    """Never end; report the start by a file named after the process id."""
    Path(work.source[0], f"began-{os.getpid()}").touch()
    while True:
        signal.pause()
