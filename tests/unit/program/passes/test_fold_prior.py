"""fold-prior: before, after, and when it must not fire. Equal margins: tests/property."""

import pytest

from bncc.program.passes.fold_prior import fold_prior
from tests.unit.lower.by_hand import as_lists, program, table

LARGE = table([0, 1], [[r, 6 - r] for r in range(6)])
SMALL = table([0], [[0, 2], [0, 3]])


def test_the_prior_moves_into_the_smallest_table_and_its_rows_are_normalized():
    after = fold_prior(program([2, 3], [2, 0], [LARGE, SMALL]))
    assert as_lists(after) == (
        [0, 0],
        [((0, 1), [[r, 6 - r] for r in range(6)]), ((0,), [[0, 0], [0, 1]])],
    )


def test_the_first_of_equally_small_tables_takes_it():
    after = fold_prior(program([2, 2], [1, 0], [SMALL, table([1], [[0, 2], [0, 1]])]))
    assert as_lists(after)[1] == [((0,), [[0, 1], [0, 2]]), ((1,), [[0, 2], [0, 1]])]


def test_a_second_table_takes_what_the_first_has_no_room_for():
    tables = [table([0], [[0, 2], [0, 1]]), table([1], [[0, 2], [0, 3]])]
    after = fold_prior(program([2, 2], [7, 1], tables))
    assert as_lists(after) == ([0, 0], [((0,), [[1, 0], [2, 0]]), ((1,), [[1, 0], [0, 0]])])


def test_entries_get_larger_where_nothing_else_helps_but_no_bit_wider():
    tables = [table([0], [[0, 4], [4, 0]]), table([1], [[0, 1], [1, 0]])]
    after = fold_prior(program([2, 2], [0, 3], tables))
    assert as_lists(after) == ([0, 0], [((0,), [[0, 7], [1, 0]]), ((1,), [[0, 1], [1, 0]])])


@pytest.mark.parametrize(("prior", "fires"), [(3, True), (4, False)])
def test_it_does_not_fire_when_entries_would_need_another_bit(prior, fires):
    tables = [table([0], [[0, 4], [4, 0]]), table([1], [[0, 1], [1, 0]])]
    before = program([2, 2], [0, prior], tables)
    assert (fold_prior(before) is not before) == fires


def test_it_does_not_fire_when_sums_would_need_another_bit():
    three = [[0, 0, 4], [0, 4, 0], [4, 0, 0]]
    tables = [table([0], three), table([1], [[0, 0, 1], [1, 0, 0]])]
    before = program([3, 2], [0, 2, 3], tables)
    assert fold_prior(before) is not before


def test_it_does_not_fire_where_rows_that_tables_share_would_differ():
    shared = [[0, 7, 5, 6], [7, 0, 6, 5], [5, 6, 0, 7], [6, 5, 7, 0]]
    tables = [table([f], [shared[(r + f) % 4] for r in range(16)]) for f in range(8)]
    before = program([16] * 8, [1, 0, 0, 0], tables)
    assert fold_prior(before) is before


def test_it_does_not_fire_without_a_prior():
    before = program([2, 3], [0, 0], [LARGE, SMALL])
    assert fold_prior(before) is before


def test_it_does_not_fire_on_a_single_table():
    before = program([2], [1, 0], [SMALL])
    assert fold_prior(before) is before


def test_the_argument_is_not_written_to():
    before = program([2, 3], [2, 0], [LARGE, SMALL])
    fold_prior(before)
    assert as_lists(before)[0] == [2, 0]
    assert before.tables[1].costs.tolist() == [[0, 2], [0, 3]]


def test_running_it_twice_changes_nothing():
    once = fold_prior(program([2, 3], [2, 0], [LARGE, SMALL]))
    assert fold_prior(once) is once
