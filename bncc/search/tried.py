"""What a search has tried."""

from dataclasses import dataclass

from bncc.search.budget import Price
from bncc.train.pipeline import TrainResult
from bncc.train.settings import TrainSettings

BINNED = ("quantile", "width")
"""Ways to discretize that are asked for a number of bins."""


@dataclass(frozen=True)
class Tried:
    """A classifier that fits.

    Parameters
    ----------
    settings : TrainSettings
        What trains it.
    errors : tuple of float
        By the folds that have judged it, 0 .. 1; networks and hopeless sums are judged by fewer.
    price : Price
        What it takes.
    result : TrainResult or None
        The classifier of all rows, where it has been trained.
    """

    settings: TrainSettings
    errors: tuple[float, ...]
    price: Price
    result: TrainResult | None = None

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
