"""Counts of rows in parts: the structures are those of all rows at once."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bncc.structure import streamed_counts
from bncc.structure.graph import forest
from bncc.structure.learners.etan import best_of_alphas, etan
from bncc.structure.learners.trees import chow_liu_tree
from bncc.structure.scores import (
    bdeu_families,
    bdeu_families_of_sums,
    conditional_mutual_information,
    information_of_sums,
    log_gamma_term,
    log_likelihood_term,
)
from bncc.structure.spanning_trees import maximum_spanning_forest
from bncc.structure.streamed_counts import count_pairs

N_STATES = (3, 2, 30, 3, 1)
GENERATOR = np.random.default_rng(6)
X = np.stack([GENERATOR.integers(0, r, 500) for r in N_STATES], axis=1)
X[:, 3] = (X[:, 0] + (GENERATOR.random(500) < 0.3)) % 3
Y = (X[:, 1] + (GENERATOR.random(500) < 0.2)) % 2


def in_parts(*ends):
    bounds = [0, *sorted(ends), 500]
    return [(X[a:b], Y[a:b]) for a, b in pairwise(bounds)]


@given(st.lists(st.integers(0, 500), max_size=4), st.integers(40, 600))
def test_however_rows_are_split_the_counts_are_equal(ends, block_rows):
    whole = count_pairs(in_parts(), N_STATES, 2)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(streamed_counts, "BLOCK_ROWS", block_rows)
        split = count_pairs(in_parts(*ends), N_STATES, 2)
    assert np.array_equal(whole.joint, split.joint)
    assert whole.of_class.tolist() == split.of_class.tolist() == np.bincount(Y).tolist()
    assert (split.n_samples, split.n_classes) == (500, 2)


def test_scores_and_structures_are_those_of_the_rows():
    counts = count_pairs(in_parts(100, 350), N_STATES, 2)
    data = (X, Y, N_STATES, 2)
    (sums,) = counts.sums((log_likelihood_term(),), with_marginal=False)
    information = information_of_sums(sums, counts.n_samples)
    assert information == pytest.approx(conditional_mutual_information(*data), abs=1e-12)
    # The parent of the feature of one state depends on rounding.
    tree = forest(maximum_spanning_forest(information[:4, :4]))
    assert tree == chow_liu_tree(X[:, :4], Y, N_STATES[:4], 2)
    alphas = (1.0, 5.0)
    families = [bdeu_families_of_sums(s) for s in counts.sums([log_gamma_term(a) for a in alphas])]
    for ours, theirs in zip(families, bdeu_families(*data, alphas), strict=True):
        assert ours.given_feature == pytest.approx(theirs.given_feature, abs=1e-9)
        assert ours.given_both == pytest.approx(theirs.given_both, abs=1e-9)
        assert ours.alone == pytest.approx(theirs.alone, abs=1e-9)
    assert best_of_alphas(families) == etan(*data, alphas)


def test_no_rows_count_nothing():
    counts = count_pairs([], (2, 3), 2)
    assert counts.n_samples == 0
    assert not counts.joint.any()


@pytest.mark.parametrize(
    ("x", "label", "message"),
    [(2, 0, "a state is not"), (-1, 0, "a state is not"), (1, 2, "a class"), (1, -1, "a class")],
)
def test_what_is_out_of_range_is_refused(x, label, message):
    with pytest.raises(ValueError, match=message):
        count_pairs([(np.array([[x]]), np.array([label]))], (2,), 2)
