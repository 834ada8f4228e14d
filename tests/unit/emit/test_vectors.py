"""Vectors that travel with the C: right, few, varied, and the same each time."""

import numpy as np
import pytest

from bncc.discretize.feature import Feature
from bncc.emit.vectors import MAX_ENTRIES, MAX_VECTORS, make_vectors
from bncc.fixed_point import QFormat
from bncc.model.reference import predict
from bncc.structure.graph import forest
from tests import models as hand


@pytest.mark.parametrize("name", hand.NAMED)
def test_answers_are_the_reference_s(name):
    model = hand.NAMED[name]()
    vectors = make_vectors(model)
    assert vectors.classes.tolist() == predict(model, vectors.states).tolist()
    assert len(vectors.states) == MAX_VECTORS


def test_the_same_model_gives_the_same_vectors():
    first, second = (make_vectors(hand.tan_float()) for _ in range(2))
    assert first.states.tolist() == second.states.tolist()
    assert first.classes.tolist() == second.classes.tolist()


def test_the_first_two_are_the_corners():
    states = make_vectors(hand.general_network()).states
    assert states[0].tolist() == [0, 0, 0, 0]
    assert states[1].tolist() == [1, 2, 1, 1]


def rare():
    """Return a model that decides for class 1 at one of 50 states only."""
    costs = [[0, 1]] * 49 + [[1, 0]]
    return hand.model_of([hand.feature("a", 50)], forest([None]), QFormat(1, 0), [0, 0], [costs])


def test_a_rare_class_is_preferred():
    vectors = make_vectors(rare())
    assert np.bincount(vectors.classes)[1] >= 10


def wide(n):
    features = [Feature(f"x{i}", "state", 2) for i in range(n)]
    rows = [[[0, 1], [1, 0]]] * n
    return hand.model_of(features, forest([None] * n), QFormat(1, 0), [0, 0], rows)


@pytest.mark.parametrize(("n", "expected"), [(128, 32), (129, 31), (1024, 4), (2000, 4)])
def test_models_of_many_features_carry_fewer(n, expected):
    vectors = make_vectors(wide(n))
    assert len(vectors.states) == expected
    assert vectors.states.size <= max(MAX_ENTRIES, 4 * n)


def test_one_line_of_states_per_vector_and_a_count_of_both():
    context = make_vectors(hand.naive_integer()).template_names()
    assert context["n_vectors"] == 32
    assert context["n_vector_states"] == 64
    assert len(context["state_lines"]) == 32
    assert context["state_lines"][:2] == ["0U, 0U,", "2U, 1U,"]
    assert context["index_type"] == "uint16_t"


def test_very_many_states_are_counted_in_32_bits():
    assert make_vectors(wide(16384)).template_names()["index_type"] == "uint32_t"
