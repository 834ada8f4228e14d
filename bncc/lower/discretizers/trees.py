"""Trees of comparisons and look-ups that find the step of a reading, some by its upper bits."""

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import TypeAlias

from bncc.discretize.float_order import float_bits
from bncc.lower.discretizers.steps import LARGEST, MISSING, Step

MAX_RUN = 255
"""Entries of the longest look-up table: one byte counts them and holds any of their states."""


@dataclass(frozen=True)
class Run:
    """Neighboring integers whose states are looked up."""

    first: int  # The first integer
    states: tuple[int, ...]  # Its state and those of its successors


@dataclass(frozen=True)
class Branch:
    """One comparison."""

    bound: Step  # Integers up to its `last` go `below`, others `above`
    below: "Tree"  # below and above: What follows: another comparison, a look-up, or the state
    above: "Tree"


@dataclass(frozen=True)
class Guide:
    """Look-up table for groups of integers, each divided at one bound."""

    first: int  # The first integer of the first group
    shift: int  # A group has ``2**shift`` integers
    # Per group a bound, and the state of its integers up to that bound; above it is the next
    entries: tuple[tuple[int, int], ...]
    beyond: "Tree"  # What finds the state of all other integers


Tree: TypeAlias = Branch | Run | Guide | int


def tree_of(steps: Sequence[Step]) -> Tree:
    """
    Return the tree of comparisons that finds a step, balanced by the steps' weights.

    Proof: by induction over the number of steps. One step needs no comparison. For several, the
    integers up to the end of a first part are those that its steps hold, all others those of
    the rest.
    """
    if len(steps) == 1:
        return steps[0].state
    at = _middle(steps)
    return Branch(steps[at - 1], tree_of(steps[:at]), tree_of(steps[at:]))


def table_of(steps: Sequence[Step]) -> Tree | None:
    """
    Return the two comparisons and the look-up that find a step.

    Proof: a reading up to the end of the lowest regular step is compared as in a tree, one beyond
    the last bound has the last state, and each of those between has an entry.
    """
    n_low = 2 if steps[0].note == MISSING else 1
    low, middle = steps[:n_low], steps[n_low - 1 : -1]
    if len(middle) < 2 or middle[-1].last - middle[0].last > MAX_RUN:
        return None
    states = [
        step.state for before, step in pairwise(middle) for _ in range(step.last - before.last)
    ]
    run = Run(low[-1].last + 1, tuple(states))
    return Branch(low[-1], tree_of(low), Branch(middle[-1], run, steps[-1].state))


def nodes(tree: Tree) -> Iterator[Tree]:
    """Yield a tree, all trees below and all above."""
    yield tree
    if isinstance(tree, Branch):
        yield from nodes(tree.below)
        yield from nodes(tree.above)
    elif isinstance(tree, Guide):
        yield from nodes(tree.beyond)


def state_at(tree: Tree, value: int) -> int:
    """Return the state of a reading's integer by the comparisons of a tree."""
    while not isinstance(tree, int):
        if isinstance(tree, Branch):
            tree = tree.below if value <= tree.bound.last else tree.above
        elif isinstance(tree, Run):
            tree = tree.states[value - tree.first]
        else:
            group = (value - tree.first) >> tree.shift
            has_entry = 0 <= group < len(tree.entries)
            tree = _state_in(tree.entries[group], value) if has_entry else tree.beyond
    return tree


def _state_in(entry: tuple[int, int], value: int) -> int:
    bound, state = entry
    return state + (value > bound)


def mean_comparisons(steps: Sequence[Step]) -> float:
    """Return the weighted mean number of comparisons in the tree of some steps."""
    total = sum(step.weight for step in steps)
    return _comparisons(steps) / total if total else 0.0


def _comparisons(steps: Sequence[Step]) -> int:
    if len(steps) == 1:
        return 0
    at = _middle(steps)
    own = sum(step.weight for step in steps)
    return own + _comparisons(steps[:at]) + _comparisons(steps[at:])


def _middle(steps: Sequence[Step]) -> int:
    """Return the number of steps in the first of two parts whose heavier one is lightest."""
    total = sum(step.weight for step in steps)
    lower = list(accumulate(step.weight for step in steps[:-1]))
    # Ties go to the fewest regular steps below, so that the code stays flat; steps of weight 0
    # go with them, so that a float's sign is tested before its magnitude.
    return 1 + min(range(len(lower)), key=lambda k: (max(lower[k], total - lower[k]), lower[k], -k))


MAX_ENTRIES = 255
"""Entries of the longest guide, so that the end of its integers is 8 bits and zeros."""
MAX_STATE = 255
"""It is the highest byte of a sum."""
LOWER_BITS = {"int16": 8, "int32": 24, "float32": 24}
"""All others than those of that byte; a reading of 8 bits has none, and a table for all of it."""
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
    """Expected frequency of use of the parts of a guide."""

    inside: float  # Share of the readings that have an entry
    comparisons: float  # Comparisons of the other readings, on average


def guides_of(steps: Sequence[Step], kind: str) -> Iterator[tuple[Guide, GuideUse]]:
    """
    Yield guides of the steps among which the states increase by one.

    Proof: no entry has integers on both sides of two bounds, so that its integers have the state
    of the first of them up to one bound, and the next state above. All entries are within the
    stretch. Any other reading is in a step up to the first of the stretch, or from its last one
    on, and the tree of these steps finds it.
    """
    if kind not in RISING:
        return
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
