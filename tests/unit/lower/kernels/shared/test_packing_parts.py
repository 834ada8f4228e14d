"""Parts hold every cost of a word once, and no run overflows them."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from bncc.lower.kernels.shared.packing import Packing, longest_run, packings, parts_of


@given(st.integers(1, 30), st.integers(0, 2**16 - 1), st.data())
def test_every_class_has_one_lane_at_its_place(n_classes, largest, data):
    packing = data.draw(st.sampled_from(list(packings(largest))))
    n_parts = data.draw(st.integers(1, packing.per_word))
    parts = parts_of(packing, n_classes, n_parts)
    assert sorted(c for part in parts for c in part.classes) == list(range(n_classes))
    for part in parts:
        for lane, c in enumerate(part.classes):
            word, place = divmod(c, packing.per_word)
            assert (part.word, part.shift + lane * part.lane_bits) == (
                word, place * packing.entry_bits,
            )  # fmt: skip
        capacity = part.capacity()
        assert (capacity[:-1] == part.lane_bits).all()
        assert capacity.sum() == 32


def test_parts_alternate_and_the_uppermost_costs_need_no_mask():
    parts = parts_of(Packing(4, 16), 7, 2)
    assert [part.classes for part in parts] == [(0, 2), (1, 3), (4, 6), (5,)]
    assert [part.is_rest for part in parts] == [False, False, False, False]
    parts = parts_of(Packing(4, 16), 6, 2)
    assert [part.is_rest for part in parts] == [False, False, False, True]
    assert [part.is_rest for part in parts_of(Packing(4, 16), 6, 1)] == [True, True]


def test_the_longest_run_is_that_of_the_worst_neighbors():
    parts = parts_of(Packing(2, 8), 2, 2)
    assert longest_run(parts, np.full((40, 2), 3)) == 40  # one lane each
    parts = parts_of(Packing(2, 8), 4, 2)
    assert longest_run(parts, np.full((40, 4), 3)) == 5  # lanes of 4 bits hold 15
    rows = np.full((40, 4), 1)
    rows[20:24] = 3
    assert longest_run(parts, rows) == 7  # 4 times 3 and 3 times 1
    assert longest_run(parts, np.full((3, 4), 16)) == 0
