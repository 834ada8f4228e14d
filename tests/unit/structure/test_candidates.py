"""Candidate parents: earlier, nested, nearest, and never a cycle."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bncc.structure.candidates import ABSENT, Candidates, all_earlier, nearest, subset
from bncc.structure.orders import image_order

orders = st.integers(1, 12).flatmap(lambda n: st.permutations(range(n))).map(np.array)


def lists(candidates):
    return [row[row != ABSENT].tolist() for row in candidates.parent]


@given(orders, st.integers(1, 9), st.integers(0, 3))
def test_a_subset_is_drawn_from_earlier_features_as_many_as_there_are(order, most, seed):
    found = lists(subset(order, most, np.random.default_rng(seed)))
    for place, feature in enumerate(order):
        assert len(found[feature]) == len(set(found[feature])) == min(most, place)
        assert set(found[feature]) <= set(order[:place].tolist())


@given(orders, st.integers(0, 3))
def test_candidates_of_a_smaller_k_are_among_those_of_a_larger(order, seed):
    small, middle, large = (
        lists(subset(order, most, np.random.default_rng(seed))) for most in (2, 5, 8)
    )
    for few, some, many in zip(small, middle, large, strict=True):
        assert few == some[: len(few)]
        assert some == many[: len(some)]


def test_chance_draws_different_candidates():
    order = np.arange(20)
    drawn = [subset(order, 3, np.random.default_rng(seed)).parent for seed in (0, 0, 1)]
    assert np.array_equal(drawn[0], drawn[1])
    assert not np.array_equal(drawn[0], drawn[2])


def test_all_earlier_features_are_candidates():
    assert lists(all_earlier(np.array([2, 0, 1]))) == [[2], [2, 0], []]


def test_the_nearest_earlier_pixels_come_first_and_ties_go_by_index():
    #  0 1 2
    #  3 4 5
    #  6 7 8
    found = lists(nearest(image_order("A", 3, 3), 8, 3))
    assert found[4] == [1, 3, 0, 2]
    assert found[8] == [5, 7, 4, 2, 6, 1, 3, 0]
    assert lists(nearest(image_order("A", 3, 3), 2, 3))[8] == [5, 7]


def test_nearest_pixels_of_an_oblong_image_and_of_another_order():
    #  0 1
    #  2 3
    #  4 5
    found = lists(nearest(np.array([5, 3, 1, 0, 2, 4]), 2, 2))
    assert found == [[1, 3], [3, 5], [0, 3], [5], [2, 5], []]


def test_useless_features_neither_have_nor_are_candidates():
    candidates = all_earlier(np.array([2, 0, 1, 3])).among(np.array([True, False, True, True]))
    assert lists(candidates) == [[2], [], [], [2, 0]]
    assert candidates.parent.shape == (4, 2)


def test_a_choice_is_a_structure():
    candidates = all_earlier(np.array([1, 0, 2]))
    assert candidates.choose(np.array([0, 0, 0])).parents == ((), (), ())
    structure = candidates.choose(np.array([1, 0, 2]))
    assert structure.parents == ((1,), (), (0,))
    assert all(structure.class_is_parent)


@pytest.mark.parametrize("parent", [[[1], [0]], [[0], [-1]], [[1, 1], [-1, -1]], [[7], [-1]]])
def test_candidates_that_could_make_a_cycle_or_repeat_are_refused(parent):
    with pytest.raises(ValueError, match=r"cycle|repeated"):
        Candidates(np.array(parent))
