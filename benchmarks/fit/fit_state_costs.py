"""
Measure models that find states from readings, and fit the cost model's weights to them.

The samples are those of `benchmarks.fit.state_samples`, the fit is `benchmarks.fit.state_fit`.
Printed is how many of the estimates of `predict_raw` that bncc chooses by are within 10 % of its
flash and within 15 % of its instructions, by kernel and by target: those of the package's weights,
and with `--fit` also those of the fitted weights and of weights that are fitted to all models but
the sample's. Only trained models are in the shares; the fit is to random models too.

    .venv/bin/python -m benchmarks.fit.fit_state_costs --data ../shared/data
    .venv/bin/python -m benchmarks.fit.fit_state_costs --data ../shared/data --report
    .venv/bin/python -m benchmarks.fit.fit_state_costs --data ../shared/data --fit

Every measurement is one line of build/state_costs.jsonl; run the command again to resume. With
`--report` nothing is measured. With `--fit` the weights go to weights.py of each family's folder,
to bncc/lower/discretizers/weights.py and bncc/lower/textbook_weights.py.
"""

import argparse
import sys
import time
from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from itertools import chain
from pathlib import Path

import numpy as np

from benchmarks.fit.fit_cost_model import CLOSE
from benchmarks.fit.fit_reading_costs import CLOSE_FLASH
from benchmarks.fit.state_fit import fit, row_of, textbook_row
from benchmarks.fit.state_samples import MODELS, Case, Figures, cases, drawn_cases, measured
from benchmarks.fit.weight_files import write
from benchmarks.shared.log import appending, last_results
from bncc._types import FloatArray
from bncc.lower.kernels.base import Weights


def report(found: Iterable[tuple[Case, Figures]], n_worst: int = 0) -> None:
    """Print the shares of close estimates, and the worst ones."""
    rows = [
        (case, case.estimate[0] / figures.flash - 1, case.estimate[1] / figures.time - 1)
        for case, figures in found
        if figures.flash and figures.time
    ]
    groups: dict[str, list[tuple[float, float]]] = defaultdict(list)
    for case, flash, spent in rows:
        for name in (case.family, f"{case.target} {case.level}", _all_of(case)):
            groups[name].append((flash, spent))
    print("within 10 % of flash, within 15 % of instructions; mean errors; root mean squares")
    for name in sorted(groups):
        errors = np.array(groups[name])
        close = (np.abs(errors) <= (CLOSE_FLASH, CLOSE)).mean(axis=0)
        figures = (*close, *errors.mean(axis=0), *np.sqrt((errors**2).mean(axis=0)))
        print(f"{name:24} n={len(errors):4} ", *(f"{each:7.1%}" for each in figures))
    for k, what in enumerate(("flash", "instructions"), 1):
        for row in sorted(rows, key=lambda row: -abs(row[k]))[:n_worst]:
            print(f"{what} {row[k]:+.0%}: {row[0].name}")


def _all_of(case: Case) -> str:
    return "all that compare readings" if case.is_of_readings else "all that find states"


def fit_and_report(found: Iterable[tuple[Case, Figures]], trained: Collection[str]) -> Weights:
    """Fit the weights, and print the shares of close estimates with a model in the fit and not."""
    rows = [
        (textbook_row if case.chosen is None else row_of)(
            case, figures, is_trained=case.source in trained
        )
        for case, figures in found
        if figures.flash and figures.time and not case.is_of_readings
    ]
    weights, errors = fit(rows)
    groups: dict[str, list[FloatArray]] = defaultdict(list)
    for row, error in errors:
        for name in (row.family, f"{row.target} {row.level}", "all"):
            groups[name].append(error)
    print(f"fitted to {len(rows)} layouts; of trained models, within 10 % of flash, likewise if")
    print("left out; within 15 % of instructions, likewise")
    for name in sorted(groups):
        close = np.abs(np.array(groups[name])) <= (CLOSE, CLOSE, CLOSE_FLASH, CLOSE_FLASH)
        shares = close.mean(axis=0)[[2, 3, 0, 1]]
        print(f"{name:24} n={len(close):4} ", *(f"{each:7.1%}" for each in shares))
    return weights


def main(words: Sequence[str] | None = None) -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--data", type=Path, required=True, help="folder with raw/")
    parser.add_argument("--log", type=Path, default=Path("build/state_costs.jsonl"))
    parser.add_argument("--seconds", type=float, help="measure no longer than this")
    parser.add_argument("--report", action="store_true", help="report the logged measurements")
    parser.add_argument("--fit", action="store_true", help="fit the weights and write them")
    parser.add_argument("--worst", type=int, default=0, metavar="N", help="print the N worst")
    options = parser.parse_args(words)
    known, found, start = last_results(options.log, Figures), [], time.monotonic()
    with appending(options.log) as append:
        for case in chain(cases(options.data, MODELS), drawn_cases()):
            figures = known.get(case.key)
            is_over = options.seconds and time.monotonic() - start > options.seconds
            if figures is None and not options.report and not is_over:
                figures = known[case.key] = measured(case)
                append(figures)
            if figures is not None:
                found.append((case, figures))
    trained = {str(each) for each in MODELS}
    report((each for each in found if each[0].source in trained), options.worst)
    if options.fit:
        write(fit_and_report(found, trained))
    return 0


if __name__ == "__main__":
    sys.exit(main())
