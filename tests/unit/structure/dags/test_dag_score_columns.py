"""Joint states are distinguished exactly, for any number of them."""

import numpy as np

from bncc.structure.dags.dag_score import arcs_of, columns_of, no_arcs, one_joint
from tests.unit.structure.dags.rows import columns


def test_joint_states_that_occur_are_counted():
    joint = one_joint(4).with_column(np.array([0, 1, 1, 0]), 2).with_column([2, 0, 0, 1], 3)
    assert joint.n_cells == 6
    assert joint.counts().tolist() == [1, 1, 2]


def test_many_joint_states_are_told_apart_without_a_list_of_all():
    rng = np.random.default_rng(1)
    X = rng.integers(0, 11, (300, 40))
    X[150:] = X[:150]
    joint = one_joint(300)
    for states in X.T:
        joint = joint.with_column(states, 11)
    assert joint.n_cells == 11**40
    assert joint.n_listed <= 4 * 300
    assert np.array_equal(joint.index[:150], joint.index[150:])
    assert len(np.unique(joint.index)) == 150


def test_without_rows_no_joint_state_occurs():
    joint = one_joint(0).with_column(np.zeros(0, np.int64), 3)
    assert joint.counts().tolist() == []


def test_the_class_is_the_last_variable():
    found = columns_of(np.array([[0, 1], [1, 2]]), np.array([3, 0]), (2, 3), 4)
    assert found.states.tolist() == [[0, 1], [1, 2], [3, 0]]
    assert found.n_states == (2, 3, 4)
    assert found.rows(np.array([False, True])).states.tolist() == [[1], [2], [0]]
    assert columns([[0], [1]]).n_samples == 2


def test_arcs_come_by_child():
    assert arcs_of(((1, 2), (2,), ())) == ((1, 0), (2, 0), (2, 1))
    assert arcs_of(no_arcs(2)) == ()
