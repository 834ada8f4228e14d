"""When to widen lanes: the flushes that keep every lane of every partial sum below its capacity.

Proof, by induction over the steps: `bound` holds, for every level and class, an upper bound of
that level's lane for every input. A row adds at most its table's largest cost of the class, a flush
adds one level's bound to the next and clears it; a step is taken only if no bound then exceeds its
lane. No lane can exceed the largest cost of its class over all inputs either, for partial sums of
costs >= 0 are at most the whole, so the smaller of the two bounds counts.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from bncc._types import IntArray
from bncc.compiler.kernels.lane_layout import Level


@dataclass(frozen=True)
class Step:
    """One step of the sum.

    Parameters
    ----------
    kind : {"row", "flush"}
        Add a table's row to the lowest level, or a level's sums to the level above.
    number : int
        The table, or the level that is flushed.
    is_first : bool
        Whether it sets its sums instead of adding to them.
    """

    kind: str
    number: int
    is_first: bool


@dataclass(frozen=True)
class Schedule:
    """Levels and steps of a sum in lanes.

    Parameters
    ----------
    levels : tuple of Level
        The lowest first; the last holds the result.
    steps : tuple of Step
        In order; every table's row once.
    """

    levels: tuple[Level, ...]
    steps: tuple[Step, ...]


def schedule(
    lowest: Level, largest: Sequence[IntArray], prior: IntArray, high: IntArray
) -> Schedule | None:
    """Return the schedule with the fewest levels that is proved safe.

    Parameters
    ----------
    lowest : Level
        The level of the rows.
    largest : sequence of (n_classes,) int64
        Each table's largest cost of each class.
    prior : (n_classes,) int64
        What the uppermost level starts from.
    high : (n_classes,) int64
        Largest cost of each class over all inputs, the prior included.

    Returns
    -------
    Schedule or None
        None where a row, or the result, fits no lane however it is widened.
    """
    levels = [lowest]
    while True:
        limits = [(1 << level.capacity(len(prior))) - 1 for level in levels]
        if any((most > limits[0]).any() for most in largest):
            return None
        if (high <= limits[-1]).all() and (steps := _steps(largest, limits, prior, high)):
            return Schedule(tuple(levels), steps)
        if all(len(word.classes) == 1 for word in levels[-1].words):
            return None
        levels.append(levels[-1].split())


def _steps(
    largest: Sequence[IntArray], limits: Sequence[IntArray], prior: IntArray, high: IntArray
) -> tuple[Step, ...]:
    """Return the steps for given levels, as few flushes as adding greedily needs; () if none."""
    top = len(limits) - 1
    bounds = [np.zeros_like(prior) for _ in limits]
    bounds[top] = prior
    is_empty = [True] * len(limits)
    steps: list[Step] = []

    def flush(level: int) -> bool:
        """Add a level to the one above, which is flushed first where it has no room."""
        above = level + 1
        if not _fits(bounds[above] + bounds[level], limits[above], high) and (
            above == top or not flush(above)
        ):
            return False
        steps.append(Step("flush", level, is_empty[above]))
        bounds[above] = bounds[above] + bounds[level]
        bounds[level] = np.zeros_like(prior)
        is_empty[above], is_empty[level] = False, True
        return _fits(bounds[above], limits[above], high)

    for t, most in enumerate(largest):
        if not _fits(bounds[0] + most, limits[0], high) and (top == 0 or not flush(0)):
            return ()
        steps.append(Step("row", t, is_empty[0]))
        bounds[0] = bounds[0] + most
        is_empty[0] = False
    for level in range(top):
        if not flush(level):
            return ()
    return tuple(steps)


def _fits(bound: IntArray, limit: IntArray, high: IntArray) -> bool:
    return bool((np.minimum(bound, high) <= limit).all())
