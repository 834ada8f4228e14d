"""The rule of a raw feature as steps over integers, and the tree of comparisons that climbs them.

Every reading has an integer: an int16 or int32 is its own, a float32 has its IEEE 754 bits read as
an int32. Along these integers the state changes only at a few bounds, so that one list of steps
holds thresholds and missing readings alike, and comparing integers is all that a discretizer
does. The bits of floats >= 0 ascend with the float; those of negative floats, from -0.0, lie below
all of them and ascend as the float falls; NaN lies behind the infinity of its sign. A threshold
below 0 therefore is a bound between two steps as one above 0 is, only that the steps descend.
"""

import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import TypeAlias

from bncc.discretize.feature import Feature

LARGEST = {"int16": 2**15 - 1, "int32": 2**31 - 1, "float32": 2**31 - 1}
"""The last integer of each kind of reading; the first is its mirror image less one."""
MAX_RUN = 255
"""Entries of the longest look-up: one byte counts them, and holds the state of any."""


@dataclass(frozen=True)
class Step:
    """The integers above the step before it, up to and with `last`: all have one state.

    Parameters
    ----------
    last : int
        The largest integer.
    state : int
        The state.
    note : str
        What readings these are, for people; empty where the integer is the reading.
    weight : int
        How often to expect them beside other steps: 0 for missing readings and others that a
        sensor hardly gives, else 1 or more.
    """

    last: int
    state: int
    note: str
    weight: int


@dataclass(frozen=True)
class Run:
    """Neighboring integers whose states are looked up.

    Parameters
    ----------
    first : int
        The first integer.
    states : tuple of int
        Its state and those of its successors.
    """

    first: int
    states: tuple[int, ...]


@dataclass(frozen=True)
class Branch:
    """One comparison.

    Parameters
    ----------
    bound : Step
        Integers up to its `last` go `below`, others `above`.
    below, above : Branch, Run or int
        What follows: another comparison, a look-up, or the state.
    """

    bound: Step
    below: "Tree"
    above: "Tree"


Tree: TypeAlias = Branch | Run | int


def float_bits(value: float) -> int:
    """Return the bits of a float32, read as an int32."""
    bits: int = struct.unpack("<i", struct.pack("<f", value))[0]
    return bits


def float_key(value: float) -> int:
    """Return the integer that orders like a float32.

    Parameters
    ----------
    value : float
        A value of float32, not NaN.

    Returns
    -------
    int
        In int32: the IEEE 754 bits, negative values mirrored, so that ``a < b`` as floats iff
        ``float_key(a) < float_key(b)``, -0.0 just below 0.0.
    """
    bits = float_bits(value)
    return bits if bits >= 0 else bits ^ 0x7FFFFFFF


def steps_of(feature: Feature) -> tuple[Step, ...]:
    """Return a numeric feature's rule as steps.

    Parameters
    ----------
    feature : Feature
        Of a numeric kind.

    Returns
    -------
    tuple of Step
        Ascending, the last one up to the largest integer; neighbors differ in their state.
    """
    steps = _float_steps(feature) if feature.kind == "float32" else _whole_steps(feature)
    largest = LARGEST[feature.kind]
    merged: list[Step] = []
    previous = -largest - 2  # below the smallest integer
    for step in steps:
        if step.last == previous:
            continue  # no integer left
        previous = step.last
        if merged and merged[-1].state == step.state:
            before = merged.pop()
            step = Step(step.last, step.state, step.note, before.weight + step.weight)
        merged.append(step)
    return tuple(merged)


def _whole_steps(feature: Feature) -> list[Step]:
    largest = LARGEST[feature.kind]
    bounds = [*(int(t) for t in feature.thresholds), largest]
    missing = Step(-largest - 1, feature.fallback, "missing", 0)
    return [missing, *(Step(bound, state, "", 1) for state, bound in enumerate(bounds))]


def _float_steps(feature: Feature) -> list[Step]:
    """Return the steps of -0.0 .. -inf, negative NaN, 0.0 .. inf, NaN."""
    n_below = sum(t < 0 for t in feature.thresholds)
    negative, positive = feature.thresholds[:n_below], feature.thresholds[n_below:]
    down = [
        Step(float_bits(t) - 1, k + 1, f"negative, above {t:.9g}", 1)
        for k, t in reversed(list(enumerate(negative)))
    ]
    up = [
        Step(float_bits(t), n_below + k, f"up to {t:.9g}" if t else "zero", 1)
        for k, t in enumerate(positive)
    ]
    # A sensor whose thresholds all have one sign is taken to give readings of that sign.
    any_down, any_up = bool(negative), bool(positive) or not negative
    return [
        *down,
        Step(float_bits(float("-inf")), 0, "negative, not NaN", int(any_down)),
        Step(-1, feature.fallback, "negative", 0),
        *up,
        Step(float_bits(float("inf")), len(feature.thresholds), "not NaN", int(any_up)),
        Step(LARGEST["float32"], feature.fallback, "", 0),
    ]


def tree_of(steps: Sequence[Step]) -> Tree:
    """Return the tree of comparisons that finds a step, balanced by the steps' weights.

    Proof: by induction over the number of steps. One step needs no comparison. Of several, the
    integers up to the end of a first part are those that its steps hold, all others those of
    the rest.

    Parameters
    ----------
    steps : sequence of Step
        At least one, from `steps_of`.

    Returns
    -------
    Branch or int
        The root.
    """
    if len(steps) == 1:
        return steps[0].state
    at = _middle(steps)
    return Branch(steps[at - 1], tree_of(steps[:at]), tree_of(steps[at:]))


def table_of(steps: Sequence[Step]) -> Tree | None:
    """Return the two comparisons and the look-up that find a step.

    Proof: a reading up to the end of the lowest regular step is compared as in a tree, one beyond
    the last bound has the last state, and each of those between has an entry.

    Parameters
    ----------
    steps : sequence of Step
        From `steps_of`, of whole numbers.

    Returns
    -------
    Branch or None
        None when there is no step between, or there are more than `MAX_RUN` integers in it.
    """
    n_low = 1 if steps[0].weight else 2
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


def state_at(tree: Tree, value: int) -> int:
    """Return the state of a reading's integer by the comparisons of a tree.

    Parameters
    ----------
    tree : Branch, Run or int
        From `tree_of` or `table_of`.
    value : int
        The integer.

    Returns
    -------
    int
        The state.
    """
    while isinstance(tree, Branch):
        tree = tree.below if value <= tree.bound.last else tree.above
    return tree.states[value - tree.first] if isinstance(tree, Run) else tree


def mean_comparisons(steps: Sequence[Step]) -> float:
    """Return how many comparisons the tree of some steps makes, on average by weight."""
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
    # Of equals the fewest regular steps below, so that the code stays flat; what weighs nothing
    # goes with them, so that a float's sign is asked for before its size.
    return 1 + min(range(len(lower)), key=lambda k: (max(lower[k], total - lower[k]), lower[k], -k))
