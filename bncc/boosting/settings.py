"""
What steers the learning of a sum of tables, and the defaults that were measured.

On validation rows, never on test rows: 20 % of the training rows of the papers' fold 1, the same
splits in all cells of a line, errors of integer models in percent. How far the costs of a row may
reach, 4 or 2 nats (``frac_bits = bits - 2`` or ``bits - 1``), three splits:

===============================  ============  ============  ============
tables, rows                     2 bits        3 bits        4 bits
===============================  ============  ============  ============
letter 8, 16                     23.14  28.67  18.62  23.44  17.42  22.24
usps 10, 32                      8.79   10.40  7.74   8.81   7.36   8.65
satimage 20, 16                  11.97  11.84  11.59  12.01  11.72  11.78
letter 60, 16                    7.30   6.92   6.23   6.35   5.77   6.08
usps 60, 8                       4.11   3.93   3.91   3.66   3.79   3.68
satimage 100, 16                 10.81  11.39  10.58  10.55  10.32  10.58
letter 130, 16                   5.70   5.02   5.36   4.80   5.05   4.67
usps 130, 8                      2.97   2.75   2.50   2.50   2.38   2.38
===============================  ============  ============  ============

All tables refitted for an epoch after each one that is added, against tables that are shrunk to a
share of 0.5 or of 0.3 (all of 16 rows, two splits):

=========  ===================  ===================  ===================
tables     letter               usps                 satimage
=========  ===================  ===================  ===================
5          27.40  27.38  29.67  14.17  14.61  16.08  15.10  16.02  15.73
10         15.78  17.20  17.62  8.21   7.53   8.65   13.93  13.16  13.11
15         11.54  12.31  12.76  6.47   6.57   6.61   12.91  13.01  11.89
20         10.18  10.46  10.51  5.76   5.11   5.11   12.23  11.70  11.80
30         8.94   8.15   8.25   5.52   3.44   4.05   12.96  11.41  11.60
=========  ===================  ===================  ===================

Tables left out by chance, four splits, and three of the last two lines:

====================  =====  =====  =====  =====  =====
tables, all of 16     0      0.05   0.1    0.2    0.3
====================  =====  =====  =====  =====  =====
letter 8              18.27  18.31  18.62  19.32  20.00
letter 25             9.11   8.79   9.04   9.33   9.40
usps 4                16.62  16.83  17.08  17.47  17.52
usps 15               7.12   6.79   6.44   6.10   5.94
satimage 15           13.20  11.82  12.06  12.31  12.67
letter 60             6.58          6.23   6.25   6.15
letter 130                          4.80   4.76   4.82
====================  =====  =====  =====  =====  =====

By the number of rows, one standard error is some 0.3 on letter and usps and 0.6 on satimage. Within
it lie 15 to 60 quantized epochs, 0 to 20 float ones, lr 0.015 to 0.06, batches of 64 to 256, and
size_exponent 0 to 1. Beyond it: letter with 60 tables errs 6.13 with eta 0.3, 6.69 with 0.2 and
7.55 with 0.8; 6.23 with weight_decay 0.05 and 7.21 with 0.2; 6.13 with all features for each table
and 7.03 with a quarter.
"""

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
ENGINES = ("native", "numpy")
MAX_TABLES, MAX_ROWS, MAX_FEATURES, MAX_BITS = 4096, 4096, 16, 8
MAX_EPOCHS, MAX_BATCH, MAX_DICTIONARY, MAX_SEED = 10_000, 2**20, 65535, 2**63 - 1

Number = TypeVar("Number", int, float)

_SAID = {
    "n_tables": "tables",
    "eta": "rate",
    "weight_decay": "decay",
    "quantized_epochs": "epochs",
}
"""What options of training call settings; `eta` is another thing there."""


@dataclass(frozen=True)
class BoostSettings:
    """The options of a sum of tables; None stands for a default that depends on the others."""

    n_tables: int = 60  # Most tables, 1 .. 4096.
    rows: int = 16  # Most rows of a table, 2 .. 4096.
    features: int = 4  # Most features of a table, 1 .. 16.
    bits: int = 3  # Width of a cost in a table, 1 .. 8.
    frac_bits: int | None = None  # A cost of 1 is ``2**-frac_bits`` nats, -8 .. 8.
    eta: float | None = None  # Share of each table's best scores that boosting adds, 0 < eta <= 1
    l2: float = 3.0  # Weight of the squares of a row's scores while tables are grown, > 0
    # How much a cut's gain counts for less where it adds more rows, see `growth.Bounds`
    size_exponent: float | None = None
    # Share of the features that each table may read, drawn anew for each, 0 < share <= 1
    feature_share: float | None = None
    # Whether all tables are refitted after each one that is added
    is_corrective: bool | None = None
    # float_epochs and quantized_epochs: Of the joint refit, before and after rounding begins
    float_epochs: int = 10
    quantized_epochs: int = 30
    # lr and last_lr: Step of Adam in the refit's first and last epoch; a cosine leads from one to
    # the other
    lr: float = 0.03
    last_lr: float = 0.0015
    # Probability that a table is left out of a sample's sum in the refit
    dropout: float | None = None
    # Part of the step by which a row shrinks in the refit whenever it is read
    weight_decay: float = 0.05
    batch_size: int = 128  # Samples of a step
    has_prior: bool = True  # Whether classes have costs of their own
    dictionary: int = 0  # Most different rows of all tables together; 0 does not bound them
    seed: int = 0  # Of the features drawn, of the order of samples, and of dropout
    engine: str | None = None  # What computes; None for C on one core where it can be built

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
    """Fill in the defaults that depend on sizes."""
    few = settings.n_tables <= FEW_TABLES
    is_corrective = few if settings.is_corrective is None else settings.is_corrective
    return Recipe(
        frac_bits=_or(settings.frac_bits, _frac_bits(settings)),
        eta=_or(settings.eta, 0.5 if settings.n_tables < MANY_TABLES else 0.3),
        size_exponent=_or(settings.size_exponent, 1.0 if settings.rows <= SMALL_TABLE else 0.5),
        feature_share=_or(settings.feature_share, 0.5 if n_features > MANY_FEATURES else 1.0),
        is_corrective=is_corrective,
        dropout=_or(settings.dropout, min(0.2, settings.n_tables / (10 * n_classes))),
    )


def _or(value: Number | None, default: Number) -> Number:
    return default if value is None else value


def _frac_bits(settings: BoostSettings) -> int:
    """Let a row's costs reach up to 4 nats, and up to 2 where many tables share the work."""
    enough = MANY_TABLES if settings.bits == 2 else VERY_MANY_TABLES
    is_narrow = settings.n_tables >= enough and settings.bits > 1
    return settings.bits - (1 if is_narrow else 2)


def _said(name: str) -> str:
    return _SAID.get(name, name)


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
            raise OptionError(f"{_said(name)} is {value}; choose {least} to {most}")


def _check_fractions(settings: BoostSettings) -> None:
    for name in ("eta", "feature_share"):
        value = getattr(settings, name)
        if value is not None and not 0 < value <= 1:
            raise OptionError(f"{_said(name)} is {value}; choose a number above 0, up to 1")
    for name in ("l2", "lr", "last_lr"):
        value = getattr(settings, name)
        if not (isfinite(value) and value > 0):
            raise OptionError(f"{_said(name)} is {value}; it must be a positive number")
    for name in ("size_exponent", "weight_decay"):
        value = getattr(settings, name)
        if value is not None and not (isfinite(value) and value >= 0):
            raise OptionError(f"{_said(name)} is {value}; it must be a number, 0 or more")
    if settings.dropout is not None and not 0 <= settings.dropout < 1:
        raise OptionError(f"dropout is {settings.dropout}; it must be a fraction from 0 to below 1")
