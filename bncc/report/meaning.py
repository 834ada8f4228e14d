"""What a study means for whoever has so much memory: two sentences per budget."""

from collections.abc import Sequence
from dataclasses import dataclass

from bncc.report.words import interval, memory, pace, percent, points_between, settings
from bncc.search.trial_result import Point, Study

BUDGETS = tuple(256 * 2**k for k in range(11))
"""Bytes, where the user names none: 256 to 256 KB."""


@dataclass(frozen=True)
class Advice:
    """What to take within a budget."""

    budget: int  # Bytes
    # Of those that fit, the one that errs least on validation rows; None where none fits
    point: Point | None
    sentences: tuple[str, str]  # Two


def advise(study: Study, target: str | None, budgets: Sequence[int] = ()) -> tuple[Advice, ...]:
    """Choose a classifier for each budget of flash."""
    sized = _sized(study.points, target)
    if not sized:
        return ()
    found: list[Advice] = []
    for budget in sorted(set(budgets or BUDGETS)):
        advice = _within(budget, sized, target)
        same = advice.point is None or (found and found[-1].point is advice.point)
        if budgets or not same:
            found.append(advice)
    # A tiny or a huge study has no power of two in its range.
    return tuple(found) or (_within(min(size for size, _ in sized), sized, target),)


Sized = list[tuple[int, Point]]


def _sized(points: Sequence[Point], target: str | None) -> Sized:
    """Return the points with their bytes, the least error first, then the least bytes."""
    sized = []
    for point in points:
        if target is None:
            sized.append(((point.bits + 7) // 8, point))
        elif (cost := point.footprint(target)) is not None:
            sized.append((cost.flash, point))
    return sorted(sized, key=lambda entry: (entry[1].validation.mean, entry[0], entry[1].number))


def _within(budget: int, sized: Sized, target: str | None) -> Advice:
    where = f"flash on {target}" if target else "tables"
    size, point = _best(budget, sized)
    if point is None:
        size, least = min(sized, key=lambda entry: (entry[0], entry[1].number))
        return Advice(
            budget,
            None,
            (
                f"Nothing measured fits in {memory(budget)} of {where}.",
                f"The smallest is {settings(least)}: {size:,} bytes, and it errs on "
                f"{percent(least.validation.mean)} of validation rows.",
            ),
        )
    tested = "" if point.test is None else f" and {percent(point.test.mean)} of test rows"
    cost = point.footprint(target) if target else None
    time = f"{point.operations:,} additions a decision" if cost is None else pace(cost)
    first = (
        f"In {memory(budget)} of {where}, {settings(point)} errs on "
        f"{percent(point.validation.mean)} ({interval(point.validation)}) of validation rows"
        f"{tested}, and takes {size:,} bytes and {time}."
    )
    return Advice(budget, point, (first, _cheaper(budget, point, sized, target)))


def _best(most: float, sized: Sized) -> tuple[int, Point | None]:
    return next(((size, point) for size, point in sized if size <= most), (0, None))


def _cheaper(budget: int, point: Point, sized: Sized, target: str | None) -> str:
    """Say what half the budget would cost in accuracy."""
    what = "flash" if target else "memory"
    half, other = _best(budget / 2, sized)
    if other is None:
        return f"Nothing measured fits in half as much {what}."
    if other is point:
        return f"It fits in half as much {what}, too."
    told = f"{settings(other)} in {half:,} bytes"
    more = other.validation.mean - point.validation.mean
    if more < 0.00005:
        return f"Half as much {what} does as well: {told}."
    within = other.validation.mean <= point.validation.interval[1]
    doubt = ", within the interval" if within else ""
    points = points_between(point.validation.mean, other.validation.mean)
    return f"Half as much {what} costs {points} more{doubt}: {told}."
