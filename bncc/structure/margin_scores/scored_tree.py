"""A tree over the features that changes edge by edge, and the scores of what it may change to."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import isqrt

import numpy as np

from bncc._types import IntArray
from bncc.structure.graph import Structure, forest
from bncc.structure.margin_scores.engines import score_engine_for
from bncc.structure.margin_scores.held_out import HeldOut
from bncc.structure.margin_scores.score import Score
from bncc.structure.margin_scores.terms import SpeedUps, Tables, Terms

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
