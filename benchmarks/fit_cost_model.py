"""Measure layouts of the reference models and fit the cost model's weights to them.

For every kernel family and machine some layouts of each model, those that are estimated best and
the farthest of the rest: instructions of `trusted` (cycles on AVR) and bytes of flash of `predict`,
compiled with -O2 and with -Os. Every weight is at least zero and the sum of squared relative
errors least. Then each model in turn is estimated by weights fitted to all others.

    .venv/bin/python benchmarks/fit_cost_model.py --data ../shared/data
    .venv/bin/python benchmarks/fit_cost_model.py --data ../shared/data --fit-only

Every measurement is one line of build/cost_model.jsonl; run it again to go on. Layouts whose C has
changed are measured again. The weights go to bncc/compiler/cost_weights.py.
"""

import argparse
import sys
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from scipy.optimize import nnls

from benchmarks.cost_samples import MACHINES, Sample, jobs, known_samples, measured

CLOSE = 0.15
"""Relative error within which an estimate is good."""
ROOT = Path(__file__).parent.parent
WEIGHTS = ROOT / "bncc" / "compiler" / "cost_weights.py"


def fitted(terms: Sequence[Sequence[float]], wanted: Sequence[float]) -> np.ndarray:
    """Return the weights >= 0 of least squared relative error."""
    A = np.asarray(terms, dtype=float) / np.asarray(wanted, dtype=float)[:, None]
    scale = np.maximum(np.abs(A).max(axis=0), 1e-12)
    return nnls(A / scale, np.ones(len(A)))[0] / scale


def errors(
    samples: Sequence[Sample], terms: Sequence[Sequence[float]], wanted: Sequence[float]
) -> tuple[np.ndarray, np.ndarray]:
    """Return relative errors of weights fitted to all, and to all but the model in question."""
    A, y = np.asarray(terms, dtype=float), np.asarray(wanted, dtype=float)
    names = np.array([sample.model for sample in samples])
    together = A @ fitted(A, y) / y - 1
    apart = np.zeros(len(y))
    for name in set(names):
        held = names == name
        if not held.all():
            apart[held] = A[held] @ fitted(A[~held], y[~held]) / y[held] - 1
    return together, apart


def fit(samples: Sequence[Sample]) -> str:
    """Fit all weights, print how well, and return the module that holds them."""
    groups: dict[tuple[str, str, str], list[Sample]] = defaultdict(list)
    for sample in samples:
        if sample.trusted is not None and sample.flash is not None:
            groups[sample.family, sample.target, sample.level].append(sample)
    total: dict[str, list[np.ndarray]] = defaultdict(list)
    entries = []
    print(f"{'family':10} {'machine':10} {'level':5} {'n':>3}  within 15 %: instructions, flash")
    for key in sorted(groups):
        some = groups[key]
        work_terms = [sample.work for sample in some]
        code_terms = [sample.code for sample in some]
        spent = [sample.trusted or 0 for sample in some]
        code = [(sample.flash or 0) - sample.rom_bytes for sample in some]
        flash = np.array([sample.flash for sample in some], dtype=float)
        weights = fitted(work_terms, spent), _fitted_code(code_terms, code, flash)
        both, alone = errors(some, work_terms, spent)
        size = (np.asarray(code_terms) @ weights[1] - np.asarray(code)) / flash
        total["instructions"].append(both)
        total["instructions, its model left out"].append(alone)
        total["flash"].append(size)
        shares = [f"{np.mean(np.abs(e) <= CLOSE):4.0%}" for e in (both, alone, size)]
        worst = f"{np.abs(both).max():.0%} {np.abs(size).max():.0%}"
        print(f"{key[0]:10} {key[1]:10} {key[2]:5} {len(some):3}  {' '.join(shares)}  {worst}")
        numbers = ", ".join(_numbers(w) for w in weights)
        entries.append(f'    ("{key[0]}", "{key[1]}", "{key[2]}"): ({numbers}),\n')
    for what, parts in total.items():
        every = np.abs(np.concatenate(parts))
        print(f"{what}: {np.mean(every <= CLOSE):.1%} of {len(every)} within {CLOSE:.0%}")
    return HEAD + "".join(entries) + "}\n"


def _fitted_code(
    terms: Sequence[Sequence[float]], wanted: Sequence[float], flash: np.ndarray
) -> np.ndarray:
    """Return the weights of code whose error is least relative to all of the flash."""
    A, y = np.asarray(terms, dtype=float), np.asarray(wanted, dtype=float)
    A, y = A / flash[:, None], y / flash
    scale = np.maximum(np.abs(A).max(axis=0), 1e-12)
    return nnls(A / scale, y)[0] / scale


def _numbers(weights: np.ndarray) -> str:
    return f"({', '.join(f'{weight:.4g}' for weight in weights)},)"


HEAD = '''"""Weights of the cost model, written by benchmarks/fit_cost_model.py; do not edit.

By family, machine and the compiler's level: executed instructions (cycles on AVR) per term of
``Kernel.work``, and bytes per term of ``Kernel.code``.
"""

WEIGHTS: dict[tuple[str, str, str], tuple[tuple[float, ...], tuple[float, ...]]] = {
'''


def main(words: Sequence[str] | None = None) -> int:
    """Measure, fit, print and write."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--data", type=Path, required=True, help="folder with paper/")
    parser.add_argument("--machine", action="append", choices=MACHINES, help="repeatable")
    parser.add_argument("--fit-only", action="store_true", help="fit to what is known")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--log", type=Path, default=Path("build/cost_model.jsonl"))
    options = parser.parse_args(words)
    known = known_samples(options.log)
    samples = list(known.values())
    if not options.fit_only:
        samples = measured(list(jobs(options)), known, options)
    WEIGHTS.write_text(fit(samples), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
