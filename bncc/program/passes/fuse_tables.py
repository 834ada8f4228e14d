"""
Fuse small tables into one over the features of both.

Rewrites: adds two tables, row by row of their joint states, and normalizes the sums; again, so
    long as the joint states are few.
Margins stay: a decision reads the one row that is the sum of the two that it read before;
    normalizing subtracts one number from all classes.
Fires: when the tables share a feature, or neither shares one with any other. So what was a forest
    stays one, of groups of features, and range analysis stays exact. Tables with state maps stay
    apart, for rows of all joint states would be many times as many.
Saves: a look-up and its additions per decision, for flash.
"""

from collections.abc import Iterable, Sequence
from heapq import heappop, heappush
from itertools import count

from bncc.program.ir import Program, n_rows, with_tables
from bncc.program.tables import fused

MOST_ENTRIES = 60_000
"""Costs of all tables at most, of a byte each: what an AVR holds; else no more than before."""


def fuse_tables(program: Program, most_rows: int) -> Program:
    """Add tables up, those of fewest joint states first."""
    singles = [[t] for t in range(len(program.tables))]
    groups = _groups(program, most_rows)
    while _n_entries(program, groups) > max(MOST_ENTRIES, _n_entries(program, singles)):
        most_rows //= 2
        groups = _groups(program, most_rows)
    if len(groups) == len(program.tables):
        return program
    tables = [
        program.tables[group[0]]
        if len(group) == 1
        else fused(program, [program.tables[t] for t in group])
        for group in groups
    ]
    return with_tables(program, tables, program.prior)


def _n_entries(program: Program, groups: Iterable[Sequence[int]]) -> int:
    """Return the costs of all tables when groups of them become one."""
    return program.n_classes * sum(_n_rows(program, group) for group in groups)


def _n_rows(program: Program, group: Sequence[int]) -> int:
    """Return the rows of a table, or of the one that several become."""
    if len(group) == 1:
        return len(program.tables[group[0]].costs)
    return n_rows({f for t in group for f in program.tables[t].features}, program.n_states)


def _groups(program: Program, most_rows: int) -> list[list[int]]:
    """Return which tables become one."""
    members = {t: [t] for t, table in enumerate(program.tables) if table.is_plain}
    features = {t: frozenset(program.tables[t].features) for t in members}
    readers: dict[int, set[int]] = {}
    for t, some in features.items():
        for f in some:
            readers.setdefault(f, set()).add(t)
    near = {t: set().union(*(readers[f] for f in some)) - {t} for t, some in features.items()}
    queue: list[tuple[int, int, int]] = []

    def push(pairs: Iterable[tuple[int, int]]) -> None:
        for a, b in pairs:
            rows = n_rows(features[a] | features[b], program.n_states)
            if rows <= most_rows:
                heappush(queue, (rows, a, b))

    push((a, b) for a in near for b in near[a] if a < b)
    numbers = count(len(program.tables))
    while queue:
        _, a, b = heappop(queue)
        if a in members and b in members:
            new = next(numbers)
            members[new] = members.pop(a) + members.pop(b)
            features[new] = features[a] | features[b]
            near[new] = (near.pop(a) | near.pop(b)) - {a, b}
            for other in near[new]:
                near[other] = near[other] - {a, b} | {new}
            push((other, new) for other in near[new])
    alone = [(n_rows(features[g], program.n_states), members[g]) for g in members if not near[g]]
    joined = [members[g] for g in members if near[g]]
    mapped = [[t] for t, table in enumerate(program.tables) if not table.is_plain]
    return sorted(sorted(group) for group in mapped + joined + _bins(alone, most_rows))


def _bins(alone: Iterable[tuple[int, list[int]]], most_rows: int) -> list[list[int]]:
    """Put groups that share no feature together: the largest first, each where it fits first."""
    rows: list[int] = []
    bins: list[list[int]] = []
    for size, group in sorted(alone, key=lambda each: -each[0]):
        k = next((k for k, n in enumerate(rows) if n * size <= most_rows), len(rows))
        if k == len(rows):
            rows.append(size)
            bins.append(group)
        else:
            rows[k] *= size
            bins[k] = bins[k] + group
    return bins
