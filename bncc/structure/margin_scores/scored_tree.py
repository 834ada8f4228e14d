"""A tree over the features that changes edge by edge, with scores of candidate changes."""

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
"""Cache size for tables; beyond it they are counted again."""
MOST_ROW_BYTES = 2**26
"""Cache size for terms by row; beyond it they are gathered from tables in about the same time."""

BYTES_BESIDE = 700
"""Approximate overhead of a cached array in Python and C."""


@dataclass(frozen=True)
class SpeedUps:
    """
    Methods of faster scoring, none of which changes a score that affects a decision.

    References
    ----------
    S1, section 3.3, items 1 to 4.
    """

    # Early stopping of the classification rate: rows misclassified before are read first, and
    # reading ends once the required score is out of reach. Other scores always read all rows.
    stops_early: bool = True
    keeps_joint: bool = True  # The joint is cached, and the term of the changed feature replaced
    # Cache size for probabilities of pairs; 0 counts them each time
    table_bytes: int = MOST_TABLE_BYTES
    # Cache size for terms by row, the table T of S1; 0 gathers all from tables
    row_bytes: int = MOST_ROW_BYTES


class _Store:
    """Cache of arrays by pair, within a size limit."""

    def __init__(self, most_bytes: int) -> None:
        self._left, self._kept = most_bytes, dict[tuple[int, int], IntArray]()

    def get(self, pair: tuple[int, int], make: Callable[[int, int], IntArray]) -> IntArray | None:
        """Return an array; None if it is neither cached nor would fit."""
        found = self._kept.get(pair)
        if found is None and self._left > 0:
            found = make(*pair)
            self._left -= found.nbytes + BYTES_BESIDE
            self._kept[pair] = found
        return found


class Tables:
    """Probabilities of all pairs, shared by trees with different scores."""

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
        Return the term of a pair in each row.

        Shapes: returns (n_samples, n_classes) int32, in units of ``1 / scale`` nats.
        """
        return self._held_out.by_row(child, parent, self._tables.get(child, parent)[0])


MOST_CELLS = 2**22
"""Limit on the probabilities of a pair over all folds; excludes row identifiers."""


@dataclass(frozen=True)
class Found:
    """Result of a search."""

    structure: Structure  # The best tree
    score: float  # Its score, in the unit of `Score.value`
    n_evaluations: int  # Number of scores computed
    last: Structure  # Final tree of the search
    last_score: float  # Its score
    lambda_: float  # Scale of ``mm``, as given or chosen
    n_choosing: int = 0  # Scores computed for the choice of lambda


class ScoredTree:
    """
    A forest over the features, and its scores on validation rows.

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
        """Features with several states, excluding those whose pairs would fill memory."""
        most = isqrt(MOST_CELLS // (self.held_out.n_folds * self.held_out.n_classes))
        n_states = np.array(self.held_out.n_states[:-1])
        return np.flatnonzero((n_states > 1) & (n_states <= most))

    @property
    def joint(self) -> IntArray:
        """Log P(c, x) of the rows under the current tree, (n_samples, n_classes) int32."""
        return self._engine.joint.copy()

    def root_of(self, feature: int) -> int:
        """Return the root ancestor of a feature."""
        while self.parent[feature] != self.held_out.n_features:
            feature = self.parent[feature]
        return feature

    def judged_by(self, kind: str) -> "ScoredTree":
        """Return the same tree under another score, with shared tables."""
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
        """Return the score with one edge added or replaced, without changing the tree."""
        self.n_evaluations += 1
        if not self._speed_ups.keeps_joint:
            self._add_up()
        is_bounded = self._speed_ups.stops_early and self.kind.kind == "cr"
        out, into = self._terms.get(child, self.parent[child]), self._terms.get(child, parent)
        return self._engine.score(out, into, at_least if is_bounded else None)

    def score_now(self) -> int:
        """Return the score of the current tree."""
        self.n_evaluations += 1
        return int(self.kind.of_rows(self._engine.joint, self.held_out.y).sum())

    def set_parent(self, child: int, parent: int) -> None:
        """Add or replace an edge."""
        self._engine.exchange(
            self._terms.get(child, self.parent[child]), self._terms.get(child, parent)
        )
        self.parent[child] = parent

    def become(self, parents: Sequence[int]) -> None:
        """Replace all edges."""
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
