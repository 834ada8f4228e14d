"""
Settings of boosted tables, with measured defaults.

Measured on validation rows, never on test rows: 20 % of the training rows of the papers' fold 1,
the same splits in all cells of a line, errors of integer models in percent. Range of the costs of a
row, 4 or 2 nats (``frac_bits = bits - 2`` or ``bits - 1``), three splits:

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

Refitting all tables for an epoch after each added one, compared with shrinking tables by a factor
of 0.5 or 0.3 (all of 16 rows, two splits):

=========  ===================  ===================  ===================
tables     letter               usps                 satimage
=========  ===================  ===================  ===================
5          27.40  27.38  29.67  14.17  14.61  16.08  15.10  16.02  15.73
10         15.78  17.20  17.62  8.21   7.53   8.65   13.93  13.16  13.11
15         11.54  12.31  12.76  6.47   6.57   6.61   12.91  13.01  11.89
20         10.18  10.46  10.51  5.76   5.11   5.11   12.23  11.70  11.80
30         8.94   8.15   8.25   5.52   3.44   4.05   12.96  11.41  11.60
=========  ===================  ===================  ===================

Dropout of tables, four splits, and three of the last two lines:

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

By the number of rows, one standard error is some 0.3 on letter and usps and 0.6 on satimage.
Results within it: 15 to 60 quantized epochs, 0 to 20 float ones, lr 0.015 to 0.06, batches of 64 to
256, and size_exponent 0 to 1. Results beyond it: letter with 60 tables has an error of 6.13 with
eta 0.3, 6.69 with 0.2 and 7.55 with 0.8; 6.23 with weight_decay 0.05 and 7.21 with 0.2; 6.13 with
all features for each table and 7.03 with a quarter.
"""

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from math import ceil, log2
from typing import Annotated, TypeVar, get_args

from bncc.errors import OptionError
from bncc.option_ranges import FRACTION, NOT_NEGATIVE, POSITIVE, SHARE, Range, between

FEW_TABLES = 10
"""Limit on tables for a refit after each added one; larger ensembles use shrinkage instead."""
MANY_TABLES, VERY_MANY_TABLES = 50, 100
SMALL_TABLE = 8
"""Limit on rows for the full penalty on a cut's gain by all the rows that it adds."""
MANY_FEATURES = 100
ENGINES = ("native", "numpy")
LEAVES = Range(lambda n: n == 0 or 2 <= n <= 1024, "choose 2 to 1024, or 0 for product tables")
FRONT_LEAVES = Range(lambda n: n == 0 or 2 <= n <= 256, "choose 2 to 256, or 0 for no front")
TREE_ETA, TREE_DROPOUT = 0.2, 0.2
TREE_WHOLE_BITS, MOST_FRAC_BITS = 2, 4
"""Bits before the binary point of a leaf's costs, and the most after it."""
TREE_REFIT: Mapping[str, float] = {
    "float_epochs": 5, "quantized_epochs": 15, "lr": 0.01, "weight_decay": 0.4,
}  # fmt: skip
"""
Defaults of the joint refit of branching tables, where they differ.

Mean validation errors of six sets and six splits in percent, as many trees as fit in 4 KB, 64 cuts
of high bytes (``python -m benchmarks.accuracy.branching --cuts 64 --set NAME=VALUE``):

====================================================  =====  =====  =====  =====
leaves                                                8      16     32     64
====================================================  =====  =====  =====  =====
eta 0.4, dropout 0.1, lr 0.03, weight_decay 0.05      8.13   8.10   8.31   8.75
the same, without epochs                              8.04   8.14   8.10   8.63
the same, corrective                                  8.35   8.42   8.58   8.81
eta 0.2, dropout 0.2, lr 0.03, weight_decay 0.05      7.96   7.91   8.15   8.67
eta 0.2, dropout 0.2, lr 0.01, weight_decay 0.4       7.81   7.86   8.04   8.53
the same, eta 0.15                                    7.87   7.86   8.14   8.75
the same, eta 0.1                                     8.08   7.99   8.24   8.68
the same, weight_decay 1                              7.85   7.85   8.05   8.48
the same, lr 0.005                                    7.78   7.87   8.03   8.43
the same, 10 and 30 epochs                            7.87   7.90   8.02   8.54
====================================================  =====  =====  =====  =====

At 1 KB eta 0.2 is as good as 0.3 and better than 0.1 (9.46, 9.49 and 9.76 on average), at 16 KB
all three are alike (7.70, 7.59, 7.65; three splits).
"""

Number = TypeVar("Number", int, float)


@dataclass(frozen=True, kw_only=True)
class Setting:
    """Properties of a setting besides its type and default."""

    name: str = ""  # Name of the field
    within: Range | None = None
    # key, option: Structure option and option of training that set it, if any; its name for users
    key: str | None = None
    option: str | None = None
    is_searched: bool = False  # True if a budget search tries several values

    @property
    def said(self) -> str:
        """Its name in messages."""
        return self.key or self.option or self.name


@dataclass(frozen=True)
class BoostSettings:
    """The options of boosted tables; None for a default that depends on the others."""

    # Limits on tables, rows of a table, and features of a table
    n_tables: Annotated[int, Setting(within=between(1, 4096), key="tables", is_searched=True)] = 60
    rows: Annotated[int, Setting(within=between(2, 4096), key="rows", is_searched=True)] = 16
    features: Annotated[int, Setting(within=between(1, 16), key="features", is_searched=True)] = 4
    # Limit on features that all tables read together, see `bncc.boosting.importance`; 0 for none
    n_inputs: Annotated[int, Setting(within=between(0, 65535), key="inputs")] = 0
    # Limits on leaves and depth of a branching table: 0 leaves for product tables, of which `rows`
    # and `features` are limits; depth 0 for a limit by leaves
    leaves: Annotated[int, Setting(within=LEAVES, key="leaves", is_searched=True)] = 0
    depth: Annotated[int, Setting(within=between(0, 64), key="depth")] = 0
    # Limit on leaves of a tree in front of the tables, see `bncc.boosting.front`; 0 for none
    front: Annotated[int, Setting(within=FRONT_LEAVES, key="front", is_searched=True)] = 0
    # Most decisions that its sure leaves may change, as a share of all; None for the default
    front_differing: Annotated[
        float | None, Setting(within=FRACTION, key="front-differing", is_searched=True)
    ] = None
    # Tables that decide where their margin is large, see `bncc.boosting.gate`; 0 for no gate
    gate: Annotated[int, Setting(within=between(0, 4095), key="gate", is_searched=True)] = 0
    # Most decisions that it may change, as a share of all; None for the default
    gate_differing: Annotated[
        float | None, Setting(within=FRACTION, key="gate-differing", is_searched=True)
    ] = None
    bits: Annotated[int, Setting(within=between(1, 8))] = 3  # Width of a cost in a table
    # A cost of 1 is ``2**-frac_bits`` nats
    frac_bits: Annotated[int | None, Setting(within=between(-8, 8))] = None
    # Shrinkage: factor of each table's best scores in boosting; unrelated to the option `eta`
    eta: Annotated[float | None, Setting(within=SHARE, key="rate")] = None
    # L2 regularization of a row's scores while tables are grown
    l2: Annotated[float, Setting(within=POSITIVE)] = 3.0
    # Exponent of the penalty on a cut's gain for added rows, see `growth.Bounds`
    size_exponent: Annotated[float | None, Setting(within=NOT_NEGATIVE)] = None
    # Fraction of the features that each table may read, sampled for each
    feature_share: Annotated[float | None, Setting(within=SHARE)] = None
    # True to refit all tables after each added one
    is_corrective: Annotated[bool | None, Setting()] = None
    # float_epochs and quantized_epochs: Epochs of the joint refit, before and after rounding begins
    float_epochs: Annotated[int, Setting(within=between(0, 10_000))] = 10
    quantized_epochs: Annotated[int, Setting(within=between(0, 10_000), option="epochs")] = 30
    # lr and last_lr: Adam step in the refit's first and last epoch, with a cosine schedule between
    lr: Annotated[float, Setting(within=POSITIVE, option="lr")] = 0.03
    last_lr: Annotated[float, Setting(within=POSITIVE)] = 0.0015
    # Probability that a table is dropped from a sample's sum in the refit
    dropout: Annotated[float | None, Setting(within=FRACTION, option="dropout")] = None
    # Fraction of the step by which a row shrinks in the refit whenever it is read
    weight_decay: Annotated[float, Setting(within=NOT_NEGATIVE, key="decay")] = 0.05
    # Samples per step
    batch_size: Annotated[int, Setting(within=between(1, 2**20), option="batch_size")] = 128
    has_prior: Annotated[bool, Setting()] = True  # True if classes have costs of their own
    # Limit on distinct rows of all tables together; 0 for none
    dictionary: Annotated[
        int, Setting(within=between(0, 65535), key="dictionary", is_searched=True)
    ] = 0
    # Random seed of features, sample order and dropout
    seed: Annotated[int, Setting(within=between(0, 2**63 - 1))] = 0
    # Engine; None for C on one core if it can be built
    engine: Annotated[str | None, Setting(option="engine")] = None

    def __post_init__(self) -> None:
        for each in SETTINGS.values():
            value = getattr(self, each.name)
            if each.within is not None and value is not None:
                each.within.check(each.said, value)
        if self.engine not in (None, *ENGINES):
            raise OptionError(f"unknown engine '{self.engine}'; choose {' or '.join(ENGINES)}")
        if self.front and self.is_single_tree:
            raise OptionError(
                f"structure option front={self.front} does not apply to a single tree, which is as "
                "fast; leave it out, or use more tables"
            )

        self._check_gate()

    def _check_gate(self) -> None:
        """Refuse a gate that nothing is behind, or that no kernel has."""
        if not self.gate:
            return
        given = f"structure option gate={self.gate}"
        if self.gate >= self.n_tables:
            raise OptionError(
                f"{given} leaves none of tables={self.n_tables} behind the gate; name fewer, such "
                "as a third of the tables"
            )
        if self.leaves:
            raise OptionError(
                f"{given} does not apply to the trees of leaves={self.leaves}; leave out one of "
                "the two"
            )
        if self.front:
            raise OptionError(
                f"{given} does not apply to tables behind front={self.front}; leave out one of the "
                "two"
            )

    @property
    def is_single_tree(self) -> bool:
        """True for one branching table: a classification tree, whose rows are class counts."""
        return self.leaves > 0 and self.n_tables == 1

    @property
    def most_depth(self) -> int:
        """The limit on the depth of a boosted branching table."""
        return self.depth or ceil(log2(self.leaves)) + 2


SETTINGS: Mapping[str, Setting] = {
    each.name: replace(get_args(each.type)[1], name=each.name) for each in fields(BoostSettings)
}
"""Properties of each setting, by name."""


@dataclass(frozen=True)
class Recipe:
    """The settings that depend on others, with a value for each; see `BoostSettings`."""

    frac_bits: int
    eta: float
    size_exponent: float
    feature_share: float
    is_corrective: bool
    dropout: float


def recipe_of(settings: BoostSettings, n_features: int, n_classes: int) -> Recipe:
    """Fill in the defaults that depend on sizes."""
    n_features = min(n_features, settings.n_inputs or n_features)
    if settings.leaves:
        return _recipe_of_trees(settings, n_features)
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


def _recipe_of_trees(settings: BoostSettings, n_features: int) -> Recipe:
    """Fill in the defaults for branching tables; the size exponent has no effect."""
    frac_bits = min(settings.bits - TREE_WHOLE_BITS, MOST_FRAC_BITS)
    return Recipe(
        frac_bits=_or(settings.frac_bits, frac_bits),
        eta=_or(settings.eta, TREE_ETA),
        size_exponent=_or(settings.size_exponent, 0.0),
        feature_share=_or(settings.feature_share, 0.5 if n_features > MANY_FEATURES else 1.0),
        is_corrective=bool(settings.is_corrective),
        dropout=_or(settings.dropout, TREE_DROPOUT),
    )


def _or(value: Number | None, default: Number) -> Number:
    return default if value is None else value


def _frac_bits(settings: BoostSettings) -> int:
    """Limit a row's costs to 4 nats, and to 2 if many tables share the work."""
    enough = MANY_TABLES if settings.bits == 2 else VERY_MANY_TABLES
    is_narrow = settings.n_tables >= enough and settings.bits > 1
    return settings.bits - (1 if is_narrow else 2)
