"""
Footprint of kernels of cuts: random programs of the sizes that boosting trains.

The layout per program and family is the best by estimate: for speed compiled with -O2 for a
Cortex-M0, executed instructions of `trusted`; for size with -Os for a Cortex-M4, bytes of flash
of `predict`.

    .venv/bin/python -m benchmarks.code.cut_figures
"""

import numpy as np

from bncc.device.cross import find_toolchain
from bncc.device.meter import Inputs, Meter
from bncc.device.sources import sources
from bncc.emit.emitter import EmitOptions, emit_candidate
from bncc.lower.cost_model import Candidate, Level, candidate
from bncc.lower.kernels.families import FAMILIES, FOR_CUTS
from bncc.program.ir import Program, decisions
from bncc.program.pipeline import optimize
from bncc.targets import TARGETS
from tests.cut_programs import cut_program, stand_in

N_INPUTS = 50
PROGRAMS = {
    "256 features, 10 classes": (256, 10, ((10, 32), (20, 8), (60, 8))),
    "16 features, 26 classes": (16, 26, ((20, 16), (45, 16))),
    "36 features, 6 classes": (36, 6, ((20, 16),)),
}
"""Features, classes, and the number of tables and maximum rows per table of each program."""


def best(some: Program, family: str, target: str, level: Level) -> Candidate:
    """Return the fastest layout of a family at -O2, the smallest at -Os."""
    found = [candidate(some, kernel, target, level) for kernel in FAMILIES[family](some)]
    if level == "-O2":
        return min(found, key=lambda each: (each.instructions, each.flash))
    return min(found, key=lambda each: (each.flash, each.instructions))


def measured(some: Program, chosen: Candidate, target: str, level: Level) -> tuple[float, int]:
    """Return instructions of `trusted` and bytes of `predict`."""
    options = EmitOptions("m", frozenset({"trusted"}), target=target)
    files = emit_candidate(stand_in(some), chosen, options).files
    (bench,) = find_toolchain(TARGETS[target])
    X = np.random.default_rng(1).integers(0, some.n_states, (N_INPUTS, len(some.n_states)))
    with Meter(sources(stand_in(some), files), bench, level) as meter:
        cost = meter.costs(Inputs(X))["trusted"]
        assert np.array_equal(cost.classes, decisions(some, X))
        return cost.mean, meter.footprint(("predict",)).flash


def main() -> None:
    """Print a table."""
    print("| program | kernel | rows | instructions, Cortex-M0 -O2 | flash, Cortex-M4 -Os |")
    print("|---|---|---|---|---|")
    for name, (n_features, n_classes, sizes) in PROGRAMS.items():
        for n_tables, n_rows in sizes:
            drawn = cut_program(n_features, 16, n_classes, n_tables, n_rows, share_of_grids=0.1)
            some, _ = optimize(drawn)
            rows = sum(len(table.costs) for table in some.tables)
            for family in sorted(FOR_CUTS, reverse=True):
                fast = best(some, family, "cortex-m0", "-O2")
                spent, _ = measured(some, fast, "cortex-m0", "-O2")
                small = best(some, family, "cortex-m4", "-Os")
                _, flash = measured(some, small, "cortex-m4", "-Os")
                print(
                    f"| {name}, {n_tables} tables | `{family}` | {rows} | {spent:,.0f} "
                    f"| {flash:,} B |",
                    flush=True,
                )


if __name__ == "__main__":
    main()
