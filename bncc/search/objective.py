"""What samplers are to make small, as numbers; the best within a budget, and the Pareto front."""

from collections.abc import Callable, Sequence

from bncc.errors import OptionError
from bncc.resources import Budget
from bncc.search.trial_result import Point

OBJECTIVES = ("error", "flash", "ram", "instructions", "bits", "operations", "entries")
"""Names behind ``--objective``; ``error`` is the one on validation rows."""
MEASURED = ("flash", "ram", "instructions")
"""Those that need a machine."""
PENALTY = 1e9
"""For each that cannot be measured, because the model does not fit the machine: worse than any that
does, and finite, since the samplers compute with it."""


def default_objectives(targets: Sequence[str]) -> tuple[str, ...]:
    """Return what is made small unless the user says so: error, and flash where it is measured."""
    return ("error", "flash") if targets else ("error", "bits")


def check_objectives(objectives: Sequence[str], targets: Sequence[str]) -> None:
    """Refuse what is not measured."""
    for name in objectives:
        if objectives.count(name) > 1:
            raise OptionError(f"--objective {name} is given twice; give it once")
        if name in MEASURED and not targets:
            raise OptionError(f"--objective {name} needs a machine; name one with --target")


def values_of(point: Point, objectives: Sequence[str], targets: Sequence[str]) -> list[float]:
    """Return the figures of a trial by which a sampler draws the next ones."""
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
    """Return the trial to take."""
    shares = [(p, share_of(p, budget)) for p in points if p.is_network]
    fitting = [p for p, share in shares if share is not None and share <= 1]
    return min(fitting, key=lambda p: (p.validation.mean, _size(p, budget), p.number), default=None)


def nearest(points: Sequence[Point], budget: Budget) -> Point | None:
    """Return the trial that takes the least share of a budget, None if none fits the machine."""
    networks = [p for p in points if p.is_network]
    shares = [(share, p.number, p) for p in networks if (share := share_of(p, budget)) is not None]
    return min(shares, key=lambda entry: entry[:2], default=(0.0, 0, None))[2]


def share_of(point: Point, budget: Budget) -> float | None:
    """Return which part of a budget a trial takes, None where it does not fit the machine."""
    if budget.target is None:
        return None if budget.is_bounded else 0.0
    found = point.footprint(budget.target)
    return None if found is None else budget.utilization(found.resources(budget.target))


def _size(point: Point, budget: Budget) -> int:
    found = None if budget.target is None else point.footprint(budget.target)
    return point.bits if found is None else found.flash


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
