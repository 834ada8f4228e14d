"""A tree over the features that changes edge by edge, and the scores of what it may change to."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import isqrt

import numpy as np

from bncc._types import IntArray
from bncc.structure.graph import Structure, forest
from bncc.structure.margin_scores.held_out import HeldOut
from bncc.structure.margin_scores.score import Score, ScoreEngine, Term, score_engine_for

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


MOST_CELLS = 2**22
"""Of the probabilities of a pair, all folds together. A name of each row is no parent or child."""


@dataclass(frozen=True)
class Found:
    """What a search has found."""

    structure: Structure  # The best tree
    score: float  # Its score, in the unit of `Score.value`
    n_evaluations: int  # Scores that were asked for
    last: Structure  # The tree that the search ended with
    last_score: float  # Its score
    lambda_: float  # Of ``mm``, as given or chosen
    n_choosing: int = 0  # Scores that choosing lambda took before


class ScoredTree:
    """
    A forest over the features, and its scores on held-out rows.

    References
    ----------
    S1, section 3.3.
    """

    def __init__(
        self,
        held_out: HeldOut,
        score: Score,
        speed_ups: SpeedUps | None = None,
        engine: str | None = None,
        tables: Tables | None = None,
    ) -> None:
        self.held_out, self.kind = held_out, score
        self.parent = [held_out.n_features] * held_out.n_features
        self.n_evaluations = 0
        self._speed_ups = speed_ups or SpeedUps()
        joint = np.zeros((held_out.n_samples, held_out.n_classes), dtype=np.int32)
        self._engine = score_engine_for(held_out, score, joint, engine)
        self._asked = engine
        self._tables = tables = tables or Tables(held_out, self._speed_ups.table_bytes)
        self._terms = Terms(held_out, self._engine, tables, self._speed_ups.row_bytes)
        self._add_up()

    @cached_property
    def features(self) -> IntArray:
        """Features of several states, but not of so many that two fill memory."""
        most = isqrt(MOST_CELLS // (self.held_out.n_folds * self.held_out.n_classes))
        n_states = np.array(self.held_out.n_states[:-1])
        return np.flatnonzero((n_states > 1) & (n_states <= most))

    @property
    def joint(self) -> IntArray:
        """Log P(c, x) of the rows under the present tree, (n_samples, n_classes) int32."""
        return self._engine.joint.copy()

    def root_of(self, feature: int) -> int:
        """Return the feature without parent that a feature descends from."""
        while self.parent[feature] != self.held_out.n_features:
            feature = self.parent[feature]
        return feature

    def judged_by(self, kind: str) -> "ScoredTree":
        """Return the same tree under another score, with tables in common."""
        score = Score(kind, self.kind.scale, self.kind.lambda_)
        twin = ScoredTree(self.held_out, score, self._speed_ups, self._asked, self._tables)
        twin.become(self.parent)
        return twin

    def is_feasible(self, child: int, parent: int) -> bool:
        """Return whether an edge closes no cycle."""
        while parent != self.held_out.n_features:
            if parent == child:
                return False
            parent = self.parent[parent]
        return True

    def score_with(self, child: int, parent: int, at_least: int | None = None) -> int:
        """Return the score with one edge added or replaced; the tree stays."""
        self.n_evaluations += 1
        if not self._speed_ups.keeps_joint:
            self._add_up()
        is_bounded = self._speed_ups.stops_early and self.kind.kind == "cr"
        out, into = self._terms.get(child, self.parent[child]), self._terms.get(child, parent)
        return self._engine.score(out, into, at_least if is_bounded else None)

    def score_now(self) -> int:
        """Return the score of the present tree."""
        self.n_evaluations += 1
        return int(self.kind.of_rows(self._engine.joint, self.held_out.y).sum())

    def set_parent(self, child: int, parent: int) -> None:
        """Add or replace an edge."""
        self._engine.exchange(
            self._terms.get(child, self.parent[child]), self._terms.get(child, parent)
        )
        self.parent[child] = parent

    def become(self, parents: Sequence[int]) -> None:
        """Take up other edges."""
        self.parent = list(parents)
        self._add_up()

    def structure(self, parents: Sequence[int] | None = None) -> Structure:
        """Return a tree."""
        n = self.held_out.n_features
        given = self.parent if parents is None else parents
        return forest([None if p == n else int(p) for p in given])

    def _add_up(self) -> None:
        joint = self._engine.joint
        joint[:] = self.held_out.prior()[self.held_out.fold]
        for child, parent in enumerate(self.parent):
            joint += self._terms.by_row(child, parent)
