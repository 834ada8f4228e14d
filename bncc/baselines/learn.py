"""Training of baselines on the rows of ``bncc train``, with their errors and footprints."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from bncc._types import IntArray
from bncc.baselines import aode, networks, sklearn_models
from bncc.baselines.baseline import Baseline, Options, Rows
from bncc.data.dataset import Dataset, check_trainable
from bncc.device.cross import Toolchain
from bncc.device.meter import CycleCost, Inputs, Meter
from bncc.device.sources import sources
from bncc.discretize.feature import Feature, states_of
from bncc.discretize.fit import fit_features
from bncc.errors import DataError, OptionError
from bncc.progress import Progress, nth_part, silence

Learner = Callable[[Rows, Options, int], Baseline]
ToldLearner = Callable[[Rows, Options, int, Progress], Baseline]


@dataclass(frozen=True)
class Family:
    """A kind of baseline."""

    # From rows, options and a seed to a baseline; with a progress callback if it has epochs
    learn: Learner | ToldLearner
    defaults: Options  # All options with their default values
    budgets: tuple[str, ...] = ()  # Mutually exclusive options, the default one in `defaults`
    has_epochs: bool = False

    def learned(self, rows: Rows, options: Options, seed: int, tell: Progress) -> Baseline:
        """Learn a baseline with complete options."""
        learn: Any = self.learn
        found: Baseline = learn(rows, options, seed, *((tell,) if self.has_epochs else ()))
        return found

    def options(self, given: Options) -> Options:
        """Complete options."""
        known = {**self.defaults, **dict.fromkeys(self.budgets, 0)}
        unknown = sorted(given.keys() - known.keys())
        if unknown:
            raise OptionError(f"unknown option '{unknown[0]}'; choose from {', '.join(known)}")
        is_sized = any(name in given for name in self.budgets)
        kept = {k: v for k, v in self.defaults.items() if not (is_sized and k in self.budgets)}
        return {**kept, **given}


_NETWORK: Options = {
    "layers": 3, "bits": 4, "activation": "relu", "norm": True, "memory": 4.0,
    "lr": 0.003, "epochs": 100, "batch-size": 100,
}  # fmt: skip
_BUDGETS = ("memory", "operations")

FAMILIES: Mapping[str, Family] = {
    "tree": Family(sklearn_models.tree, {"leaves": 64, "by": "emlearn"}),
    "forest": Family(sklearn_models.forest, {"trees": 10, "leaves": 64, "by": "emlearn"}),
    "boosting": Family(sklearn_models.boosting, {"rounds": 20, "leaves": 8, "rate": 0.3}),
    "linear": Family(sklearn_models.linear, {"C": 1.0}),
    "svm": Family(sklearn_models.svm, {"C": 10.0, "gamma": 1.0}),
    "gaussian-nb": Family(sklearn_models.gaussian, {"smoothing": 1e-3}),
    "categorical-nb": Family(sklearn_models.categorical, {"alpha": 1.0}),
    "aode": Family(aode.aode, {"weight": 1.0, "least": 1}),
    "dnn": Family(networks.dense, {**_NETWORK, "one-hot": False}, _BUDGETS, True),
    "cnn": Family(networks.convolutional, {**_NETWORK, "layers": 1}, _BUDGETS, True),
}
"""All families, in display order."""


def family_of(name: str) -> Family:
    """Return a family by its name."""
    if name not in FAMILIES:
        raise OptionError(f"unknown baseline '{name}'; choose from {', '.join(FAMILIES)}")
    return FAMILIES[name]


MOST_STATES = 256
"""Maximum number of states of a feature: a baseline's inputs are bytes."""


@dataclass(frozen=True)
class BaselineSettings:
    """Family, options and data settings of a baseline."""

    family: str  # A key of `bncc.baselines.learn.FAMILIES`
    options: Options  # Options of the family
    # Discretization of readings into the states that all baselines learn from, as Bayesian networks
    # do; None for ``mdl``, and for states as they are
    discretize: str | None = None
    n_bins: int = 8  # As in ``bncc train``
    validation: float = 0.1  # Fraction of validation rows
    seed: int = 0  # Random seed of the split and of the training


@dataclass(frozen=True, eq=False)
class Learned:
    """A baseline with its errors."""

    baseline: Baseline  # Learned from all rows
    features: tuple[Feature, ...]  # Mapping from readings to its inputs
    error_validation: float  # Error of a first training with the same settings, on validation rows
    error_test: float | None  # On test rows, if there are any
    n_validation: int  # n_validation and n_test: Numbers of evaluated rows
    n_test: int


def learn_baseline(
    dataset: Dataset,
    settings: BaselineSettings,
    *,
    test: Dataset | None = None,
    tell: Progress = silence,
) -> Learned:
    """Train a baseline twice: without the validation rows, then on all rows."""
    check_trainable(dataset)
    family = family_of(settings.family)
    options = family.options(settings.options)
    rest, held = dataset.split.holdout(dataset.y, settings.validation, settings.seed)
    if len(held) == 0:
        raise DataError("too few rows for a validation set; add rows of each class")

    def learned(part: Dataset, k: int) -> tuple[Baseline, tuple[Feature, ...]]:
        features = fit_features(
            part.table, part.y, settings.discretize or "mdl", n_bins=settings.n_bins,
            rebin_states=settings.discretize is not None,
        )  # fmt: skip
        rows = _rows(part, features)
        what = "without validation rows," if k == 0 else "on all rows,"
        return family.learned(rows, options, settings.seed, nth_part(tell, k, 2, what)), features

    judge = dataset.take(held)
    first, first_features = learned(dataset.take(rest), 0)
    tell(0.5, "on all rows")
    baseline, features = learned(dataset, 1)
    tell(1.0, "trained")
    return Learned(
        baseline,
        features,
        _error(first, first_features, judge),
        None if test is None else _error(baseline, features, test.with_classes(dataset.classes)),
        len(held),
        0 if test is None else test.n_rows,
    )


def _rows(part: Dataset, features: tuple[Feature, ...]) -> Rows:
    n_states = tuple(feature.n_states for feature in features)
    if max(n_states) > MOST_STATES:
        raise DataError(
            f"a column has {max(n_states)} states, more than a baseline's byte inputs hold; drop "
            "it with --drop"
        )
    X = np.asarray(states_of(features, part.table), dtype=np.int64)
    return Rows(X, np.asarray(part.y, dtype=np.int64), n_states, len(part.classes))


def _error(baseline: Baseline, features: tuple[Feature, ...], part: Dataset) -> float:
    X = np.asarray(states_of(features, part.table), dtype=np.int64)
    return float((baseline.decide(X) != part.y).mean())


LEVEL = "-Os"
"""Compiler options for flash, as in PEERS and by users of these generators."""
SPEED_LEVEL = "-O2"
"""Compiler options for instructions."""


@dataclass(frozen=True)
class Shape:
    """Description of a baseline for measurements."""

    features: tuple[Feature, ...]  # Its inputs
    n_classes: int  # Number of classes

    @property
    def n_states(self) -> tuple[int, ...]:
        """Cardinality of each feature."""
        return tuple(feature.n_states for feature in self.features)

    @property
    def n_features(self) -> int:
        """Number of features."""
        return len(self.features)


@dataclass(frozen=True)
class BaselineCost:
    """Measurements of one baseline on one target."""

    # flash and ram: Bytes of the classifier with all library routines that it links, at -Os
    flash: int
    ram: int
    stack: int  # Bytes of the deepest stack, at -O2
    mean: float  # Instructions or cycles per decision, at -O2
    most: int  # Largest number of instructions or cycles
    differing: int  # Measured inputs whose decision on the target differs from Python's
    cycles: CycleCost | None = None  # Cycles besides instructions, if they are counted and known


def measure_baseline(
    learned: Learned, n_classes: int, bench: Toolchain, X: IntArray
) -> BaselineCost:
    """
    Build the C of a baseline for a target and run it there.

    Shapes: `X` (n, n_features) int.
    """
    code = learned.baseline.code
    assert code is not None
    shape = Shape(learned.features, n_classes)
    with Meter(sources(shape, code.files), bench, LEVEL, is_foreign=True) as meter:
        footprint = meter.footprint(("predict",))
    with Meter(sources(shape, code.files), bench, SPEED_LEVEL, is_foreign=True) as meter:
        cost = meter.costs(Inputs(X))["predict"]
    differing = int((np.asarray(cost.classes) != learned.baseline.decide(X)).sum())
    return BaselineCost(
        footprint.flash, footprint.ram, cost.stack, cost.mean, cost.max, differing, cost.cycles
    )
