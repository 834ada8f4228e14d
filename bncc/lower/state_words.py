"""
States that are checked several at once, as lanes of one word.

A word holds consecutive states, each in a lane as wide as a state. Let a lane have b bits, and let
the largest state m of its feature be below 2^(b-1). To the word is added one constant that has
2^(b-1) - 1 - m in each lane. Some state is too large if and only if the word or the sum has the
highest bit of a lane.

Proof. If every state is below 2^(b-1), a lane of the sum is at most 2^b - 2 - m. So nothing is
carried from one lane into another, and each is the state plus its own 2^(b-1) - 1 - m, which has
the highest bit if and only if the state is above m. The word has no such bit. If some state is not
below 2^(b-1), it is above m, and the word itself has the highest bit of its lane, whatever the sum
is and whatever is carried in it.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from bncc.lower.word_sizes import LOADS_ANYWHERE, WORD_BITS
from bncc.program.ir import width_of

NARROWEST = 32
"""Bits of a word; C would compute with narrower ones as signed ints."""


@dataclass(frozen=True)
class Word:
    """Consecutive states that are checked at once."""

    first: int  # Feature of the state in the lowest lane
    addend: int  # What is added to the word


@dataclass(frozen=True)
class StateWords:
    """Words that are checked, two with states in common where lanes would be left over."""

    bits: int  # Width of a word
    lane_bits: int  # Width of a state
    words: tuple[Word, ...]  # By their first features

    @property
    def n_lanes(self) -> int:
        """Number of states in a word."""
        return self.bits // self.lane_bits

    @property
    def highest(self) -> int:
        """The highest bits of all lanes."""
        return _word([1 << (self.lane_bits - 1)] * self.n_lanes, self.lane_bits)

    @property
    def features(self) -> frozenset[int]:
        """The features whose states are checked."""
        return frozenset(f for w in self.words for f in range(w.first, w.first + self.n_lanes))


def state_words(n_states: Sequence[int], target: str | None) -> StateWords | None:
    """Return the words that check as many states as they can."""
    if target not in LOADS_ANYWHERE:
        return None
    lane_bits = width_of(max(n_states))
    half = 1 << (lane_bits - 1)
    few = groupby(range(len(n_states)), key=lambda f: n_states[f] <= half)
    runs = [list(run) for is_few, run in few if is_few]
    addends = [half - n for n in n_states]
    for bits in (WORD_BITS.get(target, NARROWEST), NARROWEST):
        n_lanes = bits // lane_bits
        firsts = [first for run in runs for first in _firsts(run, n_lanes)]
        if firsts:
            words = (Word(f, _word(addends[f : f + n_lanes], lane_bits)) for f in firsts)
            return StateWords(bits, lane_bits, tuple(words))
    return None


def _firsts(run: Sequence[int], n_lanes: int) -> Iterator[int]:
    """Yield the first feature of each word; the last word ends where the run does."""
    if len(run) >= n_lanes:
        yield from run[:-n_lanes:n_lanes]
        yield run[-n_lanes]


def _word(lanes: Sequence[int], lane_bits: int) -> int:
    """Return the word of some lanes, the first lowest."""
    return sum(lane << (lane_bits * k) for k, lane in enumerate(lanes))
