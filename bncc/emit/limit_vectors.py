"""Readings at and beyond the limits of the checked entry point, and the answers Python gave."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from bncc._types import FloatArray, IntArray
from bncc.discretize.readings import missing_reading
from bncc.model.checked import Limits, beyond, predict_checked
from bncc.model.model import Model


@dataclass(frozen=True, eq=False)
class LimitVectors:
    """Readings of which each alone takes the place of the lowest that is decided on."""

    # (n_rows, n_features) float64: Lowest and highest readings within the limits, the next ones
    # below and above, missing ones, and where any feature is a float, NaN with a sign
    readings: FloatArray
    # (n_rows, n_features) int64: What `predict_checked` says when the first row has one reading of
    # another row instead
    answers: IntArray


def limit_vectors(model: Model, limits: Sequence[Limits]) -> LimitVectors:
    """Return readings that try every limit from both sides and each reading alone missing."""
    rows = []
    for feature, each in zip(model.features, limits, strict=True):
        marker = missing_reading(feature)
        signed = -np.nan if feature.kind == "float32" else marker
        rows.append([each.low, each.high, *beyond(feature, each), marker, signed])
    has_floats = any(feature.kind == "float32" for feature in model.features)
    R = np.array(rows, dtype=np.float64).T[: 6 if has_floats else 5]
    answers = []
    for row in R:
        tried = np.tile(R[0], (model.n_features, 1))
        np.fill_diagonal(tried, row)
        answers.append(predict_checked(model, limits, tried))
    return LimitVectors(R, np.array(answers))
