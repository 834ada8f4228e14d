"""TAN Random: a tree along the order."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from bncc.structure.learners.trees import random_tan


@given(st.integers(1, 12).flatmap(lambda n: st.permutations(range(n))), st.integers(0, 5))
def test_every_feature_but_the_first_has_one_earlier_parent(order, seed):
    structure = random_tan(np.array(order), np.random.default_rng(seed))
    assert structure.parents[order[0]] == ()
    for place, feature in enumerate(order[1:], start=1):
        (parent,) = structure.parents[feature]
        assert parent in order[:place]


def test_chance_draws_different_trees():
    draws = {random_tan(np.arange(9), np.random.default_rng(seed)).parents for seed in range(9)}
    assert len(draws) == 9
    assert random_tan(np.arange(9), np.random.default_rng(3)).parents in draws
