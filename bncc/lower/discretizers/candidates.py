"""
How a raw reading finds its state: the ways there are, and what each costs.

Every way gives every reading the state of its rule, so that the choice is one of cost alone:

linear
    Thresholds ascend: the first that is not below the reading ends those that are.
binary
    All thresholds before `low` lie below the reading and none from `high` on does; every round
    keeps that and brings them nearer, and where they meet is the state.
tree
    Each comparison splits the rule's steps in two, see `bncc.lower.discretizers.trees.tree_of`.
bytes
    Between the first and the last threshold lie at most 255 integers, each with an entry of its
    own; readings outside have been compared with both.
nibbles
    As bytes, where no state between those thresholds exceeds 15.
guided
    The upper bits of a reading choose an entry that is added to it. The sum's highest byte is the
    state: the lower bits carry into it where the reading exceeds the one threshold among them.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from bncc._types import FloatArray
from bncc.discretize.feature import Feature
from bncc.lower.discretizers.prefix_lut import guides_of
from bncc.lower.discretizers.rates import Rates, Search
from bncc.lower.discretizers.steps import steps_of
from bncc.lower.discretizers.trees import (
    Branch,
    Run,
    Tree,
    mean_comparisons,
    nodes,
    table_of,
    tree_of,
)

Method = Literal["linear", "binary", "tree", "bytes", "nibbles", "guided"]

MAX_TREE = 256
"""Steps of the largest tree: beyond, nobody reads it, and compilers take their time."""


@dataclass(frozen=True)
class Discretizer:
    """One way for one feature."""

    method: Method  # How the step is found
    instructions: float  # Estimated, on average over the states
    flash: float  # Estimated bytes of code and constants, without what features share
    tree: Tree | None = None  # What finds it; None for searches in arrays


def ways(
    feature: Feature,
    search: Search | None,
    rates: Rates,
    frequencies: FloatArray | None = None,
) -> tuple[Discretizer, ...]:
    """
    Return the ways that a feature's states can be found in a line of their own.

    Shapes: `frequencies` (n_states,) float64 or None.
    """
    own = own_ways(feature, rates, frequencies)
    return (*((called(feature, search, rates),) if search else ()), *own)


def called(feature: Feature, search: Search, rates: Rates) -> Discretizer:
    """Return the way that searches in an array."""
    n, bits = len(feature.thresholds), bits_of(feature)
    work, size = rates.called(search, n, bits)
    return Discretizer(search, work, size + n * bits // 8)


def own_ways(
    feature: Feature, rates: Rates, frequencies: FloatArray | None = None
) -> Iterator[Discretizer]:
    """Yield the ways that share nothing with other features."""
    steps, bits = steps_of(feature, frequencies), bits_of(feature)
    if len(steps) <= MAX_TREE:
        bounds = [step.last for step in steps[:-1]]
        mean = mean_comparisons(steps)
        yield Discretizer("tree", *rates.compared(mean, bounds, bits), tree_of(steps))
    table = None if feature.kind == "float32" else table_of(steps)
    if table:
        bounds = [node.bound.last for node in nodes(table) if isinstance(node, Branch)]
        (states,) = (node.states for node in nodes(table) if isinstance(node, Run))
        yield Discretizer("bytes", *rates.looked_up(len(states), bounds, bits), table)
        if max(states) < 16:
            pairs = (len(states) + 1) // 2
            cost = rates.looked_up(pairs, bounds, bits, is_nibbles=True)
            yield Discretizer("nibbles", *cost, table)
    for guide, use in guides_of(steps, feature.kind):
        yield Discretizer("guided", *rates.guided(guide, use, bits), guide)


def bits_of(feature: Feature) -> int:
    """Return the bits of a feature's thresholds."""
    return 16 if feature.kind == "int16" else 32
