"""What computes the descent on structure and tables, seen from its loop."""

from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

from bncc._types import AnyArray, FloatArray, IntArray
from bncc.structure.candidates import Candidates
from bncc.structure.graph import Structure
from bncc.train.checkpoint.snapshot import Resumable
from bncc.train.gradient.engine import Passed
from bncc.train.joint.candidate_layout import CandidateLayout, candidate_layout
from bncc.train.maximum_likelihood import LogTables

Learned = tuple[Structure, LogTables]


@dataclass(frozen=True, eq=False)
class StructureProblem:
    """What is learned from, and what may be chosen."""

    X: IntArray  # (n_samples, n_features) int: States
    y: IntArray  # (n_samples,) int: Class indices
    n_states: list[int]  # Cardinality of each feature
    n_classes: int  # C
    candidates: Candidates  # The parents to choose from
    step: float  # Constant step of Adam for the distribution of structures, > 0
    # Price of an expected table entry, or bit, >= 0 (lambda_MS of S3 equation 17)
    size_weight: float = 0.0
    # Bits of a cost where tables are priced by the bits that they take; None prices entries
    priced_bits: int | None = None
    # Bits that a table may have, ascending, each at most those of the format; none where all tables
    # have these
    widths: tuple[int, ...] = ()
    is_ordered: tuple[bool, ...] = ()  # Features whose states have neighbours; empty for all
    # (n_samples,) float64 or None: How much each sample counts, of mean 1; None where all count
    # alike
    weights: FloatArray | None = None

    @cached_property
    def layout(self) -> CandidateLayout:
        """Where the tables of all slots lie."""
        return candidate_layout(self.candidates, self.n_states, self.widths)


@dataclass(frozen=True, eq=False)
class Chance:
    """All that is random in an epoch."""

    order: IntArray  # (n_samples,) int64: The samples in the order in which they are taken
    # (n_samples, n_features) uint8: In that order; a feature is left out of a sample's sum where it
    # is below `Hyperparameters.dropped_below`
    noise: AnyArray
    # (n_batches, n_features, n_slots) float64: What draws a structure for each batch; slot 0 is "no
    # parent"
    gumbel: FloatArray


class StructureEngine(Resumable, Protocol):
    """
    A distribution of structures and the tables of all candidates, in training.

    Both kinds do the same, but for rounding of floats.
    """

    def epoch(self, chance: Chance, lr: float, tau: float, prices: FloatArray) -> Passed:
        """
        Take one step for each batch.

        Shapes: `prices` (n_features, n_slots) float.
        """
        ...

    def see(self, X: IntArray) -> None:
        """Learn from other states of the same samples from now on."""
        ...

    def costs(self) -> IntArray:
        """Return all quantized tables, in the widest of the widths: (n_rows, n_classes) int64."""
        ...

    def learned(self) -> Learned:
        """Return the most probable structure and its tables before quantization."""
        ...

    def widths(self) -> tuple[int, ...]:
        """Return the bits of the most probable slots, one per feature; none without widths."""
        ...
