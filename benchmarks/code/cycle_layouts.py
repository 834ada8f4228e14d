"""
Instructions and cycles of layouts of models, the data of choices by cycles and of their estimates.

For each model and each target, the fastest layouts of the kernels by estimate, as ``predict_raw``
over some rows, compiled as for ``--optimize speed`` and ``size``. Layouts are counted on every core
that executes their code, with and without wait states. Every measurement is one line of
build/cycle_layouts.jsonl; run the command again to resume. It takes up to an hour on a busy
computer, and needs the cross compilers, unicorn and capstone:

    .venv/bin/python -m benchmarks.code.cycle_layouts
"""

import argparse
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import product
from math import inf
from pathlib import Path

from benchmarks.shared.log import appending, last_results
from bncc.data.dataset import Dataset
from bncc.data.readers import bundled_path, read_table
from bncc.data.splits import stratified_holdout
from bncc.data.target import dataset_of
from bncc.device.cross import find_toolchain
from bncc.device.measure import bench_inputs
from bncc.device.meter import Meter
from bncc.emit.emitter import EmitOptions, emit_c, emit_candidate
from bncc.errors import BnccError
from bncc.lower.cost_model import LEVELS, Candidate
from bncc.model.model import Model
from bncc.on_device import sources_of
from bncc.resources import Optimize
from bncc.targets import find_target
from bncc.timing.blocks import Flash
from bncc.timing.clock import CycleClock
from bncc.train.settings import TrainSettings
from bncc.train.train_model import train_model

LOG = Path("build/cycle_layouts.jsonl")
N_ROWS = 20
CLOCKS: Mapping[str, Mapping[str, CycleClock]] = {
    "cortex-m0": {
        "cortex-m0": CycleClock("cortex-m0"),
        "stm32f030": CycleClock("cortex-m0", Flash(1)),
        "cortex-m0plus": CycleClock("cortex-m0plus"),
    },
    "cortex-m4": {
        "cortex-m4": CycleClock("cortex-m4"),
        "nrf52832": CycleClock("cortex-m4", Flash(3)),
    },
    "rv32": {"ibex": CycleClock("ibex"), "picorv32": CycleClock("picorv32")},
}
"""Clocks by target: cores, and parts with wait states at their highest clock."""
KEPT, NEAR = 2, 1.7
"""Layouts of a kernel that are measured at the goal of speed, up to this factor above the fastest
by estimate. At that of size it is one layout of each kernel, however slow, of one set."""
SETS = ("wifi", "robot")


def _tables(**options: str) -> TrainSettings:
    return TrainSettings(structure="tables", structure_options=options, bits=3)


FORMS: Mapping[str, TrainSettings] = {
    "naive": TrainSettings(structure="naive", parameters="ml", bits=4),
    "chow-liu": TrainSettings(structure="chow-liu", parameters="ml", bits=4),
    "few tables": _tables(tables="8", rows="8"),
    "many tables": _tables(tables="40", rows="8"),
    "small tables": _tables(tables="40", rows="2"),
    "large tables": _tables(tables="20", rows="32"),
    "branching": _tables(tables="20", leaves="8"),
    "a tree": _tables(tables="1", leaves="40"),
}
"""Structures of the models, whose kernels differ in loads and jumps."""
OF_SIZE = ("naive", "chow-liu", "few tables", "many tables", "small tables")
OF_ROBOT = ("naive", "chow-liu", "few tables", "large tables")
JOBS: tuple[tuple[Optimize, str, str], ...] = (
    *(("speed", "wifi", form) for form in FORMS),
    *(("size", "wifi", form) for form in OF_SIZE),
    *(("speed", "robot", form) for form in OF_ROBOT),
)
"""Goals, sets and forms in the order of measurement."""


@dataclass(frozen=True)
class Layout:
    """One layout on one target."""

    key: str  # Model, target, goal and number of the layout
    model: str
    target: str
    goal: str
    family: str
    compare: str | None
    estimate: int  # Estimated instructions
    flash: int  # Estimated bytes
    instructions: float  # Mean
    most: int
    cycles: Mapping[str, tuple[float, float, int]]  # Mean of the fewest and of the most, and most

    @property
    def words(self) -> str:
        """Kernel, what it compares, and the goal."""
        of = "" if self.compare in (None, "states") else f" of {self.compare}"
        return f"{self.family}{of}, {self.goal}"


@lru_cache(maxsize=4)
def parts(name: str) -> tuple[Dataset, Dataset]:
    """Return two thirds of the rows of a bundled set for training, and the others."""
    whole = dataset_of(read_table(bundled_path(name)))
    rest, held = stratified_holdout(whole.y, 1 / 3, seed=0)
    return whole.take(rest), whole.take(held)


@lru_cache(maxsize=4)
def model_of(name: str, form: str) -> Model:
    """Train a model, the same in every run."""
    return train_model(parts(name)[0], FORMS[form]).model


def candidates_of(model: Model, options: EmitOptions) -> Iterator[Candidate]:
    """Yield the fastest layouts of each kernel, by estimate."""
    found = sorted(emit_c(model, options).choice.candidates, key=lambda each: each.instructions)
    most = NEAR * found[0].instructions
    n_kept, most = (KEPT, most) if options.optimize == "speed" else (1, inf)
    taken: Counter[str] = Counter()
    for each in found:
        kind = f"{each.kernel.family} {each.compare}"
        taken[kind] += 1
        if taken[kind] <= n_kept and each.instructions <= most:
            yield each


def measured(name: str, form: str, target: str, goal: Optimize) -> Iterator[Layout]:
    """Measure the layouts of a model; those with equal C once."""
    model = model_of(name, form)
    (bench,) = find_toolchain(find_target(target), simulator="unicorn")
    inputs = bench_inputs(model, parts(name)[1].table, n_rows=N_ROWS)
    options = EmitOptions("m", optimize=goal, target=target)
    seen = set()
    for number, candidate in enumerate(candidates_of(model, options)):
        emission = emit_candidate(model, candidate, options)
        files = tuple(sorted(emission.files.items()))
        if files in seen:
            continue
        seen.add(files)
        cycles, count = {}, None
        try:
            for core, clock in CLOCKS[target].items():
                timed = replace(bench, clock=clock)
                with Meter(sources_of(model, emission), timed, LEVELS[goal]) as meter:
                    count = meter.costs(inputs, ("raw",))["raw"]
                if count.cycles is not None:
                    found = count.cycles
                    cycles[core] = (found.mean_low, found.mean_high, found.max)
        except BnccError as error:
            print(f"{name} {form} {target}: {error}", file=sys.stderr)
            continue
        assert count is not None
        yield Layout(
            f"{name} {form} {target} {goal} {number}", f"{name}, {form}", target, goal,
            candidate.kernel.family, candidate.compare, candidate.instructions, candidate.flash,
            count.mean, count.max, cycles,
        )  # fmt: skip


def all_layouts(log: Path = LOG) -> list[Layout]:
    """Return the layouts in a log."""
    return list(last_results(log, Layout).values())


def main() -> None:
    """Measure what the log lacks."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--log", type=Path, default=LOG, help="results, from which it resumes")
    options = parser.parse_args()
    known = {(each.model, each.target, each.goal) for each in all_layouts(options.log)}
    with appending(options.log) as append:
        for (goal, name, form), target in product(JOBS, CLOCKS):
            if (f"{name}, {form}", target, goal) in known:
                continue
            layouts = list(measured(name, form, target, goal))
            for each in layouts:
                append(each)
            print(f"{name}, {form}, {target}, {goal}: {len(layouts)}", flush=True)


if __name__ == "__main__":
    main()
