"""Costs: the format's limits, rounding half to even, saturation, and the way back."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bncc.fixed_point import MAX_BITS, MAX_FRAC_BITS, QFormat, dequantize, quantize, rounded
from tests.strategies import q_formats


def test_a_format_prints_and_counts_like_the_papers():
    fmt = QFormat(4, 2)
    assert (str(fmt), fmt.bits, fmt.max_cost) == ("UQ4.2", 6, 63)


def test_negative_fraction_bits_make_costs_multiples_of_more_than_a_nat():
    assert quantize(np.array([-8.0, -11.9, -12.1]), QFormat(7, -3)).tolist() == [1, 1, 2]
    assert dequantize(np.array([1]), QFormat(7, -3)).tolist() == [-8.0]


@pytest.mark.parametrize("parts", [(0, 0), (-1, 0), (3, -3), (MAX_BITS, 1), (32, 0)])
def test_a_format_outside_1_to_31_bits_is_refused(parts):
    with pytest.raises(ValueError, match=r"must be in 1 \.\. 31"):
        QFormat(*parts)


@pytest.mark.parametrize("frac_bits", [MAX_FRAC_BITS + 1, -MAX_FRAC_BITS - 1, 10**6])
def test_a_unit_beyond_all_meaning_is_refused(frac_bits):
    with pytest.raises(ValueError, match="fraction bits"):
        QFormat(8 - frac_bits, frac_bits)


@pytest.mark.parametrize("frac_bits", [MAX_FRAC_BITS, -MAX_FRAC_BITS])
def test_the_outermost_units_still_work(frac_bits):
    fmt = QFormat(8 - frac_bits, frac_bits)
    assert dequantize(quantize(np.array([0.0, -np.inf]), fmt), fmt)[0] == 0
    assert quantize(np.array([-np.inf]), fmt).tolist() == [255]


def test_halves_round_to_even():
    theta = -np.array([0.5, 1.5, 2.5, 3.5])
    assert quantize(theta, QFormat(4, 0)).tolist() == [0, 2, 2, 4]


def test_what_does_not_fit_saturates():
    theta = -np.array([14.4, 15.4, 15.6, 1e300, np.inf])
    assert quantize(theta, QFormat(4, 0)).tolist() == [14, 15, 15, 15, 15]


def test_the_widest_format_saturates_without_overflow():
    fmt = QFormat(MAX_BITS, 0)
    assert quantize(np.array([-np.inf, -1e300]), fmt).tolist() == [2**31 - 1] * 2


def test_a_cost_beyond_float64_saturates_without_a_warning():
    assert quantize(np.array([-np.finfo(np.float64).max]), QFormat(4, 4)).tolist() == [255]


@pytest.mark.parametrize("theta", [0.1, np.inf, np.nan])
def test_what_is_no_log_probability_is_refused(theta):
    with pytest.raises(ValueError, match="log-probabilities"):
        quantize(np.array([-1.0, theta]), QFormat(4, 4))


def test_a_scalar_is_taken_and_minus_zero_costs_nothing():
    assert quantize(np.float64(-0.0), QFormat(1, 0)) == 0


@given(q_formats(31), st.lists(st.floats(max_value=0, allow_nan=False), max_size=8))
def test_quantize_is_equation_11_in_exact_arithmetic(fmt, theta):
    """S3 equation 11, computed in fractions, gives the same integers."""

    def exact(value: float) -> int:
        if math.isinf(value):
            return fmt.max_cost
        return min(round(Fraction(-value) * Fraction(2) ** fmt.frac_bits), fmt.max_cost)

    assert quantize(np.array(theta), fmt).tolist() == [exact(value) for value in theta]


@given(q_formats(31), st.data())
def test_every_cost_survives_the_way_to_a_log_probability_and_back(fmt, data):
    q = np.array(data.draw(st.lists(st.integers(0, fmt.max_cost), max_size=8)), dtype=np.int64)
    assert quantize(dequantize(q, fmt), fmt).tolist() == q.tolist()


@given(q_formats(20), st.floats(-1e4, 0), st.floats(-1e4, 0))
def test_a_smaller_probability_never_costs_less(fmt, first, second):
    low, high = quantize(np.array(sorted([first, second])), fmt)
    assert low >= high


def test_rounding_takes_negative_fraction_bits_and_saturates():
    """UQ3.-1 has 0, -2, -4 and -6 nats; -3 is a tie, rounded to the even multiple."""
    theta = np.array([0.0, -0.9, -1.1, -3.0, -5.5, -np.inf])
    assert rounded(theta, QFormat(3, -1)).tolist() == [0, 0, -2, -4, -6, -6]
