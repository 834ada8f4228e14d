"""Row offsets: starts, multiples, and strides of 0."""

import numpy as np
import pytest

from bncc.lower.kernels.shared.row_finder import finder_of
from tests.unit.lower.by_hand import inputs, program, table

N_STATES = (2, 3, 4)


def some_program(*features):
    """Return a program whose tables read these features."""
    tables = [
        table(reads, [[0, 1]] * int(np.prod([N_STATES[f] for f in reads]))) for reads in features
    ]
    return program(N_STATES, [0, 0], tables)


@pytest.mark.parametrize("row_length", [1, 2, 3])
@pytest.mark.parametrize(
    "features",
    [([0], [1], [2]), ([2], [0]), ([0], [0, 1], [1, 2]), ([2, 0], [1]), ([0, 1, 2], [1], [0, 2])],
)
def test_every_row_is_found(features, row_length):
    some = some_program(*features)
    finder = finder_of(some, row_length)
    X, start, first = inputs(N_STATES), 0, 2 - finder.is_own
    for t, reads in enumerate(features):
        known = finder.entries[t].tolist()
        own = X[:, t if finder.is_own else known[1]]
        at = known[0] + (own if row_length == 1 else finder.multiples[own])
        for k in range(finder.n_others):
            f, place = known[first + 2 * k : first + 2 * k + 2]
            at = at + finder.multiples[X[:, f] + place]
        shape = [N_STATES[f] for f in reads]
        row = np.ravel_multi_index([X[:, f] for f in reads], shape)
        assert (at == start + row * row_length).all()
        start += row_length * int(np.prod(shape))
    assert finder.n_words == start


def test_naive_tables_in_order_need_their_starts_alone():
    finder = finder_of(some_program([0], [1], [2]), 1)
    assert finder.is_own
    assert finder.entries.tolist() == [[0], [2], [5]]
    assert (finder.multiples.size, finder.multiple_bits, finder.n_bytes) == (0, 8, 3)
    wide = finder_of(some_program([0], [1], [2]), 100)
    assert wide.multiples.tolist() == [0, 100, 200, 300]
    assert wide.multiple_bits == 16
    assert wide.n_bytes == 6 + 8


def test_a_root_has_a_stride_of_nothing():
    finder = finder_of(some_program([1], [1, 0]), 1)
    assert not finder.is_own
    # multiples of 0 for the root's three states, then of the 2 states of feature 0
    assert finder.entries.tolist() == [[0, 1, 1, 0], [3, 0, 1, 3]]
    assert finder.multiples.tolist() == [0, 0, 0, 0, 2, 4]


@pytest.mark.parametrize(("n_states", "bits"), [(255, 8), (256, 16), (65535, 16), (65536, 32)])
def test_the_place_of_the_last_word_has_the_width_of_the_starts(n_states, bits):
    some = program([n_states], [0, 0], [table([0], [[0, 1]] * n_states)])
    assert finder_of(some, 1).entry_bits == bits
