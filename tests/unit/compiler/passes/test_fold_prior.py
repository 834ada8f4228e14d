"""fold-prior: before, after, and when it must not fire. Equal costs: tests/property."""

import pytest

from bncc.compiler.passes.fold_prior import fold_prior
from tests.unit.compiler.by_hand import as_lists, program, table

LARGE = table([0, 1], [[r, 6 - r] for r in range(6)])
SMALL = table([0], [[1, 2], [4, 3]])


def test_the_prior_moves_into_the_smallest_table():
    after = fold_prior(program([2, 3], [10, 0], [LARGE, SMALL]))
    assert as_lists(after) == (
        [0, 0],
        [((0, 1), [[r, 6 - r] for r in range(6)]), ((0,), [[11, 2], [14, 3]])],
    )


def test_the_first_of_equally_small_tables_takes_it():
    after = fold_prior(program([2, 2], [1, 0], [SMALL, table([1], [[0, 0], [0, 1]])]))
    assert as_lists(after)[1] == [((0,), [[2, 2], [5, 3]]), ((1,), [[0, 0], [0, 1]])]


def test_a_larger_table_takes_it_when_the_smallest_would_need_wider_entries():
    full = table([0], [[0, 250], [0, 3]])
    after = fold_prior(program([2, 3], [0, 10], [full, LARGE]))
    assert as_lists(after) == (
        [0, 0],
        [((0,), [[0, 250], [0, 3]]), ((0, 1), [[r, 16 - r] for r in range(6)])],
    )


@pytest.mark.parametrize(("most", "fires"), [(255, True), (256, False)])
def test_entries_may_fill_their_width_but_not_exceed_it(most, fires):
    tables = [table([0], [[0, most - 5], [0, 0]]), table([1], [[0, most - 5], [0, 1]])]
    before = program([2, 2], [0, 5], tables)
    assert (fold_prior(before) is not before) == fires


def test_a_wide_table_elsewhere_gives_room():
    tables = [table([0], [[0, 255], [0, 0]]), table([1], [[0, 256], [0, 1]])]
    after = fold_prior(program([2, 2], [0, 5], tables))
    assert as_lists(after)[1][0] == ((0,), [[0, 260], [0, 5]])


def test_it_does_not_fire_without_a_prior():
    before = program([2, 3], [0, 0], [LARGE, SMALL])
    assert fold_prior(before) is before


def test_it_does_not_fire_on_a_single_table():
    before = program([2], [1, 0], [SMALL])
    assert fold_prior(before) is before


def test_the_argument_is_not_written_to():
    before = program([2, 3], [10, 0], [LARGE, SMALL])
    fold_prior(before)
    assert as_lists(before)[0] == [10, 0]
    assert before.tables[1].costs.tolist() == [[1, 2], [4, 3]]
