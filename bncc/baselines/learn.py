"""From a data set to a rival and its errors, on the same rows as ``bncc train``."""

from dataclasses import dataclass

import numpy as np

from bncc.baselines.families import family_of
from bncc.baselines.rival import Options, Rival, Rows
from bncc.data.dataset import Dataset, check_trainable
from bncc.discretize.feature import Feature, states_of
from bncc.discretize.fit import fit_features
from bncc.errors import DataError

MOST_STATES = 256
"""Of a feature: a rival's inputs are bytes."""


@dataclass(frozen=True)
class RivalSettings:
    """What a rival is and how it learns."""

    family: str  # A key of `bncc.baselines.families.FAMILIES`
    options: Options  # Of the family
    # How readings become states, which all rivals learn from, as Bayesian networks do; None for
    # ``mdl``, and for states as they are
    discretize: str | None = None
    n_bins: int = 8  # As in ``bncc train``
    validation: float = 0.1  # Share of the rows that are held out
    seed: int = 0  # Of the split and of the training


@dataclass(frozen=True, eq=False)
class Learned:
    """A rival with its errors."""

    rival: Rival  # Learned from all rows
    features: tuple[Feature, ...]  # How readings become its inputs
    error_validation: float  # Of the same settings on rows held out of a first training
    error_test: float | None  # On test rows, where there are any
    n_validation: int  # n_validation and n_test: Rows that were judged
    n_test: int


def learn_rival(
    dataset: Dataset, settings: RivalSettings, *, test: Dataset | None = None
) -> Learned:
    """Train a rival twice: without the rows held out, then on all."""
    check_trainable(dataset)
    family = family_of(settings.family)
    options = family.options(settings.options)
    rest, held = dataset.split.holdout(dataset.y, settings.validation, settings.seed)
    if len(held) == 0:
        raise DataError("too few rows to hold any out; add rows of each class")

    def learned(part: Dataset) -> tuple[Rival, tuple[Feature, ...]]:
        features = fit_features(
            part.table, part.y, settings.discretize or "mdl", n_bins=settings.n_bins,
            rebin_states=settings.discretize is not None,
        )  # fmt: skip
        rows = _rows(part, features)
        return family.learn(rows, options, settings.seed), features

    judge = dataset.take(held)
    first, first_features = learned(dataset.take(rest))
    rival, features = learned(dataset)
    return Learned(
        rival,
        features,
        _error(first, first_features, judge),
        None if test is None else _error(rival, features, test.with_classes(dataset.classes)),
        len(held),
        0 if test is None else test.n_rows,
    )


def _rows(part: Dataset, features: tuple[Feature, ...]) -> Rows:
    n_states = tuple(feature.n_states for feature in features)
    if max(n_states) > MOST_STATES:
        raise DataError(
            f"a column has {max(n_states)} states, and a baseline's inputs are bytes; leave it out "
            "with --drop"
        )
    X = np.asarray(states_of(features, part.table), dtype=np.int64)
    return Rows(X, np.asarray(part.y, dtype=np.int64), n_states, len(part.classes))


def _error(rival: Rival, features: tuple[Feature, ...], part: Dataset) -> float:
    X = np.asarray(states_of(features, part.table), dtype=np.int64)
    return float((rival.decide(X) != part.y).mean())
