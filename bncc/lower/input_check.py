"""
Range check of an input's states and its C: in a loop, in straight-line code, or in words.

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

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from bncc.lower.c.c99 import unsigned, wrap_words
from bncc.program.ir import width_of
from bncc.resources import Optimize
from bncc.targets import known_target

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


def state_words(
    n_states: Sequence[int], target: str | None, unread: Collection[int] = ()
) -> StateWords | None:
    """Return the words that check as many states as they can, those of unread features aside."""
    machine = known_target(target)
    if machine is None or not machine.loads_anywhere:
        return None
    lane_bits = width_of(max(n_states))
    half = 1 << (lane_bits - 1)
    few = groupby(range(len(n_states)), key=lambda f: n_states[f] <= half and f not in unread)
    runs = [list(run) for is_few, run in few if is_few]
    addends = [half - n for n in n_states]
    for bits in (max(machine.register_bits, NARROWEST), NARROWEST):
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


TOGETHER = 4
"""States that are compared together at most: compilers load all of them before they join them."""
WORD_WORK = 5
"""Instructions per word of states: a load, a constant, an addition and two disjunctions."""
WORDS_TOGETHER = 4
"""Words whose outcomes are tested together: compilers run out of registers with many more."""
LOOP_WORK = 7
LOOP_CODE = 24
"""Instructions per state, and bytes, of a loop on Cortex-M0."""
STRAIGHT_CODE = 4
"""Bytes per instruction of straight-line code, jumps that are long among them."""
WORD_CODE = {32: 20, 64: 28}
"""Bytes of code per word of states, by its bits, its limits included."""
SHARE = 64
"""For a balance, straight-line code may add this part of the kernel's constants."""


@dataclass(frozen=True)
class Comparison:
    """
    One comparison of one state, or of the disjunction of several, with a limit.

    Where the limit is 2^k - 1, a number exceeds it if and only if it has a bit above the lowest k.
    The disjunction has such a bit if and only if one of the states has it. So it exceeds the limit
    if and only if one of them does, whatever the width of a state.
    """

    last: int  # The largest state of each feature; 2^k - 1 where there are several
    features: tuple[int, ...]  # Whose states are compared


@dataclass(frozen=True)
class InputCheck:
    """Plan for the range check of an input's states."""

    n_features: int  # Number of states in an input
    last: int | None  # The largest state of every feature, where it is the same for all
    comparisons: tuple[Comparison, ...] = ()  # Straight-line code, sorted by limit
    # Straight-line code for all states that are not compared. A loop compares each state where
    # there are neither words nor comparisons.
    words: StateWords | None = None
    # Features that no table reads; a loop compares their states with the others
    unread: frozenset[int] = frozenset()

    @property
    def is_loop(self) -> bool:
        """True if a loop compares each state."""
        return not self.comparisons and self.words is None

    @property
    def reads_last_states(self) -> bool:
        """True if it needs an array of every feature's largest state."""
        return self.is_loop and self.last is None

    @property
    def work(self) -> int:
        """Executed instructions, about: a load and a disjunction per state, and two to compare."""
        if self.is_loop:
            return LOOP_WORK * self.n_features
        return WORD_WORK * self._n_words + self._compared

    @property
    def code(self) -> int:
        """Bytes of code, about, beyond those of a loop."""
        if self.is_loop:
            return 0
        words = WORD_CODE[self.words.bits] * self._n_words if self.words else 0
        return words + STRAIGHT_CODE * self._compared - LOOP_CODE

    @property
    def _n_words(self) -> int:
        return len(self.words.words) if self.words else 0

    @property
    def _compared(self) -> int:
        """Instructions that test words and compare single states."""
        tests = 2 * -(-self._n_words // WORDS_TOGETHER)
        return tests + sum(2 * len(each.features) + 1 for each in self.comparisons)


def input_check(
    n_states: Sequence[int],
    *,
    optimize: Optimize,
    rom_bytes: int,
    target: str | None = None,
    constant_time: bool = False,
    unread: frozenset[int] = frozenset(),
) -> InputCheck:
    """Choose how inputs are checked; some features may be unread, not all."""
    n_features = len(n_states)
    last = n_states[0] - 1 if len(set(n_states)) == 1 else None
    loop = InputCheck(n_features, last, unread=unread)
    if constant_time:
        return loop
    words = state_words(n_states, target, unread)
    compared = set(range(n_features)) - unread - (words.features if words else set())
    comparisons = tuple(_comparisons(n_states, compared))
    straight = InputCheck(n_features, last, comparisons, words, unread)
    array = n_features * width_of(max(n_states)) // 8 if loop.reads_last_states else 0
    allowed = rom_bytes // SHARE if optimize == "balanced" else 0
    if optimize == "speed" or straight.code <= array + allowed:
        return straight
    return loop


def _comparisons(n_states: Sequence[int], compared: Iterable[int]) -> Iterator[Comparison]:
    """Yield the comparisons of some features, the smallest limit first."""
    features: dict[int, list[int]] = {}
    for f in sorted(compared):
        features.setdefault(n_states[f] - 1, []).append(f)
    for last, group in sorted(features.items()):
        together = TOGETHER if last & (last + 1) == 0 else 1
        for first in range(0, len(group), together):
            yield Comparison(last, tuple(group[first : first + together]))


@dataclass(frozen=True)
class ConditionText:
    """All comparisons with one limit."""

    states: str  # How many states the features have, in words
    lines: tuple[str, ...]  # The condition


@dataclass(frozen=True)
class WordsText:
    """All words that are checked."""

    type: str  # C type of a word
    n_lanes: int  # n_lanes and lane_bits: States in a word, and the width of a state
    lane_bits: int
    half: int  # The largest state without the highest bit of its lane
    lanes: tuple[str, ...]  # The states at `x`, each where it is in the word
    # First feature and addend of each word; the words of a group are tested together
    groups: tuple[tuple[tuple[int, str], ...], ...]
    highest: str  # The highest bits of all lanes


@dataclass(frozen=True)
class CheckText:
    """A check ready to print."""

    last: str  # What a loop compares with where all features have the same states, else empty
    conditions: tuple[ConditionText, ...]  # Straight-line code
    has_joint: bool  # True if states are compared together
    # Straight-line code for the states that no condition is about. A loop compares each state where
    # there are neither words nor conditions.
    words: WordsText | None


def check_text(check: InputCheck) -> CheckText:
    """Print the check of an input."""
    conditions = []
    for last, comparisons in groupby(check.comparisons, key=lambda each: each.last):
        first, *others = map(_comparison, comparisons)
        if others:
            first, *others = f"({first})", *(f"|| ({other})" for other in others)
        lines = wrap_words([first, *others])
        states = "1 state" if last == 0 else f"{last + 1} states"
        conditions.append(ConditionText(states, tuple(lines)))
    return CheckText(
        last="" if check.last is None else f"{check.last}U",
        conditions=tuple(conditions),
        has_joint=any(len(each.features) > 1 for each in check.comparisons),
        words=_words(check.words) if check.words else None,
    )


def _comparison(comparison: Comparison) -> str:
    states = " | ".join(f"x[{f}]" for f in comparison.features)
    joint = f"({states})" if len(comparison.features) > 1 else states
    return f"{joint} > {comparison.last}U"


def _words(words: StateWords) -> WordsText:
    c_type = unsigned(words.bits)
    shifts = range(words.lane_bits, words.bits, words.lane_bits)
    lanes = (f"(({c_type})x[{k}] << {shift}U)" for k, shift in enumerate(shifts, 1))
    addends = [(word.first, _hex(word.addend, words.bits)) for word in words.words]
    firsts = range(0, len(addends), WORDS_TOGETHER)
    return WordsText(
        type=c_type,
        n_lanes=words.n_lanes,
        lane_bits=words.lane_bits,
        half=(1 << (words.lane_bits - 1)) - 1,
        lanes=(f"({c_type})x[0]", *lanes),
        groups=tuple(tuple(addends[first : first + WORDS_TOGETHER]) for first in firsts),
        highest=_hex(words.highest, words.bits),
    )


def _hex(value: int, bits: int) -> str:
    return f"0x{value:0{bits // 4}X}U"
