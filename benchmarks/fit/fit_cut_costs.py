"""
Measure kernels of cuts and fit the cost model's weights to them.

Random programs over cuts, of the shapes that boosting trains, with some layouts of all
families: instructions of `trusted` (cycles on AVR) and bytes of flash of `predict`, compiled with
-O2 and with -Os. The fit is that of `benchmarks.fit.fit_cost_model`.

    .venv/bin/python -m benchmarks.fit.fit_cut_costs

Every measurement is one line of build/cut_costs.jsonl; run the command again to resume. The weights
go to weights.py of each family's folder.
"""

import argparse
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path

import numpy as np

from benchmarks.fit.cost_samples import LEVELS, MACHINES, SMALL, Sample, check_bytes, digest_of
from benchmarks.fit.cost_samples import known_samples as known
from benchmarks.fit.fit_cost_model import fit
from benchmarks.fit.weight_files import write
from benchmarks.shared.log import appending
from bncc.device.cross import find_toolchain
from bncc.device.meter import Inputs, Meter
from bncc.device.sources import sources
from bncc.emit.emitter import EmitOptions
from bncc.errors import BnccError
from bncc.lower.cost_model import Level
from bncc.lower.kernels.families import FAMILIES
from bncc.program.ir import Program, decisions
from bncc.program.pipeline import optimize
from bncc.targets import TARGETS
from tests.cut_programs import cut_program, emitted, stand_in

N_INPUTS = 10
N_LAYOUTS = 2
DRAWN = ("cut-loop", "cuts", "cut-packed", "cut-lanes")
"""Families, in the order in which their layouts are sampled."""
SHAPES = {
    "usps": (256, 16, 10, ((5, 16), (10, 32), (20, 8), (60, 8), (130, 8), (90, 16))),
    "letter": (16, 16, 26, ((5, 64), (15, 16), (45, 16), (60, 8), (130, 16))),
    "satimage": (36, 64, 6, ((4, 16), (20, 16), (30, 8), (60, 32))),
    "two": (57, 32, 2, ((10, 8), (40, 16))),
    "three": (13, 255, 3, ((8, 8), (25, 12))),
}
"""Features, their states, classes, and the number of tables and maximum rows of each program."""


def programs() -> Iterator[tuple[str, Program]]:
    """Yield programs by name."""
    seed = 0
    for name, (n_features, n_states, n_classes, sizes) in SHAPES.items():
        for n_tables, n_rows in sizes:
            seed += 1
            some = cut_program(
                n_features,
                n_states,
                n_classes,
                n_tables,
                n_rows,
                bits=(3, 3, 4, 2)[seed % 4],
                seed=seed,
                has_prior=seed % 2 == 0,
                share_of_grids=(0.0, 0.1, 0.4)[seed % 3],
            )
            yield f"{name} {n_tables}x{n_rows}", optimize(some)[0]


def samples(target: str, level: Level, before: dict[str, Sample]) -> Iterator[Sample]:
    """Yield the measurements of layouts of all programs on a target."""
    (bench,) = find_toolchain(TARGETS[target])
    options = EmitOptions("m", frozenset({"trusted"}), target=target)
    for name, some in programs():
        rng = np.random.default_rng(len(some.tables))
        X = rng.integers(0, some.n_states, (N_INPUTS, len(some.n_states)))
        for family in DRAWN:
            kernels = list(FAMILIES[family](some))
            chosen = sorted({0, *rng.permutation(len(kernels))[:N_LAYOUTS].tolist()})
            for i in chosen:
                kernel = kernels[i]
                emission = emitted(some, kernel, options)
                key = f"{name} {target} {level} {family} {i}"
                digest = digest_of(emission)
                sizes = kernel.rom_bytes, check_bytes(emission)
                found = Sample(
                    key, digest, name, family, target, level, *sizes, kernel.work, kernel.code,
                    None, None, None,
                )  # fmt: skip
                if key in before and before[key].c_digest == digest:
                    same = before[key]
                    yield replace(
                        found, trusted=same.trusted, predict=same.predict, flash=same.flash
                    )
                    continue
                try:
                    with Meter(sources(stand_in(some), emission.files), bench, level) as meter:
                        costs = meter.costs(Inputs(X))
                        flash = meter.footprint(("predict",)).flash
                except BnccError as error:
                    print(f"{key}: {error}", file=sys.stderr)
                    yield found
                    continue
                assert np.array_equal(costs["trusted"].classes, decisions(some, X)), key
                predict = costs["predict"].mean
                yield replace(found, trusted=costs["trusted"].mean, predict=predict, flash=flash)


def main(words: Sequence[str] | None = None) -> int:
    """Measure, fit, print and write."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--log", type=Path, default=Path("build/cut_costs.jsonl"))
    options = parser.parse_args(words)
    before, found = known(options.log), []
    with appending(options.log) as append:
        for target, level in product(MACHINES, LEVELS):
            if level == "-Os" and target not in SMALL:
                continue
            for sample in samples(target, level, before):
                found.append(sample)
                if sample != before.get(sample.key):
                    append(sample)
    write(fit(found))
    return 0


if __name__ == "__main__":
    sys.exit(main())
