"""Operations on bits that are known together only."""

import numpy as np

from bncc.prove.values import Term, Value
from bncc.prove.words import Words

N = 16
FULL = (((0, 255),),) * N


def test_bits_of_checks_that_have_passed_are_zero() -> None:
    """A compiler may return the register of ``(a | b) == 0`` for the constant 0."""
    words = Words(FULL)

    def high(axes: range) -> Value:
        """Return how many inputs are above 9."""
        cells = [((0, 9),), ((10, 255),)]
        parts = [words.partitions.of_axis(axis, cells) for axis in axes]
        return words.value(0, [Term(p, np.array([0, 1])) for p in parts])

    either = words.bitwise(high(range(N // 2)), high(range(N // 2, N)), "or")
    assert words.settled(either).equals(either)
    words.region = (tuple((axis, ((0, 9),)) for axis in range(N)),)
    assert words.settled(either).number == 0
    words.region = (tuple((axis, ((0, 9),)) for axis in range(1, N)),)
    assert words.settled(either).equals(either)
    assert words.settled(Value(3)).number == 3
