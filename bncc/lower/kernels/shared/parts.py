"""Words of costs taken apart into wider lanes, and how many rows those lanes can sum."""

from dataclasses import dataclass

import numpy as np

from bncc._types import IntArray
from bncc.lower.kernels.shared.packing import Packing

SUM_BITS = 32
"""Width of a sum of several lanes."""


@dataclass(frozen=True)
class Part:
    """Every k-th cost of a word, each in a lane k times as wide as it is stored."""

    word: int  # Which word of a row
    shift: int  # How far its costs are moved down
    lane_bits: int  # Width of a lane
    classes: tuple[int, ...]  # By lane, the lowest first
    is_rest: bool  # Whether nothing but these costs is left of the word once it is moved

    def capacity(self) -> IntArray:
        """Return the bits that the sum of each lane may have, (n_lanes,) int64."""
        bits = np.full(len(self.classes), self.lane_bits)
        bits[-1] = SUM_BITS - self.lane_bits * (len(self.classes) - 1)
        return bits


def parts_of(packing: Packing, n_classes: int, n_parts: int) -> tuple[Part, ...]:
    """Take the words of a row apart."""
    found = []
    for word, first in enumerate(range(0, n_classes, packing.per_word)):
        classes = range(first, min(first + packing.per_word, n_classes))
        for place in range(min(n_parts, len(classes))):
            lanes = tuple(classes[place::n_parts])
            is_rest = lanes == tuple(classes[place:])
            shift = place * packing.entry_bits
            found.append(Part(word, shift, n_parts * packing.entry_bits, lanes, is_rest))
    return tuple(found)


def longest_run(parts: tuple[Part, ...], largest: IntArray) -> int:
    """
    Return how many rows one after the other lanes can sum, wherever they begin.

    Shapes: `largest` (n_tables, n_classes) int64.
    """
    capacity = np.zeros(largest.shape[1], dtype=np.int64)
    for part in parts:
        capacity[list(part.classes)] = part.capacity()
    sums = np.vstack([np.zeros_like(largest[:1]), largest.cumsum(axis=0)])
    fits, too_long = 0, len(largest) + 1
    while too_long - fits > 1:
        run = (fits + too_long) // 2
        most = (sums[run:] - sums[:-run]).max(axis=0)
        if (most < 1 << capacity).all():
            fits = run
        else:
            too_long = run
    return fits
