"""
Rows as words of several costs: how many bits a cost takes, and where a row's words lie.

Word k of every row stands in plane k. A row is then found by its number alone, without any product
of a number and the bytes of a row, and its next word lies one plane further.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from bncc._types import IntArray
from bncc.lower.kernels.shared.distinct import distinct
from bncc.program.ir import WIDTHS, width_of


@dataclass(frozen=True)
class Packing:
    """How the costs of a row fill words, the first class in the lowest bits of the first word."""

    entry_bits: int  # Bits of a cost
    word_bits: int  # Bits of a word

    @property
    def per_word(self) -> int:
        """Costs in a word; the bits that are left above them are zero."""
        return self.word_bits // self.entry_bits

    def n_planes(self, n_classes: int) -> int:
        """Return the words of a row; the last one may have room for more classes."""
        return -(-n_classes // self.per_word)

    def row_bytes(self, n_classes: int) -> int:
        """Return the bytes of a row."""
        return self.n_planes(n_classes) * self.word_bits // 8


@dataclass(frozen=True, eq=False)
class Rows:
    """Rows as they are stored, each one or each different one."""

    costs: IntArray  # (n_stored, n_classes) int64: The stored rows
    # (n_rows,) int64 or None: Which stored row is each; None when all are stored in their order
    index: IntArray | None = None

    @cached_property
    def index_bits(self) -> int:
        """Width of an index."""
        return width_of(len(self.costs) - 1)

    @property
    def index_bytes(self) -> int:
        """Bytes of all indices."""
        return 0 if self.index is None else len(self.index) * self.index_bits // 8


def packings(largest: int) -> Iterator[Packing]:
    """Return the packings of costs up to a largest one."""
    needed = max(1, largest.bit_length())
    for word_bits in WIDTHS:
        if needed <= word_bits:
            yield Packing(needed, word_bits)
    yield from (Packing(bits, 8) for bits in (1, 2, 4, 8) if bits > needed)


def packed_words(costs: IntArray, packing: Packing) -> IntArray:
    """
    Pack rows into words.

    Shapes: `costs` (n_rows, n_classes) int64; returns (n_planes, n_rows) int64, word k of every row
    in plane k.
    """
    n_rows, n_classes = costs.shape
    n_planes = packing.n_planes(n_classes)
    entries = np.zeros((n_rows, n_planes * packing.per_word), dtype=np.int64)
    entries[:, :n_classes] = costs
    shifts = np.arange(packing.per_word) * packing.entry_bits
    words = (entries.reshape(n_rows, n_planes, packing.per_word) << shifts).sum(axis=2)
    return np.ascontiguousarray(words.T)


def unique_rows(costs: IntArray) -> Rows:
    """
    Store equal rows once.

    Shapes: `costs` (n_rows, n_classes) int64.
    """
    return Rows(*distinct(costs))
