"""Simulated annealing: random edges, and less and less patience with worse ones."""

from collections.abc import Callable
from dataclasses import dataclass
from math import exp, floor, log

import numpy as np

from bncc.structure.learner import Tell
from bncc.structure.margin_scores.scored_tree import Found, ScoredTree

MOST_REJECTED = 100
"""Proposals per feature that are rejected without an improvement in between; then the end."""
MOST_TRIES = 50
"""Proposals per feature at one temperature."""
MOST_TAKEN = 5
"""Proposals per feature that are taken at one temperature."""
COLDEST = 1e-9
"""The end also where proposals that leave the score equal are taken for ever."""
SCALES = {"mm": 100.0, "cr": 1.0, "cl": 100.0}
"""r, by kind of score; S1 has the first two, and the likelihood is of the margin's magnitude."""


@dataclass(frozen=True)
class Schedule:
    """How the temperature falls."""

    cooling: float = 0.8  # D, in (0, 1): factor of the temperature, which begins at 1
    # r, > 0: score that a temperature of 1 stands for; None takes that of `SCALES`
    scale: float | None = None


def anneal(tree: ScoredTree, schedule: Schedule, rng: np.random.Generator, tell: Tell) -> Found:
    """
    Change a forest edge by edge, by chance.

    A proposal is a random feature and a random other parent for it; one that closes a cycle is
    drawn anew. Its random number is drawn before it is scored, so that a score may be given up
    as soon as it is too small to be taken. Edges are replaced, never deleted.


    References
    ----------
    S1, algorithm 1, which returns the last tree.
    """
    walk = _Walk(tree, schedule.scale or SCALES[tree.kind.kind], rng)
    n_features, temperature, n_levels = len(tree.features), 1.0, 0
    while walk.n_rejected < MOST_REJECTED * n_features and temperature > COLDEST:
        n_taken = n_tried = 0
        while n_taken < MOST_TAKEN * n_features and n_tried < MOST_TRIES * n_features:
            edge = _neighbor(tree, rng)
            if edge is None:
                return walk.found()
            n_tried += 1
            n_taken += walk.step(edge, temperature)
        temperature *= schedule.cooling
        n_levels += 1
        tell(1 - 0.9**n_levels, walk.words(temperature))
    return walk.found()


def _neighbor(tree: ScoredTree, rng: np.random.Generator) -> tuple[int, int] | None:
    """Return a child and another parent for it; None if no edge can be added or replaced."""
    features = tree.features
    n, none = len(features), tree.held_out.n_features
    if n < 2 or (n == 2 and any(tree.parent[i] != none for i in features)):
        return None
    while True:
        child, parent = (int(features[i]) for i in rng.integers(0, n, 2))
        if parent != tree.parent[child] and tree.is_feasible(child, parent):
            return child, parent


class _Walk:
    """The present tree, the best so far, and how proposals fared."""

    def __init__(self, tree: ScoredTree, scale: float, rng: np.random.Generator) -> None:
        self._tree, self._scale, self._rng = tree, scale, rng
        self._before = tree.n_evaluations
        self._total = self._best = tree.score_now()
        self._best_parents = list(tree.parent)
        self._value: Callable[[int], float] = lambda total: tree.kind.value(
            total, tree.held_out.n_samples
        )
        self._unit = tree.kind.units(tree.held_out.n_samples)
        self.n_rejected = 0

    def step(self, edge: tuple[int, int], temperature: float) -> bool:
        """Score a proposal; return whether it is taken."""
        heat = self._scale * temperature
        chance = float(self._rng.random())
        total = self._tree.score_with(*edge, self._least(chance, heat))
        if total > self._total:
            self.n_rejected = 0
        elif not chance < exp((self._value(total) - self._value(self._total)) / heat):
            self.n_rejected += 1
            return False
        self._tree.set_parent(*edge)
        self._total = total
        if total > self._best:
            self._best, self._best_parents = total, list(self._tree.parent)
        return True

    def _least(self, chance: float, heat: float) -> int | None:
        """Return a score that is surely taken or just misses it: less is rejected."""
        return self._total + floor(log(chance) * heat * self._unit) - 1 if chance > 0 else None

    def words(self, temperature: float) -> str:
        """Say how it stands."""
        n_scored = self._tree.n_evaluations - self._before
        return (
            f"temperature {temperature:.2g}, score {self._value(self._total):.4f}, "
            f"best {self._value(self._best):.4f}, {n_scored} scores"
        )

    def found(self) -> Found:
        """Return the best tree and the last."""
        tree = self._tree
        return Found(
            tree.structure(self._best_parents), self._value(self._best),
            tree.n_evaluations - self._before, tree.structure(), self._value(self._total),
            tree.kind.lambda_,
        )  # fmt: skip
