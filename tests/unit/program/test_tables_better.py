"""Order of programs: bits of entries first, then their values, and never more bits of sums."""

import pytest

from bncc.program.tables import flash_bits, improves, packed_bits, sum_bits
from tests.unit.lower.by_hand import program, table


def one(*row, prior=(0, 0)):
    return program([1, 1], prior, [table([0], [row]), table([1], [[0, 1]])])


def test_every_table_packs_by_its_own_largest_entry():
    tables = [table([0], [[0, 4], [3, 0]]), table([1], [[0, 0], [1, 0]])]
    some = program([2, 2], [0, 2], tables)
    assert packed_bits(some) == 4 * 3 + 4 * 1 + 2 * 8
    assert packed_bits(program([2, 2], [0, 0], tables)) == 16


def test_in_flash_all_entries_have_the_bits_of_the_largest():
    some = program([2, 2], [0, 2], [table([0], [[0, 4], [3, 0]]), table([1], [[0, 0], [1, 0]])])
    assert flash_bits(some) == 4 * 2 * 3


def test_in_flash_different_rows_are_stored_once_where_an_index_takes_less():
    some = program([9, 2], [0] * 9, [table([0], [[0] * 8 + [4]] * 9), table([1], [[0] * 9] * 2)])
    assert flash_bits(some) == 2 * 9 * 3 + 11 * 8


@pytest.mark.parametrize(("entry", "bits"), [(6, 3), (7, 4)])
def test_sums_count_by_the_bit(entry, bits):
    assert sum_bits(one(0, entry)) == bits


@pytest.mark.parametrize(
    ("after", "before", "better"),
    [
        (one(0, 7), one(0, 8), True),
        (one(0, 8), one(0, 9), True),
        (one(0, 8), one(0, 8), False),
        (one(0, 9), one(0, 8), False),
        (one(0, 9), one(0, 8, prior=(1, 0)), True),
        (one(0, 7, prior=(0, 8)), one(0, 8), False),
    ],
)
def test_fewer_bits_go_before_smaller_entries(after, before, better):
    assert improves(after, before) == better


def test_more_flash_outweighs_everything():
    def many(rows):
        return program([32], [0] * 8, [table([0], [[0] * 7 + [row] for row in rows])])

    shared, different = many([15, 14] * 16), many([7, *range(1, 8)] * 4)
    assert packed_bits(different) < packed_bits(shared)
    assert flash_bits(different) > flash_bits(shared)
    assert not improves(different, shared)
    assert improves(many([14, 13] * 16), shared)


def test_a_sum_of_more_bits_outweighs_everything():
    opposed = program([2, 2], [0, 0], [table([0], [[0, 9], [0, 0]]), table([1], [[8, 0], [0, 0]])])
    aligned = program([2, 2], [0, 0], [table([0], [[0, 7], [0, 0]]), table([1], [[0, 0], [0, 9]])])
    assert packed_bits(aligned) < packed_bits(opposed)
    assert (sum_bits(opposed), sum_bits(aligned)) == (4, 5)
    assert not improves(aligned, opposed)
