"""How the states of an input are checked: in a loop, or in straight-line code, some in words."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from bncc.lower.state_words import StateWords, state_words
from bncc.program.ir import width_of
from bncc.resources import Optimize

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
"""Bytes of what is done for a word of states, by its bits, its limits among them."""
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
    """How the states of an input are checked."""

    n_features: int  # Number of states in an input
    last: int | None  # The largest state of every feature, where it is the same for all
    comparisons: tuple[Comparison, ...] = ()  # Straight-line code, equal limits one after the other
    # Straight-line code for all states that are not compared. A loop compares each state where
    # there are neither words nor comparisons.
    words: StateWords | None = None

    @property
    def is_loop(self) -> bool:
        """Whether a loop compares each state."""
        return not self.comparisons and self.words is None

    @property
    def reads_last_states(self) -> bool:
        """Whether it needs an array of every feature's largest state."""
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
) -> InputCheck:
    """Choose how inputs are checked."""
    n_features = len(n_states)
    last = n_states[0] - 1 if len(set(n_states)) == 1 else None
    loop = InputCheck(n_features, last)
    if constant_time:
        return loop
    words = state_words(n_states, target)
    compared = set(range(n_features)) - (words.features if words else set())
    straight = InputCheck(n_features, last, tuple(_comparisons(n_states, compared)), words)
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
