"""
Compare the emitted C with Python, bit for bit, over data sets, widths and compilers.

Letter, satimage and usps; naive Bayes and Chow-Liu TAN; 1 to 8 bits with several places of the
binary point, also right of the last bit; gcc and clang at -O0, -O2 and -O3 and both with the
address and undefined-behavior sanitizers. The inputs are every test row, 100,000 random states,
every row of every table and, if there are thresholds, each of them at -1, 0 and +1. The full
matrix (2,352 builds of 294 models) takes an hour on two cores, --quick a minute:

    .venv/bin/python -m benchmarks.campaigns.agreement_matrix --data ../shared/data
"""

import argparse
import sys
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from functools import lru_cache
from multiprocessing import get_context
from pathlib import Path

import numpy as np

from bncc.data.dataset import Column, Dataset, Table
from bncc.data.readers import read_table
from bncc.data.splits import stratified_holdout
from bncc.data.target import dataset_of, fold_parts
from bncc.device.agreement import Agreement, compare
from bncc.device.host import build_harness, build_library
from bncc.device.inputs.cases import Effort, cases
from bncc.device.sources import sources
from bncc.discretize.feature import Feature, states_of
from bncc.discretize.fit import fit_features
from bncc.emit.emitter import EmitOptions, emit_c
from bncc.fixed_point import QFormat
from bncc.model.model import Model
from bncc.structure.catalog import learn_structure
from bncc.structure.graph import Structure
from bncc.toolchain.tools import host_compilers
from bncc.train.fit_network import freeze
from bncc.train.maximum_likelihood import ml_log_tables

DATA_SETS = {"letter": "letter", "satimage": "satimage", "usps": "usps_all"}
STRUCTURES = ("naive", "chow-liu")
ENTRIES = frozenset({"raw", "scores", "trusted"})


@dataclass(frozen=True)
class Build:
    """Compiler settings: compiler, level, and sanitizers."""

    compiler: str
    opt_level: str
    sanitize: bool = False


ALL_BUILDS = (
    *(Build(compiler, level) for compiler in ("gcc", "clang") for level in ("-O0", "-O2", "-O3")),
    Build("gcc", "-O2", True),
    Build("clang", "-O2", True),
)
FEW_BUILDS = (Build("gcc", "-O2"), Build("clang", "-O3"))


@dataclass(frozen=True)
class Task:
    """One model to check."""

    data: Path  # Folder with ``paper/`` and ``raw/``
    data_set: str  # A key of `DATA_SETS`
    source: str  # fold: authors' states of fold 1; integer: raw readings; float: these / 7
    structure: str  # Name of a learner
    q_format: QFormat  # Format of the costs
    builds: tuple[Build, ...]  # Compiler settings
    n_random: int  # Number of random states, and of ten times the random readings


@dataclass(frozen=True)
class Total:
    """Totals of a run of the matrix."""

    models: int = 0
    builds: int = 0
    inputs: int = 0
    mismatches: int = 0
    seconds: float = 0.0
    stories: tuple[str, ...] = ()

    def __str__(self) -> str:
        return (
            f"{self.models} models, {self.builds} builds, {self.inputs:,} inputs compared, "
            f"{self.mismatches} mismatches, {self.seconds:.0f} s"
        )


def full_matrix(data: Path) -> tuple[Task, ...]:
    """Return every model of the full matrix."""
    tasks = [
        Task(data, name, source, structure, QFormat(bits - frac, frac), ALL_BUILDS, 100_000)
        for name in DATA_SETS
        for structure in STRUCTURES
        for source, fracs_of in (("fold", _splits), ("integer", _two_splits))
        for bits in range(1, 9)
        for frac in fracs_of(bits)
    ]
    floats = [replace(t, source="float") for t in tasks if t.source == "integer"]
    return (*tasks, *(t for t in floats if t.q_format in (QFormat(3, -2), QFormat(2, 2))))


def quick_matrix(data: Path) -> tuple[Task, ...]:
    """Return a daily subset: three widths, few builds, few random states."""
    sources = {1: ("fold", -2), 4: ("float", 2), 8: ("integer", 5)}
    tasks = [
        Task(data, name, source, structure, QFormat(bits - frac, frac), FEW_BUILDS, 2_000)
        for name in DATA_SETS
        for structure in STRUCTURES
        for bits, (source, frac) in sources.items()
    ]
    watched = Build("gcc", "-O1", True)
    return tuple(
        replace(t, builds=(*t.builds, watched)) if t.q_format.bits == 8 else t for t in tasks
    )


def _splits(bits: int) -> tuple[int, ...]:
    return tuple(sorted({-2, 0, bits // 2, bits + 1}))


def _two_splits(bits: int) -> tuple[int, ...]:
    return (-2, bits // 2)


def run(
    tasks: Sequence[Task], processes: int = 2, report: Callable[[str], None] = lambda line: None
) -> Total:
    """Check all models, each in one of several processes."""
    start = time.perf_counter()
    total = Total()
    with ProcessPoolExecutor(processes, mp_context=get_context("spawn")) as pool:
        for task, outcomes in zip(tasks, pool.map(check, tasks), strict=True):
            total = _add(total, task, outcomes)
            report(f"{_name(task)}: {total}")
    return replace(total, seconds=time.perf_counter() - start)


def check(task: Task) -> list[Agreement]:
    """Emit one model, build it with all settings, and compare; the answers are prepared once."""
    model, test = _model(task)
    files = emit_c(model, EmitOptions("m", ENTRIES)).files
    effort = Effort(n_random=task.n_random)
    readings = replace(effort, n_random=task.n_random // 10)
    states = list(cases(model, test, effort, has_raw=False))
    raw = [c for c in cases(model, test, readings) if c.kind == "raw"]
    outcomes = []
    for build in task.builds:
        (tool,) = host_compilers(build.compiler)
        make = build_harness if build.sanitize else build_library
        with make(sources(model, files), compiler=tool, opt_level=build.opt_level) as machine:
            outcomes.append(compare(machine, [*states, *raw]))
    return outcomes


def _add(total: Total, task: Task, outcomes: Sequence[Agreement]) -> Total:
    stories = [f"{_name(task)}, {o.toolchain}: {o.first_mismatch}" for o in outcomes if not o.agree]
    return replace(
        total,
        models=total.models + 1,
        builds=total.builds + len(outcomes),
        inputs=total.inputs + sum(outcome.checked for outcome in outcomes),
        mismatches=total.mismatches + sum(outcome.mismatches for outcome in outcomes),
        stories=(*total.stories, *stories),
    )


def _name(task: Task) -> str:
    return f"{task.data_set} {task.source} {task.structure} {task.q_format}"


def _model(task: Task) -> tuple[Model, Table]:
    train, test, features = _data(task.data, task.data_set, task.source)
    X, n_states = states_of(features, train.table), [feature.n_states for feature in features]
    n_classes = len(train.classes)
    structure = _structure(task.data, task.data_set, task.source, task.structure)
    log_prior, tables = ml_log_tables(X, train.y, structure, n_states, n_classes)
    model = freeze(features, train.classes, structure, log_prior, tables, task.q_format, {})
    return model, test


@lru_cache(maxsize=4)
def _data(data: Path, name: str, source: str) -> tuple[Dataset, Table, tuple[Feature, ...]]:
    if source == "fold":
        train, test = fold_parts(read_table(data / "paper" / f"{name}.npz", fold=1), fold=1)
        assert test is not None
    else:
        whole = dataset_of(read_table(data / "raw" / f"{DATA_SETS[name]}.csv.gz"))
        rest, held = stratified_holdout(whole.y, 1 / 3, seed=0)
        train, test = whole.take(rest), whole.take(held)
        if source == "float":
            train, test = (
                replace(train, table=_floats(train.table)),
                replace(test, table=_floats(test.table)),
            )
    return train, test.table, fit_features(train.table, train.y, "mdl")


@lru_cache(maxsize=8)
def _structure(data: Path, name: str, source: str, learner: str) -> Structure:
    train, _, features = _data(data, name, source)
    n_states = [feature.n_states for feature in features]
    X = states_of(features, train.table)
    return learn_structure(learner, X, train.y, n_states, len(train.classes), {})


def _floats(table: Table) -> Table:
    return Table(
        tuple(
            Column(c.name, "float", (c.values / 7.0).astype(np.float32).astype(float), c.missing)
            for c in table.columns
        )
    )


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--data", type=Path, required=True, help="folder with paper/ and raw/")
    parser.add_argument("--quick", action="store_true", help="the subset that the tests run")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--only", default="", help="models whose name contains this text")
    options = parser.parse_args()
    if not (options.data / "paper").is_dir():
        parser.error(f"there is no folder paper in '{options.data}'; name the data with --data")
    return options


def main() -> int:
    """Run the matrix, print one summary line, and fail on any mismatch."""
    options = _arguments()
    matrix = quick_matrix if options.quick else full_matrix
    tasks = [task for task in matrix(options.data) if options.only in _name(task)]
    total = run(tasks, options.processes, lambda line: print(line, file=sys.stderr, flush=True))
    for story in total.stories:
        print(story)
    print(total)
    return int(total.mismatches > 0)


if __name__ == "__main__":
    sys.exit(main())
