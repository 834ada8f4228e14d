"""Further terms of layouts behind discretizers, counted by hand."""

from dataclasses import replace

import numpy as np
import pytest

from bncc.lower.kernels.bit_slice.layout import bit_slice
from bncc.lower.kernels.cut_lanes.layout import cut_lanes
from bncc.lower.kernels.cut_loop.layout import cut_loop
from bncc.lower.kernels.cut_packed.layout import cut_packed
from bncc.lower.kernels.cuts.layout import cuts
from bncc.lower.kernels.looped.layout import looped
from bncc.lower.kernels.packed.layout import packed
from bncc.lower.kernels.plain.layout import plain
from bncc.lower.kernels.planes.layout import columns, planes
from bncc.lower.kernels.shared.packing import Packing, Part
from tests.cut_programs import cut_program
from tests.unit.lower.by_hand import program, table


def naive(n_tables, n_classes, most=3, cost_bits=8, n_states=2):
    """Return tables of one feature each, whose first cost is the largest."""
    row = [most, *[0] * (n_classes - 1)]
    tables = [table([t], [row, row[::-1]] * (n_states // 2)) for t in range(n_tables)]
    return program([n_states] * n_tables, [0] * n_classes, tables, cost_bits)


def tan(n_classes=3):
    rows = [[3, 1, 2, 0, 0][:n_classes]] * 4
    tables = [table([0], rows[:2]), table([0, 1], rows), table([1, 2], rows)]
    return program([2, 2, 2], [0] * n_classes, tables, 8)


def test_a_plain_sum_of_bytes_is_taken_four_at_a_time():
    # parents and places behind a state; rows added in a loop, classes; bytes above; one at a time
    assert plain(naive(3, 3)).more_work == (0, 0, 3, 3, 0, 2 * 3)
    assert plain(naive(3, 4)).more_work == (0, 0, 3, 4, 0, 0)
    assert plain(naive(3, 4, cost_bits=16)).more_work == (0, 0, 3, 4, 2 * 4, 2 * 4)
    assert plain(naive(3, 2)).more_work == (0, 0, 0, 2, 0, 2 * 2)
    assert plain(naive(3, 4)).more_code == (0, 0, 0)
    assert plain(naive(3, 3)).more_code == (0, 0, 1)
    with_prior = replace(naive(3, 4, cost_bits=16), prior=np.array([0, 1, 0, 0]))
    assert plain(with_prior).more_code == (1, 1, 1)


def test_parents_are_looked_up_in_a_loop_over_more_than_two_tables():
    assert plain(tan()).more_work[0] == 2
    two = replace(tan(), tables=tan().tables[:2])
    assert plain(two).more_work[0] == 0


def test_levels_of_a_state_are_looked_up_at_a_place():
    levels = {0: (0, 0, 1)}
    some = program([3], [1, 0], [table([0], [[0, 1], [1, 0]], maps=levels)])
    assert plain(some).more_work[1] == int(plain(some).terms[0].multiples.any())
    both = program(
        [3, 3], [1, 0], [table([0], [[0, 1], [1, 0]], maps=levels), table([1], [[0, 1]] * 3)]
    )
    assert plain(both).more_work[1] == 2


def test_packed_costs_are_counted_by_their_words_and_loops():
    # products; roots, classes, costs in a loop; of a mask, of 16 bits, of 32 bits; tables in a loop
    kernels = {(k.packing, k.n_planes): k for k in packed(tan(5)) if k.rows.index is None}
    whole = kernels[Packing(2, 16), 1]
    assert whole.more_work == (*whole.product_work, 1, 5, 15, 0, 15, 0, 3)
    assert kernels[Packing(2, 8), 2].more_work[4:] == (1, 5, 15, 15, 0, 0, 3)
    assert kernels[Packing(2, 32), 1].more_work[4:] == (1, 5, 15, 0, 0, 15, 3)
    alone = kernels[Packing(8, 8), 5]
    assert alone.more_work[4:] == (1, 5, 15, 0, 0, 0, 3)
    counted = next(k for k in packed(naive(3, 5, most=31)) if k.packing == Packing(5, 16))
    assert (counted.packing.per_word, counted.n_planes) == (3, 2)
    assert counted.more_work[7] == 0
    few = next(packed(naive(3, 2)))
    assert few.more_work == (0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0)


def test_parts_are_moved_down_by_their_places_in_the_end():
    assert Part(0, 2, 6, (0, 3, 6), is_rest=True).moved_bits == 6 + 12
    assert Part(0, 2, 6, (0,), is_rest=True).moved_bits == 0


def test_lanes_of_a_loop_are_moved_and_kept_by_bytes():
    kernel = next(k for k in looped(naive(4, 5)) if k.packing == Packing(2, 16) and k.n_parts == 2)
    assert (len(kernel.parts), kernel.part_bits, kernel.n_moves) == (2, 32, 3)
    # bytes of three moves of four tables; none in memory; lanes of 4 bits: 4 + 8, and 4
    assert kernel.more_work == (4 * 3 * 4, 0, 16)
    assert kernel.more_code == (0, 5)
    alone = next(k for k in looped(naive(4, 8, most=200, cost_bits=16)) if not k.has_lanes)
    assert alone.part_bits == 16
    # eight sums of 2 bytes
    assert alone.more_work == (0, 4 * (16 - 12), 0)
    assert alone.more_code == (8, 0)


def test_planes_count_parts_and_what_these_are_moved_by():
    some = replace(naive(4, 5), prior=np.array([0, 1, 0, 2, 0]))
    kernel = next(k for k in planes(some) if k.packing == Packing(2, 16))
    shifts = sum(part.shift for part in kernel.parts)
    assert len(kernel.parts) > 1
    assert shifts > 0
    assert kernel.finder.entry_bits == 8
    assert kernel.more_work == (4 * len(kernel.parts), 4 * shifts, 0, 0)
    assert kernel.more_code == (0, shifts, 2)
    many = naive(130, 5, cost_bits=16)
    wide = next(k for k in planes(many) if k.packing == Packing(2, 16))
    assert wide.finder.entry_bits == 16
    assert wide.more_work[2:] == (130 * wide.finder.entries.shape[1], 5)
    (column, *_) = columns(naive(4, 8, most=15))
    assert column.more_work[0] == 4 * len(column.parts)


def test_adders_beyond_registers_are_spilled():
    some = naive(20, 4, most=1)
    (kernel, *_) = bit_slice(some)
    assert (kernel.n_levels, kernel.word_bits, kernel.half_bits) == (5, 8, 0)
    # adders for two sums without a register; halvings of four classes; no halves, no levels
    assert kernel.more_work == (2 * kernel.additions, 2, 0, 0)
    assert kernel.more_code == (*kernel.more_work, 5, 0)
    halves, apart = bit_slice(naive(4, 5, most=3))
    assert (halves.half_bits, halves.word_bits, apart.word_bits) == (8, 16, 8)
    assert halves.more_work[1:] == (3, 2 * 3, 0)
    assert halves.more_code[-1] == apart.more_code[-1] == 4  # words of two bytes, two of one
    levels = table([0], [[0, 1, 0], [1, 0, 0]], maps={0: (0, 0, 1)})
    (mapped, *_) = bit_slice(program([3], [0] * 3, [levels]))
    assert mapped.more_work[3] == 1


@pytest.mark.parametrize("n_classes", [2, 20])
def test_words_of_straight_rows_beyond_the_first_are_counted(n_classes):
    some = cut_program(10, 8, n_classes, 5, 8, bits=3)
    for kernel in cuts(some):
        n_words, n_flushes = kernel.lanes.n_words, kernel.lanes.flushed_words
        assert kernel.more_work == (5 * (n_words - 1),)
        assert kernel.more_code[1] == 5 * max(0, n_words - 4)
        assert (kernel.more_code[0] > 0) == (n_flushes > 0)


def test_lists_of_cuts_count_the_bytes_of_lanes():
    some = cut_program(10, 8, 10, 5, 8, bits=3, has_prior=True)
    for kernel in cut_loop(some):
        sums = kernel.sums
        assert kernel.more_work == sums.more_work[:2]
        assert kernel.more_code[:2] == sums.more_code
        n_starts = sum(start > 0 for start in sums.program.prior)
        assert kernel.more_code[2:] == (len(sums.parts) * sums.part_bits // 8, n_starts)


def test_lists_of_packed_rows_count_the_bits_of_a_cut():
    kernel = next(cut_packed(cut_program(60, 16, 10, 20, 8, share_of_grids=0.0)))
    assert (kernel.row_bytes, kernel.n_cuts, kernel.entry_bits) == (4, 60, 16)
    bits = kernel.least_bits + 2
    # rows of several bytes, cuts of two bytes; then classes, costs and bytes of such rows
    assert kernel.more_work == (60, 60, 60 * bits, 10, 20 * 10, 20 * 4)
    assert kernel.more_code == (bits,)
    narrow = next(cut_packed(cut_program(8, 3, 2, 4, 4, bits=2, share_of_grids=0.0)))
    assert narrow.row_bytes == 1
    assert narrow.more_work[0] == narrow.more_work[4] == narrow.more_work[5] == 0


def test_rows_in_lanes_count_what_their_parts_are_moved_by():
    some = replace(cut_program(10, 8, 10, 5, 8, bits=3), cost_bits=16)
    for kernel in cut_lanes(some):
        shifts = sum(part.shift for part in kernel.parts)
        n_starts = sum(start > 0 for start in kernel.program.prior)
        assert kernel.more_work == (5 * shifts,)
        assert kernel.more_code == (1, n_starts)
