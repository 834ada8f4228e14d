"""move-parent-terms: before, after, and when it must not fire. Equal margins: tests/property."""

from dataclasses import replace

import numpy as np
import pytest

from bncc.program.ir import costs
from bncc.program.passes.move_parent_terms import move_parent_terms
from bncc.program.tables import packed_bits
from tests.unit.lower.by_hand import as_lists, inputs, margins, program, table

ROOT = table([0], [[0, 3], [0, 2]])
CHILD = table([0, 1], [[5, 0], [4, 0], [0, 5], [0, 4]])
"""In state 0 of feature 0 class 0 costs more by 4 at least, in state 1 class 1."""


def equal_margins(before, after):
    X = inputs(before.n_states)
    return np.array_equal(margins(costs(before, X)), margins(costs(after, X)))


def test_what_depends_on_the_parent_alone_moves_into_its_table():
    before = program([2, 2], [0, 0], [ROOT, CHILD])
    after = move_parent_terms(before)
    assert as_lists(after) == (
        [0, 0],
        [((0,), [[1, 0], [0, 6]]), ((0, 1), [[1, 0], [0, 0], [0, 1], [0, 0]])],
    )
    assert equal_margins(before, after)


def test_every_table_of_a_chain_but_the_root_s_shrinks():
    root = table([0], [[0, 20], [0, 3]])
    child = table([0, 1], [[20, 0], [19, 0], [0, 20], [0, 19]])
    grandchild = table([1, 2], [[6, 0], [6, 1], [0, 6], [1, 6]])
    before = program([2, 2, 2], [0, 0], [root, child, grandchild])
    after = move_parent_terms(before)
    assert [int(t.costs.max()) for t in after.tables] == [21, 6, 1]
    assert equal_margins(before, after)


def test_the_order_of_the_tables_does_not_matter():
    grandchild = table([1, 2], [[6, 0], [6, 1], [0, 6], [1, 6]])
    tables = [ROOT, CHILD, grandchild]
    one = move_parent_terms(program([2, 2, 2], [0, 0], tables))
    other = move_parent_terms(program([2, 2, 2], [0, 0], tables[::-1]))
    assert as_lists(one)[1] == as_lists(other)[1][::-1]


def test_a_parent_takes_terms_of_all_its_children():
    other = table([0, 2], CHILD.costs[:, ::-1].tolist())
    before = program([2, 2, 2], [0, 0], [ROOT, CHILD, other])
    after = move_parent_terms(before)
    assert [int(t.costs.max()) for t in after.tables] == [3, 1, 1]
    assert equal_margins(before, after)


def test_each_of_two_parents_takes_its_part():
    def cost(p, q, own):
        return [12 * p + own, 3 * q]

    both = table([0, 1, 2], [cost(p, q, own) for p in (0, 1) for q in (0, 1) for own in (0, 1)])
    parents = [table([0], [[0, 0], [1, 0]]), table([1], [[0, 0], [0, 1]])]
    before = program([2, 2, 2], [0, 0], [*parents, both])
    after = move_parent_terms(before)
    assert int(after.tables[2].costs.max()) == 1
    assert equal_margins(before, after)


def test_a_parent_that_is_not_outermost_is_found():
    rows = [[5, 0], [0, 5], [4, 0], [0, 4]]
    before = program([2, 2, 2], [0, 0], [table([0], [[0, 3], [0, 2]]), table([1, 0, 2], rows * 2)])
    after = move_parent_terms(before)
    assert after is before
    rows = [[5, 0], [4, 0], [0, 5], [0, 4]]
    before = program([2, 2, 2], [0, 0], [table([0], [[0, 3], [0, 2]]), table([1, 0, 2], rows * 2)])
    after = move_parent_terms(before)
    assert int(after.tables[1].costs.max()) == 1
    assert equal_margins(before, after)


def test_it_does_not_fire_where_no_table_is_the_parent_s_own():
    before = program([2, 2], [0, 0], [CHILD, table([1], [[0, 1], [1, 0]])])
    assert move_parent_terms(before) is before


@pytest.mark.parametrize("which", [0, 1])
def test_it_leaves_tables_with_state_maps_alone(which):
    tables = [ROOT, CHILD]
    tables[which] = replace(tables[which], maps={0: (0, 1)})
    before = program([2, 2], [0, 0], tables)
    assert move_parent_terms(before) is before


def test_it_leaves_tables_alone_that_wait_for_each_other():
    turned = table([1, 0], CHILD.costs.tolist())
    before = program([2, 2], [0, 0], [CHILD, turned])
    assert move_parent_terms(before) is before


def test_what_hangs_on_a_cycle_gives_its_terms_to_the_cycle():
    pair = [table([1, 0], [[0, 3], [0, 2]] * 2), table([0, 1], [[0, 1], [1, 0]] * 2)]
    child = table([0, 2], [[5, 0], [4, 0]] * 8 + [[0, 5], [0, 4]] * 8)
    before = program([2, 2, 16], [0, 0], [*pair, child])
    after = move_parent_terms(before)
    assert int(after.tables[2].costs.max()) == 1
    assert equal_margins(before, after)


def test_it_does_not_fire_where_the_parent_s_table_would_grow_by_more():
    large = table([0, 2], [[r % 8, 0] for r in range(64)] + [[0, r % 8] for r in range(64)])
    before = program([2, 2, 64], [0, 0], [table([2, 0], large.costs), CHILD])
    assert move_parent_terms(before) is before


def test_it_does_not_fire_for_a_saving_that_is_not_worthwhile():
    some = table([2], [[0, 3], [3, 0]] * 500)
    before = program([2, 2, 1000], [0, 0], [ROOT, CHILD, some])
    assert packed_bits(before) // 256 > 8
    assert move_parent_terms(before) is before


def test_the_argument_is_not_written_to():
    before = program([2, 2], [0, 0], [ROOT, CHILD])
    move_parent_terms(before)
    assert before.tables[0] is ROOT
    assert CHILD.costs.tolist() == [[5, 0], [4, 0], [0, 5], [0, 4]]


def test_running_it_twice_changes_nothing():
    once = move_parent_terms(program([2, 2], [0, 0], [ROOT, CHILD]))
    assert move_parent_terms(once) is once
