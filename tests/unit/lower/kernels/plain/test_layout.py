"""The arrays of the plain kernel, read as the C reads them, against the interpreter."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bncc.lower.kernels.plain.layout import plain
from bncc.program.ir import costs
from bncc.program.pipeline import FLOWS, optimize, program_of
from tests import models as hand
from tests.strategies import models
from tests.tiers import examples
from tests.unit.lower.by_hand import inputs, margins, program, table


def run(kernel, x):
    """Sum the rows of one input as the C does, checking every width on the way."""
    n_classes = len(kernel.tables[0].costs[0])
    total = [0] * n_classes if kernel.prior is None else kernel.prior.tolist()
    for t in range(len(kernel.tables)):
        row = int(kernel.starts[t])
        for term in kernel.terms:
            if t < term.n_tables:
                place = int(term.multiples[t]) + int(x[term.features[t]])
                product = int(kernel.multiples[place])
                assert product < 1 << kernel.multiple_bits
                row += product
        assert row + n_classes <= len(kernel.costs) <= 1 << kernel.offset_bits
        for c in range(n_classes):
            entry = int(kernel.costs[row + c])
            assert entry < 1 << kernel.entry_bits
            total[c] += entry
    assert max(total) <= kernel.largest_sum < 1 << kernel.sum_bits
    return total


@given(models(max_features=5, max_states=3), st.sampled_from(sorted(FLOWS)))
@settings(max_examples=examples(120))
def test_the_kernel_sums_what_the_interpreter_sums(model, flow):
    some, _ = optimize(program_of(model), flow)
    X = inputs(some.n_states, most=200)
    sums = np.array([run(plain(some), x) for x in X])
    assert (margins(sums) == margins(costs(some, X))).all()


@pytest.mark.parametrize("name", hand.NAMED)
def test_hand_built_models_sum_to_the_same_margins(name):
    some, _ = optimize(program_of(hand.NAMED[name]()))
    X = inputs(some.n_states)
    sums = np.array([run(plain(some), x) for x in X])
    assert (margins(sums) == margins(costs(some, X))).all()


def test_tables_that_read_more_features_come_first_and_terms_get_shorter():
    kernel = plain(program_of(hand.general_network()))
    assert [len(t.features) for t in kernel.tables] == [4, 2, 1, 1]
    assert [term.n_tables for term in kernel.terms] == [4, 2, 1, 1]
    assert [term.features.tolist() for term in kernel.terms] == [[3, 1, 0, 2], [1, 0], [0], [2]]
    assert kernel.starts.tolist() == [0, 72, 90, 96]


def test_the_innermost_feature_has_the_multiples_at_the_front():
    kernel = plain(program_of(hand.tan_float()))
    assert kernel.terms[0].multiples.tolist() == [0, 0, 0]
    assert kernel.multiples.tolist() == [0, 2, 4, 0, 6, 0, 4, 8]


def test_equal_strides_share_their_multiples():
    tables = [table([0, 1], [[1, 2]] * 6), table([2, 1], [[3, 4]] * 15)]
    kernel = plain(program([2, 3, 5], [1, 2], tables))
    assert kernel.multiples.tolist() == [0, 2, 4, 0, 6, 12, 18, 24]
    assert kernel.terms[1].multiples.tolist() == [3, 3]


def test_the_prior_stays_when_it_is_in_use():
    kernel = plain(program([2], [1, 2], [table([0], [[1, 2], [3, 4]])]))
    assert kernel.prior.tolist() == [1, 2]
    assert kernel.largest_sum == 6


def test_a_sum_over_two_tables_without_prior_starts_from_their_rows():
    tables = [table([0], [[1, 2], [3, 4]]), table([1], [[1, 2], [3, 4]])]
    kernel = plain(program([2, 2], [0, 0], tables))
    assert kernel.prior is None
    assert kernel.largest_sum == 8


@pytest.mark.parametrize(("largest", "sum_bits"), [(254, 8), (255, 16), (65534, 16), (65535, 32)])
def test_a_single_table_without_prior_starts_from_ones_and_has_room_for_them(largest, sum_bits):
    # A sum that starts from the only row would be a copy, for which compilers call memcpy.
    some = program([2], [0, 0], [table([0], [[0, largest], [1, 0]])], cost_bits=8)
    kernel = plain(some)
    assert kernel.prior.tolist() == [1, 1]
    assert kernel.largest_sum == largest + 1
    assert kernel.sum_bits == sum_bits


def test_the_width_of_the_sums_is_never_below_the_program_s():
    some = program([2], [1, 0], [table([0], [[0, 1], [1, 0]])], cost_bits=32)
    assert plain(some).sum_bits == 32


def test_entries_are_as_wide_as_the_widest_table_asks():
    tables = [table([0], [[1, 2]], entry_bits=8), table([1], [[1, 2]], entry_bits=16)]
    assert plain(program([1, 1], [0, 0], tables)).entry_bits == 16


@pytest.mark.parametrize(("n_states", "bits"), [(128, 8), (129, 16), (32768, 16), (32769, 32)])
def test_multiples_change_width_at_their_edge(n_states, bits):
    # two classes: the largest multiple is 2 * (n_states - 1), that is 254, 256, 65534 or 65536
    kernel = plain(program([n_states], [0, 1], [table([0], [[0, 0]] * n_states)]))
    assert kernel.multiples.max() == 2 * (n_states - 1)
    assert kernel.multiple_bits == bits


@pytest.mark.parametrize(("n_entries", "bits"), [(4, 16), (65534, 16), (65538, 32)])
def test_offsets_have_16_bits_until_the_entries_exceed_them(n_entries, bits):
    kernel = plain(program([n_entries // 2], [0, 1], [table([0], [[0, 0]] * (n_entries // 2))]))
    assert kernel.offset_bits == bits
    assert len(kernel.costs) == n_entries


def test_rows_keep_their_order_and_the_class_counts_fastest():
    tables = [table([0], [[1, 2], [3, 4]]), table([1, 0], [[5, 6], [7, 8], [9, 10], [11, 12]])]
    kernel = plain(program([2, 2], [0, 0], tables))
    assert kernel.costs.tolist() == [5, 6, 7, 8, 9, 10, 11, 12, 1, 2, 3, 4]
