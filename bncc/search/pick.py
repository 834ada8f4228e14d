"""The model to take: of those that fit, the one that errs least on validation rows."""

from collections.abc import Sequence

from bncc.errors import TrialError
from bncc.model.card import model_facts
from bncc.model.model import Model
from bncc.resources import Budget
from bncc.search.trial import train_again
from bncc.search.trial_result import Point
from bncc.search.workload import Workload


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


def picked_model(work: Workload, point: Point) -> Model:
    """Train the model of a trial again."""
    model = train_again(work, point.params)
    facts = model_facts(model)
    error = facts["error_validation"]
    if (error, facts["table_entries"]) != (point.validation.errors[0], point.entries):
        raise TrialError(
            f"trial {point.number} trained again errs in {100 * error:.2f} % of validation rows, "
            f"not in {100 * point.validation.errors[0]:.2f} %; libraries or machine have changed, "
            "begin another --study"
        )
    return model


def share_of(point: Point, budget: Budget) -> float | None:
    """Return which part of a budget a trial takes, None where it does not fit the machine."""
    if budget.target is None:
        return None if budget.is_bounded else 0.0
    found = point.footprint(budget.target)
    return None if found is None else budget.utilization(found.resources(budget.target))


def _size(point: Point, budget: Budget) -> int:
    found = None if budget.target is None else point.footprint(budget.target)
    return point.bits if found is None else found.flash
