"""Comparisons of words bit by bit."""

import numpy as np
import pytest

from bncc.prove.diagrams import FALSE
from bncc.prove.regions import EVERYWHERE
from bncc.prove.values import UndecidedError, Value
from bncc.prove.words import MOST_PLAIN, Words
from tests.unit.prove.brute import word

N_BITS = 11
FULL = (((0, 4),),) * N_BITS


def word_of_inputs(algebra):
    """Return a word of which bit k is 1 where input k is at least 3."""
    d = algebra.diagrams
    bits = [d.where((((k, ((3, 4),)),),)) for k in range(N_BITS)]
    return algebra.word((*bits, *[FALSE] * (32 - N_BITS)))


@pytest.mark.parametrize("number", [0, 5, (1 << N_BITS) - 1, 1 << N_BITS])
def test_a_word_of_many_cells_may_equal_a_number_in_few(number):
    algebra = Words(FULL)
    algebra.region = EVERYWHERE
    assert 1 << N_BITS > MOST_PLAIN
    found = algebra.equal(word_of_inputs(algebra), Value(number))
    bits = number >> np.arange(N_BITS) & 1
    equal = tuple(map(int, np.where(bits, 3, 2)))
    assert word(found, equal) == (number < 1 << N_BITS)
    for k in range(N_BITS):
        other = (*equal[:k], 5 - equal[k], *equal[k + 1 :])
        assert word(found, other) == 0


def test_words_of_variables_are_compared_by_them_alone():
    """A bit of the other word is of inputs, and no variable stands for it."""
    algebra = Words(FULL)
    of_variables = algebra.word((algebra.diagrams.variable(0), *[FALSE] * 31))
    with pytest.raises(UndecidedError, match="depends on bits of many inputs"):
        algebra.equal(word_of_inputs(algebra), of_variables)
