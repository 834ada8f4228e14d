"""Integer sums of probabilities, compared with those of real numbers."""

import numpy as np
import pytest

from bncc.model.missing_form import CORRECTIONS, LogAdd, log_add_of


def test_the_corrections_fit_in_256_bytes():
    assert len(CORRECTIONS) == 200
    assert CORRECTIONS[:4] == (177, 173, 170, 166)
    assert CORRECTIONS[-1] == 1
    assert max(CORRECTIONS) <= 255


def test_corrections_fall_more_slowly_than_differences_rise():
    steps = -np.diff([*CORRECTIONS, 0])
    assert steps.min() >= 0
    assert steps.max() <= 2 ** (8 - 5)


def test_no_correction_is_so_near_a_half_that_a_library_could_round_it_otherwise():
    exact = 256 * np.log1p(np.exp(-np.arange(220) / 32))
    assert np.abs(exact % 1 - 0.5).min() > 1e-4


@pytest.mark.parametrize(
    ("frac_bits", "expected"),
    [(-3, LogAdd(11, 3, 0)), (1, LogAdd(7, 3, 0)), (8, LogAdd(0, 3, 0)), (12, LogAdd(0, 7, 4))],
)
def test_numbers_have_eight_fraction_bits_or_those_of_the_model(frac_bits, expected):
    assert log_add_of(frac_bits) == expected


@pytest.mark.parametrize("frac_bits", [2, 9, 12])
def test_a_sum_is_that_of_real_numbers_but_for_the_rounding_of_the_table(frac_bits):
    log_add = log_add_of(frac_bits)
    unit = 256 << log_add.value_shift
    a, b = np.meshgrid(np.arange(0, 3 * unit, 17), np.arange(0, 9 * unit, unit // 16 + 1))
    exact = -np.logaddexp(-a / unit, -b / unit)
    found = log_add.add(a, b) / unit
    # Half a unit of the table, and half the way between two entries at a slope of a half.
    assert np.abs(found - exact).max() <= 0.5 / 256 + 0.5 * 0.5 / 32
    assert np.array_equal(log_add.add(a, b), log_add.add(b, a))


def test_nothing_is_corrected_from_its_reach_on():
    for frac_bits in (0, 10):
        log_add = log_add_of(frac_bits)
        reach = log_add.reach
        assert log_add.add(np.array(0), np.array(reach)) == 0
        assert log_add.add(np.array(0), np.array(reach - 1)) == -(1 << log_add.value_shift)


def test_a_fold_goes_from_the_first_to_the_last():
    log_add = log_add_of(8)
    terms = [np.array(t) for t in (340, 3, 90)]
    assert log_add.fold(terms[:1]) == 340
    assert log_add.fold(terms) == log_add.add(log_add.add(terms[0], terms[1]), terms[2])
    assert log_add.fold([np.array(0)] * 2) == -177


@pytest.mark.parametrize("frac_bits", [1, 9, 11])
def test_no_fold_of_larger_terms_lies_below_the_least_fold(frac_bits):
    generator = np.random.default_rng(frac_bits)
    log_add = log_add_of(frac_bits)
    low = generator.integers(0, 1500, (4, 20000))
    terms = low + generator.integers(0, 60, low.shape) * generator.integers(0, 2, low.shape)
    least = log_add.least_fold(list(low))
    assert (log_add.fold(list(terms)) >= least).all()
    assert np.array_equal(log_add.least_fold(list(low + 17)), least + 17)
