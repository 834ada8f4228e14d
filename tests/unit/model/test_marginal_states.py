"""Expected frequencies of states: counted tables return the counts."""

import numpy as np
import pytest

from bncc.discretize.feature import Feature
from bncc.fixed_point import QFormat
from bncc.model.marginal import state_frequencies
from bncc.structure.graph import forest, one_parent_each
from tests import models as hand

FINE = QFormat(8, 12)


def costs(probabilities):
    return np.round(-np.log(probabilities) * 2**12).astype(int)


def test_states_are_summed_over_classes_and_parents():
    """Feature 1 depends on feature 0, whose own states depend on the class."""
    classes = np.array([0.75, 0.25])
    root = np.array([[0.9, 0.4], [0.1, 0.6]])
    child = np.array([[[0.5, 0.2], [0.5, 0.8]], [[0.3, 0.7], [0.7, 0.3]]])
    model = hand.model_of(
        (Feature("a", "state", 2), Feature("b", "state", 2)),
        forest([None, 0]),
        FINE,
        costs(classes).tolist(),
        [costs(root).tolist(), costs(child).reshape(4, 2).tolist()],
    )
    first, second = state_frequencies(model)
    assert first == pytest.approx(root @ classes, abs=1e-3)
    assert second == pytest.approx(np.einsum("pkc,pc,c->k", child, root, classes), abs=1e-3)


def test_a_parent_in_an_arc_that_closes_a_cycle_counts_as_uniform():
    """The arc from feature 0 closes the cycle, so feature 1 comes first."""
    first = np.array([[[0.9, 0.4], [0.1, 0.6]], [[0.2, 0.5], [0.8, 0.5]]])
    second = np.array([[[0.5, 0.2], [0.5, 0.8]], [[0.3, 0.7], [0.7, 0.3]]])
    model = hand.model_of(
        (Feature("a", "state", 2), Feature("b", "state", 2)),
        one_parent_each([1, 0]),
        FINE,
        [0, 0],
        [costs(table).reshape(4, 2).tolist() for table in (first, second)],
    )
    of_second = second.mean(axis=0)
    found = state_frequencies(model)
    assert found[1] == pytest.approx(of_second.mean(axis=1), abs=1e-3)
    assert found[0] == pytest.approx(
        np.einsum("pkc,pc->kc", first, of_second).mean(axis=1), abs=1e-3
    )


def test_columns_that_were_shifted_mean_the_same():
    """Offsets of a class of any size are no probability of its states."""
    model = hand.model_of(
        (Feature("a", "state", 2),),
        forest([None]),
        QFormat(16, 0),
        [0, 0],
        [[[0, 60000], [0, 60000]]],
    )
    (found,) = state_frequencies(model)
    assert found == pytest.approx([0.5, 0.5])
