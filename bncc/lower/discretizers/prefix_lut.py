"""Look-ups by the upper bits of a reading, where the lower bits decide between two states."""

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from bncc.lower.discretizers.steps import LARGEST, Step, float_bits
from bncc.lower.discretizers.trees import Guide, Tree, mean_comparisons, tree_of

MAX_ENTRIES = 255
"""Of the longest guide, so that the end of its integers is a number of 8 bits and zeros."""
MAX_STATE = 255
"""It is the highest byte of a sum."""
LOWER_BITS = {"int16": 8, "int32": 24, "float32": 24}
"""All others than those of that byte."""
RISING = {
    "int16": (-LARGEST["int16"], LARGEST["int16"]),
    "int32": (-LARGEST["int32"], LARGEST["int32"]),
    "float32": (0, float_bits(float("inf"))),
}
"""Integers between which the state rises by one at each bound: of whole numbers all but the marker
of a missing one, of floats those from 0.0 to infinity."""
SIGNIFICANT = 8
"""Bits of the first integer that are not zeros: such a number is part of a Thumb-2 instruction."""


@dataclass(frozen=True)
class GuideUse:
    """How often the parts of a guide are expected to be used."""

    inside: float  # Share of the readings that have an entry
    comparisons: float  # Comparisons of the other readings, on average


def guides_of(steps: Sequence[Step], kind: str) -> Iterator[tuple[Guide, GuideUse]]:
    """
    Yield guides of the steps among which the states rise one by one.

    Proof: no entry has integers on both sides of two bounds, so that its integers have the state
    of the first of them up to one bound, and the next state above. All entries lie within the
    stretch. Any other reading lies in a step up to the first of the stretch, or from its last one
    on, and the tree of these steps finds it.
    """
    low, high = RISING[kind]
    rising = [k for k, step in enumerate(steps[:-1]) if low <= step.last < high]
    if len(rising) < 2:
        return
    i, j = rising[0], rising[-1] + 2
    stretch, others = steps[i:j], (*steps[: i + 1], *steps[j - 1 :])
    if stretch[-1].state > MAX_STATE:
        return
    start = max(steps[i - 1].last + 1, low) if i else low
    bounds = [step.last for step in stretch[:-1]]
    for reach in (0, bounds[-1] - bounds[0]):
        guide = _guide(stretch, start, reach, LOWER_BITS[kind], tree_of(others))
        if guide:
            left = (*steps[:i], *steps[j:]) if reach else others
            outside = sum(step.weight for step in left) / sum(step.weight for step in steps)
            yield guide, GuideUse(1 - outside, mean_comparisons(others))


def _guide(
    stretch: Sequence[Step], start: int, reach: int, lower_bits: int, beyond: Tree
) -> Guide | None:
    """Return the guide of a stretch that begins at some integer, with as few entries as can be."""
    bounds = [step.last for step in stretch[:-1]]
    first = max(bounds[0] + 1 - reach, start)
    zeros = max(first.bit_length() - SIGNIFICANT, 0)
    first = max(first >> zeros << zeros, start)
    shift = lower_bits
    while len({(bound - first) >> shift for bound in bounds}) < len(bounds):
        shift -= 1
    n_needed = ((bounds[-1] - first) >> shift) + 1
    n_there = (stretch[-1].last + 1 - first) >> shift
    n = min(((bounds[-1] + reach - first) >> shift) + 1, n_there)
    if not n_needed <= n <= MAX_ENTRIES:
        return None
    entries = []
    for low in range(first, first + (n << shift), 1 << shift):
        k = bisect_left(bounds, low)
        high = low + (1 << shift) - 1
        entries.append((min([*bounds[k : k + 1], high]), stretch[k].state))
    return Guide(first, shift, tuple(entries), beyond)
