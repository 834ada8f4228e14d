"""The grid of one table: cut after cut, where a cut gains most for the rows that it adds."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod

import numpy as np

from bncc._types import AnyArray, IntArray
from bncc.boosting.bins import Bins
from bncc.boosting.cuts import BestCuts
from bncc.structure.decision_tables import Grid

LEAST_GAIN = 1e-6
"""Of twice the loss: less is nothing but rounding."""

Chosen = Mapping[int, Sequence[int]]
"""Ascending bins by feature, features ascending: where the table is cut so far."""


@dataclass(frozen=True)
class Bounds:
    """What a table may be."""

    rows: int  # Most rows
    features: int  # Most features
    # How much a cut's gain counts for less where it adds more rows: by their share in those before,
    # to this power
    size_exponent: float


def grow(
    bins: Bins, slopes: AnyArray, features: IntArray, bounds: Bounds, best_cuts: BestCuts
) -> tuple[Grid | None, IntArray]:
    """
    Grow one table.

    Shapes: `slopes` (n_samples, 2 * n_classes) float32; `features` (m,) int; returns cells
    (n_samples,) int64, the rows of the samples.
    """
    chosen: dict[int, list[int]] = {}
    cells: IntArray = np.zeros(len(slopes), dtype=np.int64)
    while True:
        n_rows = _n_rows(chosen)
        shares = _shares(chosen, features, bounds)
        if not shares:
            break
        cuts = best_cuts(slopes, cells, n_rows, np.array(list(shares)))
        scores = [cut.gain / shares[cut.feature] ** bounds.size_exponent for cut in cuts]
        if not scores or max(scores) < LEAST_GAIN:
            break
        best = cuts[int(np.argmax(scores))]
        chosen[best.feature] = sorted([*chosen.get(best.feature, ()), best.bin])
        chosen = dict(sorted(chosen.items()))
        cells = _cells(bins, chosen)
    if not chosen:
        return None, cells
    cuts_of = tuple(tuple(bins.cuts[f][chosen[f]].tolist()) for f in chosen)
    return Grid(tuple(chosen), cuts_of), cells


def _n_rows(chosen: Chosen) -> int:
    return prod(len(cuts) + 1 for cuts in chosen.values())


def _shares(chosen: Chosen, features: IntArray, bounds: Bounds) -> dict[int, float]:
    """Return by feature what share of the rows one more cut adds, for those that it may cut."""
    n_rows = _n_rows(chosen)
    is_full = len(chosen) == bounds.features
    levels = {
        f: len(chosen.get(f, ())) + 1 for f in features.tolist() if f in chosen or not is_full
    }
    return {f: 1.0 / n for f, n in levels.items() if n_rows + n_rows // n <= bounds.rows}


def _cells(bins: Bins, chosen: Chosen) -> IntArray:
    """Return the row of every sample: levels in mixed radix, the first feature outermost."""
    cells = np.zeros(bins.codes.shape[1], dtype=np.int64)
    for f, cuts in chosen.items():
        level = np.searchsorted(cuts, np.arange(len(bins.cuts[f]) + 1), side="left")
        cells = cells * (len(cuts) + 1) + level[bins.codes[f]]
    return cells
