"""Hill climbing takes the best edge in every step."""

import numpy as np
import pytest

from bncc.progress import silence
from bncc.structure.margin_scores.held_out import hold_out
from bncc.structure.margin_scores.score import Score
from bncc.structure.margin_scores.scored_tree import ScoredTree
from bncc.structure.margin_scores.search import climb
from tests.unit.structure.margin_scores.rows import all_forests, random_rows


def tree_of(held, kind="mm"):
    return ScoredTree(held, Score(kind, held.scale, 0.2), engine="numpy")


def total_of(held, kind, parents):
    tree = tree_of(held, kind)
    tree.become(parents)
    return tree.score_now()


def four_features(seed):
    rows = random_rows(n_samples=80, n_states=(2, 3, 2, 2), seed=seed)
    return hold_out(*rows, n_folds=3, seed=seed)


@pytest.mark.parametrize("kind", ["mm", "cr", "cl"])
@pytest.mark.parametrize("seed", range(3))
def test_each_edge_is_the_first_of_greatest_score(kind, seed):
    """The greatest likelihood breaks ties of classification rates."""
    held = four_features(seed)
    forests, present = all_forests(4), (4, 4, 4, 4)
    for _ in range(3):
        next_ones = [
            parents
            for parents in forests
            if sum(a != b for a, b in zip(parents, present, strict=True)) == 1
            and sum(p == 4 for p in parents) == sum(p == 4 for p in present) - 1
        ]
        totals = {parents: total_of(held, kind, parents) for parents in next_ones}
        others = {
            parents: total_of(held, "cl", parents) if kind == "cr" else 0 for parents in next_ones
        }

        def rank(parents, present=present, totals=totals, others=others):
            child = next(i for i in range(4) if parents[i] != present[i])
            return -totals[parents], -others[parents], child, parents[child]

        present = min(totals, key=rank)
    found = climb(tree_of(held, kind), silence)
    assert found.structure.parents == tuple(() if p == 4 else (p,) for p in present)
    assert found.score == tree_of(held, kind).kind.value(totals[present], held.n_samples)


def test_edges_are_added_to_the_last_even_if_the_score_falls():
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 4, (60, 5)), rng.integers(0, 2, 60)
    held = hold_out(X, y, (4,) * 5, 2, 3)
    naive, words = tree_of(held).score_now(), []
    full = climb(tree_of(held), lambda share, said: words.append((share, said)))
    early = climb(tree_of(held), silence, is_full=False)
    assert full.structure.n_edges == 4
    assert early.structure.n_edges < 4
    assert early.score >= max(full.score, tree_of(held).kind.value(naive, 60))
    shares = [share for share, _ in words]
    assert shares == sorted(shares)
    assert [share for share, said in words if "score" in said] == [0.25, 0.5, 0.75, 1.0]
    assert words[2] == (pytest.approx(2 / 20), "edge 1, feature 3 of 5")
    assert words[-1][1] == f"edge 4, score {full.score:.4f}, {full.n_evaluations} scores"


def test_scores_are_counted():
    # Naive Bayes once, then 4 x 3 edges; then 3 children, whose parents shrink with the trees.
    found = climb(tree_of(four_features(0)), silence)
    assert 1 + 12 + 3 * 2 + 2 * 1 <= found.n_evaluations <= 1 + 12 + 3 * 3 + 2 * 3


@pytest.mark.parametrize("n_states", [(), (3,), (1, 1, 1), (1, 3, 1)])
def test_without_two_features_of_several_states_there_are_no_edges(n_states):
    rows = random_rows(n_samples=30, n_states=n_states) if n_states else None
    rows = rows or (np.zeros((30, 0), int), np.arange(30) % 3, (), 3)
    found = climb(tree_of(hold_out(*rows, n_folds=3)), silence)
    assert found.structure.parents == ((),) * len(n_states)
    assert found.n_evaluations == 1


def test_features_of_one_state_take_no_part():
    held = hold_out(*random_rows(), n_folds=3)
    found = climb(tree_of(held), silence)
    assert found.structure.n_edges == 3
    assert found.structure.parents[2] == ()
    assert (2,) not in found.structure.parents
