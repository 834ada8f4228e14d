"""Costs in words and back, and rows that are stored once."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bncc.lower.kernels.shared.packing import Packing, Rows, packed_words, packings, unique_rows


@given(st.integers(1, 7), st.integers(0, 2**32 - 1), st.integers(0, 2**32 - 1), st.data())
def test_words_hold_the_costs_of_their_classes_and_nothing_else(n_classes, largest, seed, data):
    packing = data.draw(st.sampled_from(list(packings(largest))))
    rows = np.random.default_rng(seed).integers(0, largest + 1, (4, n_classes))
    rows[0] = largest
    words = packed_words(rows, packing)
    assert words.shape == (packing.n_planes(n_classes), 4)
    assert words.min() >= 0
    assert int(words.max()).bit_length() <= packing.word_bits
    for r, row in enumerate(rows.tolist()):
        left = [int(word) for word in words[:, r]]
        for c, cost in enumerate(row):
            assert left[c // packing.per_word] & ((1 << packing.entry_bits) - 1) == cost
            left[c // packing.per_word] >>= packing.entry_bits
        assert left == [0] * len(left)


@pytest.mark.parametrize(
    ("largest", "wanted"),
    [
        (0, [(1, 8), (1, 16), (1, 32), (2, 8), (4, 8), (8, 8)]),
        (1, [(1, 8), (1, 16), (1, 32), (2, 8), (4, 8), (8, 8)]),
        (8, [(4, 8), (4, 16), (4, 32), (8, 8)]),
        (255, [(8, 8), (8, 16), (8, 32)]),
        (256, [(9, 16), (9, 32)]),
        (65536, [(17, 32)]),
    ],
)
def test_costs_take_the_bits_of_the_largest_or_fill_a_byte(largest, wanted):
    assert [(p.entry_bits, p.word_bits) for p in packings(largest)] == wanted


def test_the_last_word_of_a_row_may_have_room():
    packing = Packing(5, 16)
    assert packing.per_word == 3
    assert [packing.n_planes(n) for n in (1, 3, 4, 26)] == [1, 1, 2, 9]
    assert packing.row_bytes(26) == 18


def test_word_k_of_every_row_lies_in_plane_k():
    words = packed_words(np.array([[1, 2, 3], [4, 5, 6]]), Packing(4, 8))
    assert words.tolist() == [[0x21, 0x54], [0x03, 0x06]]


@given(st.integers(1, 40), st.integers(1, 3), st.integers(0, 2**32 - 1))
def test_the_index_finds_every_row_among_the_different_ones(n_rows, n_classes, seed):
    rows = np.random.default_rng(seed).integers(0, 3, (n_rows, n_classes))
    shared = unique_rows(rows)
    assert (shared.costs[shared.index] == rows).all()
    assert len({tuple(row) for row in shared.costs.tolist()}) == len(shared.costs)


@pytest.mark.parametrize(("n_stored", "bits"), [(1, 8), (256, 8), (257, 16), (65537, 32)])
def test_an_index_is_as_wide_as_its_largest(n_stored, bits):
    rows = Rows(np.zeros((n_stored, 1), dtype=np.int64), np.zeros(7, dtype=np.int64))
    assert rows.index_bits == bits
    assert rows.index_bytes == 7 * bits // 8
    assert Rows(rows.costs).index_bytes == 0
