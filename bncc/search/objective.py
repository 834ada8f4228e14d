"""Objectives of samplers as numbers; the best trial within a budget, and the Pareto front."""

from collections.abc import Callable, Sequence

from bncc.errors import OptionError
from bncc.resources import Budget
from bncc.search.trial_result import Point

OBJECTIVES = ("error", "flash", "ram", "instructions", "bits", "operations", "entries")
"""Names in ``--objective``; ``error`` is the one on validation rows."""
MEASURED = ("flash", "ram", "instructions")
"""Objectives that require a target."""
PENALTY = 1e9
"""Value of each objective if the model does not fit the target: worse than that of any that fits,
and finite, since the samplers compute with it."""


def default_objectives(targets: Sequence[str]) -> tuple[str, ...]:
    """Return the default objectives: error, and flash if it is measured."""
    return ("error", "flash") if targets else ("error", "bits")


def check_objectives(objectives: Sequence[str], targets: Sequence[str]) -> None:
    """Reject objectives that are not measured."""
    for name in objectives:
        if objectives.count(name) > 1:
            raise OptionError(f"--objective {name} is given twice; give it once")
        if name in MEASURED and not targets:
            raise OptionError(f"--objective {name} needs a target; add --target")


def values_of(point: Point, objectives: Sequence[str], targets: Sequence[str]) -> list[float]:
    """Return the objectives of a trial, which guide the sampler."""
    return [_value(point, name, targets) for name in objectives]


def _value(point: Point, name: str, targets: Sequence[str]) -> float:
    if name == "error":
        return point.validation.mean
    if name not in MEASURED:
        return float(getattr(point, name))
    found = point.footprint(targets[0])
    if found is None:
        return PENALTY
    return float(found.mean if name == "instructions" else getattr(found, name))


def best_within(points: Sequence[Point], budget: Budget) -> Point | None:
    """Return the best trial."""
    shares = [(p, share_of(p, budget)) for p in points if p.is_network]
    fitting = [p for p, share in shares if share is not None and share <= 1]
    return min(fitting, key=lambda p: (p.validation.mean, _size(p, budget), p.number), default=None)


def nearest(points: Sequence[Point], budget: Budget) -> Point | None:
    """Return the trial with the smallest utilization of a budget, None if none fits the target."""
    networks = [p for p in points if p.is_network]
    shares = [(share, p.number, p) for p in networks if (share := share_of(p, budget)) is not None]
    return min(shares, key=lambda entry: entry[:2], default=(0.0, 0, None))[2]


def share_of(point: Point, budget: Budget) -> float | None:
    """Return a trial's utilization of a budget, None if it does not fit the target."""
    if budget.target is None:
        return None if budget.is_bounded else 0.0
    found = point.footprint(budget.target)
    return None if found is None else budget.utilization(found.resources(budget.target))


def _size(point: Point, budget: Budget) -> int:
    found = None if budget.target is None else point.footprint(budget.target)
    return point.bits if found is None else found.flash


def undominated(costs: Sequence[tuple[float, ...]]) -> tuple[int, ...]:
    """Return the indices of the nondominated points, in the order of their costs."""
    kept: list[int] = []
    # A point that dominates another comes before it, and dropped points are dominated by one of
    # those kept. With two costs, only the last point kept needs to be checked.
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
    """Return the points with the smallest y for their x, the first on ties."""
    known = [(cost, y(point), point) for point in points if (cost := x(point)) is not None]
    known.sort(key=lambda entry: entry[2].number)
    pairs = [(cost, error) for cost, error, _ in known]
    first = {pair: k for k, pair in reversed([*enumerate(pairs)])}
    return tuple(known[k][2] for k in undominated(pairs) if first[pairs[k]] == k)
