"""Distinct rows ascend, and every row is found among them."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from bncc.lower.kernels.shared.rows import distinct


@given(st.lists(st.tuples(*[st.sampled_from([0, 1, 255, 256, 2**32 - 1])] * 3), min_size=1))
def test_rows_are_those_of_the_index(rows):
    given_rows = np.array(rows, dtype=np.int64)
    different, index = distinct(given_rows)
    assert np.array_equal(different[index], given_rows)
    assert different.tolist() == sorted(map(list, set(rows)))


def test_rows_may_lie_in_memory_column_by_column():
    rows = np.array([[3, 1], [0, 2], [3, 1]])
    different, index = distinct(np.asfortranarray(rows))
    assert (different.tolist(), index.tolist()) == ([[0, 2], [3, 1]], [1, 0, 1])
