"""All tables of a sum in training at once: Adam on the cross-entropy, at last of rounded costs."""

from dataclasses import dataclass
from typing import Protocol

from bncc._types import AnyArray, FloatArray, IntArray
from bncc.boosting.sums import Scores, Unit


@dataclass(frozen=True, eq=False)
class SumProblem:
    """Samples and the rows that they read."""

    # (n_samples, n_tables) uint32: Among the rows of all tables, or among codewords that these
    # share
    rows: IntArray
    y: IntArray  # (n_samples,) int: Classes
    weights: FloatArray  # (n_samples,) float64: Of mean 1


@dataclass(frozen=True)
class Pace:
    """What steers a descent on a sum, but for the length of its steps."""

    batch_size: int  # Samples of a step
    dropout: float  # Probability that a table is left out of a sample's sum
    weight_decay: float  # Part of lr by which a row shrinks in each step that reads it
    has_prior: bool  # Whether the prior is trained too

    @property
    def dropped_below(self) -> int:
        """Of 256 values of a byte of noise, those by which a table is left out."""
        return round(256 * self.dropout)


class SumEngine(Protocol):
    """
    A sum of tables in training.

    A step moves only the rows that its batch has read; the moments of Adam of all others wait.
    """

    def epoch(self, order: IntArray, noise: AnyArray, lr: float) -> float:
        """
        Take one step of Adam for each batch.

        Shapes: `order` (n,) int; `noise` (n, n_tables) uint8.
        """

    def quantize(self, unit: Unit) -> None:
        """Add up rounded costs from now on; gradients pass straight through the rounding."""

    def scores(self) -> Scores:
        """Return the scores before rounding."""
