"""What steers the learning of a sum of tables."""

from dataclasses import dataclass
from math import isfinite
from typing import TypeVar

from bncc.errors import OptionError

FEW_TABLES = 10
"""Up to here tables are refitted after each one that is added; above, they are shrunk instead."""
MANY_TABLES, VERY_MANY_TABLES = 50, 100
SMALL_TABLE = 8
"""Rows up to which a cut's gain is held against all the rows that it adds."""
MANY_FEATURES = 100
MANY_CLASSES = 20
ENGINES = ("native", "numpy")
MAX_TABLES, MAX_ROWS, MAX_FEATURES, MAX_BITS = 4096, 4096, 16, 8
MAX_EPOCHS, MAX_BATCH, MAX_DICTIONARY, MAX_SEED = 10_000, 2**20, 65535, 2**63 - 1

Number = TypeVar("Number", int, float)


@dataclass(frozen=True)
class BoostSettings:
    """The options of a sum of tables; None stands for a default that depends on the others.

    Parameters
    ----------
    n_tables : int
        Most tables, 1 .. 4096.
    rows : int
        Most rows of a table, 2 .. 4096.
    features : int
        Most features of a table, 1 .. 16.
    bits : int
        Width of a cost in a table, 1 .. 8.
    frac_bits : int or None
        A cost of 1 is ``2**-frac_bits`` nats, -8 .. 8.
    eta : float or None
        Share of each table's best scores that boosting adds, 0 < eta <= 1.
    l2 : float
        Weight of the squares of a row's scores while tables are grown, > 0.
    size_exponent : float or None
        How much a cut's gain counts for less where it adds more rows, see `growth.Bounds`.
    feature_share : float or None
        Share of the features that each table may read, drawn anew for each, 0 < share <= 1.
    is_corrective : bool or None
        Whether all tables are refitted after each one that is added.
    float_epochs, quantized_epochs : int
        Of the joint refit, before and after rounding begins.
    lr, last_lr : float
        Step of Adam in the refit's first and last epoch; a cosine leads from one to the other.
    dropout : float or None
        Probability that a table is left out of a sample's sum in the refit.
    weight_decay : float
        Part of the step by which a row shrinks in the refit whenever it is read.
    batch_size : int
        Samples of a step.
    has_prior : bool
        Whether classes have costs of their own.
    dictionary : int
        Most different rows of all tables together; 0 does not bound them.
    seed : int
        Of the features drawn, of the order of samples, and of dropout.
    engine : {"native", "numpy"} or None
        What computes; None for C on one core where it can be built.

    Raises
    ------
    OptionError
        If a value is out of its range.
    """

    n_tables: int = 60
    rows: int = 16
    features: int = 4
    bits: int = 3
    frac_bits: int | None = None
    eta: float | None = None
    l2: float = 3.0
    size_exponent: float | None = None
    feature_share: float | None = None
    is_corrective: bool | None = None
    float_epochs: int = 10
    quantized_epochs: int = 30
    lr: float = 0.03
    last_lr: float = 0.0015
    dropout: float | None = None
    weight_decay: float = 0.05
    batch_size: int = 128
    has_prior: bool = True
    dictionary: int = 0
    seed: int = 0
    engine: str | None = None

    def __post_init__(self) -> None:
        _check(self)


@dataclass(frozen=True)
class Recipe:
    """The settings that depend on others, each with a value; see `BoostSettings`."""

    frac_bits: int
    eta: float
    size_exponent: float
    feature_share: float
    is_corrective: bool
    dropout: float


def recipe_of(settings: BoostSettings, n_features: int, n_classes: int) -> Recipe:
    """Fill in the defaults that depend on sizes.

    Parameters
    ----------
    settings : BoostSettings
        The options.
    n_features, n_classes : int
        Of the data.

    Returns
    -------
    Recipe
        Every value set.
    """
    few = settings.n_tables <= FEW_TABLES
    is_corrective = few if settings.is_corrective is None else settings.is_corrective
    return Recipe(
        frac_bits=_or(settings.frac_bits, _frac_bits(settings)),
        eta=_or(settings.eta, 0.5 if settings.n_tables < MANY_TABLES else 0.3),
        size_exponent=_or(settings.size_exponent, 1.0 if settings.rows <= SMALL_TABLE else 0.5),
        feature_share=_or(settings.feature_share, 0.5 if n_features > MANY_FEATURES else 1.0),
        is_corrective=is_corrective,
        dropout=_or(settings.dropout, 0.1 if n_classes > MANY_CLASSES else 0.2),
    )


def _or(value: Number | None, default: Number) -> Number:
    return default if value is None else value


def _frac_bits(settings: BoostSettings) -> int:
    """Let a row's costs reach up to 4 nats, and up to 2 where many tables share the work."""
    enough = MANY_TABLES if settings.bits == 2 else VERY_MANY_TABLES
    is_narrow = settings.n_tables >= enough and settings.bits > 1
    return settings.bits - (1 if is_narrow else 2)


def _check(settings: BoostSettings) -> None:
    _check_whole(settings)
    _check_fractions(settings)
    if settings.engine not in (None, *ENGINES):
        raise OptionError(f"unknown engine '{settings.engine}'; choose {' or '.join(ENGINES)}")


def _check_whole(settings: BoostSettings) -> None:
    bounds = {
        "n_tables": (1, MAX_TABLES),
        "rows": (2, MAX_ROWS),
        "features": (1, MAX_FEATURES),
        "bits": (1, MAX_BITS),
        "frac_bits": (-8, 8),
        "float_epochs": (0, MAX_EPOCHS),
        "quantized_epochs": (0, MAX_EPOCHS),
        "batch_size": (1, MAX_BATCH),
        "dictionary": (0, MAX_DICTIONARY),
        "seed": (0, MAX_SEED),
    }
    for name, (least, most) in bounds.items():
        value = getattr(settings, name)
        if value is not None and not least <= value <= most:
            raise OptionError(f"{name} is {value}; choose {least} to {most}")


def _check_fractions(settings: BoostSettings) -> None:
    for name in ("eta", "feature_share"):
        value = getattr(settings, name)
        if value is not None and not 0 < value <= 1:
            raise OptionError(f"{name} is {value}; choose a number above 0, up to 1")
    for name in ("l2", "lr", "last_lr"):
        value = getattr(settings, name)
        if not (isfinite(value) and value > 0):
            raise OptionError(f"{name} is {value}; it must be a positive number")
    for name in ("size_exponent", "weight_decay"):
        value = getattr(settings, name)
        if value is not None and not (isfinite(value) and value >= 0):
            raise OptionError(f"{name} is {value}; it must be a number, 0 or more")
    if settings.dropout is not None and not 0 <= settings.dropout < 1:
        raise OptionError(f"dropout is {settings.dropout}; it must be a fraction from 0 to below 1")
