"""Which of several measured cells are on a Pareto front."""

from collections.abc import Sequence


def front(points: Sequence[tuple[float, ...]]) -> tuple[bool, ...]:
    """Return which points no other one dominates."""
    return tuple(not any(_dominates(other, point) for other in points) for point in points)


def _dominates(other: tuple[float, ...], point: tuple[float, ...]) -> bool:
    return other != point and all(a <= b for a, b in zip(other, point, strict=True))
