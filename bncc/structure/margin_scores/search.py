"""What both searches share: held-out rows, the score, and how lambda is chosen."""

from dataclasses import dataclass, field

import numpy as np

from bncc.structure.graph import Structure
from bncc.structure.learner import Problem, Tell
from bncc.structure.margin_scores.annealing import Schedule, anneal
from bncc.structure.margin_scores.held_out import DEFAULT_FOLDS, HeldOut, hold_out
from bncc.structure.margin_scores.score import KINDS, Score
from bncc.structure.margin_scores.scored_tree import ScoredTree
from bncc.structure.margin_scores.terms import SpeedUps, Tables

LAMBDAS = (0.05, 0.1, 0.2, 0.5)
"""What is tried where none is given."""
QUICK = Schedule(cooling=0.5)
"""Of the short annealing that tries a lambda."""


@dataclass(frozen=True)
class Search:
    """How trees are scored."""

    kind: str = KINDS[0]  # The score
    # Of ``mm``, > 0; None chooses one of `LAMBDAS`, see `choose_lambda`
    lambda_: float | None = None
    n_folds: int = DEFAULT_FOLDS  # K, 2 or more
    speed_ups: SpeedUps = field(default_factory=SpeedUps)  # Which ways to faster scores are taken
    engine: str | None = None  # Who computes; None takes C where it can be built

    def tree(self, tables: Tables, kind: str, lambda_: float) -> ScoredTree:
        """Return a tree without edges."""
        score = Score(kind, tables.held_out.scale, lambda_)
        return ScoredTree(tables.held_out, score, self.speed_ups, self.engine, tables)


def begin(problem: Problem, search: Search) -> tuple[ScoredTree, int, Tell]:
    """Hold out rows and choose lambda where it is not given."""
    held_out = hold_out(*problem.data, search.n_folds, problem.seed, problem.origin, problem.split)
    tables = Tables(held_out, search.speed_ups.table_bytes)
    if search.kind != "mm" or search.lambda_ is not None:
        return search.tree(tables, search.kind, search.lambda_ or 1.0), 0, problem.tell
    lambda_, n_choosing = choose_lambda(tables, search, problem.seed, problem.tell)

    def tell(share: float, words: str) -> None:
        problem.tell((1 + share) / 2, words)

    return search.tree(tables, "mm", lambda_), n_choosing, tell


def choose_lambda(tables: Tables, search: Search, seed: int, tell: Tell) -> tuple[float, int]:
    """
    Return the lambda whose tree decides most held-out rows right.

    Each of `LAMBDAS` is tried by a short annealing, `QUICK`. Of equal ones the first is taken.
    """

    def part_of(done: int, lambda_: float) -> Tell:
        n = 2 * len(LAMBDAS)
        return lambda share, words: tell((done + share) / n, f"lambda {lambda_:g}, {words}")

    rates, n_evaluations = [], 0
    for done, lambda_ in enumerate(LAMBDAS):
        tree = search.tree(tables, "mm", lambda_)
        found = anneal(tree, QUICK, np.random.default_rng(seed), part_of(done, lambda_))
        rates.append(classification_rate(tables.held_out, found.structure))
        n_evaluations += found.n_evaluations
        share = (done + 1) / (2 * len(LAMBDAS))
        tell(share, f"lambda {lambda_:g} decides {rates[-1]:.2%} of held-out rows right")
    return LAMBDAS[int(np.argmax(rates))], n_evaluations


def classification_rate(held_out: HeldOut, structure: Structure) -> float:
    """Return the share of held-out rows that a tree decides right."""
    joint = held_out.prior()[held_out.fold]
    for child, parents in enumerate(structure.parents):
        (parent,) = parents or (held_out.n_features,)
        joint += held_out.by_row(child, parent, held_out.table(child, parent))
    score = Score("cr", held_out.scale)
    return score.value(int(score.of_rows(joint, held_out.y).sum()), held_out.n_samples)
