"""
Rows that repeat: all tables' rows taken from one list of codewords.

Rows are sorted to codewords by k-means first, then, while the codewords are trained, each row anew
to that which lowers the loss most.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from bncc._types import FloatArray, IntArray
from bncc.boosting.gradients import Slopes

MEANS_ROUNDS = 20
CAUTION = 0.75
"""Weight of the squares in the loss by which rows change codewords: its second order has 1/2, more
keeps them from going far on the word of a slope."""


@dataclass(frozen=True, eq=False)
class Dictionary:
    """Which codeword each row is."""

    codewords: FloatArray  # (n_codewords, n_classes) float64: Scores
    chosen: IntArray  # (n_rows,) int64: The codeword of each row of all tables


def first_dictionary(
    rows: FloatArray, n_reads: IntArray, n_codewords: int, rng: np.random.Generator
) -> Dictionary:
    """
    Sort rows by k-means; a row weighs as much as samples read it.

    Shapes: `rows` (n_rows, n_classes) float64; `n_reads` (n_rows,) int.
    """
    centered = rows - rows.mean(axis=1, keepdims=True)
    weights = n_reads + 1.0
    n = min(n_codewords, len(rows))
    begin = rng.choice(len(rows), n, replace=False, p=weights / weights.sum())
    codewords = centered[np.sort(begin)]
    chosen = _nearest(centered, codewords)
    for _ in range(MEANS_ROUNDS):
        totals = np.bincount(chosen, weights, n)
        sums = np.stack([np.bincount(chosen, weights * lane, n) for lane in centered.T], axis=1)
        is_used = totals > 0
        codewords[is_used] = sums[is_used] / totals[is_used, None]
        chosen = _nearest(centered, codewords)
    return Dictionary(codewords, chosen)


def _nearest(rows: FloatArray, codewords: FloatArray) -> IntArray:
    apart = (codewords**2).sum(axis=1) - 2.0 * rows @ codewords.T
    return np.asarray(apart.argmin(axis=1))


def reassigned(
    dictionary: Dictionary,
    prior: FloatArray,
    rows: IntArray,
    n_rows: Sequence[int],
    slopes: Slopes,
) -> Dictionary:
    """
    Let each row choose its codeword anew, table by table.

    With slopes G and H of the samples that read it, a row that changes by d changes the loss by
    about ``G . d + H . d**2 / 2``.

    Shapes: `prior` (n_classes,) float64; `rows` (n_samples, n_tables) int.
    """
    codewords = dictionary.codewords
    chosen = dictionary.chosen.copy()
    single = codewords.astype(np.float32)
    sums = np.tile(prior.astype(np.float32), (len(rows), 1))
    for row in rows.T:
        sums += single[chosen[row]]
    begin = 0
    for row, n in zip(rows.T, n_rows, strict=True):
        gradient, curvature = slopes.by_row(slopes.of(sums), row - begin, n)
        old = chosen[begin : begin + n]
        # G . d + CAUTION H . d**2 up to what is the same for all codewords, d being new - old.
        pull = gradient - 2.0 * CAUTION * curvature * codewords[old]
        change = pull @ codewords.T + CAUTION * curvature @ (codewords**2).T
        new = change.argmin(axis=1)
        sums += (single[new] - single[old])[row - begin]
        chosen[begin : begin + n] = new
        begin += n
    return Dictionary(codewords, chosen)
