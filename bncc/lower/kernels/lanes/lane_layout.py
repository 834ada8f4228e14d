r"""
Packed lanes: the costs of several classes in one machine word, added all at once.

A word of w bits is cut into lanes of s bits, and lane p, at offset p s, belongs to one class. One
addition of words adds the costs of all its classes, exactly so long as no lane carries into the
next one. A lane may hold

.. math:: cost_c < 2^{cap_c}, \qquad cap_c = \begin{cases} s & \text{below the last lane}\\
          w - p s & \text{in the last lane} \end{cases}

When the next row could exceed that, the word is split into its even and its odd lanes, which are
then twice as wide and added to sums of their own: level by level, s, 2s, 4s, ... The offset of an
even lane stays, so a last lane does not get wider; a narrower s can be safe where a wider is not.
Where words of 8 or 16 bits have one lane each, the words themselves get twice as wide.

Words may be added as signed numbers, because compilers keep the order of such additions, while they
sort those of unsigned ones and run out of registers over it. Rows, and sums that are split, then
leave the sign bit alone: the last lane is a bit narrower. A sum of the result that could reach
2^(w-1) starts from -2^(w-1) instead of 0, which flips its uppermost bit and lets no addition
overflow.
"""

from dataclasses import dataclass

import numpy as np

from bncc._types import IntArray

MANY_CLASSES = 16
"""Classes from which on words of 32 bits are worth comparing as they are."""
WIDEST_SUM = 32
"""Bits of a lane that need not get wider, for no cost has more."""


@dataclass(frozen=True)
class Word:
    """Which classes share a word."""

    classes: tuple[int, ...]  # By lane, the lowest first
    # At a level above the lowest: the word of the level below that it is split from
    source: int = -1
    is_odd: bool = False  # Whether it has that word's odd lanes


@dataclass(frozen=True)
class Level:
    """Sums in lanes of one width."""

    word_bits: int  # Width of a word
    lane_bits: int  # Width of a lane
    words: tuple[Word, ...]  # All classes, each in one lane
    is_signed: bool  # Whether words are added as signed numbers

    def capacity(self, n_classes: int, *, is_top: bool) -> IntArray:
        """Return the bits of costs that each class's lane holds, (n_classes,) int64."""
        word_bits = self.word_bits - (self.is_signed and not is_top)
        bits = np.zeros(n_classes, dtype=np.int64)
        for word in self.words:
            for lane, c in enumerate(word.classes):
                is_last = lane == len(word.classes) - 1
                bits[c] = word_bits - lane * self.lane_bits if is_last else self.lane_bits
        return np.minimum(bits, WIDEST_SUM)

    def top(self, cost_bits: int) -> int | None:
        """Return the bit to which every lane can move up with none left above it."""
        lanes = [len(word.classes) for word in self.words]
        bit = max((max(lanes) - 1) * self.lane_bits, self.word_bits - self.lane_bits)
        least_bits = WIDEST_SUM if sum(lanes) >= MANY_CLASSES else WIDEST_SUM + 1
        pays = self.word_bits >= least_bits and max(lanes) > 1
        return bit if pays and bit + cost_bits <= self.word_bits else None

    def widened(self) -> "Level | None":
        """Return the level above, whose lanes are twice as wide; None where no word is wider."""
        if any(len(word.classes) > 1 for word in self.words):
            return self._split()
        if self.word_bits >= WIDEST_SUM:
            return None
        bits = 2 * self.word_bits
        words = tuple(Word(word.classes, source) for source, word in enumerate(self.words))
        return Level(bits, bits, words, self.is_signed)

    def _split(self) -> "Level":
        """Return the even and the odd lanes of every word."""
        words = []
        for source, word in enumerate(self.words):
            words.append(Word(word.classes[0::2], source))
            if len(word.classes) > 1:
                words.append(Word(word.classes[1::2], source, is_odd=True))
        return Level(self.word_bits, 2 * self.lane_bits, tuple(words), self.is_signed)

    def pack(self, rows: IntArray) -> IntArray:
        """
        Return rows of costs as rows of words.

        Shapes: `rows` (n_rows, n_classes) int64; returns (n_rows, n_words) uint64, words.
        """
        packed = np.zeros((len(rows), len(self.words)), dtype=np.uint64)
        for w, word in enumerate(self.words):
            for lane, c in enumerate(word.classes):
                packed[:, w] |= rows[:, c].astype(np.uint64) << np.uint64(lane * self.lane_bits)
        return packed


def lowest_level(
    word_bits: int, lane_bits: int, n_words: int, n_classes: int, *, is_signed: bool = False
) -> Level:
    """Spread the classes evenly over words, in order."""
    per_word = -(-n_classes // n_words)
    words = [
        Word(tuple(range(first, min(first + per_word, n_classes))))
        for first in range(0, n_classes, per_word)
    ]
    return Level(word_bits, lane_bits, tuple(words), is_signed)
