"""The model to take: of those that fit, the one that errs least on validation rows."""

from collections.abc import Sequence
from dataclasses import dataclass

from bncc.errors import TrialError
from bncc.model.card import model_facts
from bncc.model.model import Model
from bncc.sweep.point import Point
from bncc.sweep.trial import train_again
from bncc.sweep.workload import Workload


@dataclass(frozen=True)
class Budget:
    """What a model may cost on a machine.

    Parameters
    ----------
    target : str or None
        The machine; None without any.
    flash : int or None
        Bytes at most.
    instructions : int or None
        At most in the dearest decision that was measured; cycles on AVR.
    """

    target: str | None
    flash: int | None = None
    instructions: int | None = None

    @property
    def is_bounded(self) -> bool:
        """Whether there is a limit."""
        return self.flash is not None or self.instructions is not None

    def share(self, point: Point) -> float | None:
        """Return how much of the budget a model takes, 1 all of it; None where it does not fit."""
        found = None if self.target is None else point.footprint(self.target)
        if found is None:
            return None if self.target is not None or self.is_bounded else 0.0
        shares = [
            cost / limit if limit else float(cost > 0) * 2
            for cost, limit in ((found.flash, self.flash), (found.most, self.instructions))
            if limit is not None
        ]
        return max(shares, default=0.0)


def best_within(points: Sequence[Point], budget: Budget) -> Point | None:
    """Return the trial to take.

    Parameters
    ----------
    points : sequence of Point
        Finished trials; baselines, which are no models of bncc's, are passed over.
    budget : Budget
        What the model may cost.

    Returns
    -------
    Point or None
        Of those that fit, the one of least validation error; of equals the one of least flash, or
        of least bits where nothing is measured; of equals the first. None if none fits.
    """
    shares = [(p, budget.share(p)) for p in points if p.is_network]
    fitting = [p for p, share in shares if share is not None and share <= 1]
    return min(fitting, key=lambda p: (p.validation.mean, _size(p, budget), p.number), default=None)


def nearest(points: Sequence[Point], budget: Budget) -> Point | None:
    """Return the trial that takes the least share of a budget, None if none fits the machine."""
    networks = [p for p in points if p.is_network]
    shares = [(share, p.number, p) for p in networks if (share := budget.share(p)) is not None]
    return min(shares, key=lambda entry: entry[:2], default=(0.0, 0, None))[2]


def picked_model(work: Workload, point: Point) -> Model:
    """Train the model of a trial again.

    Parameters
    ----------
    work : Workload
        What the trials of the study share.
    point : Point
        The trial.

    Returns
    -------
    Model
        That of its first seed.

    Raises
    ------
    TrialError
        If its figures are not those of the study.
    """
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


def _size(point: Point, budget: Budget) -> int:
    found = None if budget.target is None else point.footprint(budget.target)
    return point.bits if found is None else found.flash
