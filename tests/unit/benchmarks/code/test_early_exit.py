"""The share of tables that a decision reads before it is settled."""

import numpy as np
import pytest

from benchmarks.code.early_exit import shares_read
from tests.unit.lower.by_hand import program, table

WIDE, NARROW = [[0, 9], [9, 0]], [[0, 3], [2, 0]]


@pytest.mark.parametrize(
    ("prior", "shares"),
    [
        ([0, 0], [0.5, 0.5]),  # the wide table, whichever comes first, outweighs the narrow one
        ([0, 12], [0, 0]),  # more than both
        ([0, 11], [0.5, 1]),  # as much as both: a tie is possible
        ([7, 0], [1, 0.5]),
    ],
)
def test_a_decision_is_settled_when_nothing_makes_up_for_the_gap(prior, shares):
    some = program([2, 2], prior, [table([0], NARROW), table([1], WIDE)])
    X = np.array([[1, 0], [0, 1]])
    assert shares_read(some, X).tolist() == shares
