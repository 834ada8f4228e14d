"""Test vectors that travel with the emitted C: inputs and the answers that Python gave."""

from dataclasses import dataclass

import numpy as np

from bncc._types import FloatArray, IntArray
from bncc.data.dataset import Table
from bncc.discretize.feature import Feature, states_of
from bncc.discretize.readings import (
    missing_reading,
    probe_values,
    raw_dtypes,
    raw_of_table,
    state_dtype,
    states_of_raw,
)
from bncc.errors import DataError
from bncc.model.model import Model
from bncc.model.reference import predict

MAX_VECTORS = 32
"""Vectors, where their number is not given."""
MAX_BYTES = 4096
"""Bytes of all vectors, where their number is not given, so that they fit a small device."""
MOST_VECTORS = 255
"""What a counter of one byte and an exit status can tell."""


@dataclass(frozen=True, eq=False)
class Vectors:
    """Inputs and expected classes.

    Parameters
    ----------
    readings : (n_vectors, n_features) float64
        Inputs as ``predict_raw`` takes them: values of the C types, with their markers where a
        reading is missing.
    states : (n_vectors, n_features) int64
        The states of the readings.
    classes : (n_vectors,) int64
        The reference evaluator's decisions.
    """

    readings: FloatArray
    states: IntArray
    classes: IntArray


def drawn_vectors(model: Model, n_vectors: int | None = None) -> Vectors:
    """Draw inputs from a fixed seed, preferring an equal share of each class.

    Parameters
    ----------
    model : Model
        The integer model.
    n_vectors : int or None, default=None
        How many, 1 .. 255; None for `usual_number`.

    Returns
    -------
    Vectors
        The same model gives the same ones. In the first every reading has its lowest state, in the
        second its highest, in the third it is missing. Other numeric readings lie at either end of
        a state, where a wrong threshold shows.
    """
    n = usual_number(model) if n_vectors is None else n_vectors
    rng = np.random.default_rng(0)
    R = np.column_stack([_drawn_readings(feature, 16 * n, rng) for feature in model.features])
    X = states_of_raw(model.features, R)
    classes = predict(model, X)
    chosen = _evenly(classes, n, n_first=3)
    return Vectors(R[chosen], X[chosen], classes[chosen])


def vectors_of_table(model: Model, table: Table, n_vectors: int | None = None) -> Vectors:
    """Choose rows of a table, preferring an equal share of each class that is decided for.

    Parameters
    ----------
    model : Model
        The integer model.
    table : Table
        Readings; columns are found by name.
    n_vectors : int or None, default=None
        How many, 1 .. 255; None for `usual_number`.

    Returns
    -------
    Vectors
        Readings as they stand in the table, at most all of its rows and in their order. The same
        arguments give the same ones.

    Raises
    ------
    DataError
        If a column is absent, its cells do not fit the feature, or there is no row.
    """
    if table.n_rows == 0:
        raise DataError("there is no row to take test vectors from; give readings")
    n = usual_number(model) if n_vectors is None else n_vectors
    X = states_of(model.features, table)
    R = raw_of_table(model.features, table)
    classes = predict(model, X)
    order = np.random.default_rng(0).permutation(table.n_rows)
    chosen = np.sort(order[_evenly(classes[order], n, n_first=0)])
    return Vectors(R[chosen], X[chosen], classes[chosen])


def usual_number(model: Model) -> int:
    """Return how many vectors there are where their number is not given.

    Parameters
    ----------
    model : Model
        The integer model.

    Returns
    -------
    int
        4 .. 32.
    """
    states = model.n_features * state_dtype(model.n_states).itemsize
    readings = sum(dtype.itemsize for dtype in raw_dtypes(model.features))
    return int(np.clip(MAX_BYTES // (states + readings), 4, MAX_VECTORS))


def _drawn_readings(feature: Feature, n: int, rng: np.random.Generator) -> FloatArray:
    """Return the lowest reading, the highest, a missing one, and `n` drawn at ends of states."""
    missing = missing_reading(feature)
    values = np.sort(probe_values(feature))
    values = values[np.isfinite(values)]
    states = states_of_raw((feature,), values[:, None])[:, 0]
    # A state that no reading has is replaced by a missing one's. Of several values of a state the
    # last one that is written stays.
    ends = np.full((2, feature.n_states), missing, dtype=np.float64)
    ends[0, states[::-1]] = values[::-1]
    ends[1, states] = values
    drawn = ends[rng.integers(0, 2, n), rng.integers(0, feature.n_states, n)]
    return np.concatenate([[ends[0, 0], ends[1, -1], missing], drawn])


def _evenly(classes: IntArray, n: int, *, n_first: int) -> IntArray:
    """Return at most `n` ascending indices: those of the first, then of all classes in turn."""
    seen: dict[int, int] = {}
    turn = []
    for label in classes.tolist():
        turn.append(seen.get(label, 0))
        seen[label] = turn[-1] + 1
    turn[:n_first] = [-1] * n_first
    return np.sort(np.argsort(np.array(turn), kind="stable")[:n])
