"""
Measure layouts of the reference models and fit the cost model's weights to them.

For every kernel family and target some layouts of each model, the best by estimate and the
farthest of the rest: instructions of `trusted` (cycles on AVR) and bytes of flash of `predict`,
compiled with -O2 and with -Os. The weights are nonnegative and minimize the sum of squared
relative errors. A cross-validation then estimates each model with weights fitted to all others.

    .venv/bin/python -m benchmarks.fit.fit_cost_model --data ../shared/data
    .venv/bin/python -m benchmarks.fit.fit_cost_model --data ../shared/data --fit-only

Every measurement is one line of build/cost_model.jsonl; run the command again to resume. Layouts
whose C has changed are measured again. The weights go to weights.py of each family's folder, and
those of the textbook classifier to bncc/lower/textbook_weights.py.
"""

import argparse
import sys
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from scipy.optimize import nnls

from benchmarks.fit.cost_samples import MACHINES, Sample, jobs, known_samples, measured
from benchmarks.fit.weight_files import write
from bncc._types import FloatArray
from bncc.lower.kernels.base import Weights

CLOSE = 0.15
"""Relative error of a good estimate."""


def fitted(
    terms: Sequence[Sequence[float]] | FloatArray,
    wanted: Sequence[float] | FloatArray,
    *,
    scaled: bool = True,
) -> FloatArray:
    """Return the nonnegative weights of least squared error, relative to `wanted` if scaled."""
    A, y = np.asarray(terms, dtype=float), np.asarray(wanted, dtype=float)
    if scaled:
        A, y = A / y[:, None], np.ones(len(y))
    scale = np.maximum(np.abs(A).max(axis=0), 1e-12)
    return np.asarray(nnls(A / scale, y)[0] / scale)


def errors(
    samples: Sequence[Sample], terms: Sequence[Sequence[float]], wanted: Sequence[float]
) -> tuple[FloatArray, FloatArray]:
    """Return relative errors of weights fitted to all models, and to all but the sample's model."""
    A, y = np.asarray(terms, dtype=float), np.asarray(wanted, dtype=float)
    names = np.array([sample.model for sample in samples])
    together = A @ fitted(A, y) / y - 1
    apart = np.zeros(len(y))
    for name in set(names):
        held = names == name
        if not held.all():
            apart[held] = A[held] @ fitted(A[~held], y[~held]) / y[held] - 1
    return together, apart


def fit(samples: Sequence[Sample]) -> Weights:
    """Fit all weights and print the errors."""
    groups: dict[tuple[str, str, str], list[Sample]] = defaultdict(list)
    for sample in samples:
        groups[sample.family, sample.target, sample.level].append(sample)
    total: dict[str, list[FloatArray]] = defaultdict(list)
    found = {}
    print(f"{'family':10} {'machine':10} {'level':5}  within 15 %: instructions, left out, flash")
    for key in sorted(groups):
        timed = [each for each in groups[key] if each.trusted]
        sized = [each for each in groups[key] if each.flash]
        if not timed or not sized:
            continue
        spent = [each.trusted or 0 for each in timed]
        both, alone = errors(timed, [each.work for each in timed], spent)
        flash = np.array([each.flash for each in sized], dtype=float)
        known = np.array([each.rom_bytes + each.check_bytes for each in sized])
        terms = np.array([each.code for each in sized], dtype=float)
        weights = (
            fitted([each.work for each in timed], spent),
            fitted(terms / flash[:, None], (flash - known) / flash, scaled=False),
        )
        size = (terms @ weights[1] + known) / flash - 1
        figures = {"instructions": both, "instructions, its model left out": alone, "flash": size}
        for what, part in figures.items():
            total[what].append(part)
        shares = " ".join(f"{np.mean(np.abs(part) <= CLOSE):5.0%}" for part in figures.values())
        worst = " ".join(f"{np.abs(part).max():4.0%}" for part in figures.values())
        print(f"{key[0]:10} {key[1]:10} {key[2]:5} n={len(timed):3} {shares}  worst {worst}")
        found[key] = tuple(weights[0].tolist()), tuple(weights[1].tolist())
    for what, parts in total.items():
        every = np.abs(np.concatenate(parts))
        print(f"{what}: {np.mean(every <= CLOSE):.1%} of {len(every)} within {CLOSE:.0%}")
    return found


def main(words: Sequence[str] | None = None) -> int:
    """Measure, fit, print and write."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--data", type=Path, required=True, help="folder with paper/")
    parser.add_argument("--machine", action="append", choices=MACHINES, help="repeatable")
    parser.add_argument("--fit-only", action="store_true", help="fit to the logged measurements")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--log", type=Path, default=Path("build/cost_model.jsonl"))
    options = parser.parse_args(words)
    known = known_samples(options.log)
    samples = list(known.values())
    if not options.fit_only:
        samples = measured(list(jobs(options)), known, options)
    write(fit(samples))
    return 0


if __name__ == "__main__":
    sys.exit(main())
