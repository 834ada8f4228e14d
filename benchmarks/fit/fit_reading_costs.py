"""
Measure kernels that compare readings, and fit the cost model's weights to them.

The samples are those of `benchmarks.fit.reading_samples`. The weights are nonnegative and minimize
the sum of squared relative errors, and of their own squares. Printed is how many estimates of each
family and target are near what was measured, with all samples and with weights fitted to all models
but the sample's.

    .venv/bin/python -m benchmarks.fit.fit_reading_costs
    .venv/bin/python -m benchmarks.fit.fit_reading_costs --fit-only
    .venv/bin/python -m benchmarks.fit.fit_reading_costs --family cut-lanes --target cortex-m4

Every measurement is one line of build/reading_costs.jsonl; run the command again to resume. The
weights go to weights.py of each family's folder.
"""

import argparse
import sys
import time
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import cast

import numpy as np
from scipy.optimize import nnls

from benchmarks.fit.cost_samples import Sample
from benchmarks.fit.cost_samples import known_samples as known
from benchmarks.fit.fit_cost_model import CLOSE
from benchmarks.fit.reading_samples import MACHINES, cases, measured, unmeasured
from benchmarks.fit.weight_files import write
from benchmarks.shared.log import appending
from bncc._types import FloatArray
from bncc.lower.cost_model import Level
from bncc.lower.kernels.base import Weights

CLOSE_FLASH = 0.10
"""Relative error of a good estimate of flash."""
LIMITS = (CLOSE_FLASH, CLOSE_FLASH, CLOSE, CLOSE)
PULL = 0.02
"""Regularization of a weight towards zero: the relative error that what it adds to a sample of
ordinary size counts as."""


def fit(samples: Iterable[Sample]) -> Weights:
    """Fit all weights and print the errors."""
    groups: dict[tuple[str, str, Level], list[Sample]] = defaultdict(list)
    for sample in samples:
        if sample.trusted and sample.flash:
            groups[sample.family, sample.target, cast(Level, sample.level)].append(sample)
    found: dict[tuple[str, str, str], tuple[tuple[float, ...], tuple[float, ...]]] = {}
    total: dict[str, list[FloatArray]] = defaultdict(list)
    print("within 10 % of flash, likewise if left out; within 15 % of work, likewise; root mean")
    print("square of each")
    for key, some in sorted(groups.items()):
        models = [each.model for each in some]
        flash = np.array([each.flash for each in some], dtype=float)
        known_bytes = np.array([each.rom_bytes + each.check_bytes for each in some])
        code = np.array([each.code for each in some]) / flash[:, None]
        spent = np.array([each.trusted for each in some], dtype=float)
        work = np.array([each.work for each in some]) / spent[:, None]
        ones = np.ones(len(some))
        of_code = (flash - known_bytes) / flash
        parts = np.stack([*errors(code, of_code, models), *errors(work, ones, models)])
        is_close = np.abs(parts) <= np.array(LIMITS)[:, None]
        _print(f"{key[0]:23} {key[1]:9} {key[2]:3}", is_close, parts)
        for name in (key[0], key[1], "all"):
            total[name].append(is_close)
        weights = fitted(work, ones), fitted(code, of_code)
        found[key] = tuple(weights[0].tolist()), tuple(weights[1].tolist())
    for name, each in total.items():
        _print(f"{name:37}", np.concatenate(each, axis=1))
    return found


def _print(name: str, is_close: FloatArray, parts: FloatArray | None = None) -> None:
    means = [] if parts is None else np.sqrt(np.mean(parts**2, axis=1))
    roots = [f"{each:5.1%}" for each in means]
    shown = (f"{each:6.1%}" for each in is_close.mean(axis=1))
    print(f"{name} n={is_close.shape[1]:4}", *shown, " " if roots else "", *roots)


def fitted(terms: FloatArray, wanted: FloatArray) -> FloatArray:
    """
    Return small nonnegative weights of least squared error.

    Shapes: `terms` (n, n_terms), `wanted` (n,), both relative to what was measured; returns
    (n_terms,).
    """
    n, n_terms = terms.shape
    size = np.sqrt(np.mean(terms**2, axis=0))
    size = np.where(size > 0, size, 1.0)
    A = np.vstack([terms / size, PULL * np.sqrt(n) * np.eye(n_terms)])
    return np.asarray(nnls(A, np.concatenate([wanted, np.zeros(n_terms)]))[0] / size)


def errors(
    terms: FloatArray, wanted: FloatArray, models: Sequence[str]
) -> tuple[FloatArray, FloatArray]:
    """Return errors of weights fitted to all models, and to all but the sample's model."""
    together = terms @ fitted(terms, wanted) - wanted
    apart, names = np.zeros(len(wanted)), np.array(models)
    for name in set(models):
        held = names == name
        if not held.all():
            apart[held] = terms[held] @ fitted(terms[~held], wanted[~held]) - wanted[held]
    return together, apart


def main(words: Sequence[str] | None = None) -> int:
    """Measure, fit, print and write."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--log", type=Path, default=Path("build/reading_costs.jsonl"))
    parser.add_argument("--seconds", type=float, help="measure no longer than this")
    parser.add_argument("--fit-only", action="store_true", help="fit to the logged measurements")
    parser.add_argument("--family", action="append", help="measure only this one; repeatable")
    parser.add_argument("--target", action="append", help="likewise")
    options = parser.parse_args(words)
    before, found, start = known(options.log), [], time.monotonic()
    machines = [one for one in MACHINES if options.target is None or one[0] in options.target]
    asked = [
        case for case in cases() if options.family is None or case.kernel.family in options.family
    ]
    if options.fit_only:
        for case in asked:
            for target, level in machines:
                sample = unmeasured(case, target, level)
                if sample.key in before:
                    same = before[sample.key]
                    found.append(replace(sample, trusted=same.trusted, flash=same.flash))
        write(fit(found))
        return 0
    with appending(options.log) as append:
        for case in asked:
            for target, level in machines:
                if options.seconds and time.monotonic() - start > options.seconds:
                    break
                sample = measured(case, target, level, before)
                found.append(sample)
                if sample != before.get(sample.key):
                    append(sample)
    write(fit(found))
    return 0


if __name__ == "__main__":
    sys.exit(main())
