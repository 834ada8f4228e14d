"""drop-constant: before, after, and when it must not fire. Margins: tests/property."""

from bncc.program.ir import costs
from bncc.program.passes.drop_constant import drop_constant
from tests.unit.lower.by_hand import as_lists, inputs, margins, program, table

TELLS = table([0], [[1, 2], [4, 3]])
SAME_ROWS = table([1], [[5, 7]] * 3)
SAME_COLUMNS = table([1], [[2, 2], [9, 9], [4, 4]])
SAME_ALL = table([1], [[6, 6]] * 3)


def test_equal_rows_go_into_the_prior_which_is_normalized():
    before = program([2, 3], [1, 0], [SAME_ROWS, TELLS])
    after = drop_constant(before)
    assert as_lists(after) == ([0, 1], [((0,), [[1, 2], [4, 3]])])
    X = inputs([2, 3])
    assert (margins(costs(after, X)) == margins(costs(before, X))).all()


def test_equal_columns_disappear_and_margins_stay():
    before = program([2, 3], [1, 0], [TELLS, SAME_COLUMNS])
    after = drop_constant(before)
    assert as_lists(after) == ([1, 0], [((0,), [[1, 2], [4, 3]])])
    X = inputs([2, 3])
    assert (margins(costs(after, X)) == margins(costs(before, X))).all()
    assert (costs(after, X) <= costs(before, X)).all()


def test_a_table_equal_everywhere_disappears_without_touching_the_prior():
    after = drop_constant(program([2, 3], [1, 0], [SAME_ALL, TELLS]))
    assert as_lists(after) == ([1, 0], [((0,), [[1, 2], [4, 3]])])


def test_one_table_stays_even_if_all_are_constant():
    after = drop_constant(program([2, 3], [0, 0], [SAME_COLUMNS, SAME_ALL, SAME_ROWS]))
    assert as_lists(after) == ([0, 0], [((1,), [[5, 7]] * 3)])


def test_it_does_not_fire_when_every_table_tells_the_classes_something():
    before = program([2, 3], [1, 0], [TELLS, table([1], [[5, 7], [5, 7], [5, 8]])])
    assert drop_constant(before) is before


def test_it_does_not_fire_on_a_single_table():
    before = program([2, 3], [1, 0], [SAME_ALL])
    assert drop_constant(before) is before


def test_the_argument_is_not_written_to():
    before = program([2, 3], [1, 0], [SAME_ROWS, TELLS])
    drop_constant(before)
    assert before.prior.tolist() == [1, 0]
    assert len(before.tables) == 2
