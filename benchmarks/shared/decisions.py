"""Figures of a classifier with its errors row by row, and tests whether two are as accurate."""

from base64 import b64decode, b64encode
from dataclasses import dataclass
from zlib import compress, decompress

import numpy as np

from bncc._types import BoolArray
from bncc.train.holdout import BLOCKS as PARTS

CLEAR = 0.05
"""p-value below which a difference is clear."""


@dataclass(frozen=True)
class Figures:
    """A classifier on the test rows of a set: error, flash and time of a decision from readings."""

    words: str  # Description in a table
    misses: str  # Test rows in error, see `packed`
    n_test: int  # All test rows
    flash: int  # Bytes
    mean: float  # Instructions over random test rows
    worst: int  # Largest number of instructions over these rows
    learned: float  # Mean instructions over random training rows, which limit the baselines
    held: float | None = None  # Validation error of a baseline, 0 .. 1

    @property
    def missed(self) -> BoolArray:
        """Test rows in error, (n_test,) bool."""
        return unpacked(self.misses, self.n_test)

    @property
    def wrong(self) -> int:
        """Number of test rows in error."""
        return int(self.missed.sum())

    @property
    def error(self) -> float:
        """Test error in percent."""
        return 100 * self.wrong / self.n_test


def packed(missed: BoolArray) -> str:
    """Return a bit for each row as text."""
    return b64encode(compress(np.packbits(missed).tobytes(), 9)).decode()


def unpacked(text: str, n_rows: int) -> BoolArray:
    """Return the rows of `packed`, (n_rows,) bool."""
    bits = np.frombuffer(decompress(b64decode(text)), dtype=np.uint8)
    return np.unpackbits(bits, count=n_rows).astype(bool)


def mcnemar(one: Figures, other: Figures) -> float:
    """
    Return the two-sided p-value of McNemar's exact test that two classifiers are as accurate.

    Only the rows count on which one of them is right and the other is wrong.
    """
    from scipy.stats import binomtest

    if one.n_test != other.n_test:
        raise ValueError(f"{one.n_test} test rows are compared with {other.n_test} others")
    only_one = int((one.missed & ~other.missed).sum())
    only_other = int((other.missed & ~one.missed).sum())
    if only_one + only_other == 0:
        return 1.0
    return float(binomtest(only_one, only_one + only_other).pvalue)


def p_by_parts(one: Figures, other: Figures) -> float:
    """
    Return the two-sided p-value of a paired t-test of the errors in consecutive parts of the rows.

    Rows in order of time are wrong in episodes, and McNemar's test takes each row as independent.
    """
    from scipy.stats import ttest_1samp

    parts = np.array_split(one.missed.astype(int) - other.missed, PARTS)
    sums = [int(part.sum()) for part in parts]
    return float(ttest_1samp(sums, 0).pvalue) if any(sums) else 1.0


def is_clearly_better(one: Figures, other: Figures) -> bool:
    """Return whether one classifier has fewer errors, and the difference is clear."""
    return one.wrong < other.wrong and mcnemar(one, other) < CLEAR
