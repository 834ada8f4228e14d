"""fuse-parent: before, after, and when it must not fire. Equal margins: tests/property."""

from bncc.program.passes.fuse_parent import fuse_parent
from tests.unit.lower.by_hand import as_lists, program, table

ROOT = table([0], [[0, 3], [1, 0]])
CHILD = table([0, 1], [[0, 4], [2, 0], [0, 6], [0, 2]])


def test_a_root_is_added_to_its_child():
    after = fuse_parent(program([2, 2], [0, 1], [ROOT, CHILD]))
    assert as_lists(after) == ([0, 1], [((0, 1), [[0, 7], [0, 1], [0, 5], [0, 1]])])


def test_of_two_children_the_one_takes_it_that_needs_fewer_bits():
    full = table([0, 2], [[0, 7], [2, 0], [7, 0], [0, 2]])
    after = fuse_parent(program([2, 2, 2], [0, 0], [ROOT, full, CHILD]))
    assert [t.features for t in after.tables] == [(0, 2), (0, 1)]
    assert after.tables[0] is full


def test_of_equal_children_the_first_takes_it():
    twin = table([0, 2], CHILD.costs.tolist())
    after = fuse_parent(program([2, 2, 2], [0, 0], [twin, ROOT, CHILD]))
    assert after.tables[1] is CHILD
    assert len(after.tables) == 2


def test_tables_of_the_same_features_become_one_in_any_order():
    turned = table([1, 0], [[0, 1], [0, 1], [1, 0], [0, 0]])
    after = fuse_parent(program([2, 2], [0, 0], [turned, CHILD]))
    assert as_lists(after) == ([0, 0], [((0, 1), [[0, 5], [3, 0], [0, 7], [0, 2]])])


def test_a_table_that_was_too_large_is_tried_again():
    """Table 0 fits only after the root has absorbed the large part of the child."""
    first = table([0], [[0, 2], [0, 0]])
    opposed = table([0], [[2, 0], [0, 0]])
    child = table([0, 1], [[0, 7], [0, 7], [3, 0], [3, 0]])
    after = fuse_parent(program([2, 2], [0, 0], [first, child, opposed]))
    assert as_lists(after) == ([0, 0], [((0, 1), child.costs.tolist())])


def test_it_does_not_fire_when_that_takes_more_bits():
    full = table([0, 1], [[0, 7], [2, 0], [7, 0], [0, 2]] * 4)
    before = program([2, 8], [0, 0], [ROOT, full])
    assert fuse_parent(before) is before


def test_it_does_not_fire_when_every_entry_would_need_more_bits():
    child = table([0, 1], [[0, 5], [0, 2]])
    before = program([2, 1, 9], [0, 0], [ROOT, child, table([2], [[0, 7]] + [[7, 0]] * 8)])
    assert fuse_parent(before) is before


def test_it_does_not_fire_without_a_table_of_all_its_features():
    before = program([2, 2, 2], [0, 0], [CHILD, table([1, 2], [[0, 1]] * 4)])
    assert fuse_parent(before) is before


def test_the_argument_is_not_written_to():
    fuse_parent(program([2, 2], [0, 1], [ROOT, CHILD]))
    assert CHILD.costs.tolist() == [[0, 4], [2, 0], [0, 6], [0, 2]]


def test_running_it_twice_changes_nothing():
    once = fuse_parent(program([2, 2], [0, 1], [ROOT, CHILD]))
    assert fuse_parent(once) is once
