"""Sums of functions of few inputs: what is known of them is kept."""

import numpy as np

from bncc.prove.sums import Sums
from bncc.prove.values import WORD, Term, Value

FULL = (((0, 3),), ((0, 3),))


def function(sums: Sums, axis: int, values: list[int]) -> Value:
    """Return a function of one input, by its numbers."""
    partition = sums.partitions.of_axis(axis, [((x, x),) for x in range(len(values))])
    return sums.value(0, [Term(partition, np.array(values, dtype=np.int64))])


def terms(value: Value) -> list[Term]:
    return list(value.terms.values())


def test_terms_that_do_not_change_are_the_same_objects() -> None:
    """Proofs with hundreds of inputs look at each term of a sum in every addition otherwise."""
    sums = Sums(FULL)
    a, b = function(sums, 0, [3, 1, 4, 1]), function(sums, 1, [5, 9, 2, 6])
    total = sums.add(a, b)
    assert terms(total) == [*terms(a), *terms(b)]
    assert terms(sums.add(total, Value(7))) == terms(sums.add(Value(7), total)) == terms(total)
    assert terms(sums.low(total, 16)) == terms(sums.scaled(total, 1)) == terms(total)
    assert terms(sums.scaled(total, 8)) == terms(sums.scaled(sums.low(total, 16), 8))


def test_sums_of_equal_partitions_are_reduced() -> None:
    sums = Sums(FULL)
    a, b = function(sums, 0, [0, 1, 2, 3]), function(sums, 0, [WORD - 1, WORD - 2, WORD - 3, 0])
    total = sums.add(a, b)
    (term,) = terms(total)
    assert (term.values == [WORD - 1, WORD - 1, WORD - 1, 3]).all()
    assert sums.add(total, function(sums, 0, [5, 5, 5, 1])).number == 4
    assert sums.add(a, sums.negative(a)).number == 0


def test_numbers_below_zero_are_reduced_when_added() -> None:
    """The exact lower bits of a sum may be negative in one term."""
    sums = Sums(FULL)
    a = sums.add(function(sums, 0, [1, 0, 2, 1]), function(sums, 1, [0, WORD - 1, 0, WORD - 1]))
    low = sums.low(sums.add(a, Value(1)), 8)
    assert any((term.values < 0).any() for term in terms(low))
    again = sums.add(low, Value(0))
    assert all(term.is_reduced for term in terms(again))
    assert all((term.values >= 0).all() for term in terms(again))


def test_bounds_are_those_of_the_region() -> None:
    sums = Sums(FULL)
    (term,) = terms(function(sums, 0, [3, 1, 4, 1]))
    assert sums.bounds(term) == (1, 4)
    sums.region = (((0, ((0, 1),)),),)
    assert sums.bounds(term) == (1, 3)
    sums.region = ((),)
    assert sums.bounds(term) == (1, 4)
    other = Sums(FULL)
    other.region = (((0, ((1, 1),)),),)
    assert other.bounds(term) == (1, 1)


def test_the_difference_of_two_ordered_sums_is_split_by_their_order():
    """A term may have even numbers only, as lanes above others have."""
    few = 40
    sums = Sums((((0, 3),),) * few)
    total = Value(0)
    for axis in range(few):
        values = [0, 2, WORD - 2, 4] if axis % 2 else [1, 0, WORD - 1, 3]
        total = sums.add(total, function(sums, axis, values))
    sums.is_negative = lambda exact: False
    low = sums.low(total, 16)
    assert low.const == 0
    assert len(low.terms) == few
    sums.is_negative = lambda exact: True
    assert sums.low(total, 16).const == 1 << 16
