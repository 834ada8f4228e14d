"""
Overhead of ``--constant-time``, and the spread in time between decisions of ordinary C.

The first table has flash and instructions or cycles, compared with ordinary C. The second has each
kernel of boosted tables: decisions from checked states, at random states and at the lowest and the
highest states of all features, which pass none and all of the cuts.

The third has the spread of decisions in constant time by compiler and level: the largest
difference over kernels, `predict` and `raw`, of inputs of which some are out of range.

Run ``python -m benchmarks.code.constant_time_figures --data FOLDER``; the third table alone with
``--spreads``, and without data.
"""

import argparse
from pathlib import Path

import numpy as np

from benchmarks.shared.reference_models import Recipe, reference, some_rows
from bncc.data.readers import bundled_path, read_table
from bncc.data.target import dataset_of
from bncc.device.cross import Toolchain, find_toolchain
from bncc.device.inputs.cases import Effort, cases
from bncc.device.inputs.cover import random_states
from bncc.device.measure import bench_inputs
from bncc.device.meter import Inputs, Meter
from bncc.device.sources import sources
from bncc.emit.emitter import EmitOptions, emit_c
from bncc.model.model import Model
from bncc.targets import find_target
from bncc.train.settings import TrainSettings
from bncc.train.train_model import train_model

RECIPES = (Recipe("letter", "chow-liu", 4), Recipe("robot", "naive", 4))
TARGETS = ("avr", "cortex-m0")
SUM = TrainSettings(
    structure="tables", structure_options={"tables": "20", "rows": "16"}, validation=0.0
)
KERNELS = ("cuts", "cut-loop", "cut-packed", None)
"""Kernels of the boosted tables; None is the kernel selected by ``--constant-time``."""
OPT_LEVELS = ("-O1", "-O2", "-O3", "-Os")
SPREAD = ("x86", "avr", "cortex-m0", "cortex-m4", "rv32", "big-endian")
BUILT = (("wifi", None), ("robot", None), ("robot", "plain"))
"""Data sets and kernels of the third table; None is the selected kernel."""
TIMED = ("avr", "cortex-m0", "cortex-m4", "rv32")


def main() -> None:
    """Print the tables of ``docs/kernels.md``."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path)
    parser.add_argument("--rows", type=int, default=50)
    parser.add_argument("--spreads", action="store_true")
    options = parser.parse_args()
    if not options.spreads:
        if options.data is None:
            parser.error("--data is needed for the first table")
        print_prices(options.data, options.rows)
        print()
        print_spans(options.rows)
        print()
    print_spreads()


def print_prices(data: Path, n_rows: int) -> None:
    """Print the overhead of code without branches on the input."""
    print("| model | target | C | kernel | flash | predict | raw |\n|---|---|---|---|---|---|---|")
    for recipe in RECIPES:
        found = reference(recipe, data)
        inputs = bench_inputs(found.model, some_rows(found.test, n_rows))
        for name in TARGETS:
            bench = find_toolchain(find_target(name))[0]
            for constant_time in (False, True):
                asked = EmitOptions("m", target=name, constant_time=constant_time)
                emission = emit_c(found.model, asked)
                with Meter(sources(found.model, emission.files), bench, "-O2") as meter:
                    costs = meter.costs(inputs)
                    flash = meter.footprint(
                        [entry for entry in ("predict", "raw") if entry in costs]
                    )
                spans = [
                    f"{costs[entry].min:,} .. {costs[entry].max:,}" if entry in costs else "-"
                    for entry in ("predict", "raw")
                ]
                kind = "constant time" if constant_time else "ordinary"
                print(
                    f"| {recipe} | {bench.target.title}, {bench.target.unit} | {kind} | "
                    f"{emission.kernel} | {flash.flash:,} B | {' | '.join(spans)} |"
                )


def print_spans(n_rows: int) -> None:
    """Print the spread of decisions of boosted tables, by kernel."""
    model = train_model(dataset_of(read_table(bundled_path("robot"))), SUM).model
    inputs = Inputs(states_of_ends(model, n_rows))
    print("| kernel | target | flash | trusted, random states | lowest states | highest states |")
    print("|---|---|--:|--:|--:|--:|")
    for kernel in KERNELS:
        for name in TIMED:
            bench = find_toolchain(find_target(name))[0]
            asked = EmitOptions(
                "m",
                frozenset({"trusted"}),
                target=name,
                kernel=kernel,
                constant_time=kernel is None,
            )
            emission = emit_c(model, asked)
            with Meter(sources(model, emission.files), bench, "-O2") as meter:
                flash = meter.footprint(["trusted"]).flash
                counts = [
                    meter.costs(Inputs(X))["trusted"]
                    for X in (inputs.X[2:], inputs.X[:1], inputs.X[1:2])
                ]
            cells = [f"{counts[0].min:,} .. {counts[0].max:,}", *(f"{c.max:,}" for c in counts[1:])]
            what = f"`{kernel}`" if kernel else f"`--constant-time`: `{emission.kernel}`"
            print(
                f"| {what} | {bench.target.title}, {bench.target.unit} | {flash:,} B | "
                f"{' | '.join(cells)} |"
            )


def print_spreads() -> None:
    """Print the spread of decisions, by compiler and level; 0 is constant."""
    print(f"| target | compiler | {' | '.join(OPT_LEVELS)} |")
    print(f"|---|---|{'--:|' * len(OPT_LEVELS)}")
    models = {
        name: train_model(
            dataset_of(read_table(bundled_path(name))),
            TrainSettings(structure=structure, parameters="ml", bits=bits),
        ).model
        for name, structure, bits in (("wifi", "chow-liu", 4), ("robot", "naive", 2))
    }
    for target in SPREAD:
        for bench in find_toolchain(find_target(target), compiler="all"):
            cells = [
                str(max(_spread(models[name], bench, level, kernel) for name, kernel in BUILT))
                for level in OPT_LEVELS
            ]
            print(f"| {target} | {bench.compiler} | {' | '.join(cells)} |", flush=True)


def _spread(model: Model, bench: Toolchain, level: str, kernel: str | None) -> int:
    """Return the maximum difference between two inputs, in instructions or cycles."""
    tried = list(cases(model, None, Effort(20, False, 0), has_raw=True))
    states = np.concatenate([case.x[:25] for case in tried if case.kind != "raw"])
    readings = np.concatenate([case.x for case in tried if case.kind == "raw"])[:40]
    asked = EmitOptions("m", target=bench.target.name, kernel=kernel, constant_time=True)
    with Meter(sources(model, emit_c(model, asked).files), bench, level) as meter:
        costs = meter.costs(Inputs(states, readings))
    return max(cost.max - cost.min for cost in costs.values())


def states_of_ends(model: Model, n_rows: int) -> np.ndarray:
    """Return the lowest states of all features, the highest, and random ones."""
    greatest = np.array(model.n_states) - 1
    drawn = random_states(model, n_rows, np.random.default_rng(0))
    return np.vstack([np.zeros_like(greatest), greatest, drawn])


if __name__ == "__main__":
    main()
