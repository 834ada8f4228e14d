"""Choice of a rule for unknown readings: ranges of training rows, and a limit on held-out rows."""

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from math import ceil

import numpy as np

from bncc._types import FloatArray, IntArray
from bncc.data.dataset import Dataset
from bncc.discretize.feature import Feature, states_of
from bncc.discretize.readings import is_missing_reading, raw_of_table
from bncc.errors import DataError, OptionError
from bncc.model import reference
from bncc.model.model import Model
from bncc.model.unknown import MAX_NOVELTY, UNKNOWN, Range, Unknown, UnknownEffect, effect_of
from bncc.train.range_budget import rated_inputs
from bncc.train.repeats import HeldOut, with_effects
from bncc.train.train_model import TrainResult

QUANTILES = (0.01, 0.99)
"""Ends of the range of a class, as fractions of its readings."""
_LARGEST_FLOAT = float(np.finfo(np.float32).max)


def check_false_alarms(rate: float | None, n_rows: int | None = None) -> None:
    """Refuse a rate of false alarms that is none, or one that so few rows cannot show."""
    if rate is None:
        return
    if not 0 < rate < 1:
        raise OptionError(f"the rate of false alarms is {rate:g}; use a fraction such as 0.05")
    if n_rows is not None and _rank(n_rows, rate) > n_rows:
        share = Fraction(str(float(rate)))
        raise DataError(
            f"{n_rows} rows cannot show a rate of {100 * rate:g} % false alarms; use "
            f"{ceil((1 - share) / share)} rows, or a larger rate for --unknown"
        )


def _rank(n: int, rate: float) -> int:
    """Return the rank of the limit among `n` novelties, exactly for a decimal fraction."""
    return ceil((n + 1) * (1 - Fraction(str(float(rate)))))


def conformal_limit(novelties: IntArray, rate: float) -> int:
    """
    Return the least limit that another row exceeds with at most some probability.

    It is the split-conformal quantile, which holds for rows that are exchangeable with these.

    Shapes: `novelties` (n,) int64.
    """
    check_false_alarms(rate, len(novelties))
    return int(np.sort(novelties)[_rank(len(novelties), rate) - 1])


def with_unknown(
    result: TrainResult, held: HeldOut, rate: float, *, test: Dataset | None = None
) -> TrainResult:
    """
    Return a training whose model has a rule for unknown readings, with its false alarms.

    Parameters
    ----------
    result : TrainResult
        A training on all rows.
    held : HeldOut
        Scores of these rows by trainings without them.
    rate : float
        Rate of false alarms.
    test : Dataset or None
        Test rows.
    """
    model, dataset = result.model, held.dataset
    n_classes = model.n_classes
    rated = rated_inputs(model)
    R = raw_of_table(model.features, dataset.table)
    margins = held.margins_in(model.q_format.frac_bits)
    most = MAX_NOVELTY // max(1, len(rated))
    weight = min(max(1, round(float(margins.mean()))), most)
    novelties = np.zeros(len(R), dtype=np.int64)
    for fold in range(held.n_folds):
        rows, rest = (np.flatnonzero(part) for part in (held.folds == fold, held.folds != fold))
        ranges = ranges_of(model.inputs, rated, R[rest], dataset.y[rest], n_classes)
        of_fold = R[rows], held.decisions[rows], margins[rows]
        novelties[rows] = Unknown(ranges, weight, 0).novelty(model.features, *of_fold)
    limit = int(np.clip(conformal_limit(novelties, rate), -MAX_NOVELTY, MAX_NOVELTY))
    unknown = Unknown(ranges_of(model.inputs, rated, R, dataset.y, n_classes), weight, limit)
    model = replace(model, unknown=unknown)
    effects = {
        "held_out": effect_of(novelties <= limit, dataset.y, dataset.split.groups),
        "test": None if test is None else effect_on(model, test),
    }
    return replace(result, model=with_effects(model, UNKNOWN, effects))


def effect_on(model: Model, dataset: Dataset) -> UnknownEffect | None:
    """Return how many rows a model takes for unknown readings; None without a rule."""
    if model.unknown is None:
        return None
    scores = reference.scores(model, states_of(model.features, dataset.table))
    known = model.unknown.knows(model.features, dataset.table, scores)
    return effect_of(known, dataset.with_classes(model.classes).y, dataset.split.groups)


def ranges_of(
    inputs: tuple[Feature, ...],
    rated: list[Feature],
    R: FloatArray,
    y: IntArray,
    n_classes: int,
) -> Mapping[str, tuple[Range | None, ...]]:
    """
    Return the range of some inputs in each class.

    Shapes: `R` (n, n_inputs) float64, raw readings; `y` (n,) int.
    """
    columns = {feature.name: R[:, k] for k, feature in enumerate(inputs)}
    return {
        feature.name: tuple(
            _range(feature, columns[feature.name][y == c]) for c in range(n_classes)
        )
        for feature in rated
    }


def _range(feature: Feature, values: FloatArray) -> Range | None:
    """Return two quantiles of the readings (n,) of a class, values of the C type."""
    seen = values[~is_missing_reading(feature, values)]
    if not len(seen):
        return None
    ends = np.quantile(seen, QUANTILES, method="inverted_cdf")
    if feature.kind != "float32":
        return int(ends[0]), int(ends[1])
    # No infinities, and no -0.0
    low, high = (float(end) + 0.0 for end in np.clip(ends, -_LARGEST_FLOAT, _LARGEST_FLOAT))
    return low, high
