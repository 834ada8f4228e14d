"""Terms of features under their parents: computed when first asked for, and kept within bounds."""

from collections.abc import Callable
from dataclasses import dataclass

from bncc._types import IntArray
from bncc.structure.margin_scores.engine import ScoreEngine, Term
from bncc.structure.margin_scores.held_out import HeldOut

MOST_TABLE_BYTES = 2**29
"""Of kept tables; those beyond are counted anew."""
MOST_ROW_BYTES = 2**26
"""Of kept terms by row; those beyond are gathered from tables, which takes about as long."""

BYTES_BESIDE = 700
"""Of a kept array, about: what Python and C hold of it."""


@dataclass(frozen=True)
class SpeedUps:
    """
    Which of the ways to faster scores are taken; none changes a score that decides.

    References
    ----------
    S1, section 3.3, items 1 to 4.
    """

    # Of the classification rate: rows misclassified before are read first, and reading ends when
    # the score cannot be reached any more. Other scores are read to their end.
    stops_early: bool = True
    keeps_joint: bool = True  # The joint is kept, and the term of the changed feature exchanged
    # Of probabilities of pairs that are kept; 0 counts them each time
    table_bytes: int = MOST_TABLE_BYTES
    # Of terms that are kept by row, the table T of S1; 0 gathers all from tables
    row_bytes: int = MOST_ROW_BYTES


class _Store:
    """Arrays by pair, as long as they fit."""

    def __init__(self, most_bytes: int) -> None:
        self._left, self._kept = most_bytes, dict[tuple[int, int], IntArray]()

    def get(self, pair: tuple[int, int], make: Callable[[int, int], IntArray]) -> IntArray | None:
        """Return an array; None if it is neither kept nor would fit."""
        found = self._kept.get(pair)
        if found is None and self._left > 0:
            found = make(*pair)
            self._left -= found.nbytes + BYTES_BESIDE
            self._kept[pair] = found
        return found


class Tables:
    """The probabilities of all pairs, which trees of several scores share."""

    def __init__(self, held_out: HeldOut, most_bytes: int = MOST_TABLE_BYTES) -> None:
        self.held_out, self._store = held_out, _Store(most_bytes)

    def get(self, child: int, parent: int) -> tuple[IntArray, bool]:
        """Return a table."""
        kept = self._store.get((child, parent), self.held_out.table)
        return (self.held_out.table(child, parent), False) if kept is None else (kept, True)


class Terms:
    """The terms of all pairs, for one engine."""

    def __init__(
        self, held_out: HeldOut, engine: ScoreEngine, tables: Tables, row_bytes: int
    ) -> None:
        self._held_out, self._engine, self._tables = held_out, engine, tables
        self._rows, self._terms = _Store(row_bytes), dict[tuple[int, int], Term]()

    def get(self, child: int, parent: int) -> Term:
        """Return a term."""
        pair = child, parent
        if pair in self._terms:
            return self._terms[pair]
        values = self._rows.get(pair, self.by_row)
        is_kept, by_row = values is not None, values is not None
        if values is None:
            values, is_kept = self._tables.get(*pair)
        term = self._engine.term(child, parent, values, by_row=by_row)
        if is_kept:
            self._terms[pair] = term
        return term

    def by_row(self, child: int, parent: int) -> IntArray:
        """
        Return what a term adds to each row.

        Shapes: returns (n_samples, n_classes) int32, in units of ``1 / scale`` nats.
        """
        return self._held_out.by_row(child, parent, self._tables.get(child, parent)[0])
