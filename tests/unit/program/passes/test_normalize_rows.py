"""normalize-rows: before, after, and when it must not fire. Equal margins: tests/property."""

from bncc.program.passes.normalize_rows import normalize_rows
from tests.unit.lower.by_hand import as_lists, program, table


def test_every_row_and_the_prior_lose_their_minimum():
    tables = [table([0], [[5, 7], [9, 2]]), table([0, 1], [[1, 1], [0, 4], [3, 8], [6, 5]])]
    after = normalize_rows(program([2, 2], [4, 3], tables))
    assert as_lists(after) == (
        [1, 0],
        [((0,), [[0, 2], [7, 0]]), ((0, 1), [[0, 0], [0, 4], [0, 5], [1, 0]])],
    )


def test_a_program_that_is_normalized_stays_itself():
    some = program([2], [0, 3], [table([0], [[0, 2], [7, 0]])])
    assert normalize_rows(some) is some


def test_a_prior_alone_makes_it_fire():
    some = program([2], [2, 3], [table([0], [[0, 2], [7, 0]])])
    assert as_lists(normalize_rows(some)) == ([0, 1], [((0,), [[0, 2], [7, 0]])])


def test_it_does_not_write_into_its_argument():
    some = program([2], [2, 3], [table([0], [[1, 2], [7, 1]])])
    normalize_rows(some)
    assert as_lists(some) == ([2, 3], [((0,), [[1, 2], [7, 1]])])
