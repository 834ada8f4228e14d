"""Tables of few bits among wider ones: costs reach only so far above the least of their row."""

from collections.abc import Sequence

import numpy as np

from bncc.fixed_point import QFormat, quantize
from bncc.train.maximum_likelihood import LogTables


def narrowed(tables: LogTables, widths: Sequence[int], fmt: QFormat) -> LogTables:
    """
    Bound tables so that quantizing them gives costs of few bits, but for the least of each row.

    What all classes of a row have in common decides nothing, and the compiler takes it off. So a
    cost of w bits is one that exceeds the least of its row by at most ``2**w - 1``.
    """
    prior, full = tables
    bounded = []
    for table, width in zip(full, widths, strict=True):
        least = quantize(table.max(axis=1, keepdims=True), fmt)
        bounded.append(np.maximum(table, -(least + 2.0**width - 1) * 2.0**-fmt.frac_bits))
    return prior, tuple(bounded)
