"""Values of structure options, read from text."""

import numpy as np
import pytest

from bncc.errors import OptionError
from bncc.structure.options import (
    alpha_of,
    check_values,
    has_order,
    order_of,
    parents_of,
    price_of,
    step_of,
    width_of,
    widths_of,
)

RNG = np.random.default_rng(0)


def test_defaults():
    assert (alpha_of({}), step_of({}), parents_of({}), width_of({})) == (2.0, 0.01, 8, None)
    assert (price_of({}), widths_of({})) == ("entries", ())
    assert sorted(order_of({}, 9, RNG)) == list(range(9))
    assert order_of({}, 4, RNG, "identity").tolist() == [0, 1, 2, 3]


def test_values_are_read():
    options = {"alpha": "10", "step": "1e-3", "parents": "5", "width": "3", "order": "B"}
    check_values(options)
    assert alpha_of(options) == 10
    assert step_of(options) == 1e-3
    assert (parents_of(options), width_of(options)) == (5, 3)
    assert order_of(options, 6, RNG).tolist() == [0, 3, 1, 4, 2, 5]


@pytest.mark.parametrize("key", ["alpha", "step"])
@pytest.mark.parametrize("text", ["0", "-1", "nan", "inf", "ten"])
def test_numbers_are_positive(key, text):
    with pytest.raises(OptionError, match=f"{key}={text} is not a positive number; try {key}="):
        check_values({key: text})


@pytest.mark.parametrize("key", ["parents", "width"])
@pytest.mark.parametrize("text", ["0", "-1", "2.5", "", "two", "000"])
def test_counts_are_whole_numbers_from_1_on(key, text):
    with pytest.raises(OptionError, match=f"{key}=.* is not a positive integer; try {key}=8"):
        check_values({key: text})


@pytest.mark.parametrize("text", ["1000000001", "9" * 5000])
def test_counts_have_a_limit(text):
    with pytest.raises(OptionError, match=r"parents=[109]{,20} is above 1000000000; try parents=8"):
        check_values({"parents": text})
    check_values({"parents": "0001000000000"})


def test_no_order_is_told_apart_and_is_no_order_itself():
    assert [has_order(options) for options in ({}, {"order": "B"}, {"order": "none"})] == [
        True, True, False,
    ]  # fmt: skip
    check_values({"order": "none"})
    with pytest.raises(
        OptionError, match="which only tan-subset, tan-all and tan-heuristic support"
    ):
        order_of({"order": "none"}, 4, RNG)


def test_an_unknown_order_lists_the_known_ones():
    with pytest.raises(
        OptionError, match="order=D is unknown; choose random, identity, A, B, C or none"
    ):
        check_values({"order": "D"})


def test_widths_are_read_in_any_order_and_a_price_by_its_name():
    check_values({"widths": "6,2,4", "price": "bits"})
    assert widths_of({"widths": "6,2,4"}) == (2, 4, 6)
    assert price_of({"price": "bits"}) == "bits"


@pytest.mark.parametrize("text", ["", "2,", "0,4", "2,9", "2,2", "2;4", "two", "2" * 5000])
def test_widths_are_different_numbers_of_bits(text):
    with pytest.raises(OptionError, match="not a list of different numbers of bits from 1 to 8"):
        check_values({"widths": text})


def test_an_unknown_price_lists_the_known_ones():
    with pytest.raises(OptionError, match="price=flash is unknown; choose entries or bits"):
        check_values({"price": "flash"})
