r"""
Table operations for passes: moving offsets, fusion, and size.

Offsets of classes: how far a shift of columns lets the entries of a table shrink.

With offsets d the rows of a table T become ``T[r] - d``, less their minimum. Then an entry is how
much more class c costs than class k in one row, so the largest one is

.. math:: \max_{c,k} \; G[c,k] - (d[c] - d[k]), \qquad G[c,k] = \max_r T[r,c] - T[r,k].

It is at most m exactly if ``d[c] - d[k] >= G[c,k] - m`` for all pairs of classes: a system of
difference constraints, which has a solution, and then an integer one, unless a cycle of classes
asks for more than nothing. The least m is therefore the largest mean of G over a cycle, rounded
up: Karp's algorithm finds it, and Bellman and Ford's the offsets. All functions here work on many
tables at a time, along the leading axes.

When one program is better than another: what a pass that could go either way asks.

Lanes are widened the more often, the larger the entries of each table are; so entries count by the
bit, table by table, and behind that by their value. In flash all entries have one width, or every
different row is stored once behind an index: neither may make a program larger. Sums count by the
bit: that is what the width of the last lanes follows. A prior counts as it is stored.
"""

from collections.abc import Sequence

import numpy as np

from bncc._types import IntArray
from bncc.program.ir import Program, Table, expanded, width_of
from bncc.program.ranges import largest_cost

MOST_DIFFERENCES = 2**20
"""Differences of costs that are held at a time."""


def gaps(costs: IntArray) -> IntArray:
    """
    Return by how much one class costs more than another in any row.

    Shapes: `costs` (..., n_rows, n_classes) int64; returns (..., n_classes, n_classes) int64,
    ``gaps[c, k]`` is the maximum of ``costs[r, c] - costs[r, k]``; its largest entry is that of the
    table with normalized rows.
    """
    *_, n_rows, n_classes = costs.shape
    n_together = max(1, MOST_DIFFERENCES * n_rows // (costs.size * n_classes))
    most = []
    for first in range(0, n_rows, n_together):
        rows = costs[..., first : first + n_together, :]
        most.append((rows[..., :, None] - rows[..., None, :]).max(axis=-3))
    return np.asarray(np.maximum.reduce(most))


def least_spread(gap: IntArray) -> IntArray:
    """
    Return the smallest largest entry that offsets can reach.

    Shapes: `gap` (..., n_classes, n_classes) int64.
    """
    of_two = -(-(gap + np.swapaxes(gap, -1, -2)).max(axis=(-2, -1)) // 2)
    start = np.zeros(gap.shape[:-1], dtype=np.int64)
    if offsets_below(gap - of_two[..., None, None], start) is not None:
        return np.asarray(of_two)
    return _largest_mean(gap)


def _largest_mean(gap: IntArray) -> IntArray:
    """
    Return the largest mean over a cycle, rounded up, by Karp's algorithm.

    With F_k[v] the longest walk of k steps to v, it is the maximum over v of the minimum over k of
    ``(F_n[v] - F_k[v]) / (n - k)``.
    """
    n = gap.shape[-1]
    walks = [np.zeros(gap.shape[:-1], dtype=np.int64)]
    for _ in range(n):
        walks.append((gap + walks[-1][..., None, :]).max(axis=-1))
    means = np.stack([-((walks[k] - walks[n]) // (n - k)) for k in range(n)])
    return np.asarray(means.min(axis=0).max(axis=-1))


def offsets_below(least: IntArray, start: IntArray) -> IntArray | None:
    """
    Return the largest offsets that keep all differences and do not exceed where they start.

    Shapes: `least` (..., n_classes, n_classes) int64; `start` (..., n_classes) int64; returns (...,
    n_classes) int64 or None, of all solutions one nearest to the start: ``start - d`` has the least
    spread over the classes (it is the tropical projection).
    """
    d = start
    for _ in range(least.shape[-1]):
        lower = np.minimum(d, (d[..., None] - least).min(axis=-2))
        if np.array_equal(lower, d):
            return d
        d = lower
    return None


def normalized(costs: IntArray) -> IntArray:
    """
    Return rows less their minimum over the classes.

    Shapes: `costs` (..., n_classes) int64; returns (..., n_classes) int64, rows whose smallest cost
    is zero.
    """
    return np.asarray(costs - costs.min(axis=-1, keepdims=True))


def fused(program: Program, tables: Sequence[Table]) -> Table:
    """Add tables up, row by row of their joint states."""
    features = tuple(dict.fromkeys(f for table in tables for f in table.features))
    total: IntArray = np.zeros(program.n_classes, dtype=np.int64)
    for table in (expanded(table, program.n_states) for table in tables):
        states = [program.n_states[f] for f in table.features]
        read = [f for f in features if f in table.features]
        costs = table.costs.reshape(*states, program.n_classes)
        costs = costs.transpose(*(table.features.index(f) for f in read), -1)
        shape = [program.n_states[f] if f in read else 1 for f in features]
        total = total + costs.reshape(*shape, program.n_classes)
    name = ", ".join(table.name for table in tables)
    return Table(name, features, normalized(total.reshape(-1, program.n_classes)))


def packed_bits(program: Program) -> int:
    """Return the bits of all costs when each table's take no more than its largest needs."""
    bits = [table.costs.size * int(table.costs.max()).bit_length() for table in program.tables]
    return sum(bits) + prior_bits(program)


def prior_bits(program: Program) -> int:
    """Return the bits of a prior as it is stored."""
    if not program.prior.any():
        return 0
    return program.prior.size * width_of(int(program.prior.max()))


def flash_bits(program: Program) -> int:
    """Return the bits of all tables in the smaller of two forms."""
    rows = np.concatenate([table.costs for table in program.tables])
    n_different = len(np.unique(rows, axis=0))
    row_bits = program.n_classes * int(rows.max()).bit_length()
    shared = n_different * row_bits + len(rows) * width_of(n_different - 1)
    return min(len(rows) * row_bits, shared)


def sum_bits(program: Program) -> int:
    """Return how many bits the sums need."""
    return largest_cost(program).bit_length()


def improves(after: Program, before: Program) -> bool:
    """Return whether a program is better than another of equal margins."""
    return (
        _entries(after) < _entries(before)
        and flash_bits(after) <= flash_bits(before)
        and sum_bits(after) <= sum_bits(before)
    )


def _entries(program: Program) -> tuple[int, int]:
    return packed_bits(program), sum(int(table.costs.max()) for table in program.tables)
