"""Scores of families of any size against single tables and against pgmpy."""

import numpy as np
import pytest

from bncc.errors import OptionError
from bncc.structure.dags.dag_score import DagScore, Limits, ScoreKind, one_joint
from bncc.structure.scores import bdeu
from tests.unit.structure.dags.rows import ORACLE, columns, oracle_columns


@pytest.mark.parametrize("name", ["bdeu 1", "bdeu 10", "bic"])
def test_families_of_up_to_four_parents_score_as_pgmpy_scores_them(name):
    kind, _, alpha = name.partition(" ")
    score = DagScore(oracle_columns(), ScoreKind(kind, float(alpha or 1)))
    theirs = ORACLE["scores"][name]
    assert max(len(parents) for _, parents, _ in theirs) == 4
    for i, parents, value in theirs:
        assert score.family(i, parents) == pytest.approx(value, abs=1e-6)


def test_the_order_of_parents_does_not_matter_and_nothing_is_counted_twice():
    score = DagScore(oracle_columns())
    first = score.family(0, (3, 1, 4))
    n_sums = len(score._sums)
    assert score.family(0, (1, 4, 3)) == first
    assert score.family(4, (0, 1, 3)) != first  # shares the joint states of all four
    assert len(score._sums) == n_sums + 1


def test_segments_are_scored_apart_and_share_the_prior():
    data = oracle_columns()
    segments = one_joint(data.n_samples).with_column(data.states[1], 3)
    segments = segments.with_column(data.states[4], 3)
    score = DagScore(data, ScoreKind(alpha=6.0), segments=segments)
    present = np.unique(data.states[1] * 3 + data.states[4])
    expected = 0.0
    for segment in present:
        rows = data.rows(data.states[1] * 3 + data.states[4] == segment)
        table = np.zeros((4, 2), np.int64)
        np.add.at(table, (rows.states[3], rows.states[2]), 1)
        expected += bdeu(table, 6.0 / len(present))
    assert score.family(2, (3,)) == pytest.approx(expected, abs=1e-9)


def test_each_arc_has_its_price():
    free, priced = (DagScore(oracle_columns(), ScoreKind(arc_price=p)) for p in (0.0, 1.5))
    dag = ((), (), (0, 1), (2,), ())
    assert priced.total(dag) == pytest.approx(free.total(dag) - 3 * 1.5)


def test_a_table_over_the_limit_is_refused_before_it_is_counted():
    score = DagScore(oracle_columns(), limits=Limits(parents=2, entries=12))
    assert score.fits(2, (3,))
    assert not score.fits(3, (1, 0))  # 24 entries
    assert not score.fits(2, (0, 0, 0))
    with pytest.raises(OptionError, match=r"24 entries, more than 12; use fewer parents, or raise"):
        score.family(3, (1, 0))
    assert (0, 1) not in score._sums


def test_a_variable_whose_own_table_is_too_large_is_refused():
    with pytest.raises(
        OptionError,
        match=r"a variable has 70000 states.* use fewer states",
    ):
        DagScore(columns([[0, 0], [1, 0]], (2, 70000)))


def test_many_sets_of_variables_score_alike_whatever_is_kept():
    rng = np.random.default_rng(2)
    data = columns(rng.integers(0, 2, (50, 14)), (2,) * 14)
    families = [(i, tuple(sorted(rng.choice([j for j in range(14) if j != i], 3, replace=False))))
                for i in range(14) for _ in range(8)]  # fmt: skip
    score = DagScore(data)
    once = [score.family(i, parents) for i, parents in families]
    afresh = [DagScore(data).family(i, parents) for i, parents in families]
    assert once == pytest.approx(afresh, abs=1e-9)


@pytest.mark.parametrize("kind", ["bdeu", "bic"])
def test_no_rows_and_constant_columns_score_zero(kind):
    assert DagScore(columns(np.zeros((0, 2), int), (3, 2)), ScoreKind(kind)).family(0, (1,)) == 0.0
    assert DagScore(columns(np.zeros((9, 2), int), (1, 2)), ScoreKind(kind)).family(0, (1,)) == 0.0
