"""The check of an input as C: the conditions that a state is too large."""

from dataclasses import dataclass
from itertools import groupby

from bncc.lower.c.c99 import unsigned, wrap_words
from bncc.lower.input_check import WORDS_TOGETHER, Comparison, InputCheck
from bncc.lower.state_words import StateWords


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
    has_joint: bool  # Whether states are compared together
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
