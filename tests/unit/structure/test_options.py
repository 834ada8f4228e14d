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
    step_of,
    width_of,
)

RNG = np.random.default_rng(0)


def test_defaults():
    assert (alpha_of({}), step_of({}), parents_of({}), width_of({})) == (2.0, 0.01, 8, None)
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
@pytest.mark.parametrize("text", ["0", "-1", "2.5", "", "two", "9" * 5000])
def test_counts_are_whole_numbers_from_1_on(key, text):
    with pytest.raises(OptionError, match=f"{key}=.* is not a whole number from 1 on; try {key}=8"):
        check_values({key: text})


def test_no_order_is_told_apart_and_is_no_order_itself():
    assert [has_order(options) for options in ({}, {"order": "B"}, {"order": "none"})] == [
        True, True, False,
    ]  # fmt: skip
    check_values({"order": "none"})
    with pytest.raises(OptionError, match="which only tan-subset, tan-all and tan-heuristic allow"):
        order_of({"order": "none"}, 4, RNG)


def test_an_unknown_order_lists_the_known_ones():
    with pytest.raises(
        OptionError, match="order=D is unknown; choose random, identity, A, B, C or none"
    ):
        check_values({"order": "D"})
