"""
Sums of a term over the cells of all tables of at most two features, with and without the class.

Conditional information, BDeu and BIC are differences of such sums, so that one count of the pairs
serves all of them and every equivalent sample size.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from scipy.special import gammaln

from bncc._types import FloatArray, IntArray
from bncc.structure.counts import class_counts
from bncc.structure.pair_counts import PairBlock, pair_blocks, single_tables

Term = Callable[[IntArray, int], FloatArray]
"""``term(counts, n_cells)`` is the term of each cell, of the same shape as counts, in a table of
n_cells cells; 0 for a count of 0."""

LISTED_COUNTS = 1 << 16
"""Terms of smaller counts are looked up in a list, as at most N / 65536 cells have larger ones."""


@dataclass(frozen=True, eq=False)
class TableSums:
    """Sums of one term, by the variables of the table."""

    none: float  # Over the one cell of N
    of_class: float  # Over N(c)
    single: FloatArray  # (n,) float64: Over N(x_i)
    single_class: FloatArray  # (n,) float64: Over N(x_i, c)
    # (n, n) float64 or None: Over N(x_i, x_j); symmetric, the diagonal is 0. None where it was not
    # asked for.
    pair: FloatArray | None
    pair_class: FloatArray  # (n, n) float64: Over N(x_i, x_j, c); symmetric, the diagonal is 0


def table_sums(
    X: IntArray,
    y: IntArray,
    n_states: Sequence[int],
    n_classes: int,
    terms: Sequence[Term],
    *,
    with_marginal: bool = True,
) -> tuple[TableSums, ...]:
    """
    Count all pairs once, and sum every term over their tables.

    Shapes: `X` (n_samples, n_features) int; `y` (n_samples,) int.
    """
    singles = single_tables(X, y, n_states, n_classes)
    blocks = pair_blocks(X, y, n_states, n_classes, with_marginal=with_marginal)
    of_class = class_counts(y, n_classes)
    return sum_tables(of_class, singles, blocks, terms, with_marginal=with_marginal)


def sum_tables(
    of_class: IntArray,
    singles: Iterable[IntArray],
    blocks: Iterable[PairBlock],
    terms: Sequence[Term],
    *,
    with_marginal: bool = True,
) -> tuple[TableSums, ...]:
    """
    Sum every term over tables that are counted already.

    Shapes: `of_class` (n_classes,) int64.
    """
    tables = list(singles)
    n = len(tables)
    with_class = [np.zeros((n, n)) for _ in terms]
    without = [np.zeros((n, n)) for _ in terms if with_marginal]
    for block in blocks:
        for term, sums in zip(terms, with_class if block.has_class else without, strict=True):
            _add(sums, block, term)
    return tuple(
        TableSums(
            float(term(of_class.sum(keepdims=True), 1).sum()),
            float(term(of_class, len(of_class)).sum()),
            np.array([term(table.sum(axis=1), len(table)).sum() for table in tables]),
            np.array([term(table, table.size).sum() for table in tables]),
            without[t] if with_marginal else None,
            with_class[t],
        )
        for t, term in enumerate(terms)
    )


def _add(sums: FloatArray, block: PairBlock, term: Term) -> None:
    total = term(block.counts, block.n_cells).sum(axis=(1, 3))
    if block.left is block.right:
        np.fill_diagonal(total, 0.0)
    else:
        sums[block.right[:, None], block.left] += total.T
    sums[block.left[:, None], block.right] += total


def log_gamma_term(alpha: float) -> Term:
    r"""Return BDeu's term :math:`\ln\Gamma(\alpha/m + k) - \ln\Gamma(\alpha/m)` of m cells."""

    def log_gamma(k: IntArray, n_cells: int) -> FloatArray:
        return np.asarray(gammaln(k + alpha / n_cells) - gammaln(alpha / n_cells))

    return _listed(log_gamma)


def log_likelihood_term() -> Term:
    r"""Return the term of likelihood and information: :math:`k \ln k`."""

    def x_log_x(k: IntArray, n_cells: int) -> FloatArray:
        return np.asarray(k * np.log(np.maximum(k, 1)))

    by_count = _listed(x_log_x)
    return lambda counts, n_cells: by_count(counts, 1)


def _listed(term: Term) -> Term:
    """Return a term that looks up small counts, in lists of half a megabyte that grow on demand."""

    @lru_cache(maxsize=32)
    def listed(n_cells: int, length: int) -> FloatArray:
        return term(np.arange(length), n_cells)

    def of_counts(counts: IntArray, n_cells: int) -> FloatArray:
        greatest = int(counts.max(initial=0))
        # Powers of two, so that blocks of like size share a list.
        length = min(1 << greatest.bit_length(), LISTED_COUNTS)
        if length > counts.size:
            return term(counts, n_cells)
        values = listed(n_cells, length)
        if greatest < length:
            return values[counts]
        is_small = counts < length
        found = values[np.where(is_small, counts, 0)]
        found[~is_small] = term(counts[~is_small], n_cells)
        return found

    return of_counts
