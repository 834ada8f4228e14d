"""The three scores of given joints."""

import numpy as np
import pytest

from bncc.structure.margin_scores.score import Score
from bncc.structure.margin_scores.scored_tree import ScoredTree
from tests.unit.structure.margin_scores.rows import random_held_out, spelled_score

JOINT = np.array([[-10, -30], [-20, -25], [-7, -7], [-7, -7]], dtype=np.int32)
Y = np.array([0, 1, 0, 1])


def test_margins_are_capped_and_may_be_negative():
    score = Score("mm", scale=10, lambda_=1.0)
    assert score.most == 10
    assert score.of_rows(JOINT, Y).tolist() == [10, -5, 0, 0]
    assert score.value(5, 4) == 0.5


def test_a_larger_lambda_caps_margins_sooner():
    assert Score("mm", scale=10, lambda_=5.0).of_rows(JOINT, Y).tolist() == [2, -5, 0, 0]
    assert Score("mm", scale=10, lambda_=1e6).most == 1


def test_the_smallest_of_equal_classes_is_decided():
    score = Score("cr", scale=10)
    assert score.of_rows(JOINT, Y).tolist() == [1, 0, 1, 0]
    assert score.value(2, 4) == 0.5


def test_likelihood_is_that_of_the_class_given_the_features():
    rows = Score("cl", scale=10).of_rows(JOINT, Y)
    exact = [-10 * np.log(1 + np.exp(-2)), -10 * np.log(1 + np.exp(0.5))] + [-10 * np.log(2)] * 2
    assert rows.tolist() == [round(value) for value in exact]
    assert Score("cl", scale=10).value(-14, 4) == -1.4


@pytest.mark.parametrize(("kind", "of_row"), [("mm", 10), ("cr", 1), ("cl", 0)])
def test_one_class_is_always_right(kind, of_row):
    score = Score(kind, scale=10)
    joint = np.full((2, 1), -5, dtype=np.int32)
    assert score.of_rows(joint, np.zeros(2, int)).tolist() == [of_row] * 2


@pytest.mark.parametrize("kind", ["mm", "cr", "cl"])
@pytest.mark.parametrize("parents", [(5, 5, 5, 5, 5), (4, 0, 5, 1, 5), (5, 0, 1, 1, 0)])
def test_scores_are_those_that_are_spelled_out(kind, parents):
    held = random_held_out(n_samples=40)
    tree = ScoredTree(held, Score(kind, held.scale, 0.3), engine="numpy")
    tree.become(parents)
    value = tree.kind.value(tree.score_now(), held.n_samples)
    assert value == pytest.approx(spelled_score(held, parents, kind, 0.3), abs=1e-4)
