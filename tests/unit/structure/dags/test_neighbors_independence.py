"""G2 compared with scipy, and its undefined cases."""

import numpy as np
import pytest
from scipy.stats import chi2_contingency

from bncc.structure.dags.neighbors import IndependenceTests
from tests.unit.structure.dags.rows import columns, drawn, oracle_columns


def stratified(data, x, y, z):
    """Return G2 and its degrees of freedom, summed by scipy over the states of one variable."""
    statistic = freedom = 0
    for state in range(data.n_states[z]):
        rows = data.states[:, data.states[z] == state]
        table = np.zeros((data.n_states[x], data.n_states[y]), int)
        np.add.at(table, (rows[x], rows[y]), 1)
        table = table[table.any(axis=1)][:, table.any(axis=0)]
        if min(table.shape, default=0) > 1:
            found = chi2_contingency(table, correction=False, lambda_="log-likelihood")
            statistic, freedom = statistic + found.statistic, freedom + found.dof
    return statistic, freedom


@pytest.mark.parametrize(("x", "y", "z"), [(0, 2, 1), (1, 4, 0), (3, 4, 2), (2, 1, 0)])
def test_the_statistic_is_the_sum_over_strata(x, y, z):
    from scipy.stats import chi2

    data = oracle_columns()
    statistic, freedom = stratified(data, x, y, z)
    found = IndependenceTests(data).association(x, y, (z,))
    assert found.statistic == pytest.approx(statistic, abs=1e-9)
    assert found.p == pytest.approx(chi2.sf(statistic, freedom), rel=1e-9)


def test_without_conditions_it_is_the_plain_test():
    data = drawn(((), (0,)), 100, 1, fidelity=0.2)
    table = np.zeros((2, 2), int)
    np.add.at(table, tuple(data.states), 1)
    expected = chi2_contingency(table, correction=False, lambda_="log-likelihood")
    found = IndependenceTests(data).association(1, 0, ())
    assert (found.statistic, found.p) == pytest.approx((expected.statistic, expected.pvalue))


def test_states_that_do_not_occur_are_no_degrees_of_freedom():
    rows = [[0, 0], [0, 1], [1, 1], [1, 1], [0, 0], [1, 0]] * 5
    tight, wide = (IndependenceTests(columns(rows, r)) for r in ((2, 2), (3, 3)))
    assert wide.association(0, 1, ()) == tight.association(0, 1, ())


def test_fewer_than_five_rows_a_degree_of_freedom_say_nothing():
    for n, says in ((19, False), (20, True)):
        data = columns(np.arange(3 * n).reshape(n, 3) % 2, (2, 3, 2))
        assert (IndependenceTests(data).association(0, 1, (2,)) is not None) == says


def test_constants_are_independent_of_all():
    data = columns([[0, 1], [0, 0]] * 9, (1, 2))
    found = IndependenceTests(data).association(0, 1, ())
    assert (found.p, found.statistic) == (1.0, 0.0)


def test_the_surer_association_is_the_greater_also_where_p_is_too_small_for_a_float():
    copies = np.random.default_rng(1).integers(0, 2, (4000, 1)).repeat(3, axis=1)
    copies[:40, 2] ^= 1
    tests = IndependenceTests(columns(copies))
    sure, less = tests.association(0, 1, ()), tests.association(0, 2, ())
    assert sure.p == less.p == 0.0
    assert sure > less
    assert tests.association(1, 0, ()) is sure
    assert len(tests) == 2
