"""Interfaces of descent engines: on tables alone, or on structure and tables together."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import isfinite
from typing import NamedTuple, Protocol

from bncc._types import AnyArray, FloatArray, IntArray
from bncc.errors import diverged
from bncc.structure.candidates import Candidates
from bncc.structure.graph import Structure
from bncc.train.checkpoint.snapshot import Resumable
from bncc.train.joint.candidate_layout import CandidateLayout, candidate_layout
from bncc.train.maximum_likelihood import LogTables


@dataclass(frozen=True, eq=False)
class Problem:
    """Training data and initial tables."""

    X: IntArray  # (n_samples, n_features) int: States
    y: IntArray  # (n_samples,) int: Class indices
    structure: Structure  # The graph; features without the class come last, and have no tables here
    n_states: Sequence[int]  # Cardinality of each feature
    start: LogTables  # Initial prior and tables, natural log-probabilities


class Passed(NamedTuple):
    """Loss and error of the samples in an epoch, each at the time of its step."""

    loss: float  # Mean loss
    error: float  # Error rate, with dropped features missing

    @property
    def words(self) -> str:
        """The same as text."""
        return f"loss {self.loss:.4f}, training error {100 * self.error:.1f} %"


def check_converging(passed: Passed, lr: float) -> None:
    """Stop with an error if tables are no longer finite."""
    if not isfinite(passed.loss):
        raise diverged(lr)


def checked_tables(tables: LogTables, lr: float) -> LogTables:
    """Return tables that are logarithms of at most 1; stop with an error if some are not."""
    if not all((table <= 0).all() for table in (tables[0], *tables[1])):
        raise diverged(lr)
    return tables


class Engine(Resumable, Protocol):
    """Tables in training. Engines are equal up to rounding of floats."""

    def epoch(self, order: IntArray, noise: AnyArray, lr: float) -> Passed:
        """
        Take one step of Adam for each batch.

        Shapes: `order` (n_samples,) int; `noise` (n_samples, n_features) uint8.
        """
        ...

    def see(self, X: IntArray) -> None:
        """Use other states of the same samples from now on."""
        ...

    def log_tables(self) -> LogTables:
        """Return prior and tables before quantization, natural log-probabilities <= 0."""
        ...


Learned = tuple[Structure, LogTables]


@dataclass(frozen=True, eq=False)
class StructureProblem:
    """Training data and candidate structures."""

    X: IntArray  # (n_samples, n_features) int: States
    y: IntArray  # (n_samples,) int: Class indices
    n_states: list[int]  # Cardinality of each feature
    n_classes: int  # C
    candidates: Candidates  # Candidate parents
    step: float  # Constant step of Adam for the distribution of structures, > 0
    # Penalty of an expected table entry, or bit, >= 0 (lambda_MS of S3 equation 17)
    size_weight: float = 0.0
    # Bits of a cost if tables are penalized by their bits; None penalizes entries
    priced_bits: int | None = None
    # Allowed bits of a table, ascending, each at most those of the format; empty if all tables have
    # these
    widths: tuple[int, ...] = ()
    is_ordered: tuple[bool, ...] = ()  # Features whose states have neighbors; empty for all
    # (n_samples,) float64 or None: Sample weights, of mean 1; None for equal weights
    weights: FloatArray | None = None

    @cached_property
    def layout(self) -> CandidateLayout:
        """Layout of the tables of all slots."""
        return candidate_layout(self.candidates, self.n_states, self.widths)


@dataclass(frozen=True, eq=False)
class Chance:
    """Random numbers of an epoch."""

    order: IntArray  # (n_samples,) int64: Shuffled order of the samples
    # (n_samples, n_features) uint8: In that order; a feature is dropped from a sample's sum if its
    # byte is below `Hyperparameters.dropped_below`
    noise: AnyArray
    # (n_batches, n_features, n_slots) float64: Gumbel noise that samples a structure for each
    # batch; slot 0 is "no parent"
    gumbel: FloatArray


class StructureEngine(Resumable, Protocol):
    """
    A distribution of structures and the tables of all candidates, in training.

    Engines are equal up to rounding of floats.
    """

    def epoch(self, chance: Chance, lr: float, tau: float, prices: FloatArray) -> Passed:
        """
        Take one step for each batch.

        Shapes: `prices` (n_features, n_slots) float.
        """
        ...

    def see(self, X: IntArray) -> None:
        """Use other states of the same samples from now on."""
        ...

    def costs(self) -> IntArray:
        """Return all quantized tables, in the largest of the widths: (n_rows, n_classes) int64."""
        ...

    def learned(self) -> Learned:
        """Return the most probable structure and its tables before quantization."""
        ...

    def widths(self) -> tuple[int, ...]:
        """Return the bits of the most probable slots, one per feature; none without widths."""
        ...
