"""The figures of docs/targets.md: every reference model measured on every target."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import TypeVar

from benchmarks.shared.reference_models import (
    BUNDLED_SETS,
    PAPER_SETS,
    STRUCTURES,
    Recipe,
    Reference,
    reference,
)
from bncc.device.cross import find_toolchain
from bncc.device.measure import bench_inputs
from bncc.device.meter import Meter
from bncc.device.sources import sources
from bncc.emit.emitter import emit_c
from bncc.emit.textbook import textbook_c
from bncc.on_device import TargetReport, bench_target
from bncc.targets import TARGETS, find_target

RECIPES = (
    *(Recipe(name, s, bits) for name in PAPER_SETS for s in STRUCTURES for bits in (8, 4)),
    *(Recipe(name, s, 8) for name in BUNDLED_SETS for s in STRUCTURES),
)
MACHINES = (*tuple(TARGETS)[1:], *tuple(TARGETS)[:1])
"""Targets, microcontrollers first."""

PEERS: Mapping[str, Mapping[str, int]] = {
    "letter": {
        "avr": 10264, "cortex-m0": 3932, "cortex-m3": 3026, "cortex-m4": 3025, "rv32": 3436,
        "x86": 3023,
    },
    "satimage": {
        "avr": 5787, "cortex-m0": 2285, "cortex-m3": 1724, "cortex-m4": 1723, "rv32": 1979,
        "x86": 1777,
    },
    "usps": {
        "avr": 62139, "cortex-m0": 23664, "cortex-m3": 18282, "cortex-m4": 18281, "rv32": 21097,
        "x86": 18508,
    },
}  # fmt: skip
"""Counts of figures/PEERS.md for its hand-written naive Bayes with 8-bit tables, at -O2."""


@dataclass(frozen=True)
class Facts:
    """Facts of a model, as the page prints them."""

    features: int
    classes: int
    readings: str  # C type of a reading, or ``state``
    table_bytes: int  # Bytes of the tables that bncc emits
    error: float  # On the test rows, in percent


@dataclass(frozen=True)
class Figures:
    """All figures of the page."""

    facts: Mapping[str, Facts]  # By model
    reports: Mapping[tuple[str, str], TargetReport]  # By target and model
    ours: Mapping[tuple[str, str], float]  # Our counts for `PEERS`, by data set and target


T = TypeVar("T")


@dataclass(frozen=True)
class _Task:
    recipe: Recipe
    target: str
    data: Path


def facts_of(known: Reference) -> Facts:
    """Return the facts of a model."""
    model = known.model
    kinds = sorted({feature.kind for feature in model.features})
    return Facts(
        features=model.n_features,
        classes=len(model.classes),
        readings=", ".join(kinds),
        table_bytes=emit_c(model).table_bytes,
        error=100 * float(model.training["error_test"]),
    )


def report_of(known: Reference, target: str) -> TargetReport:
    """Measure a model and its textbook classifier on a target, over 100 of its test rows."""
    return bench_target(known.model, find_target(target), bench_inputs(known.model, known.test))


def peers_count(known: Reference, target: str) -> float:
    """Count the textbook classifier as PEERS.md did: at -O2, no checks, mean of 100 test rows."""
    files = textbook_c(known.model, "m").files
    (bench,) = find_toolchain(find_target(target))
    with Meter(sources(known.model, files), bench, "-O2") as meter:
        return meter.costs(bench_inputs(known.model, known.test))["trusted"].mean


def measure(data: Path, processes: int, told: Callable[[str], None]) -> Figures:
    """
    Measure all figures of the page with this number of processes; `told` reports progress.

    The same tools give the same figures in every run.
    """
    facts = {str(recipe): facts_of(reference(recipe, data)) for recipe in RECIPES}
    tasks = [_Task(recipe, target, data) for recipe in RECIPES for target in MACHINES]
    compared = [
        _Task(Recipe(name, "naive", 8), target, data) for name in PEERS for target in PEERS[name]
    ]
    reports, ours = {}, {}
    with ProcessPoolExecutor(processes, mp_context=get_context("spawn")) as pool:
        for task, report in _all(pool, _report, tasks, told):
            reports[task.target, str(task.recipe)] = report
        for task, mean in _all(pool, _peers, compared, told):
            ours[task.recipe.data_set, task.target] = mean
    return Figures(facts, reports, ours)


def _all(
    pool: ProcessPoolExecutor,
    function: Callable[[_Task], T],
    tasks: Sequence[_Task],
    told: Callable[[str], None],
) -> Iterator[tuple[_Task, T]]:
    for k, (task, found) in enumerate(zip(tasks, pool.map(function, tasks), strict=True), 1):
        told(f"[{k}/{len(tasks)}] {task.recipe} {task.target}")
        yield task, found


def _report(task: _Task) -> TargetReport:
    return report_of(reference(task.recipe, task.data), task.target)


def _peers(task: _Task) -> float:
    return peers_count(reference(task.recipe, task.data), task.target)
