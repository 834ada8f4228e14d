"""The packed kernel of cuts: its list and its bytes equal the program on every input."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings

from bncc.lower.c.constants import MOST_IN_ALL, MOST_IN_ARRAY
from bncc.lower.choose import layouts_for
from bncc.lower.kernels.cut_packed.layout import AGAIN, MORE, cut_packed
from bncc.program.ir import costs
from bncc.program.pipeline import optimize, program_of
from tests import models as hand
from tests.cut_programs import cut_program, cut_programs, letter_like
from tests.tiers import examples
from tests.unit.lower.by_hand import margins, program, table


def unpacked(kernel, row):
    """Take costs out of the bytes of a row one by one."""
    whole = sum(byte << 8 * k for k, byte in enumerate(row))
    n_classes = kernel.program.n_classes
    mask = (1 << kernel.cost_bits) - 1
    return [whole >> kernel.cost_bits * c & mask for c in range(n_classes)]


def summed(kernel, x):
    """Walk the list as the C does: first row of a table, row, and rows so far."""
    stored = kernel.dictionary.costs if kernel.dictionary else None
    rows = kernel.packed(np.concatenate([t.costs for t in kernel.program.tables]))
    first, sums = 0, np.array(kernel.program.prior)
    entry_mask = (1 << kernel.least_bits) - 1
    for entries in kernel.entries:
        at, size, at_before, size_before = 0, 1, 0, 0
        for k, entry in enumerate(entries.tolist()):
            if not entry & AGAIN:
                at_before, size_before = at, size
            at += at_before + (x[entry >> 2 + kernel.least_bits] >= (entry >> 2 & entry_mask))
            size += size_before
            assert bool(entry & MORE) == (k + 1 < entries.size)
        if stored is None:
            sums = sums + unpacked(kernel, rows[first + at].tolist())
        else:
            number = np.concatenate(kernel.dictionary.numbers)[first + at]
            sums = sums + unpacked(kernel, kernel.packed(stored)[number].tolist())
        first += size
    assert first == sum(kernel.n_rows)
    return sums


@given(cut_programs(max_tables=6))
@settings(max_examples=examples(40), deadline=None)
def test_every_layout_is_exact_on_every_input(some):
    X = np.random.default_rng(1).integers(0, some.n_states, (10, len(some.n_states)))
    wanted = costs(some, X)
    found = list(cut_packed(some))
    assert found
    for kernel in found:
        sums = np.array([summed(kernel, x) for x in X])
        assert np.array_equal(margins(sums), margins(wanted))
        assert kernel.largest_sum >= sums.max()


def test_a_cut_says_its_feature_its_state_and_what_follows():
    maps = {0: (0, 1, 2), 1: (0, 0, 1)}
    grid = table([0, 1], [[r, 0] for r in range(6)], maps=maps)
    single = table([1], [[0, 1], [1, 0]], maps={1: (0, 1, 1)})
    kernel = next(cut_packed(program([3, 3], [0, 0], [grid, single])))
    assert kernel.least_bits == 2
    assert [each.tolist() for each in kernel.entries] == [
        [1 << 2 | MORE, 2 << 2 | AGAIN | MORE, 1 << 4 | 2 << 2],
        [1 << 4 | 1 << 2],
    ]
    assert kernel.entry_bits == 8
    assert kernel.rom_bytes == (6 + 2) * 1 + 4


def test_costs_follow_each_other_without_a_gap():
    some = letter_like(2, 4)
    kernel = next(cut_packed(some))
    assert (kernel.cost_bits, kernel.row_bytes) == (3, 10)
    rows = kernel.packed(some.tables[0].costs)
    assert rows.shape == (len(some.tables[0].costs), 10)
    assert [unpacked(kernel, row) for row in rows.tolist()] == some.tables[0].costs.tolist()


def test_rows_that_are_equal_are_stored_once_where_that_saves_bytes():
    few = np.eye(26, dtype=np.int64)[:8]
    some = letter_like(20, 16)
    rng = np.random.default_rng(0)
    tables = [
        table(t.features, few[rng.integers(0, 8, len(t.costs))], 8, t.maps) for t in some.tables
    ]
    apart, once, *_ = cut_packed(program(some.n_states, [0] * 26, tables))
    assert apart.dictionary is None
    assert once.number_bits == 8
    assert once.rom_bytes == 8 * 4 + sum(once.n_rows) + once.n_cuts * once.entry_bits // 8
    assert all(kernel.dictionary is None for kernel in cut_packed(some))


def test_a_prior_that_makes_costs_wider_is_taken_apart_again():
    maps = {0: (0, 1)}
    some = program([2], [0, 0, 0], [table([0], [[9, 2, 0], [8, 0, 3]], maps=maps)])
    assert [(k.cost_bits, k.prior is None) for k in cut_packed(some)] == [(4, True), (2, False)]


def test_the_passes_leave_the_rows_of_a_dictionary_equal():
    rng = np.random.default_rng(2)
    some = cut_program(16, 16, 26, 20, 16)
    few = rng.integers(0, 7, (40, 26))
    few[:, 25] = 0
    tables = [
        table(t.features, few[rng.integers(0, 40, len(t.costs))], 8, t.maps) for t in some.tables
    ]
    before = program(some.n_states, [0] * 25 + [1], tables)
    for flow in ("default", "size"):
        once = next(k for k in cut_packed(optimize(before, flow)[0]) if k.dictionary)
        assert len(once.dictionary.costs) == 40


@pytest.mark.parametrize("make", [hand.naive_integer, hand.pseudo_tan])
def test_other_programs_have_no_such_layout(make):
    assert list(cut_packed(program_of(make()))) == []


def test_costs_of_more_than_a_byte_have_no_such_layout():
    def of(most):
        return program([2], [0, 0], [table([0], [[0, most], [1, 0]], maps={0: (0, 1)})])

    assert list(cut_packed(of(255)))
    assert list(cut_packed(of(256))) == []


def test_what_an_avr_could_only_hold_in_parts_is_left_out_where_there_may_be_one():
    some = letter_like(250, 16)
    sizes = [kernel.rom_bytes for kernel in cut_packed(some)]
    assert MOST_IN_ARRAY < sizes[0] <= MOST_IN_ALL
    assert list(layouts_for(some, "cut-packed", "cortex-m4"))
    assert [list(layouts_for(some, "cut-packed", target)) for target in (None, "avr")] == [[], []]


def test_work_counts_cuts_costs_and_their_bytes():
    some = replace(cut_program(60, 16, 10, 20, 8, share_of_grids=0.0), cost_bits=8)
    kernel = next(cut_packed(some))
    assert kernel.work == (1, 20, 60, 0, 80, 200, 200 * kernel.sum_bits // 8)
    assert kernel.code == (1, 0, 0, 1, 2, kernel.sum_bits // 8)
