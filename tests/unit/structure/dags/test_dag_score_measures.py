"""Measures of a graph on rows by hand."""

import numpy as np
import pytest

from bncc.structure.dags.dag_score import DagScore, ScoreKind, measure
from tests.unit.structure.dags.rows import columns, oracle_columns


def test_scores_are_those_that_searches_maximize():
    data, dag = oracle_columns(), ((), (0,), (0, 1), (2,), (1, 3))
    found = measure(data, dag, 3.0)
    assert found.bdeu == DagScore(data, ScoreKind("bdeu", 3.0)).total(dag)
    assert found.bic == DagScore(data, ScoreKind("bic")).total(dag)


def test_information_is_the_mean_over_variables():
    # 1 is a copy of 0: H = ln 2. 2 is their parity with 3: nothing of one, ln 2 of both.
    a, b = np.array([0, 0, 1, 1] * 5), np.array([0, 1, 0, 1] * 5)
    data = columns(np.stack([a, a, a ^ b, b], axis=1))
    assert measure(data, ((), (0,), (1,), ())).information == pytest.approx(np.log(2) / 4)
    assert measure(data, ((), (0,), (1, 3), ())).information == pytest.approx(np.log(2) / 2)
    assert measure(data, ((), (), (), ())).information == 0.0


def test_a_graph_of_many_parents_is_measured_all_the_same():
    data = columns(np.random.default_rng(1).integers(0, 2, (30, 41)), (2,) * 41)
    dag = (*((),) * 40, tuple(range(40)))
    assert np.isfinite(measure(data, dag).bdeu)
    assert measure(data, dag).information == pytest.approx(
        np.mean([0.0] * 40 + [_entropy(data.states[40])])
    )


def _entropy(states):
    p = np.bincount(states) / len(states)
    return -(p * np.log(p)).sum()


def test_without_rows_all_is_zero():
    found = measure(columns(np.zeros((0, 2), int), (2, 2)), ((), (0,)))
    assert (found.bdeu, found.bic, found.information) == (0.0, 0.0, 0.0)
