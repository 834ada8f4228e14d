"""Simulated annealing by algorithm 1 of S1."""

from math import exp

import numpy as np
import pytest

from bncc.progress import silence
from bncc.structure.margin_scores.held_out import hold_out
from bncc.structure.margin_scores.score import Score
from bncc.structure.margin_scores.scored_tree import ScoredTree
from bncc.structure.margin_scores.search import SCALES, Schedule, anneal
from tests.unit.structure.margin_scores.rows import all_forests, random_rows

QUICK = Schedule(cooling=0.2)


def tree_of(held, kind="mm"):
    return ScoredTree(held, Score(kind, held.scale, 0.2), engine="numpy")


def held_of(**given):
    return hold_out(*random_rows(**{"n_samples": 60, "n_states": (2, 3, 2, 2)} | given), n_folds=3)


def annealed(held, kind="mm", seed=0, schedule=QUICK):
    return anneal(tree_of(held, kind), schedule, np.random.default_rng(seed), silence)


def by_the_letter(held, kind, seed, cooling):
    """Algorithm 1 with scores of whole trees; return the last and the best."""
    rng, tree = np.random.default_rng(seed), tree_of(held, kind)
    n, temperature, rejected = held.n_features, 1.0, 0
    old = [n] * n

    def score(parents):
        tree.become(parents)
        return tree.kind.value(tree.score_now(), held.n_samples)

    old_score = best = score(old)
    while rejected < 100 * n:
        tries = successes = 0
        while successes < 5 * n and tries < 50 * n:
            tries += 1
            tree.become(old)
            while True:
                child, parent = rng.integers(0, n, 2).tolist()
                if old[child] != parent and tree.is_feasible(child, parent):
                    break
            new = list(old)
            new[child] = parent
            chance, new_score = rng.random(), score(new)
            change = new_score - old_score
            if change > 0:
                rejected = 0
            elif not chance < exp(change / (SCALES[kind] * temperature)):
                rejected += 1
                continue
            successes += 1
            old, old_score = new, new_score
            best = max(best, old_score)
        temperature *= cooling
    return tuple(() if p == n else (p,) for p in old), old_score, best


@pytest.mark.parametrize("kind", ["mm", "cr"])
@pytest.mark.parametrize("seed", range(2))
def test_it_is_algorithm_1(kind, seed):
    held = held_of(seed=seed)
    found = annealed(held, kind, seed)
    last, last_score, best = by_the_letter(held, kind, seed, QUICK.cooling)
    assert (found.last.parents, found.last_score, found.score) == (last, last_score, best)


def test_the_best_of_all_forests_is_found():
    held, totals = held_of(), []
    tree = tree_of(held)
    for parents in all_forests(4):
        tree.become(parents)
        totals.append(tree.score_now())
    found = annealed(held)
    assert found.score == tree.kind.value(max(totals), held.n_samples)


def test_the_best_score_is_that_of_the_structure_returned():
    held = held_of()
    found, tree = annealed(held, "cr", schedule=Schedule(0.2, 50.0)), tree_of(held, "cr")
    tree.become([p[0] if p else 4 for p in found.structure.parents])
    assert tree.kind.value(tree.score_now(), held.n_samples) == found.score >= found.last_score


def test_chance_follows_the_seed():
    held, cold = held_of(n_states=(2, 3, 2, 2, 3)), Schedule(cooling=0.01)
    assert annealed(held, seed=3, schedule=cold) == annealed(held, seed=3, schedule=cold)
    assert len({annealed(held, seed=seed, schedule=cold).last for seed in range(4)}) > 1


def test_it_tells_of_each_temperature():
    told = []
    anneal(
        tree_of(held_of()), Schedule(cooling=0.5), np.random.default_rng(0),
        lambda share, words: told.append((share, words)),
    )  # fmt: skip
    shares = [share for share, _ in told]
    assert shares == sorted(shares)
    assert 0 < shares[0] < shares[-1] < 1
    assert told[0][1].startswith("temperature 0.5, score ")
    assert told[0][1].endswith(" scores")


@pytest.mark.parametrize("n_states", [(), (3,), (1, 1, 1), (1, 3, 1)])
def test_without_two_features_of_several_states_it_ends_at_once(n_states):
    rows = random_rows(n_samples=30, n_states=n_states) if n_states else None
    rows = rows or (np.zeros((30, 0), int), np.arange(30) % 3, (), 3)
    found = annealed(hold_out(*rows, n_folds=3))
    assert found.structure.parents == ((),) * len(n_states)
    assert found.n_evaluations == 1


def test_two_features_have_one_edge_at_most():
    found = annealed(held_of(n_states=(2, 3)))
    assert found.last.n_edges == 1


@pytest.mark.parametrize("kind", ["mm", "cr", "cl"])
def test_it_ends_where_all_trees_score_alike(kind):
    found = annealed(held_of(n_classes=1), kind)
    assert found.score == found.last_score
    assert found.structure.n_edges == 0


def test_features_of_one_state_take_no_part():
    found = annealed(held_of(n_states=(2, 3, 1, 2)))
    assert found.last.n_edges == 2
    assert found.last.parents[2] == ()
    assert (2,) not in found.last.parents
