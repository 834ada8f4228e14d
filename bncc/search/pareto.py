"""The Pareto front: points that no other one betters in all of their costs."""

from collections.abc import Callable, Sequence

from bncc.search.trial_result import Point


def undominated(costs: Sequence[tuple[float, ...]]) -> tuple[int, ...]:
    """Return the numbers of the points that no other one dominates, in the order of their costs."""
    kept: list[int] = []
    # Whatever dominates a point comes before it, and what is dropped is dominated by one of those
    # kept. Of two costs the last one kept is the only one that can.
    for k in sorted(range(len(costs)), key=costs.__getitem__):
        if not any(_dominates(costs[other], costs[k]) for other in reversed(kept)):
            kept.append(k)
    return tuple(kept)


def _dominates(other: tuple[float, ...], point: tuple[float, ...]) -> bool:
    return other != point and all(a <= b for a, b in zip(other, point, strict=True))


def front(
    points: Sequence[Point],
    x: Callable[[Point], float | None],
    y: Callable[[Point], float],
) -> tuple[Point, ...]:
    """Return the points of least y for their x, the first of equals."""
    known = [(cost, y(point), point) for point in points if (cost := x(point)) is not None]
    known.sort(key=lambda entry: entry[2].number)
    pairs = [(cost, error) for cost, error, _ in known]
    first = {pair: k for k, pair in reversed([*enumerate(pairs)])}
    return tuple(known[k][2] for k in undominated(pairs) if first[pairs[k]] == k)
