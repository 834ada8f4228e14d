"""shrink-width: the edges of every width, and when it must not fire."""

import pytest

from bncc.program.passes.shrink_width import shrink_width
from tests.unit.lower.by_hand import as_lists, program, table


def two_tables(first, second, **bits):
    tables = [table([0], [[0, first], [0, 0]]), table([1], [[0, second], [0, 0]])]
    return program([2, 2], [0, 0], tables, **bits)


@pytest.mark.parametrize(
    ("first", "second", "entries", "sums"),
    [
        (1, 2, [8, 8], 8),
        (254, 1, [8, 8], 8),
        (255, 1, [8, 8], 16),
        (256, 1, [16, 8], 16),
        (65534, 1, [16, 8], 16),
        (65535, 1, [16, 8], 32),
        (65535, 65536, [16, 32], 32),
    ],
)
def test_every_number_gets_the_narrowest_width(first, second, entries, sums):
    before = two_tables(first, second)
    after = shrink_width(before)
    assert [table.entry_bits for table in after.tables] == entries
    assert after.cost_bits == sums
    assert as_lists(after) == as_lists(before)


def test_the_prior_counts_into_the_sums():
    some = program([1], [0, 1], [table([0], [[0, 255]])])
    assert shrink_width(some).cost_bits == 16


def test_it_does_not_fire_on_narrow_programs():
    before = shrink_width(two_tables(255, 1))
    assert shrink_width(before) is before


def test_it_does_not_fire_when_32_bits_are_needed():
    tables = [table([0], [[0, 2**31], [0, 0]]), table([1], [[0, 2**31 - 1], [0, 0]])]
    before = program([2, 2], [0, 0], tables)
    assert shrink_width(before) is before


def test_it_fires_when_only_the_sums_are_too_wide():
    tables = [table([0], [[0, 1], [0, 0]], entry_bits=8)]
    after = shrink_width(program([2], [0, 0], tables))
    assert (after.tables[0].entry_bits, after.cost_bits) == (8, 8)


def test_it_fires_when_only_entries_are_too_wide():
    after = shrink_width(program([2], [0, 0], [table([0], [[0, 1], [0, 0]])], cost_bits=8))
    assert (after.tables[0].entry_bits, after.cost_bits) == (8, 8)
