"""The table of a variable from what its block in a BIF file says."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod

import numpy as np

from bncc._types import FloatArray
from bncc.network.bif_scanner import Item, Scanner
from bncc.network.network import TOLERANCE

ROUNDING = 1e-2
"""How far the sum of a file's row may be from 1; files carry rounded numbers."""


@dataclass(frozen=True)
class Header:
    """Whose table a block holds."""

    own: Item  # The variable; with parents where neither commas nor a bar tell them apart
    parents: tuple[Item, ...]  # Its parents
    position: int  # Where in the text

    def resolve(self, scanner: Scanner, place: Mapping[str, int]) -> tuple[int, tuple[int, ...]]:
        """Return the variable and its parents."""
        names: list[str] = []
        for item in (self.own, *self.parents):
            whole = item.is_quoted or item.text in place
            names += [item.text] if whole else item.text.split()
        for name in names:
            if name not in place:
                scanner.fail(f"variable '{name}' is not described; add it", self.position)
        if names[0] in names[1:]:
            scanner.fail(f"'{names[0]}' is its own parent; leave it out", self.position)
        for k, name in enumerate(names):
            if name in names[:k]:
                what = f"'{names[0]}' has the parent '{name}' twice; keep one"
                scanner.fail(what, self.position)
        own, *parents = (place[name] for name in names)
        return own, tuple(parents)


@dataclass(frozen=True)
class Rows:
    """The statements of a block, each with its place in the text."""

    named: list[tuple[list[Item], list[float], int]]  # Rows after the states of the parents
    plain: list[tuple[str, list[float], int]]  # What follows ``table`` and ``default``


def table_of(
    scanner: Scanner,
    header: Header,
    rows: Rows,
    own: Sequence[str],
    parents: Sequence[Sequence[str]],
) -> FloatArray:
    """
    Return the table that statements fill.

    Shapes: returns (n_rows, n_states) float64, rows that add up to 1.
    """
    n_rows, r = prod(map(len, parents)), len(own)
    table = np.zeros((n_rows, r))
    is_known = np.zeros(n_rows, dtype=bool)
    is_seen = {"default": False, "table": False}
    for keyword, values, position in sorted(rows.plain, key=lambda statement: statement[0]):
        if is_seen[keyword]:
            scanner.fail(f"a second '{keyword}' stands here; keep one", position)
        is_seen[keyword], by_table = True, keyword == "table"
        if len(values) != (n_rows * r if by_table else r):
            _fail_length(scanner, values, n_rows * r if by_table else r, position)
        table[:] = np.reshape(values, (r, n_rows)).T if by_table else values
        is_known[:] = by_table
    places = [{state: k for k, state in enumerate(states)} for states in parents]
    for labels, values, position in rows.named:
        row = _row(scanner, labels, places, position)
        if is_known[row]:
            scanner.fail("this row is given twice; keep one", position)
        if len(values) != r:
            _fail_length(scanner, values, r, position)
        table[row], is_known[row] = values, True
    if not (is_known.all() or is_seen["default"]):
        which = _labels(int(np.flatnonzero(~is_known)[0]), parents)
        scanner.fail(f"the row {which} is absent; add it or a default", header.position)
    return _normalized(scanner, header, table, parents)


def _row(
    scanner: Scanner, labels: list[Item], places: Sequence[Mapping[str, int]], position: int
) -> int:
    names = [item.text for item in labels]
    if len(labels) != len(places):
        names = [w for i in labels for w in ([i.text] if i.is_quoted else i.text.split())]
    if len(names) != len(places):
        scanner.fail(
            f"{len(names)} states stand here for {len(places)} parents; name one of each", position
        )
    row = 0
    for name, place in zip(names, places, strict=True):
        if name not in place:
            scanner.fail(f"no parent here has the state '{name}'; use a state's name", position)
        row = row * len(place) + place[name]
    return row


def _normalized(
    scanner: Scanner, header: Header, table: FloatArray, parents: Sequence[Sequence[str]]
) -> FloatArray:
    """Return a table with rows divided by their sums where these are off by more than rounding."""
    sums = table.sum(axis=1)
    off = np.abs(sums - 1)
    worst = int(off.argmax())
    if off[worst] > ROUNDING:
        row = f"row {_labels(worst, parents)}" if parents else "table"
        scanner.fail(f"the {row} adds up to {sums[worst]:g}; make it 1", header.position)
    return np.where((off > TOLERANCE)[:, np.newaxis], table / sums[:, np.newaxis], table)


def _labels(row: int, parents: Sequence[Sequence[str]]) -> str:
    states = np.unravel_index(row, [len(of_parent) for of_parent in parents])
    return f"({', '.join(p[int(k)] for p, k in zip(parents, states, strict=True))})"


def _fail_length(scanner: Scanner, values: Sequence[float], n: int, position: int) -> None:
    scanner.fail(f"{len(values)} numbers stand here and {n} are needed; make them agree", position)
