"""
Measure kernels of cuts that compare readings, and fit the cost model's weights to them.

Random programs over cuts of readings of several types, with some layouts of all families that
compare readings: instructions of `predict_raw` (cycles on AVR) and its bytes of flash, compiled
with -O2 and with -Os. The fit is that of `benchmarks.fit.fit_cost_model`.

    .venv/bin/python -m benchmarks.fit.fit_reading_costs

Every measurement is one line of build/reading_costs.jsonl; run the command again to resume. The
weights go to weights.py of each family's folder.
"""

import argparse
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path

import numpy as np

from benchmarks.fit.cost_samples import LEVELS, SMALL, Sample, digest_of
from benchmarks.fit.cost_samples import known_samples as known
from benchmarks.fit.fit_cost_model import fit
from benchmarks.fit.weight_files import write
from benchmarks.shared.log import appending
from bncc.device.cross import find_toolchain
from bncc.device.meter import Inputs, Meter
from bncc.device.sources import sources
from bncc.discretize.feature import Feature
from bncc.discretize.readings import representatives, states_of_raw
from bncc.emit.emitter import EmitOptions, emit_candidate
from bncc.errors import BnccError
from bncc.lower.cost_model import OF_READINGS, Level, candidate
from bncc.lower.kernels.families import FAMILIES
from bncc.lower.reading_cost import reading_terms
from bncc.program.ir import Program, decisions
from bncc.program.pipeline import optimize
from bncc.targets import TARGETS
from tests.cut_programs import cut_program, stand_in

N_INPUTS = 10
N_LAYOUTS = 2
MACHINES = ("cortex-m0", "cortex-m4", "avr")
DRAWN = ("cut-loop", "cuts", "cut-packed")
KINDS = (("int16",), ("int32",), ("float32",), ("int16", "float32"), ("int16", "int32", "state"))
"""Kinds of readings that a program mixes."""
SHAPES = {
    "usps": (256, 16, 10, ((7, 8), (20, 16), (60, 8))),
    "letter": (16, 16, 26, ((5, 64), (30, 16), (60, 8))),
    "satimage": (36, 64, 6, ((4, 16), (20, 16), (40, 8))),
    "two": (57, 32, 2, ((10, 8), (40, 16))),
    "three": (13, 255, 3, ((8, 8), (25, 12))),
}
"""Features, their states, classes, and the number of tables and maximum rows of each program."""


def programs() -> Iterator[tuple[str, Program]]:
    """Yield programs by name."""
    seed = 0
    for name, (n_features, n_states, n_classes, sizes) in SHAPES.items():
        for n_tables, n_rows in sizes:
            for kinds in (KINDS[seed % len(KINDS)], KINDS[(seed + 1 + seed // 5) % len(KINDS)]):
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
                rng = np.random.default_rng(seed)
                features = tuple(
                    _feature(i, kinds[i % len(kinds)], n_states, rng) for i in range(n_features)
                )
                mixed = replace(some, features=features)
                yield f"{name} {n_tables}x{n_rows} {' '.join(kinds)}", optimize(mixed)[0]


def _feature(i: int, kind: str, n_states: int, rng: np.random.Generator) -> Feature:
    if kind == "state":
        return Feature(f"x{i}", "state", n_states)
    if kind == "float32":
        cuts = np.unique(rng.normal(0.5, 1, 4 * n_states).astype(np.float32))
        chosen = np.sort(rng.permutation(cuts)[: n_states - 1]).astype(float)
        return Feature(f"x{i}", "float32", n_states, tuple(chosen.tolist()))
    span = {"int16": (1 << (8 + 7 * (i % 2))) - 2, "int32": 1 << 20}[kind]
    cuts = np.sort(rng.permutation(span)[: n_states - 1]) - (span // 2 if i % 3 == 0 else 0)
    chosen = tuple(int(each) for each in cuts)
    return Feature(f"x{i}", "int16" if kind == "int16" else "int32", n_states, chosen)


def samples(target: str, level: Level, before: dict[str, Sample]) -> Iterator[Sample]:
    """Yield the measurements of layouts of all programs on a target."""
    (bench,) = find_toolchain(TARGETS[target])
    goal = "size" if level == "-Os" else "balanced"
    options = EmitOptions("m", frozenset({"raw"}), target=target, optimize=goal)
    for name, some in programs():
        rng = np.random.default_rng(len(some.tables))
        values = [representatives(feature) for feature in some.features]
        R = np.stack([rng.choice(each, N_INPUTS) for each in values], axis=1)
        X = states_of_raw(some.features, R)
        for family in DRAWN:
            kernels = list(FAMILIES[family](some))
            chosen = sorted({0, *rng.permutation(len(kernels))[: N_LAYOUTS - 1].tolist()})
            for i in chosen:
                kernel = kernels[i]
                found = replace(candidate(some, kernel, target, level), compare="readings")
                emission = emit_candidate(stand_in(some), found, options)
                key, digest = f"{name} {target} {level} {family} {i}", digest_of(emission)
                terms = reading_terms(some, kernel)
                sample = Sample(
                    key, digest, name, family + OF_READINGS, target, level, terms.rom_bytes, 0,
                    terms.work, terms.code, None, None, None,
                )  # fmt: skip
                if key in before and before[key].c_digest == digest:
                    same = before[key]
                    yield replace(sample, trusted=same.trusted, flash=same.flash)
                    continue
                try:
                    built = sources(stand_in(some), emission.files)
                    with Meter(built, bench, level) as meter:
                        cost = meter.costs(Inputs(X, R))["raw"]
                        flash = meter.footprint(("raw",)).flash
                except BnccError as error:
                    print(f"{key}: {error}", file=sys.stderr)
                    yield sample
                    continue
                assert np.array_equal(cost.classes, decisions(some, X)), key
                yield replace(sample, trusted=cost.mean, flash=flash)


def main(words: Sequence[str] | None = None) -> int:
    """Measure, fit, print and write."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--log", type=Path, default=Path("build/reading_costs.jsonl"))
    parser.add_argument("--seconds", type=float, help="measure no longer than this")
    options = parser.parse_args(words)
    before, found, start = known(options.log), [], time.monotonic()
    with appending(options.log) as append:
        for target, level in product(MACHINES, LEVELS):
            if level == "-Os" and target not in SMALL:
                continue
            for sample in samples(target, level, before):
                found.append(sample)
                if sample != before.get(sample.key):
                    append(sample)
                if options.seconds and time.monotonic() - start > options.seconds:
                    break
    write(fit(found))
    return 0


if __name__ == "__main__":
    sys.exit(main())
