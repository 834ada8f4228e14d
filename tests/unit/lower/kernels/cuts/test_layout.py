"""The kernels of cuts sum a program's rows on every input, in lanes that no sum leaves."""

import numpy as np
import pytest
from hypothesis import given, settings

from bncc.lower.c.constants import MOST_IN_ALL, MOST_IN_ARRAY
from bncc.lower.choose import layouts_for
from bncc.lower.kernels.cut_loop.layout import cut_loop
from bncc.lower.kernels.cuts.layout import cuts
from bncc.lower.kernels.shared.packing import longest_run
from bncc.program.ir import costs
from bncc.program.pipeline import program_of
from tests import models as hand
from tests.cut_programs import cut_program, cut_programs, letter_like, usps_like
from tests.tiers import examples
from tests.unit.lower.by_hand import program, table
from tests.unit.lower.kernels.word_machine import run


def row_of(cuts, x):
    """Return the row that comparisons count."""
    row = 0
    for each in cuts:
        row = row * each.n_levels + sum(x[each.feature] >= least for least in each.least)
    return row


def listed_row(kernel, t, x):
    """Return the position of a table's row by the list of cuts, in words of its rows."""
    entries = kernel.entries[t].tolist()[(not kernel.same_n_cuts) + (not kernel.same_n_rows) :]
    if kernel.is_doubled:
        at = 0
        for feature, least in zip(entries[::2], entries[1::2], strict=True):
            at = 2 * at + (x[feature] >= least)
        return at
    steps = zip(entries[::3], entries[1::3], entries[2::3], strict=True)
    return sum(stride for feature, least, stride in steps if x[feature] >= least)


@given(cut_programs())
@settings(max_examples=examples(40), deadline=None)
def test_every_layout_is_exact_on_every_input(some):
    X = np.random.default_rng(1).integers(0, some.n_states, (20, len(some.n_states)))
    wanted = costs(some, X)
    found = list(cuts(some))
    assert found
    for kernel in found:
        lanes = kernel.lanes
        assert not lanes.lowest.is_signed
        for x, sums in zip(X, wanted, strict=True):
            rows = [row_of(each, x) for each in kernel.cuts]
            chosen = [t.costs[r] for t, r in zip(lanes.tables, rows, strict=True)]
            assert run(lanes.schedule, chosen, some.prior) == sums.tolist()
        assert kernel.largest_sum >= wanted.max()


@given(cut_programs())
@settings(max_examples=examples(40), deadline=None)
def test_every_list_of_cuts_finds_the_rows(some):
    X = np.random.default_rng(1).integers(0, some.n_states, (10, len(some.n_states)))
    for kernel in cut_loop(some):
        tables = kernel.sums.program.tables
        for t, x in ((t, x) for t in range(len(tables)) for x in X):
            at = listed_row(kernel, t, x)
            assert at == row_of(kernel.cuts[t], x) * kernel.row_length
        largest = np.array([each.costs.max(axis=0) for each in tables])
        is_wide = all(len(part.classes) == 1 for part in kernel.sums.parts)
        assert is_wide or kernel.sums.run <= longest_run(kernel.sums.parts, largest)


@pytest.mark.parametrize("family", [cuts, cut_loop])
def test_other_programs_have_no_such_layout(family):
    for make in (hand.naive_integer, hand.pseudo_tan):
        assert list(family(program_of(make()))) == []


def test_tables_of_as_many_cuts_of_two_levels_have_two_entries_per_cut():
    some = cut_program(60, 16, 10, 20, 8, share_of_grids=0.0)
    kernel = next(k for k in cut_loop(some) if k.sums.n_words == 1)
    assert kernel.is_doubled
    assert {each.size for each in kernel.entries} == {6}
    assert kernel.rom_bytes == 20 * 8 * 4 + 20 * 6
    assert kernel.work[2:6] == (0, 60, 0, 0)


def test_others_say_how_much_there_is_and_how_far_rows_are_apart():
    maps = {0: (0, 1, 2), 1: (0, 0, 1)}
    grid = table([0, 1], [[r, 0] for r in range(6)], maps=maps)
    single = table([1], [[0, 1], [1, 0]], maps={1: (0, 1, 1)})
    some = program([3, 3], [0, 0], [grid, single])
    kernel = next(iter(cut_loop(some)))
    assert [each.tolist() for each in kernel.entries] == [
        [11, 6, 0, 1, 2, 0, 2, 2, 1, 2, 1],
        [5, 2, 1, 1, 1],
    ]
    assert kernel.entry_bits == 8
    assert kernel.work[1:6] == (2, 4, 0, 2, 2)


def test_words_are_counted_and_comparisons_far_from_the_first_feature():
    some = usps_like(10, 32)
    kernel = next(iter(cuts(some)))
    read = [each for cut in kernel.cuts for each in cut]
    assert kernel.work[1:6] == (
        10,
        len(read),
        sum(each.feature >= 32 for each in read),
        sum(len(each.least) for each in read),
        sum(len(each.least) - 1 for each in read),
    )
    assert kernel.rom_bytes == 4 * sum(len(each.costs) for each in some.tables)
    assert kernel.code == kernel.work


def test_rows_that_are_equal_are_stored_once_where_that_saves_bytes():
    few = np.eye(26, dtype=np.int64)[:8]
    some = letter_like(20, 16)
    rng = np.random.default_rng(0)
    tables = [
        table(t.features, few[rng.integers(0, 8, len(t.costs))], 8, t.maps) for t in some.tables
    ]
    some = program(some.n_states, [0] * 26, tables)
    apart, once, *_ = cuts(some)
    assert apart.lanes.dictionary is None
    assert once.lanes.dictionary is not None
    assert once.rom_bytes < apart.rom_bytes
    assert any(kernel.dictionary for kernel in cut_loop(some))


def test_what_an_avr_could_only_hold_in_parts_is_left_out_where_there_may_be_one():
    some = letter_like(220, 16)
    sizes = [kernel.rom_bytes for kernel in layouts_for(some, "cut-loop", None)]
    assert sizes
    assert not [size for size in sizes if MOST_IN_ARRAY < size <= MOST_IN_ALL]
    assert len(list(layouts_for(some, "cut-loop", "cortex-m4"))) > len(sizes)


def test_layouts_say_in_words_how_rows_are_found():
    some = cut_program(60, 16, 10, 20, 8, share_of_grids=0.0)
    assert next(iter(cuts(some))).summary.endswith(", rows found by 60 comparisons")
    assert next(iter(cut_loop(some))).summary.endswith(", rows found by 60 comparisons in a loop")
