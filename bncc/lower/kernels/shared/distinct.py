"""Which rows are equal."""

import numpy as np

from bncc._types import IntArray


def distinct(rows: IntArray) -> tuple[IntArray, IntArray]:
    """
    Return the different rows and which of them each row is.

    Shapes: `rows` (n_rows, n) int64; returns different (n_distinct, n) int64, in ascending order;
    returns index (n_rows,) int64, ``rows`` is ``different[index]``.
    """
    # The bytes of a row as one value: sorting rows of numbers takes several times as long. Those of
    # big-endian numbers >= 0 ascend as the numbers do.
    whole = rows.astype(">i8", order="C").view(f"V{8 * rows.shape[1]}").reshape(-1)
    _, first, index = np.unique(whole, return_index=True, return_inverse=True)
    return rows[first], index.reshape(-1)
