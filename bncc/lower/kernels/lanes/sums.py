"""Sums in lanes as C: what they are called, started from and added to, and how they widen."""

from collections.abc import Iterator, Sequence

from bncc.lower.c.c99 import literal_suffix, unsigned
from bncc.lower.kernels.lanes.lane_layout import Level, Word
from bncc.lower.kernels.lanes.layout import LaneKernel
from bncc.lower.kernels.lanes.schedule import Step

REGISTER = 32
"""Bits of a word from which on C adds in the word's own type."""


def sum_type(level: Level) -> str:
    """Return the C type of a level's words."""
    return f"{'int' if level.is_signed else 'uint'}{level.word_bits}_t"


def variables(kernel: LaneKernel, level: int) -> list[str]:
    """Name the sums of a level."""
    at = kernel.schedule.levels[level]
    prefix = "sum" if at is kernel.highest else f"part{at.lane_bits}_"
    return [f"{prefix}{w}" for w in range(len(at.words))]


def added(kernel: LaneKernel, step: Step, values: Sequence[str], cast: str = "") -> Iterator[str]:
    """Print additions to the words of a level."""
    level = kernel.schedule.levels[step.level]
    for w, variable in enumerate(variables(kernel, step.level)):
        start = _start(kernel, w) if step.is_first and level is kernel.highest else ""
        if level.word_bits >= REGISTER:
            yield f"{variable} {'=' if step.is_first else '+='} {start}{values[w]};"
        elif step.is_first and not start:
            yield f"{variable} = {values[w]};"
        else:
            before = f"{start}{cast}" if step.is_first else f"{variable} + "
            yield f"{variable} = ({sum_type(level)})({before}{values[w]});"


def flush(kernel: LaneKernel, step: Step) -> list[str]:
    """Print the addition of a level's sums to the level above."""
    level, below = kernel.schedule.levels[step.number], variables(kernel, step.number)
    words = kernel.schedule.levels[step.level].words
    values = [half(level, word, below[word.source]) for word in words]
    above = kernel.schedule.levels[step.level]
    is_wider = level.word_bits < above.word_bits < REGISTER
    cast = f"({sum_type(above)})" if is_wider else ""
    return [
        "/* Widen the lanes before one could overflow. */",
        *added(kernel, step, values, cast),
    ]


def _start(kernel: LaneKernel, w: int) -> str:
    """Return what a word of the result starts from, and a plus, where that is not zero."""
    prior, bits = int(kernel.prior[w]), kernel.highest.word_bits
    terms = []
    if kernel.schedule.is_biased[w]:
        sign = 1 << (bits - 1)
        terms = [f"INT{bits}_MIN"] if prior < sign else []
        prior %= sign
    if prior and kernel.lowest.is_signed:
        # The suffix says that it is signed, the cast that it is no wider than the sum.
        terms.append(f"(int{bits}_t)0x{prior:X}{literal_suffix(bits, signed=True)}")
    elif prior:
        terms.append(hexadecimal(prior))
    return "".join(f"{term} + " for term in terms)


def half(level: Level, word: Word, source: str) -> str:
    """Return the even or the odd lanes of a word, each in a lane twice as wide."""
    n_lanes = len(level.words[word.source].classes)
    if n_lanes == 1:
        return source
    before = f"({unsigned(level.word_bits)})" if level.is_signed else ""
    # What is narrower than an int is computed as one. No cast makes an unsigned sum a signed one
    # (MISRA rule 10.8): the first of two keeps its type.
    after = f"({sum_type(level)}){before}" if level.is_signed or level.word_bits < 32 else ""
    moved = f"({before}{source} >> {level.lane_bits})" if word.is_odd else f"{before}{source}"
    if n_lanes == 2 and word.is_odd:
        return f"{after}{moved}"  # nothing lies above it
    mask = 0
    for k in range(len(word.classes)):
        place = 2 * k + word.is_odd
        is_last = place == n_lanes - 1
        width = level.word_bits - place * level.lane_bits if is_last else level.lane_bits
        mask |= ((1 << width) - 1) << (2 * k * level.lane_bits)
    return f"{after}({moved} & {hexadecimal(mask)})"


def hexadecimal(value: int) -> str:
    """Print a number as an unsigned one in hexadecimal."""
    return f"0x{value:X}{literal_suffix(value.bit_length())}"
