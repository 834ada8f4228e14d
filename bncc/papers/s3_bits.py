"""Figures 3 and 6 of S3: error of integer models over the bits of a cost."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from bncc.papers.folds import FILES, Fold, read_folds, rows_at
from bncc.papers.request import Advance, Cell, Effort, Request, part_of, selection
from bncc.papers.s0_table1 import BATCH_SIZES, OUR_MNIST, PAPER
from bncc.papers.search import explore
from bncc.train.options import MAX_BITS, MIN_BITS
from bncc.train.settings import TrainSettings

STRUCTURES = {"NB": "naive", "TAN": "chow-liu"}
"""S3's TAN is the best of S0's search of structures, which was chosen on test rows; ours is the
Chow-Liu tree of the training rows."""
IN_FLOATS = {"NB": "NB HYB", "TAN": "Chow-Liu HYB"}
"""Columns of S0's table 1 with the paper's errors in floats. S3's figures carry no numbers."""
BITS: Sequence[int | None] = (None, *range(MIN_BITS, MAX_BITS + 1))
"""None are floats, the horizontal lines of figure 6."""

INT_BITS = (2, 3, 4, 5)
"""B_I to begin with, whatever B: below it, B_F is negative. S3 has 1 and 6 too."""
LOG_LR = (-2.0, -0.4)
"""Range of the decimal logarithm of Adam's step, wider than that of floats: of hybrid trials on
letter with 2 or 3 bits, 9 of 13 at 0.3 were among the best fifth, and 1 of 19 at 0.003."""
QUANTIZE_FROM = (0.0, 0.25, 0.5)
"""Of 1,044 trials of naive Bayes with 1 to 3 bits on letter, usps and satimage, the best on
validation rows lay within these for each set and number of bits. Three times as many epochs gained
nothing on letter."""
RESTARTS = 5
"""How often the best learn again from all training rows; the one that errs least on these is kept.
On rows held out of them (five splits, six seeds each) errors correlate with those of the fit by
0.48 and 0.51 for two settings on letter with 3 bits, and the best fit of five errs 0.29 and 0.09
points less than the mean; usps with 2 bits: 0.08 and 0.00; satimage with 1 bit: 0.13 and 0.21, of
splits from -0.42 to 1.59. So it is worth something on letter, and nothing sure on the others."""
RUNS_AND_EPOCHS = {
    "letter": (250, 100), "satimage": (250, 60), "usps": (250, 60), "mnist": (24, 40),
}  # fmt: skip
"""Settings tried per cell, and passes over the rows for each: more runs than for S0's
table, because more is drawn."""
QUICK_RUNS = 30
"""The same in minutes."""


def column_of(family: str, bits: int | None) -> str:
    """Return the name of a column."""
    if bits is None:
        return f"{family} float"
    return f"{family} {bits} bit{'s' if bits > 1 else ''}"


COLUMNS = {column_of(family, bits): (family, bits) for family in STRUCTURES for bits in BITS}


def s3_bits(request: Request, advance: Advance | None = None) -> tuple[Cell, ...]:
    """
    Repeat figures 3 and 6 of S3: test errors over B = 1 .. 8, and in floats.

    For each cell settings are drawn, B_I among them. Those of least error on validation rows
    learn from all training rows, and the error of their integer model on the test rows is ours.
    """
    quick = tuple(column for column, (family, _) in COLUMNS.items() if family == "NB")
    known = tuple(FILES), tuple(COLUMNS)
    rows, columns = selection("s3-bits", request, known, (("letter",), quick))
    rows = rows_at(request.data_dir, rows, request.rows)
    effort = request.effort
    if request.quick:
        effort = replace(effort, n_runs=effort.n_runs or QUICK_RUNS)
    cells: list[Cell] = []
    for row in rows:
        folds = read_folds(request.data_dir, row)
        for column in columns:
            tell = part_of(advance, len(cells), len(rows) * len(columns), f"{row} {column}")
            tell(0.0, "")
            cells.append(_cell(row, column, folds, effort, tell))
    return tuple(cells)


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


def _cell(row: str, column: str, folds: Sequence[Fold], effort: Effort, advance: Advance) -> Cell:
    family, bits = COLUMNS[column]
    n_runs, epochs = effort.of(*RUNS_AND_EPOCHS[row])
    base = TrainSettings(
        structure=STRUCTURES[family], float_=True, epochs=epochs, batch_size=BATCH_SIZES[row]
    )
    if bits is None:
        found = explore(folds, base, n_runs, effort, advance)
    else:
        varied = partial(in_bits, bits=bits)
        found = explore(folds, base, n_runs, effort, advance, varied=varied, n_restarts=RESTARTS)
    q_format = None
    notes = [found.note, *([OUR_MNIST] if row == "mnist" else [])]
    if bits is not None and found.settings.int_bits is not None:
        int_bits = found.settings.int_bits
        q_format = {"int_bits": int_bits, "frac_bits": bits - int_bits}
        notes.insert(0, f"UQ{int_bits}.{bits - int_bits}")
    return {
        "row": row,
        "column": column,
        "paper": PAPER[row][IN_FLOATS[family]] if bits is None else None,
        "ours": 100 * found.test,
        "n": sum(len(fold.y_test) for fold in folds),
        "note": "; ".join(notes),
        "bits": bits,
        "q_format": q_format,
        "entries": round(float(np.mean(found.entries))),
        "operations": folds[0].n_classes * (1 + len(folds[0].n_states)),
    }
