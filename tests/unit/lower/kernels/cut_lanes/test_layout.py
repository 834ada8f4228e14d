"""The kernel of cuts in lanes: shapes, planes and lanes equal the program on every input."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings

from bncc.lower.c.constants import MOST_IN_ALL, MOST_IN_ARRAY
from bncc.lower.choose import layouts_for
from bncc.lower.kernels.cut_lanes.layout import (
    MOST_ROWS,
    Plane,
    Shape,
    cut_lanes,
    least_parts,
    strides_of,
)
from bncc.lower.kernels.shared.packing import SUM_BITS, Packing
from bncc.program.ir import costs
from bncc.program.pipeline import program_of
from tests import models as hand
from tests.cut_programs import cut_program, cut_programs
from tests.tiers import examples
from tests.unit.lower.by_hand import margins, program, table


def summed(kernel, x):
    """Walk the tables as the C does: row of a table, words, lanes of 32 bits."""
    rows = np.concatenate([t.costs for t in kernel.program.tables])
    planes = [(plane, kernel.entries(plane, rows)) for plane in kernel.planes]
    first, t, parts = 0, 0, [0] * len(kernel.parts)
    for shape in kernel.shapes:
        for _ in range(shape.n_tables):
            read = [(each.feature, least) for each in kernel.cuts[t] for least in each.least]
            pairs = zip(read, shape.strides, strict=True)
            at = first + sum(stride for (f, least), stride in pairs if x[f] >= least)
            words = [0] * kernel.n_words
            for plane, entries in planes:
                assert entries[at] < 1 << plane.bits
                words[plane.word] |= int(entries[at]) << plane.shift
            for k, part in enumerate(kernel.parts):
                for lane in range(len(part.classes)):
                    entry = words[part.word] >> part.shift + lane * part.lane_bits
                    cost = entry & ((1 << kernel.packing.entry_bits) - 1)
                    parts[k] += cost << lane * part.lane_bits
            first, t = first + shape.n_rows, t + 1
    assert first == kernel.n_rows
    assert max(parts) < 1 << SUM_BITS
    sums = np.array(kernel.program.prior)
    for part, value in zip(kernel.parts, parts, strict=True):
        for lane, c in enumerate(part.classes):
            is_last = lane == len(part.classes) - 1
            above = value >> lane * part.lane_bits
            sums[c] += above if is_last else above & ((1 << part.lane_bits) - 1)
    return sums


@given(cut_programs(max_tables=6))
@settings(max_examples=examples(40), deadline=None)
def test_every_layout_is_exact_on_every_input(some):
    X = np.random.default_rng(1).integers(0, some.n_states, (10, len(some.n_states)))
    wanted = costs(some, X)
    found = list(cut_lanes(some))
    assert found
    for kernel in found:
        sums = np.array([summed(kernel, x) for x in X])
        assert np.array_equal(margins(sums), margins(wanted))
        assert kernel.largest_sum >= sums.max()


TWO_LEVELS, THREE_LEVELS = (0, 1, 1), (0, 1, 2)


def grid(f, g, n_classes=2):
    """Return a table of three and of two levels."""
    rows = [[r % 4] * (n_classes - 1) + [0] for r in range(6)]
    return table([f, g], rows, maps={f: THREE_LEVELS, g: TWO_LEVELS})


def single(f):
    return table([f], [[0, 1], [1, 0]], maps={f: TWO_LEVELS})


def test_tables_of_a_shape_follow_each_other_those_with_the_most_cuts_first():
    some = program([3, 3, 3], [0, 0], [single(0), grid(0, 1), single(2), grid(2, 0)])
    kernel = next(cut_lanes(some))
    assert [t.features for t in kernel.program.tables] == [(0, 1), (2, 0), (0,), (2,)]
    assert kernel.shapes == (Shape(2, 6, (2, 2, 1)), Shape(2, 2, (1,)))
    assert kernel.shape_entries == (12, 6, 2, 2, 1, 0, 4, 2, 1, 0)
    assert [strides_of(cuts) for cuts in kernel.cuts] == [(2, 2, 1)] * 2 + [(1,)] * 2
    assert kernel.n_cuts == 8
    assert kernel.rom_bytes == 16 * 1 + 10 + 8 + 8


def test_some_shapes_have_straight_line_code():
    some = program([3, 3, 3], [0, 0], [single(0), grid(0, 1), single(2), grid(2, 0)])
    found = [kernel for kernel in cut_lanes(some) if kernel.program.prior.sum() == 0]
    assert [kernel.n_straight for kernel in found] == [0, 1, 2]
    loop, mixed, straight = found
    assert (len(mixed.straight), len(mixed.looped)) == (1, 1)
    assert (straight.looped, straight.shape_entries, straight.shape_bits) == ((), (), 8)
    assert straight.rom_bytes == loop.rom_bytes - 10
    assert mixed.summary == (
        "16 costs of 2 bits in a word, summed in lanes of 4 bits, rows found by 8 comparisons, 1 "
        "of 2 shapes in straight-line code"
    )


def test_at_most_four_shapes_and_all_of_them_are_tried():
    shapes = [(2,), (3,), (4,), (5,), (6,), (7,)]
    tables = [
        table([0], [[r, 0] for r in range(n)], maps={0: tuple(range(n)) + (n - 1,) * (8 - n)})
        for (n,) in shapes
    ]
    found = list(cut_lanes(program([8], [0, 0], tables)))
    assert [kernel.n_straight for kernel in found] == [0, 1, 2, 3, 4, 6]


@pytest.mark.parametrize(
    ("n_classes", "widths"),
    [
        (2, [(0, 0, 8)]),
        (5, [(0, 0, 16)]),
        (8, [(0, 0, 16), (0, 16, 8)]),
        (10, [(0, 0, 32)]),
        (11, [(0, 0, 32), (1, 0, 8)]),
        (18, [(0, 0, 32), (1, 0, 16), (1, 16, 8)]),
        (20, [(0, 0, 32), (1, 0, 32)]),
    ],
)
def test_the_last_word_takes_as_few_bytes_as_it_needs(n_classes, widths):
    some = cut_program(10, 8, n_classes, 5, 8, bits=3)
    kernel = next(cut_lanes(some))
    assert kernel.packing == Packing(3, 32)
    assert kernel.planes == tuple(Plane(*each) for each in widths)
    assert kernel.row_bytes == sum(bits for *_, bits in widths) // 8
    assert kernel.n_joins == sum(shift > 0 for _, shift, _ in widths)


@pytest.mark.parametrize(("n", "parts"), [(1, 1), (2, 2), (9, 2), (10, 4), (36, 4), (37, 5)])
def test_lanes_are_as_narrow_as_the_sums_of_all_tables_allow(n, parts):
    """Three lanes would be of 9 bits, but the fourth one of a word has 5 that are left."""
    largest = np.full((n, 10), 7)
    assert least_parts(Packing(3, 32), 10, largest) == parts


def test_a_class_may_need_a_word_of_its_own():
    assert least_parts(Packing(16, 32), 3, np.full((3, 3), 65535)) == 2


def test_a_prior_that_makes_costs_wider_is_taken_apart_again():
    some = program([2], [0, 0, 0], [table([0], [[9, 2, 0], [8, 0, 3]], maps={0: (0, 1)})])
    found = [(k.packing.entry_bits, k.program.prior.tolist()) for k in cut_lanes(some)]
    assert found == [(4, [0, 0, 0])] * 2 + [(2, [8, 0, 0])] * 2


@pytest.mark.parametrize("make", [hand.naive_integer, hand.pseudo_tan])
def test_other_programs_have_no_such_layout(make):
    assert list(cut_lanes(program_of(make()))) == []


def test_wide_costs_and_more_rows_than_an_index_counts_have_no_such_layout():
    def of(most):
        return program([2], [0, 0], [table([0], [[0, most], [1, 0]], maps={0: (0, 1)})])

    assert list(cut_lanes(of(65535)))
    assert list(cut_lanes(of(65536))) == []
    rows = [[r % 2, 0] for r in range(257)]
    large = program([257], [0, 0], [table([0], rows, maps={0: tuple(range(257))})] * 255)
    assert next(cut_lanes(large)).n_rows == MOST_ROWS
    assert list(cut_lanes(replace(large, tables=large.tables * 2))) == []


def test_what_an_avr_could_only_hold_in_parts_is_left_out_where_there_may_be_one():
    some = cut_program(16, 16, 10, 700, 16)
    kernel = next(cut_lanes(some))
    assert kernel.whole_bytes == 4 * kernel.n_rows
    assert MOST_IN_ARRAY < kernel.whole_bytes < kernel.rom_bytes <= MOST_IN_ALL
    assert list(layouts_for(some, "cut-lanes", "cortex-m4"))
    assert [list(layouts_for(some, "cut-lanes", target)) for target in (None, "avr")] == [[], []]


def test_terms_count_tables_cuts_and_the_operations_of_a_row():
    some = cut_program(60, 16, 10, 20, 8, share_of_grids=0.0)
    loop, straight = (k for k in cut_lanes(some) if k.program.prior.sum() == 0)
    assert loop.of_row == straight.of_row == (1, 0, 4, 6, 0)
    of_rows = (20, 0, 80, 120, 0)
    assert loop.work == (1, 1, 20, 60, 0, 0, 0, *of_rows, 10)
    assert straight.work == (1, 0, 0, 0, 1, 20, 60, *of_rows, 10)
    assert loop.code == (1, 1, 0, 0, *loop.of_row, 10)
    assert straight.code == (1, 0, 1, 3, *loop.of_row, 10)
    assert loop.additions == 80
