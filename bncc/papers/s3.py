"""S3: error of integer models over the bits of a cost, and of TAN over table entries."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from math import ceil
from typing import Any

import numpy as np

from bncc.papers.draw import draw_near
from bncc.papers.experiments import (
    STEERING,
    Cell,
    Effort,
    Experiment,
    Names,
    Request,
    cell_of,
    grid,
    selection,
)
from bncc.papers.folds import FILES, Fold, read_folds, rows_at
from bncc.papers.s0 import BATCH_SIZES, OUR_MNIST, PAPER, RUNS_AND_EPOCHS, STRUCTURES
from bncc.papers.search import Found, explore, search
from bncc.progress import Progress, nth_part
from bncc.search.objective import undominated
from bncc.train.options import MAX_BITS, MIN_BITS
from bncc.train.settings import TrainSettings

FAMILIES = {"NB": "naive", "TAN": "chow-liu"}
"""S3's TAN is the best of S0's structure search, which was chosen on test rows; ours is the
Chow-Liu tree of the training rows."""
IN_FLOATS = {"NB": "NB HYB", "TAN": "Chow-Liu HYB"}
"""Columns of S0's table 1 with the paper's errors in floats. S3's figures carry no numbers."""
BITS: Sequence[int | None] = (None, *range(MIN_BITS, MAX_BITS + 1))
"""None represents floats, the horizontal lines of figure 6."""

INT_BITS = (2, 3, 4, 5)
"""Initial B_I, whatever B: if it exceeds B, B_F is negative. S3 has 1 and 6 too."""
LOG_LR = (-2.0, -0.4)
"""Range of the decimal logarithm of Adam's step, wider than that of floats: of hybrid trials on
letter with 2 or 3 bits, 9 of 13 at 0.3 were in the best fifth, and 1 of 19 at 0.003."""
QUANTIZE_FROM = (0.0, 0.25, 0.5)
"""Ranges that contained the best validation results of 1,044 trials of naive Bayes with 1 to 3 bits
on letter, usps and satimage, for each set and number of bits. Three times as many epochs brought no
gain on letter."""
RESTARTS = 5
"""Restarts on all training rows of the best settings, of which the lowest training error is kept.
With validation rows (five splits, six seeds each), training and validation errors have correlations
of 0.48 and 0.51 for two settings on letter with 3 bits, and the best of five restarts is 0.29 and
0.09 points below the mean error; usps with 2 bits: 0.08 and 0.00; satimage with 1 bit: 0.13 and
0.21, with splits from -0.42 to 1.59. So restarts help on letter, and not reliably on the others."""
BITS_RUNS_AND_EPOCHS = {
    "letter": (250, 100), "satimage": (250, 60), "usps": (250, 60), "mnist": (24, 40),
}  # fmt: skip
"""Settings tried per cell, and passes over the rows for each: more runs than for S0's
table, because more settings are sampled."""
QUICK_RUNS = 30
"""The same for a run of minutes."""


def bits_column(family: str, bits: int | None) -> str:
    """Return the name of a column."""
    if bits is None:
        return f"{family} float"
    return f"{family} {bits} bit{'s' if bits > 1 else ''}"


BITS_COLUMNS = {bits_column(family, bits): (family, bits) for family in FAMILIES for bits in BITS}
FREE_COLUMNS = {f"{column} free": column for column in BITS_COLUMNS}
"""Columns of tables that need not be probabilities, by that of normalized ones. The paper has none
of them; they are computed if named."""


def _bits_parts(request: Request) -> dict[str, tuple[str, str]]:
    quick = tuple(column for column, (family, _) in BITS_COLUMNS.items() if family == "NB")
    known = tuple(FILES), (*BITS_COLUMNS, *FREE_COLUMNS)
    rows, columns = selection("s3-bits", request, known, (("letter",), quick))
    if not (request.columns or request.quick):
        columns = tuple(BITS_COLUMNS)
    return grid(rows_at(request.data_dir, rows, request.rows), columns)


def _bits(place: tuple[str, str], request: Request, advance: Progress) -> list[Cell]:
    """
    Return a point of figures 3 and 6 of S3: the test error with B = 1 .. 8, or in floats.

    Settings including B_I are sampled, on each fold alone. Those with the lowest validation error
    are trained on all training rows, and the error of their integer model on the test rows is ours.
    """
    row, column = place
    family, bits = BITS_COLUMNS[FREE_COLUMNS.get(column, column)]
    folds, effort = read_folds(request.data_dir, row), request.effort
    if request.quick:
        effort = replace(effort, n_runs=effort.n_runs or QUICK_RUNS)
    n_runs, epochs = effort.of(*BITS_RUNS_AND_EPOCHS[row])
    base = TrainSettings(
        structure=FAMILIES[family], float_=True, epochs=epochs, batch_size=BATCH_SIZES[row],
        parameters="free" if column in FREE_COLUMNS else "hybrid",
    )  # fmt: skip
    if bits is None:
        found = explore(folds, base, n_runs, effort, advance)
    else:
        varied = partial(in_bits, bits=bits)
        found = explore(folds, base, n_runs, effort, advance, varied=varied, n_restarts=RESTARTS)
    notes = [found.note, *([OUR_MNIST] if row == "mnist" else [])]
    formats = [
        {"int_bits": each.int_bits, "frac_bits": bits - each.int_bits}
        for each in found.settings
        if bits is not None and each.int_bits is not None
    ]
    if formats:
        notes.insert(0, ", ".join(f"UQ{q['int_bits']}.{q['frac_bits']}" for q in formats))
    paper = PAPER[row][IN_FLOATS[family]] if bits is None and column in BITS_COLUMNS else None
    n = sum(len(fold.y_test) for fold in folds)
    return [
        cell_of(
            row, column, paper, 100 * found.test, n, notes, bits=bits,
            q_format=formats[0] if formats and formats == formats[:1] * len(folds) else None,
            entries=round(float(np.mean(found.entries))),
            operations=folds[0].n_classes * (1 + len(folds[0].n_states)),
        )
    ]  # fmt: skip


def in_bits(drawn: Sequence[TrainSettings], bits: int) -> tuple[TrainSettings, ...]:
    """Return settings for integer models."""
    rng = np.random.default_rng(bits)
    return tuple(
        replace(
            settings,
            float_=False,
            bits=bits,
            int_bits=int(rng.choice(INT_BITS)),
            lr=float(10 ** rng.uniform(*LOG_LR)),
            quantize_from=float(rng.choice(QUANTIZE_FROM)),
        )
        for settings in drawn
    )


ENDS = {"NB": "NB HYB", "TAN Subset": "TAN Subset"}
"""Results of an infinite and of a zero penalty, by column of S0's table 1."""
WEIGHTS = tuple(float(f"{weight:.3g}") for weight in np.logspace(-7, 1, 33))
"""Penalties of an expected entry, lambda_MS: S3's range, four per decade. S3 has 41."""
QUICK_WEIGHTS = WEIGHTS[8:24:4]
RUNS_PER_PRICE = 10
"""Number of settings tried at an end per setting tried at each penalty."""


def price_column(weight: float) -> str:
    """Return the name of a column."""
    return f"size weight {weight:g}"


SIZE_COLUMNS = {
    "NB": None,
    **{price_column(weight): weight for weight in reversed(WEIGHTS)},
    "TAN Subset": 0.0,
}
"""Penalties by column; None is naive Bayes."""


def _size_parts(request: Request) -> dict[str, tuple[str, Names]]:
    quick = ("NB", *map(price_column, QUICK_WEIGHTS), "TAN Subset")
    known = tuple(FILES), tuple(SIZE_COLUMNS)
    rows, columns = selection("s3-size", request, known, (("letter",), quick))
    return {row: (row, columns) for row in rows_at(request.data_dir, rows, request.rows)}


def _size(part: tuple[str, Names], request: Request, advance: Progress) -> list[Cell]:
    """
    Reproduce figure 5 of S3: test errors and table entries of TAN Subset with 8 candidates.

    Settings are sampled for either end, without a penalty. As in the paper, each penalty then uses
    the order and the candidates of the best TAN Subset, and its settings, slightly perturbed. Those
    with the lowest validation error are trained on all training rows; their error on the test rows
    is ours. Satimage's first fold represents all five, because each has its own tree.
    """
    row, columns = part
    effort, fold = request.effort, read_folds(request.data_dir, row)[0]
    n_runs, _ = effort.of(*RUNS_AND_EPOCHS[row])
    searches = len(columns) + 1
    unpriced = _end(row, "TAN Subset", fold, effort, nth_part(advance, 0, searches, "TAN Subset"))
    found = []
    for done, column in enumerate(columns, 1):
        weight, tell = SIZE_COLUMNS[column], nth_part(advance, done, searches, column)
        if weight is None:
            found.append(_end(row, column, fold, effort, tell))
        elif weight == 0:
            found.append(unpriced)
        else:
            tried = at_price(unpriced.settings[0], weight, ceil(n_runs / RUNS_PER_PRICE))
            found.append(search(fold, tried, jobs=effort.jobs, log=effort.log, advance=tell))
    entries = [each.entries[0] for each in found]
    on_front = undominated([(n, each.validation) for n, each in zip(entries, found, strict=True)])
    cells = []
    for k, (column, each) in enumerate(zip(columns, found, strict=True)):
        paper = PAPER[row][ENDS[column]] if column in ENDS else None
        notes = [f"{entries[k]:,} entries{', on the front' * (k in on_front)}", each.note]
        notes += [OUR_MNIST] * (row == "mnist")
        cells.append(cell_of(
            row, column, paper, 100 * each.test, len(fold.y_test), notes,
            size_weight=SIZE_COLUMNS[column], entries=entries[k], is_on_front=k in on_front,
        ))  # fmt: skip
    return cells


def _end(row: str, column: str, fold: Fold, effort: Effort, advance: Progress) -> Found:
    """Search naive Bayes, or TAN Subset without a penalty."""
    structure, options = STRUCTURES[ENDS[column]]
    n_runs, epochs = effort.of(*RUNS_AND_EPOCHS[row])
    base = TrainSettings(
        structure=structure, structure_options=options, float_=True, epochs=epochs,
        batch_size=BATCH_SIZES[row],
    )  # fmt: skip
    return explore([fold], base, n_runs, effort, advance)


def at_price(settings: TrainSettings, weight: float, n_runs: int) -> tuple[TrainSettings, ...]:
    """Return settings for a penalty."""
    rng = np.random.default_rng(0)
    near = [settings, *(draw_near(settings, rng) for _ in range(n_runs - 1))]
    return tuple(replace(each, size_weight=weight, seed=settings.seed) for each in near)


EXPERIMENTS: Mapping[str, Experiment[Any]] = {
    "s3-bits": Experiment(
        "classification error of integer models", _bits_parts, _bits, STEERING, STEERING
    ),
    "s3-size": Experiment(
        "classification error of TAN Subset", _size_parts, _size, STEERING, STEERING
    ),
}
"""Experiments by their name in ``bncc reproduce``."""
