"""
When to widen lanes: the flushes that keep every lane of every partial sum below its capacity.

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
from bncc.lower.kernels.lanes.lane_layout import Level


@dataclass(frozen=True)
class Step:
    """One step of the sum."""

    # Add a table's row to the lowest level or, where a word is one lane, a higher one; or add a
    # level's sums to the level above
    kind: str
    number: int  # The table, or the level that is flushed
    level: int  # The level whose sums it adds to
    is_first: bool  # Whether it sets its sums instead of adding to them


@dataclass(frozen=True)
class Schedule:
    """Levels and steps of a sum in lanes."""

    levels: tuple[Level, ...]  # The lowest first; the last holds the result
    steps: tuple[Step, ...]  # In order; every table's row once
    # By word of the last level: whether its sum can reach the sign bit of a signed number
    is_biased: tuple[bool, ...]

    @property
    def used(self) -> tuple[int, ...]:
        """The levels that anything is added to, the lowest first."""
        return tuple(sorted({step.level for step in self.steps}))


def schedule(
    lowest: Level, largest: Sequence[IntArray], prior: IntArray, high: IntArray
) -> Schedule | None:
    """
    Return the schedule with the fewest levels that is proved safe.

    Shapes: `prior` (n_classes,) int64; `high` (n_classes,) int64.
    """
    levels = [lowest]
    if (np.max(largest, axis=0) > _limit(lowest, len(prior), is_top=False)).any():
        return None
    while True:
        *below, top = levels
        limits = [_limit(level, len(prior), is_top=False) for level in below]
        limits.append(_limit(top, len(prior), is_top=True))
        if (high <= limits[-1]).all():
            steps = _steps(largest, limits, prior, high)
            if all(len(word.classes) == 1 for word in lowest.words):
                steps = _without_detours(steps)
            return Schedule(tuple(levels), steps, _biased(top, high))
        wider = top.widened()
        if wider is None:
            return None
        levels.append(wider)


def _limit(level: Level, n_classes: int, *, is_top: bool) -> IntArray:
    """Return the largest cost that each class's lane holds."""
    return (1 << level.capacity(n_classes, is_top=is_top)) - 1


def _biased(top: Level, high: IntArray) -> tuple[bool, ...]:
    last = [(word.classes[-1], (len(word.classes) - 1) * top.lane_bits) for word in top.words]
    sign = 1 << (top.word_bits - 1)
    return tuple(top.is_signed and int(high[c]) << shift >= sign for c, shift in last)


def _steps(
    largest: Sequence[IntArray], limits: Sequence[IntArray], prior: IntArray, high: IntArray
) -> tuple[Step, ...]:
    """
    Return the steps for given levels, as few flushes as adding greedily needs.

    There always are some: the last level holds every sum, a level that has been cleared any row or
    any sum of the level below, whose lanes are no wider.
    """
    top = len(limits) - 1
    bounds = [np.zeros_like(prior) for _ in limits]
    bounds[top] = prior
    is_empty = [True] * len(limits)
    steps: list[Step] = []

    def has_room(level: int, more: IntArray) -> bool:
        return bool((np.minimum(bounds[level] + more, high) <= limits[level]).all())

    def add(kind: str, number: int, level: int, more: IntArray) -> None:
        assert has_room(level, more)
        steps.append(Step(kind, number, level, is_empty[level]))
        bounds[level] = bounds[level] + more
        is_empty[level] = False

    def flush(level: int) -> None:
        """Add a level to the one above, which is flushed first where it has no room."""
        if not has_room(level + 1, bounds[level]):
            flush(level + 1)
        add("flush", level, level + 1, bounds[level])
        bounds[level] = np.zeros_like(prior)
        is_empty[level] = True

    for t, most in enumerate(largest):
        if not has_room(0, most):
            flush(0)
        add("row", t, 0, most)
    for level in range(top):
        flush(level)
    return tuple(steps)


def _without_detours(steps: tuple[Step, ...]) -> tuple[Step, ...]:
    """Add a row that is flushed at once to the level above, for that is the same sum."""
    found: list[Step] = []
    for step in steps:
        if found and _is_detour(found[-1], step):
            found[-1] = Step("row", found[-1].number, step.level, step.is_first)
        else:
            found.append(step)
    return tuple(found)


def _is_detour(step: Step, behind: Step) -> bool:
    """Return whether a row is alone in the sums that the step behind flushes."""
    is_alone = step.kind == "row" and step.is_first
    return is_alone and behind.kind == "flush" and behind.number == step.level
