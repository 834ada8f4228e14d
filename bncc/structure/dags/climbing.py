"""Hill climbing and tabu search over directed acyclic graphs."""

from collections import deque

from bncc._types import BoolArray
from bncc.structure.dags.columns import Dag, arcs_of
from bncc.structure.dags.dag_score import DagScore
from bncc.structure.dags.moves import Move, Moves
from bncc.structure.family_scores import NEGLIGIBLE_NATS
from bncc.structure.learner import Tell, silence

TABU_LENGTH = 100
"""Graphs that are not gone back to, as in MMHC's paper."""
TABU_PATIENCE = 15
"""Moves without a better graph than the best, after which the search ends."""


def climb(
    score: DagScore, allowed: BoolArray, start: Dag | None = None, tell: Tell = silence
) -> Dag:
    """
    Add, delete or reverse the arc that gains most, until no move gains anything.

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
    score: DagScore, allowed: BoolArray, start: Dag | None = None, tell: Tell = silence
) -> Dag:
    """
    Make the move that gains most or loses least, but to no graph of the last 100.

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
    """Return the arcs, as (parent, child), that a move leads to."""
    changed = {(move.parent, move.child)}
    if move.kind == "reverse":
        changed.add((move.child, move.parent))
    return arcs ^ changed


def _tell(tell: Tell, done: int, move: Move) -> None:
    # How many moves are to come is not known: the share only grows.
    tell(done / (done + 50), f"move {done}: {move.kind} an arc, {move.gain:.4f} nats")
