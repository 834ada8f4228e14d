"""Hill climbing and tabu search over directed acyclic graphs."""

from collections import deque
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from bncc._types import BoolArray, FloatArray
from bncc.progress import Progress, silence
from bncc.structure.dags.dag_score import Dag, DagScore, arcs_of, no_arcs
from bncc.structure.scores import NEGLIGIBLE_NATS

KINDS = ("add", "delete", "reverse")


class Move(NamedTuple):
    """A change of one arc."""

    kind: str  # Addition, deletion or reversal
    child: int  # Head of the arc, before a reversal
    parent: int  # Tail of the arc
    gain: float  # Change of the score, in nats


class Moves:
    """
    A graph under search, with the gains of its neighbors.

    Row i of the gains holds the gain for variable i alone from one more parent, or from one parent
    less. The gain of a reversal is the sum of two entries, so a move updates one or two rows.

    Shapes: `allowed` (n_variables, n_variables) bool.
    """

    def __init__(self, score: DagScore, allowed: BoolArray, start: Dag | None = None) -> None:
        n = score.columns.n_variables
        self._score = score
        self._allowed = allowed & ~np.eye(n, dtype=bool)
        self._parents = [list(parents) for parents in start or no_arcs(n)]
        self._has = np.zeros((n, n), dtype=bool)
        for i, parents in enumerate(self._parents):
            self._has[i, parents] = True
        self._gains = np.full((n, n), -np.inf)
        for i in range(n):
            self._renew(i)
        self._far = far_ancestors_of(self._has)

    @property
    def dag(self) -> Dag:
        """The current graph."""
        return tuple(tuple(sorted(parents)) for parents in self._parents)

    def gains(self) -> FloatArray:
        """
        Return the gain of each move.

        Shapes: returns (3, n_variables, n_variables) float64, by kind, child and parent; -inf where
        a move is impossible or creates a cycle.
        """
        has, far = self._has, self._far
        add = np.where(has | (has | far).T, -np.inf, self._gains)
        delete = np.where(has, self._gains, -np.inf)
        # When reversed, j -> i closes a cycle if j leads to another parent of i.
        may = has & ~far & self._allowed.T
        reverse = np.where(may, delete + self._gains.T, -np.inf)
        return np.stack([add, delete, reverse])

    def best(self) -> Move:
        """Return the move with the largest gain."""
        gains = self.gains().ravel()
        if gains.size == 0:
            return Move(KINDS[0], 0, 0, -np.inf)
        return self._move(int(np.argmax(gains >= gains.max() - NEGLIGIBLE_NATS)), gains)

    def by_gain(self) -> Iterator[Move]:
        """Return the possible moves, best first."""
        gains = self.gains().ravel()
        rounded = np.where(np.isfinite(gains), np.round(gains / NEGLIGIBLE_NATS), -np.inf)
        for place in np.argsort(-rounded, kind="stable"):
            if gains[place] == -np.inf:
                return
            yield self._move(int(place), gains)

    def _move(self, place: int, gains: FloatArray) -> Move:
        kind, child, parent = np.unravel_index(place, (3, *self._has.shape))
        return Move(KINDS[kind], int(child), int(parent), float(gains[place]))

    def apply(self, move: Move) -> None:
        """Apply a move to the graph."""
        child, parent = move.child, move.parent
        self._toggle(child, parent)
        if move.kind == "reverse":
            self._toggle(parent, child)
            self._renew(parent)
        self._renew(child)
        self._far = far_ancestors_of(self._has)

    def _toggle(self, child: int, parent: int) -> None:
        parents = self._parents[child]
        if self._has[child, parent]:
            parents.remove(parent)
        else:
            parents.append(parent)
        self._has[child, parent] = not self._has[child, parent]

    def _renew(self, i: int) -> None:
        score, parents = self._score, self._parents[i]
        self._gains[i] = -np.inf
        candidates = np.flatnonzero(self._allowed[i] | self._has[i]).tolist()
        now = score.family(i, parents) if candidates else 0.0
        for j in candidates:
            others = [k for k in parents if k != j]
            family = others if self._has[i, j] else [*parents, j]
            if len(family) < len(parents) or score.fits(i, family):
                self._gains[i, j] = score.family(i, family) - now


def far_ancestors_of(has: BoolArray) -> BoolArray:
    """
    Return the ancestors of each variable over more than one arc.

    Shapes: `has` (n, n) bool; returns (n, n) bool, True at ``[i, j]`` if a path of two or more
    arcs leads from j to i.
    """
    far, n_to_see = np.zeros_like(has), has.sum(axis=1)
    ready = np.flatnonzero(n_to_see == 0).tolist()
    while ready:
        i = ready.pop()
        parents, children = has[i], has[:, i]
        far[i] = (has[parents] | far[parents]).any(axis=0)
        n_to_see[children] -= 1
        ready += np.flatnonzero(children & (n_to_see == 0)).tolist()
    return far


TABU_LENGTH = 100
"""Length of the tabu list of graphs, as in MMHC's paper."""
TABU_PATIENCE = 15
"""Moves without a new best graph after which the search ends."""


def climb(
    score: DagScore, allowed: BoolArray, start: Dag | None = None, tell: Progress = silence
) -> Dag:
    """
    Add, delete or reverse the arc with the largest gain until no move has a gain.

    Shapes: `allowed` (n_variables, n_variables) bool.

    References
    ----------
    S4, algorithm 1, ``search``.
    """
    moves, done = Moves(score, allowed, start), 0
    while (move := moves.best()).gain > NEGLIGIBLE_NATS:
        moves.apply(move)
        done += 1
        _tell(tell, done, move)
    return moves.dag


def tabu_search(
    score: DagScore, allowed: BoolArray, start: Dag | None = None, tell: Progress = silence
) -> Dag:
    """
    Apply the move with the largest gain or smallest loss, excluding the last 100 graphs.

    References
    ----------
    Tsamardinos, Brown and Aliferis, The max-min hill-climbing Bayesian network structure learning
    algorithm, 2006, section 4.
    """
    moves = Moves(score, allowed, start)
    arcs = frozenset(arcs_of(moves.dag))
    visited = deque([arcs], TABU_LENGTH)
    best, value, best_value, done, n_idle = moves.dag, 0.0, 0.0, 0, 0
    while n_idle < TABU_PATIENCE:
        found = ((each, _after(arcs, each)) for each in moves.by_gain())
        move, arcs = next((pair for pair in found if pair[1] not in visited), (None, arcs))
        if move is None:
            break
        moves.apply(move)
        visited.append(arcs)
        value += move.gain
        done, n_idle = done + 1, n_idle + 1
        if value > best_value + NEGLIGIBLE_NATS:
            best, best_value, n_idle = moves.dag, value, 0
        _tell(tell, done, move)
    return best


def _after(arcs: frozenset[tuple[int, int]], move: Move) -> frozenset[tuple[int, int]]:
    """Return the arcs, as (parent, child), that result from a move."""
    changed = {(move.parent, move.child)}
    if move.kind == "reverse":
        changed.add((move.child, move.parent))
    return arcs ^ changed


def _tell(tell: Progress, done: int, move: Move) -> None:
    # The number of remaining moves is unknown, so the share only grows.
    tell(done / (done + 50), f"move {done}: {move.kind} an arc, {move.gain:.4f} nats")
