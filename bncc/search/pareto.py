"""The Pareto front: points that no other one betters in both of two figures."""

from collections.abc import Callable, Sequence

from bncc.search.trial_result import Point


def front(
    points: Sequence[Point],
    x: Callable[[Point], float | None],
    y: Callable[[Point], float],
) -> tuple[Point, ...]:
    """Return the points of least y for their x."""
    known = [
        (cost, y(point), point.number, point) for point in points if (cost := x(point)) is not None
    ]
    found: list[Point] = []
    least = float("inf")
    for _, error, _, point in sorted(known, key=lambda entry: entry[:3]):
        if error < least:
            least = error
            found.append(point)
    return tuple(found)
