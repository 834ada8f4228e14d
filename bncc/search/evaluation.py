"""What a search has tried."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from bncc.resources import Resources
from bncc.train.settings import TrainSettings
from bncc.train.train_model import TrainResult

BINNED = ("quantile", "width")
"""Ways to discretize that are asked for a number of bins."""


@dataclass(frozen=True)
class Tried:
    """A classifier that fits."""

    settings: TrainSettings  # What trains it
    # By the folds that have judged it, 0 .. 1; networks and hopeless sums are judged by fewer.
    errors: tuple[float, ...]
    price: Resources  # What it takes
    result: TrainResult | None = None  # The classifier of all rows, where it has been trained
    # By the same folds, in the measure of the choice; empty where that is the error
    losses: tuple[float, ...] = ()

    @property
    def choice(self) -> tuple[float, ...]:
        """Measure of the choice, by fold."""
        return self.losses or self.errors

    @property
    def error(self) -> float:
        """Mean of the folds."""
        return sum(self.errors) / len(self.errors)

    @property
    def words(self) -> str:
        """What it is, for people."""
        options = self.settings.structure_options
        parts = [f"{key}={value}" for key, value in sorted(options.items())]
        named = {
            "epochs": self.settings.epochs,
            "lr": self.settings.lr,
            "dropout": self.settings.dropout,
        }
        parts += [f"{key}={value}" for key, value in named.items() if value is not None]
        if self.settings.discretize is not None:
            n_bins = f"={self.settings.n_bins}" if self.settings.discretize in BINNED else ""
            parts.append(f"{self.settings.discretize}{n_bins}")
        bits = f"{self.settings.total_bits} bits"
        return " ".join([self.settings.structure, *parts, bits])


def with_errors(result: TrainResult, errors: Sequence[float], choose_by: str) -> TrainResult:
    """Return a training whose record has the errors of a search's folds and what it chose by."""
    judged: dict[str, Any] = {
        "error_validation": sum(errors) / len(errors),
        "validation_folds": len(errors),
        "chosen_by": choose_by,
    }
    training = dict(result.model.training)
    if training.get("confusion_of") == "validation":
        # Its interval is that of one fold, around that fold's error.
        judged |= dict.fromkeys(training.keys() & {"error_interval", "interval_method"})
    model = replace(result.model, training={**training, **judged})
    return replace(result, model=model)
