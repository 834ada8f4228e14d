r"""Sums of probabilities as integers: -ln(exp(-a) + exp(-b)) by a comparison and a small table."""

from collections.abc import Iterable
from dataclasses import dataclass
from math import exp, log1p

import numpy as np

from bncc._types import IntArray

INDEX_BITS = 5
"""Fraction bits of a difference, as it finds its correction."""
TABLE_BITS = 8
"""Fraction bits of a correction: 200 entries, the largest 177, each in a byte."""


def _corrections() -> tuple[int, ...]:
    found: list[int] = []
    while not found or found[-1]:
        found.append(round(2**TABLE_BITS * log1p(exp(-len(found) / 2**INDEX_BITS))))
    return tuple(found[:-1])


CORRECTIONS = _corrections()
"""``round(2**8 * ln(1 + exp(-k / 2**5)))`` for k = 0, 1, ..., down to the last that is not 0."""


@dataclass(frozen=True)
class LogAdd:
    r"""
    The integer sum of two probabilities whose negative logarithms are a and b.

    .. math:: a \oplus b = \min(a, b) - 2^v\, T[\lfloor (|a - b| + 2^{s-1}) / 2^s \rfloor],
              \quad T[k] = \mathrm{rne}(2^8 \ln(1 + e^{-k / 2^5}))

    T is 0 beyond its end. Numbers have B_F + F fraction bits, at least the 8 of the table: a model
    of fewer gets F of them more, a model of more loses nothing of its costs.
    """

    extra_bits: int  # F: costs of the model are shifted left by it, >= 0
    index_shift: int  # s: differences are shifted right by it, >= 1
    value_shift: int  # v: corrections are shifted left by it, >= 0

    @property
    def reach(self) -> int:
        """Differences from here on are not corrected."""
        return (len(CORRECTIONS) << self.index_shift) - self.half

    @property
    def half(self) -> int:
        """What rounds a difference to the nearest entry."""
        return 1 << (self.index_shift - 1)

    def add(self, a: IntArray, b: IntArray) -> IntArray:
        """Add two probabilities."""
        place = (np.abs(a - b) + self.half) >> self.index_shift
        table = np.array([*CORRECTIONS, 0])
        corrections = table[np.minimum(place, len(CORRECTIONS))] << self.value_shift
        return np.asarray(np.minimum(a, b) - corrections)

    def fold(self, terms: Iterable[IntArray]) -> IntArray:
        """Add probabilities from the first to the last; another order can give another sum."""
        first, *others = terms
        for term in others:
            first = self.add(first, term)
        return first

    def least_fold(self, terms: Iterable[IntArray]) -> IntArray:
        """Return a bound below the fold of terms of which each is at least the one given."""
        first, *others = terms
        for term in others:
            first = self.add(first, term) - 2 * self.half
        return first


def log_add_of(frac_bits: int) -> LogAdd:
    """Return how probabilities are added for a model."""
    bits = max(TABLE_BITS, frac_bits)
    return LogAdd(bits - frac_bits, bits - INDEX_BITS, bits - TABLE_BITS)
