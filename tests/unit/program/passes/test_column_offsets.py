"""column-offsets: before, after, and when it must not fire. Equal margins: tests/property."""

from bncc.program.passes.column_offsets import column_offsets
from bncc.program.passes.fold_prior import fold_prior
from bncc.program.tables import packed_bits
from tests.unit.lower.by_hand import as_lists, program, table

TIGHT = table([1], [[0, 3], [3, 0]])
UNEVEN = table([0], [[0, 5], [1, 0]])
"""The mean of 5 and 1 is 3: class 1 loses 2."""


def test_columns_shift_and_the_prior_takes_the_offsets():
    uneven = table([0], [[0, 5], [1, 0]] * 5)
    after = column_offsets(program([10, 2], [0, 0], [uneven, TIGHT]))
    assert as_lists(after) == ([0, 2], [((0,), [[0, 3], [3, 0]] * 5), ((1,), [[0, 3], [3, 0]])])


def test_it_does_not_fire_where_a_prior_takes_what_the_table_saves():
    uneven = table([0], [[0, 5], [1, 0]] * 3)
    before = program([6, 2], [0, 0], [uneven, TIGHT])
    assert packed_bits(before) == 6 * 2 * 3 + 4 * 2
    assert column_offsets(before) is before


def test_offsets_go_on_into_a_table_with_room():
    room = table([1], [[0, 1], [3, 0]])
    after = column_offsets(program([2, 2], [0, 0], [UNEVEN, room]))
    assert as_lists(after) == ([0, 0], [((0,), [[0, 3], [3, 0]]), ((1,), [[0, 3], [1, 0]])])


def test_it_leaves_to_fold_prior_what_a_fold_alone_achieves():
    before = program([2, 2], [2, 0], [UNEVEN, TIGHT])
    assert column_offsets(before) is before
    folded = fold_prior(before)
    assert as_lists(folded) == ([0, 0], [((0,), [[0, 3], [3, 0]]), ((1,), [[0, 3], [3, 0]])])


def test_it_does_not_fire_on_the_smallest_entries_there_are():
    before = program([2, 2], [0, 0], [table([0], [[0, 3], [2, 0]]), TIGHT])
    assert column_offsets(before) is before


def test_it_does_not_fire_when_the_prior_takes_more_bits_than_entries_save():
    before = program([2, 2], [0, 0], [table([0], [[0, 7], [5, 0]]), TIGHT])
    assert column_offsets(before) is before


def test_it_leaves_alone_what_saves_no_bit_when_all_offsets_make_a_prior():
    tables = [table([0], [[0, 9], [0, 8], [0, 8], [0, 9]]), table([1], [[0, 15], [9, 0]])]
    after = column_offsets(program([4, 2], [0, 0], tables))
    assert as_lists(after)[1][0] == ((0,), [[0, 1], [0, 0], [0, 0], [0, 1]])
    assert packed_bits(after) < packed_bits(program([4, 2], [0, 0], tables))


def test_the_argument_is_not_written_to():
    before = program([2, 2], [0, 0], [UNEVEN, TIGHT])
    column_offsets(before)
    assert as_lists(before) == ([0, 0], [((0,), [[0, 5], [1, 0]]), ((1,), [[0, 3], [3, 0]])])


def test_running_it_twice_changes_nothing():
    once = column_offsets(program([2, 2], [0, 0], [UNEVEN, TIGHT]))
    assert column_offsets(once) is once


def test_it_goes_on_until_nothing_fires():
    """Hypothesis found it: after one round a second one makes the entries smaller still."""
    tables = [
        table([0], [[7, 12, 0, 0], [3, 9, 6, 12], [7, 3, 4, 8]]),
        table([1], [[13, 10, 8, 4], [4, 0, 1, 0], [2, 13, 10, 14]]),
        table([2], [[7, 8, 12, 15]]),
    ]
    after = column_offsets(program([3, 3, 1], [0, 0, 0, 0], tables))
    assert column_offsets(after) is after
