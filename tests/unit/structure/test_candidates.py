"""Candidate parents: earlier or any, nested, nearest, and no cycle where there is an order."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bncc.structure.candidates import ABSENT, Candidates, all_earlier, all_others, nearest, subset
from bncc.structure.orders import earlier, image_order, others

orders = st.integers(1, 12).flatmap(lambda n: st.permutations(range(n))).map(np.array)


def lists(candidates):
    return [row[row != ABSENT].tolist() for row in candidates.parent]


@given(orders, st.integers(1, 9), st.integers(0, 3))
def test_a_subset_is_drawn_from_earlier_features_as_many_as_there_are(order, most, seed):
    found = lists(subset(earlier(order), most, np.random.default_rng(seed)))
    for place, feature in enumerate(order):
        assert len(found[feature]) == len(set(found[feature])) == min(most, place)
        assert set(found[feature]) <= set(order[:place].tolist())


@given(st.integers(1, 12), st.integers(1, 14), st.integers(0, 3))
def test_without_an_order_a_subset_is_drawn_from_all_other_features(n, most, seed):
    found = lists(subset(others(n), most, np.random.default_rng(seed)))
    for feature, candidates in enumerate(found):
        assert len(candidates) == len(set(candidates)) == min(most, n - 1)
        assert set(candidates) <= set(range(n)) - {feature}


@pytest.mark.parametrize("is_ordered", [True, False])
@given(order=orders, seed=st.integers(0, 3))
def test_candidates_of_a_smaller_k_are_among_those_of_a_larger(is_ordered, order, seed):
    def pool():
        return earlier(order) if is_ordered else others(len(order))

    small, middle, large = (
        lists(subset(pool(), most, np.random.default_rng(seed))) for most in (2, 5, 8)
    )
    for few, some, many in zip(small, middle, large, strict=True):
        assert few == some[: len(few)]
        assert some == many[: len(some)]


def test_chance_draws_different_candidates():
    order = np.arange(20)
    drawn = [subset(earlier(order), 3, np.random.default_rng(seed)).parent for seed in (0, 0, 1)]
    assert np.array_equal(drawn[0], drawn[1])
    assert not np.array_equal(drawn[0], drawn[2])


def test_all_earlier_features_are_candidates():
    assert lists(all_earlier(np.array([2, 0, 1]))) == [[2], [2, 0], []]


def test_without_an_order_all_other_features_are_candidates():
    assert lists(all_others(3)) == [[1, 2], [0, 2], [0, 1]]
    assert lists(all_others(1)) == [[]]


def test_the_nearest_earlier_pixels_come_first_and_ties_go_by_index():
    #  0 1 2
    #  3 4 5
    #  6 7 8
    found = lists(nearest(earlier(image_order("A", 3, 3)), 8, 3))
    assert found[4] == [1, 3, 0, 2]
    assert found[8] == [5, 7, 4, 2, 6, 1, 3, 0]
    assert lists(nearest(earlier(image_order("A", 3, 3)), 2, 3))[8] == [5, 7]


def test_nearest_pixels_of_an_oblong_image_and_of_another_order():
    #  0 1
    #  2 3
    #  4 5
    found = lists(nearest(earlier(np.array([5, 3, 1, 0, 2, 4])), 2, 2))
    assert found == [[1, 3], [3, 5], [0, 3], [5], [2, 5], []]


def test_without_an_order_the_nearest_pixels_lie_on_all_sides():
    #  0 1 2
    #  3 4 5
    #  6 7 8
    found = lists(nearest(others(9), 4, 3))
    assert found[4] == [1, 3, 5, 7]
    assert found[0] == [1, 3, 4, 2]


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


@given(orders, st.integers(1, 5), st.integers(0, 3))
def test_no_choice_among_earlier_features_has_a_cycle(order, most, seed):
    rng = np.random.default_rng(seed)
    for candidates in (
        all_earlier(order), subset(earlier(order), most, rng), nearest(earlier(order), most, 1),
    ):  # fmt: skip
        assert candidates.graph().is_bayesian_network


def test_a_choice_among_all_others_may_have_a_cycle():
    assert all_others(3).choose(np.array([1, 1, 0])).parents == ((1,), (0,), ())


@pytest.mark.parametrize("parent", [[[0], [-1]], [[1, 1], [-1, -1]], [[7], [-1]]])
def test_candidates_that_are_the_feature_itself_or_repeat_are_refused(parent):
    with pytest.raises(ValueError, match=r"own parent|repeated"):
        Candidates(np.array(parent))
