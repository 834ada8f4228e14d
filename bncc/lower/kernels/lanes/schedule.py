r"""
When to widen lanes: the flushes that keep every lane of every partial sum below its capacity.

Proof, by induction over the steps: `bound` holds, for every level and class, an upper bound of
that level's lane for every input. A row adds at most its table's largest cost of the class, a flush
adds one level's bound to the next and clears it; a step is taken only if no bound then exceeds its
lane. No lane can exceed the largest cost of its class over all inputs either, for partial sums of
costs >= 0 are at most the whole, so the smaller of the two bounds counts.

Packed lanes (SWAR): the costs of several classes in one word, added all at once.

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

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np

from bncc._types import IntArray
from bncc.program.ir import Program, Table

MANY_CLASSES = 16
"""Classes from which on words of 32 bits are worth comparing as they are."""
WIDEST_SUM = 32
"""Bits of a lane that need not get wider, for no cost has more."""


@dataclass(frozen=True)
class Word:
    """Classes that share a word."""

    classes: tuple[int, ...]  # By lane, the lowest first
    # At a level above the lowest: the word of the level below that it is split from
    source: int = -1
    is_odd: bool = False  # True if it has that word's odd lanes


@dataclass(frozen=True)
class Level:
    """Sums in lanes of one width."""

    word_bits: int  # Width of a word
    lane_bits: int  # Width of a lane
    words: tuple[Word, ...]  # All classes, each in one lane
    is_signed: bool  # True if words are added as signed numbers

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


@dataclass(frozen=True)
class Step:
    """One step of the sum."""

    # Add a table's row to the lowest level or, where a word is one lane, a higher one; or add a
    # level's sums to the level above
    kind: str
    number: int  # The table, or the level that is flushed
    level: int  # The level whose sums it adds to
    is_first: bool  # True if it sets its sums instead of adding to them


@dataclass(frozen=True)
class Schedule:
    """Levels and steps of a sum in lanes."""

    levels: tuple[Level, ...]  # The lowest first; the last holds the result
    steps: tuple[Step, ...]  # In order; every table's row once
    # By word of the last level: whether its sum can reach the sign bit of a signed number
    is_biased: tuple[bool, ...]

    @property
    def used(self) -> tuple[int, ...]:
        """The levels that anything is added to, the lowest first."""
        return tuple(sorted({step.level for step in self.steps}))


def schedule(
    lowest: Level, largest: Sequence[IntArray], prior: IntArray, high: IntArray
) -> Schedule | None:
    """
    Return the schedule with the fewest levels that is proved safe.

    Shapes: `prior` (n_classes,) int64; `high` (n_classes,) int64.
    """
    levels = [lowest]
    if (np.max(largest, axis=0) > _limit(lowest, len(prior), is_top=False)).any():
        return None
    while True:
        *below, top = levels
        limits = [_limit(level, len(prior), is_top=False) for level in below]
        limits.append(_limit(top, len(prior), is_top=True))
        if (high <= limits[-1]).all():
            steps = _steps(largest, limits, prior, high)
            if all(len(word.classes) == 1 for word in lowest.words):
                steps = _without_detours(steps)
            return Schedule(tuple(levels), steps, _biased(top, high))
        wider = top.widened()
        if wider is None:
            return None
        levels.append(wider)


def _limit(level: Level, n_classes: int, *, is_top: bool) -> IntArray:
    """Return the largest cost that each class's lane holds."""
    return (1 << level.capacity(n_classes, is_top=is_top)) - 1


def _biased(top: Level, high: IntArray) -> tuple[bool, ...]:
    last = [(word.classes[-1], (len(word.classes) - 1) * top.lane_bits) for word in top.words]
    sign = 1 << (top.word_bits - 1)
    return tuple(top.is_signed and int(high[c]) << shift >= sign for c, shift in last)


def _steps(
    largest: Sequence[IntArray], limits: Sequence[IntArray], prior: IntArray, high: IntArray
) -> tuple[Step, ...]:
    """
    Return the steps for given levels, as few flushes as adding greedily needs.

    There always are some: the last level holds every sum, a level that has been cleared any row or
    any sum of the level below, whose lanes are no wider.
    """
    top = len(limits) - 1
    bounds = [np.zeros_like(prior) for _ in limits]
    bounds[top] = prior
    is_empty = [True] * len(limits)
    steps: list[Step] = []

    def has_room(level: int, more: IntArray) -> bool:
        return bool((np.minimum(bounds[level] + more, high) <= limits[level]).all())

    def add(kind: str, number: int, level: int, more: IntArray) -> None:
        assert has_room(level, more)
        steps.append(Step(kind, number, level, is_empty[level]))
        bounds[level] = bounds[level] + more
        is_empty[level] = False

    def flush(level: int) -> None:
        """Add a level to the one above, which is flushed first where it has no room."""
        if not has_room(level + 1, bounds[level]):
            flush(level + 1)
        add("flush", level, level + 1, bounds[level])
        bounds[level] = np.zeros_like(prior)
        is_empty[level] = True

    for t, most in enumerate(largest):
        if not has_room(0, most):
            flush(0)
        add("row", t, 0, most)
    for level in range(top):
        flush(level)
    return tuple(steps)


def _without_detours(steps: tuple[Step, ...]) -> tuple[Step, ...]:
    """Add a row that is flushed at once to the level above, for that is the same sum."""
    found: list[Step] = []
    for step in steps:
        if found and _is_detour(found[-1], step):
            found[-1] = Step("row", found[-1].number, step.level, step.is_first)
        else:
            found.append(step)
    return tuple(found)


def _is_detour(step: Step, behind: Step) -> bool:
    """Return whether a row is alone in the sums that the step behind flushes."""
    is_alone = step.kind == "row" and step.is_first
    return is_alone and behind.kind == "flush" and behind.number == step.level


MOST_WORDS = {8: 32, 16: 32, 32: 16, 64: 16}
"""Words of a row at most, by their bits; sums of more would not stay in registers anywhere."""
MOST_UNSIGNED = 256
"""Additions of unsigned words at most: compilers sort them, and load more than a stack has."""
MOST_SIGNED = 8
"""Words of a row whose sums stay in registers where there are few, added in their order."""


def lane_plans(
    program: Program,
    tables: Sequence[Table],
    high: IntArray,
    word_bits: int,
    *,
    may_sign: bool = True,
) -> Iterator[Schedule]:
    """
    Yield for each number of words the widest lanes that can be scheduled.

    Wider lanes need fewer flushes.

    Shapes: `high` (n_classes,) int64.
    """
    n_classes = program.n_classes
    largest = [table.costs.max(axis=0) for table in tables]
    narrowest = max(1, max(int(most.max()) for most in largest).bit_length())
    seen = 0
    for n_words in range(1, min(n_classes, MOST_WORDS[word_bits]) + 1):
        per_word = -(-n_classes // n_words)
        if per_word == seen or per_word * narrowest > word_bits:
            continue
        seen = per_word
        widths = range(word_bits // per_word, narrowest - 1, -1)
        is_long = may_sign and n_words * len(tables) > MOST_UNSIGNED
        has_sign = may_sign and word_bits >= 32 and (n_words <= MOST_SIGNED or is_long)
        signs = (True, False) if has_sign else (False,)
        lowest = (
            lowest_level(word_bits, lane_bits, n_words, n_classes, is_signed=is_signed)
            for is_signed, lane_bits in product(signs, widths)
        )
        plans = (schedule(level, largest, program.prior, high) for level in lowest)
        # Unsigned words that are split to the last hold every sum of 32 bits.
        plan = next(plan for plan in plans if plan is not None)
        if word_bits < 32 or plan.levels[0].is_signed or not is_long:
            yield plan
