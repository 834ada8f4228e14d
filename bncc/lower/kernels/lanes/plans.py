"""Which numbers of words and widths of lanes are worth comparing, each with a proved schedule."""

from collections.abc import Iterator, Sequence
from itertools import product

from bncc._types import IntArray
from bncc.lower.kernels.lanes.lane_layout import lowest_level
from bncc.lower.kernels.lanes.schedule import Schedule, schedule
from bncc.program.ir import Program, Table

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
