"""Every option of training, its default, and which combinations make sense."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from math import isfinite

from bncc.errors import OptionError
from bncc.fixed_point import QFormat
from bncc.structure.candidate_sets import CANDIDATE_SETS
from bncc.structure.catalog import SUM, check_structure_options
from bncc.structure.options import alpha_of, price_of, widths_of
from bncc.train.sum_settings import boost_settings_of, n_bins_of

DISCRETIZERS = ("mdl", "quantile", "width", "median", "none")
COUNTED = ("ml", "bdeu")
"""Parameters read off counts, without torch."""
MARGIN = "margin"
"""Parameters of S1's maximum margin, which begin with counts."""
REFIT = (*COUNTED, MARGIN)
"""Parameters found in floats once the structure is there, and rounded at the end."""
DESCENDED = ("hybrid", "cross-entropy", "free")
"""Parameters found by gradient descent, in the bits that they are to have."""
PARAMETERS = (*DESCENDED, *REFIT)
ENGINES = ("native", "torch")
"""What computes the steps of gradient descent."""
CLASS_WEIGHTS = ("balanced",)

MIN_BITS, MAX_BITS = 1, 8
DEFAULT_BITS = 6
DEFAULT_SUM_BITS = 3
"""Of a boosted sum: ten costs fill a word."""
MAX_SEED = 2**63 - 1
DEVICE = re.compile(r"cpu|mps|cuda(:\d{1,3})?")
FLOAT_FORMAT = QFormat(8, 16)
"""What --float is frozen in: 24 bits, rounding below 2**-17 nats, so that all downstream of the
trainer still works on integers."""


@dataclass(frozen=True)
class TrainSettings:
    """The options of ``bncc train``; None stands for a default that depends on the others.

    Parameters
    ----------
    structure : str
        Name of a structure learner.
    structure_options : mapping of str to str
        Its options; ``alpha`` also serves ``parameters="bdeu"``.
    parameters : {"hybrid", "ml", "bdeu", "margin", "cross-entropy", "free"}
        How tables are found: S0's hybrid loss, counts with add-one smoothing, posterior means
        under a BDeu prior, S1's maximum margin, cross-entropy, or as tables that need not be
        probabilities, by cross-entropy and S0's margin. A structure that is learned together with
        the tables descends on the hybrid loss under ``ml``, ``bdeu`` and ``margin``; its tables
        are then found anew.
    discretize : str or None
        Discretization; None is ``mdl`` that leaves columns of states as they are.
    n_bins : int
        Bins of ``quantile`` and ``width``.
    bits, int_bits, frac_bits : int or None
        Width of a cost, 1 .. 8 (6; of a boosted sum 3), and the two sides of its binary point.
        With fewer than two of them given, the split is chosen on validation rows; a boosted sum
        has one by its width.
    float_ : bool
        Train without quantization and freeze in 24 bits.
    validation : float
        Fraction of the training rows held out to choose the split and to measure
        ``error_validation``; 0 holds none out.
    epochs, batch_size, lr, lambda_, gamma, eta, dropout, jitter, average, quantize_from : float
        Of gradient descent; None takes the measured defaults of `Hyperparameters`. With
        ``margin``, epochs is the most iterations, and lambda and eta are those of
        `MarginSettings`.
    seed : int
        Seed of the validation rows, of random structures, of shuffling and of dropout.
    device : str or None
        A torch device; None is ``cpu``.
    threads : int or None
        CPU threads of torch; None is 1, see `hyperparameters.THREADS`.
    engine : {"native", "torch"} or None
        What computes gradient descent: C on one core, or torch on any device; None takes C where
        the device is a CPU and a compiler is found.
    size_weight : float
        Price of an expected table entry, or with ``price=bits`` of a bit, in the loss of a
        structure that is learned together with the tables (lambda_MS of S3), >= 0.
    class_weight : {"balanced"} or None
        ``balanced`` lets the rows of each class count as much as those of any other.

    Raises
    ------
    OptionError
        If a value or a combination makes no sense.
    """

    structure: str = "chow-liu"
    structure_options: Mapping[str, str] = field(default_factory=dict)
    parameters: str = "hybrid"
    discretize: str | None = None
    n_bins: int = 8
    bits: int | None = None
    int_bits: int | None = None
    frac_bits: int | None = None
    float_: bool = False
    validation: float = 0.1
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
    seed: int = 0
    device: str | None = None
    threads: int | None = None
    engine: str | None = None
    size_weight: float = 0.0
    class_weight: str | None = None

    def __post_init__(self) -> None:
        _check_names(self)
        _check_size_weight(self)
        _check_engine(self)
        _check_numbers(self)
        _check_bits(self)
        _check_table_bits(self)
        _check_sum(self)

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


def option_name(name: str) -> str:
    """Return what the command line calls a setting."""
    return "--" + name.rstrip("_").replace("_", "-")


def _one_of(names: tuple[str, ...]) -> str:
    return f"{', '.join(names[:-1])} or {names[-1]}"


def _check_names(settings: TrainSettings) -> None:
    parameters = settings.parameters
    if parameters not in PARAMETERS:
        raise OptionError(f"unknown parameters '{parameters}'; choose {_one_of(PARAMETERS)}")
    if settings.discretize not in (None, *DISCRETIZERS):
        raise OptionError(
            f"unknown discretization '{settings.discretize}'; choose {_one_of(DISCRETIZERS)}"
        )
    if settings.class_weight not in (None, *CLASS_WEIGHTS):
        raise OptionError(
            f"unknown class weight '{settings.class_weight}'; choose balanced, or leave it out"
        )
    extra = ("alpha",) if parameters == "bdeu" else ()
    check_structure_options(settings.structure, settings.structure_options, extra)


def _check_size_weight(settings: TrainSettings) -> None:
    if settings.size_weight != 0 and not settings.is_joint:
        raise OptionError(
            "--size-weight needs a structure that is learned together with the tables; choose "
            f"--structure {_one_of(tuple(CANDIDATE_SETS))}, or leave it at 0"
        )


def _check_engine(settings: TrainSettings) -> None:
    if settings.engine not in (None, *ENGINES):
        raise OptionError(f"unknown engine '{settings.engine}'; choose {_one_of(ENGINES)}")
    if settings.engine == "native" and settings.device not in (None, "cpu"):
        raise OptionError(
            f"engine 'native' runs on a CPU; leave out --device {settings.device}, or choose "
            "--engine torch"
        )


def _check_numbers(settings: TrainSettings) -> None:
    at_least = {"epochs": 1, "batch_size": 1, "threads": 1, "n_bins": 2, "seed": 0}
    for name, least in at_least.items():
        value = getattr(settings, name)
        if value is not None and value < least:
            raise OptionError(f"{option_name(name)} is {value}; it must be at least {least}")
    if settings.seed > MAX_SEED:
        raise OptionError(f"--seed is {settings.seed}; it must be at most {MAX_SEED}")
    if not DEVICE.fullmatch(settings.device or "cpu"):
        raise OptionError(f"unknown device '{settings.device}'; choose cpu, cuda, cuda:1 or mps")
    for name in ("lr", "eta"):
        value = getattr(settings, name)
        if value is not None and not (isfinite(value) and value > 0):
            raise OptionError(f"{option_name(name)} is {value}; it must be a positive number")
    for name in ("lambda_", "gamma", "size_weight"):
        value = getattr(settings, name)
        if value is not None and not (isfinite(value) and value >= 0):
            raise OptionError(f"{option_name(name)} is {value}; it must be a number, 0 or more")
    for name in ("dropout", "jitter", "average", "quantize_from", "validation"):
        value = getattr(settings, name)
        if value is not None and not 0 <= value < 1:
            raise OptionError(
                f"{option_name(name)} is {value}; it must be a fraction from 0 to below 1"
            )


def _check_bits(settings: TrainSettings) -> None:
    given = [settings.bits, settings.int_bits, settings.frac_bits]
    if settings.float_ and any(value is not None for value in given):
        raise OptionError("--float trains without quantization; leave out the bits or --float")
    bits, int_bits, frac_bits = given
    if (
        int_bits is not None
        and frac_bits is not None
        and settings.total_bits != int_bits + frac_bits
    ):
        raise OptionError(
            f"--int-bits {int_bits} and --frac-bits {frac_bits} make {int_bits + frac_bits} "
            f"bits, not --bits {bits}; leave one of the three out"
        )
    if not MIN_BITS <= settings.total_bits <= MAX_BITS:
        raise OptionError(
            f"{settings.total_bits} bits per cost were asked for; choose {MIN_BITS} to {MAX_BITS}"
        )
    whole = int_bits if int_bits is not None else settings.total_bits - (frac_bits or 0)
    if not -16 <= whole <= 16:
        raise OptionError(f"{whole} integer bits were asked for; choose -16 to 16")


def _check_table_bits(settings: TrainSettings) -> None:
    """Refuse to count or bound the bits of tables that have none, or fewer."""
    options = settings.structure_options
    widths = widths_of(options)
    asked = [f"widths={options['widths']}"] if widths else []
    asked += ["price=bits"] if price_of(options) == "bits" else []
    for option in asked if settings.is_joint else []:
        if settings.float_:
            raise OptionError(f"structure option {option} asks for bits; leave it or --float out")
        if settings.is_refit:
            raise OptionError(
                f"structure option {option} needs tables that are trained in their bits; choose "
                f"--parameters {_one_of(DESCENDED)}, or leave it out"
            )
    if widths and widths[-1] > settings.total_bits:
        raise OptionError(
            f"structure option {asked[0]} has more than the {settings.total_bits} bits of a cost; "
            f"choose widths up to {settings.total_bits}, or --bits {widths[-1]}"
        )


def _check_sum(settings: TrainSettings) -> None:
    """Refuse what a boosted sum cannot be asked for."""
    if not settings.is_boosted:
        return
    if settings.float_:
        raise OptionError("--structure tables is always of integers; leave out --float")
    if settings.parameters != "hybrid":
        raise OptionError("--structure tables fits its tables itself; leave out --parameters")
    if settings.engine == "torch":
        raise OptionError("--structure tables does without torch; leave out --engine")
    boost_settings_of(settings)
    n_bins_of(settings)
