"""The IR's small values: widths and sizes."""

from dataclasses import FrozenInstanceError

import pytest

from bncc.program.ir import n_levels, n_rows, table_bits, unmapped, width_of, with_tables
from tests.unit.lower.by_hand import program, table


@pytest.mark.parametrize(
    ("largest", "bits"),
    [
        (0, 8),
        (255, 8),
        (256, 16),
        (65535, 16),
        (65536, 32),
        (2**32 - 1, 32),
        (2**32, 64),
        (2**63, 64),
    ],
)
def test_a_width_changes_exactly_at_its_edge(largest, bits):
    assert width_of(largest) == bits


def test_joint_states_multiply():
    assert n_rows((2, 0), (3, 5, 4)) == 12
    assert n_rows((), (3, 5, 4)) == 1


def test_a_state_map_takes_the_place_of_states():
    mapped = table([0, 1], [[0, 1]] * 6, maps={1: (0, 1, 1, 0)})
    assert n_levels(mapped, (3, 4)) == (3, 2)


def test_without_maps_every_joint_state_has_its_row_again():
    rows = [[0, 1], [2, 3], [4, 5], [6, 7]]
    mapped = table([1, 0], rows, maps={1: (0, 1, 1), 0: (1, 0)})
    plain = unmapped(program([2, 3], [0, 0], [mapped])).tables[0]
    assert not plain.maps
    assert plain.costs[:, 0].tolist() == [2, 0, 6, 4, 6, 4]


def test_a_program_without_maps_stays_as_it_is():
    some = program([2], [0, 0], [table([0], [[1, 2], [3, 4]])])
    assert unmapped(some) is some


def test_size_counts_entries_at_their_width_and_a_prior_in_use():
    tables = [table([0], [[1, 2], [3, 4]], entry_bits=8), table([1], [[5, 6]] * 3, entry_bits=16)]
    with_prior = program([2, 3], [0, 1], tables, cost_bits=16)
    assert table_bits(with_prior) == 2 * 16 + 4 * 8 + 6 * 16
    without = with_tables(with_prior, tables, with_prior.prior * 0)
    assert table_bits(without) == 4 * 8 + 6 * 16


def test_other_tables_leave_the_rest_of_a_program_alone():
    before = program([2], [3, 1], [table([0], [[1, 2], [3, 4]])], cost_bits=16, frac_bits=-2)
    after = with_tables(before, before.tables * 2, before.prior + 1)
    assert len(after.tables) == 2
    assert after.prior.tolist() == [4, 2]
    assert (after.features, after.classes) == (before.features, before.classes)
    assert (after.cost_bits, after.frac_bits) == (16, -2)


def test_programs_and_tables_cannot_be_changed():
    some = program([2], [3, 1], [table([0], [[1, 2], [3, 4]])])
    for value, name in ((some, "cost_bits"), (some.tables[0], "entry_bits")):
        with pytest.raises(FrozenInstanceError):
            setattr(value, name, 8)


def test_programs_and_tables_compare_by_identity():
    first, second = (program([1], [3, 1], [table([0], [[1, 2]])]) for _ in range(2))
    assert first != second
    assert first.tables[0] != second.tables[0]
