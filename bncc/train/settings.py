"""Every option of training, its default, and what follows from them."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from bncc.fixed_point import QFormat
from bncc.structure.candidates import CANDIDATE_SETS
from bncc.structure.catalog import SUM
from bncc.structure.options import alpha_of
from bncc.train.settings_values import (
    COUNTED,
    DEFAULT_BITS,
    DEFAULT_SUM_BITS,
    REFIT,
    check_settings,
)

FLOAT_FORMAT = QFormat(8, 16)
"""What --float is frozen in: 24 bits, rounding below 2**-17 nats, so that all downstream of the
trainer still works on integers."""


@dataclass(frozen=True)
class TrainSettings:
    """The options of ``bncc train``; None stands for a default that depends on the others."""

    structure: str = "chow-liu"  # Name of a structure learner
    # Its options; ``alpha`` also serves ``parameters="bdeu"``
    structure_options: Mapping[str, str] = field(default_factory=dict)
    # How tables are found: S0's hybrid loss, counts with add-one smoothing, posterior means under a
    # BDeu prior, S1's maximum margin, cross-entropy, or as tables that need not be probabilities,
    # by cross-entropy and S0's margin. A structure that is learned together with the tables
    # descends on the hybrid loss under ``ml``, ``bdeu`` and ``margin``; its tables are then found
    # anew.
    parameters: str = "hybrid"
    # Discretization; None is ``mdl`` that leaves columns of states as they are
    discretize: str | None = None
    n_bins: int = 8  # Bins of ``quantile`` and ``width``
    # bits, int_bits, frac_bits: Width of a cost, 1 .. 8 (6; of a boosted sum 3), and the two sides
    # of its binary point. With fewer than two of them given, the split is chosen on validation
    # rows; a boosted sum has one by its width.
    bits: int | None = None
    int_bits: int | None = None
    frac_bits: int | None = None
    float_: bool = False  # Train without quantization and freeze in 24 bits
    # Fraction of the training rows held out to choose the split and to measure
    # ``error_validation``; 0 holds none out
    validation: float = 0.1
    # epochs, batch_size, lr, lambda_, gamma, eta, dropout, jitter, average, quantize_from: Of
    # gradient descent; None takes the measured defaults of `Hyperparameters`. With ``margin``,
    # epochs is the most iterations, and lambda and eta are those of `MarginSettings`.
    epochs: int | None = None
    batch_size: int | None = None
    lr: float | None = None
    lambda_: float | None = None
    gamma: float | None = None
    eta: float | None = None
    dropout: float | None = None
    jitter: float | None = None
    average: float | None = None
    quantize_from: float | None = None
    seed: int = 0  # Seed of the validation rows, of random structures, of shuffling and of dropout
    device: str | None = None  # A torch device; None is ``cpu``
    threads: int | None = None  # CPU threads of torch; None is 1, see `hyperparameters.THREADS`
    # What computes gradient descent: C on one core, or torch on any device; None takes C where the
    # device is a CPU and a compiler is found
    engine: str | None = None
    # Price of an expected table entry, or with ``price=bits`` of a bit, in the loss of a structure
    # that is learned together with the tables (lambda_MS of S3), >= 0
    size_weight: float = 0.0
    # ``balanced`` lets the rows of each class count as much as those of any other
    class_weight: str | None = None

    def __post_init__(self) -> None:
        check_settings(self)

    @property
    def is_counted(self) -> bool:
        """Whether tables come from counts."""
        return self.parameters in COUNTED

    @property
    def is_refit(self) -> bool:
        """Whether tables are found once the structure is there, and rounded at the end."""
        return self.parameters in REFIT

    @property
    def is_joint(self) -> bool:
        """Whether the structure is learned together with tables."""
        return self.structure in CANDIDATE_SETS

    @property
    def is_boosted(self) -> bool:
        """Whether the tables are those of a boosted sum, and no network's."""
        return self.structure == SUM

    @property
    def descends(self) -> bool:
        """Whether there is gradient descent on the tables of a network."""
        return not self.is_boosted and (self.is_joint or not self.is_refit)

    @property
    def loss(self) -> str:
        """What gradient descent descends on, if there is any."""
        return "hybrid" if self.is_refit else self.parameters

    @property
    def alpha(self) -> float:
        """Equivalent sample size of BDeu, from the structure options."""
        return alpha_of(self.structure_options)

    @property
    def total_bits(self) -> int:
        """B, the width of a cost."""
        if self.bits is not None:
            return self.bits
        if self.int_bits is not None and self.frac_bits is not None:
            return self.int_bits + self.frac_bits
        return DEFAULT_SUM_BITS if self.is_boosted else DEFAULT_BITS
