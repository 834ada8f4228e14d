"""Tables of few bits: what is frozen of them reaches no further, and all else stays."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from bncc.fixed_point import QFormat, quantize
from bncc.train.joint.descent import narrowed

PRIOR = np.log([0.2, 0.8])


def frozen(table, width, fmt):
    return quantize(narrowed((PRIOR, (table,)), (width,), fmt)[1][0], fmt)


def test_costs_are_bounded_above_the_least_of_their_row_and_rows_of_less_stay():
    table = -np.array([[1.0, 1.5, 9.0], [0.0, 2.0, 2.26], [3.0, 3.75, 3.5]])
    costs = frozen(table, 3, QFormat(4, 2))
    assert costs.tolist() == [[4, 6, 11], [0, 7, 7], [12, 15, 14]]


def test_the_prior_and_tables_of_all_bits_stay():
    fmt, table = QFormat(2, 2), -np.array([[0.0, 1.0, 3.7]])
    prior, (same,) = narrowed((PRIOR, (table,)), (4,), fmt)
    assert prior is PRIOR
    assert np.array_equal(same, table)


@given(st.integers(0, 99), st.integers(1, 6), st.sampled_from([QFormat(3, 3), QFormat(8, -2)]))
def test_it_is_the_bound_of_quantized_costs(seed, width, fmt):
    table = -np.random.default_rng(seed).gamma(1.0, 2.0 ** (fmt.int_bits - 2), (7, 4))
    costs = quantize(table, fmt)
    bound = costs.min(axis=1, keepdims=True) + 2**width - 1
    assert np.array_equal(frozen(table, width, fmt), np.minimum(costs, bound))
