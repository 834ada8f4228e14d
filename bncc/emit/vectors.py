"""Test vectors emitted with the C: inputs with Python's predictions."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from bncc._types import BoolArray, FloatArray, IntArray
from bncc.data.dataset import Table
from bncc.discretize.feature import Feature, states_of
from bncc.discretize.readings import (
    missing_or,
    missing_reading,
    n_known,
    probe_values,
    raw_dtypes,
    raw_of_table,
    state_dtype,
    states_of_raw,
    states_of_values,
    with_difference,
)
from bncc.errors import DataError
from bncc.model.checked import Limits, beyond, predict_checked
from bncc.model.missing import predict as predict_missing
from bncc.model.model import Model
from bncc.model.reference import costs, predict, rows
from bncc.structure.decision_tables import TableEnsemble, has_trees

FEW_VECTORS = 32
"""Vectors, where their number is not given and fewer would do."""
MAX_BYTES = 8192
"""Bytes of all vectors, where their number is not given, so that they fit a small device."""
MOST_VECTORS = 255
"""Largest count of a one-byte counter and of an exit status."""
N_FIRST = 3
"""Vectors of the lowest, the highest and missing readings."""
N_FREE = 16
"""Vectors that may have any ends, once all ends were read; these are for rare classes."""
N_DRAWN = 64
"""Inputs of which one is taken."""


@dataclass(frozen=True, eq=False)
class Vectors:
    """Inputs and expected classes."""

    # (n_vectors, n_features) float64: Inputs as ``predict_raw`` takes them: values of the C types,
    # with their markers where a reading is missing
    readings: FloatArray
    states: IntArray  # (n_vectors, n_features) int64: The states of the readings
    classes: IntArray  # (n_vectors,) int64: The reference evaluator's decisions


def drawn_vectors(model: Model, n_vectors: int | None = None) -> Vectors:
    """Draw inputs from a fixed seed that have the ends of all states, near ties of classes."""
    n = usual_number(model) if n_vectors is None else n_vectors
    rng = np.random.default_rng(0)
    ends = [end_readings(feature) for feature in model.inputs]
    if isinstance(model.structure, TableEnsemble):
        # Zero divides the floats by the order of their bits, which cuts may be compared with.
        ends = [_with_zero(f, each) for f, each in zip(model.inputs, ends, strict=True)]
    highest = [_highest(f, each) for f, each in zip(model.inputs, ends, strict=True)]
    R = np.array([[each[0] for each in ends], highest, [each[-1] for each in ends]])[:n]
    used = [np.zeros(len(each), np.int64) for each in ends]
    seen = np.bincount(
        predict(model, states_of_raw(model.features, R)), minlength=len(model.classes)
    )
    # By tree: which leaves were reached by a number and by no number of each feature.
    every = np.arange(len(model.inputs))
    reached = [np.zeros((len(table), len(every), 2), np.bool_) for table in model.tables]
    for _ in range(n - len(R)):
        is_free = all(counts.all() for counts in used)
        chosen = np.column_stack([_drawn_ends(counts, rng, is_free) for counts in used])
        drawn = np.column_stack([each[chosen[:, j]] for j, each in enumerate(ends)])
        if model.has_differences:
            drawn = _with_ends_of_differences(model, drawn, rng)
        total = costs(model, states_of_raw(model.features, drawn))
        classes = total.argmin(axis=1)
        nearest = np.partition(total, min(1, total.shape[1] - 1), axis=1)[:, :2]
        by_class = (nearest[:, -1] - nearest[:, 0], seen[classes])
        new = np.zeros(len(drawn), np.int64)
        if has_trees(model.structure):
            # Comparisons that no vector gets to could be wrong: leaves come first.
            of_rows = rows(model, states_of_raw(model.features, drawn))
            is_nan = np.isnan(drawn).astype(np.int64)
            for leaves, of_table in zip(reached, of_rows.T, strict=True):
                new -= (~leaves[of_table[:, None], every, is_nan]).sum(axis=1)
        best = np.lexsort((*by_class, new))[0]
        if has_trees(model.structure):
            for leaves, row in zip(reached, of_rows[best], strict=True):
                leaves[row, every, is_nan[best]] = True
        seen[classes[best]] += 1
        for counts, k in zip(used, chosen[best], strict=True):
            counts[k] += 1
        R = np.concatenate([R, drawn[best : best + 1]])
    X = states_of_raw(model.features, R)
    return Vectors(R, X, predict(model, X))


def _with_ends_of_differences(
    model: Model, drawn: FloatArray, rng: np.random.Generator
) -> FloatArray:
    """Return readings of which half have an end of a state of one difference."""
    differences = model.features[len(model.inputs) :]
    for row in range(0, len(drawn), 2):
        feature = differences[rng.integers(len(differences))]
        wanted = rng.choice(end_readings(feature), 1)
        drawn[row : row + 1] = with_difference(
            model.features, feature, drawn[row : row + 1], wanted
        )
    return drawn


def vectors_of_table(model: Model, table: Table, n_vectors: int | None = None) -> Vectors:
    """Choose rows of a table, preferring an equal share of each class that is decided for."""
    if table.n_rows == 0:
        raise DataError("there are no rows for test vectors; provide readings")
    n = min(usual_number(model), FEW_VECTORS) if n_vectors is None else n_vectors
    X = states_of(model.features, table)
    R = raw_of_table(model.features, table)
    classes = predict(model, X)
    order = np.random.default_rng(0).permutation(table.n_rows)
    chosen = np.sort(order[_evenly(classes[order], n, n_first=0)])
    return Vectors(R[chosen], X[chosen], classes[chosen])


def usual_number(model: Model) -> int:
    """Return how many vectors there are where their number is not given."""
    states = model.n_features * state_dtype(model.n_states).itemsize
    readings = sum(dtype.itemsize for dtype in raw_dtypes(model.features))
    n_ends = max(len(end_readings(feature)) for feature in model.inputs)
    most = min(max(N_FIRST + n_ends + N_FREE, FEW_VECTORS), MOST_VECTORS)
    return int(np.clip(MAX_BYTES // (states + readings), 4, most))


def end_readings(feature: Feature) -> FloatArray:
    """
    Return the readings at both ends of all states, and what else is treated apart.

    Shapes: returns (n,) float64, ascending states, of each the lowest and the highest reading; of a
    float NaN with a sign, of a category the first number that is not known; at last a missing
    reading, if the type has one.
    """
    missing = missing_reading(feature)
    values = np.sort(probe_values(feature)[::-1], kind="stable")  # -0.0 before 0.0
    values = values[np.isfinite(values)]
    if not feature.is_numeric:
        known = n_known(feature)
        return np.array([*range(known), *([known] if known < missing else []), missing])
    values = values[values != missing]  # no float equals NaN
    states = states_of_values(feature, values)
    first = np.flatnonzero(np.diff(states, prepend=-1))
    last = np.append(first[1:] - 1, len(states) - 1)
    ends = values[np.unique(np.concatenate([first, last]))]
    signed = [-np.nan] if feature.kind == "float32" else []
    return np.array([*ends, *signed, *([missing] if feature.has_marker else [])])


def state_ends(feature: Feature) -> FloatArray:
    """
    Return the lowest and the highest reading of each state, (n_states, 2).

    A state that no reading has gets a missing one, which has it or the one in its place; or zero
    where no reading is missing.
    """
    ends = np.full((feature.n_states, 2), missing_or(feature, 0), dtype=np.float64)
    values = np.sort(probe_values(feature)[::-1], kind="stable")  # -0.0 before 0.0
    values = values[np.isfinite(values)]
    states = states_of_values(feature, values)
    # If a state has several values, the last one written stays.
    ends[states[::-1], 0] = values[::-1]
    ends[states, 1] = values
    return ends


def has_all_states(feature: Feature) -> bool:
    """Return whether every state of a feature has a reading."""
    found = states_of_values(feature, state_ends(feature)[:, 0])
    return bool((found == np.arange(feature.n_states)).all())


def _highest(feature: Feature, ends: FloatArray) -> float:
    """Return the highest reading among those of `end_readings`, or the last number known."""
    if not feature.is_numeric:
        return n_known(feature) - 1
    n_others = 2 if feature.kind == "float32" else int(feature.has_marker)
    return float(ends[-1 - n_others])


def _with_zero(feature: Feature, ends: FloatArray) -> FloatArray:
    """Return readings, the lowest first, with zero behind it where the feature is a float."""
    return np.insert(ends, 1, 0.0) if feature.kind == "float32" else ends


def _drawn_ends(counts: IntArray, rng: np.random.Generator, is_free: bool) -> IntArray:
    """Draw ends of a feature, among those used least unless any may be."""
    candidates = np.flatnonzero(is_free | (counts == counts.min()))
    return rng.choice(candidates, N_DRAWN)


def _evenly(classes: IntArray, n: int, *, n_first: int) -> IntArray:
    """Return at most `n` ascending indices: those of the first, then of all classes in turn."""
    seen: dict[int, int] = {}
    turn = []
    for label in classes.tolist():
        turn.append(seen.get(label, 0))
        seen[label] = turn[-1] + 1
    turn[:n_first] = [-1] * n_first
    return np.sort(np.argsort(np.array(turn), kind="stable")[:n])


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
    for feature, each in zip(model.inputs, limits, strict=True):
        marker = missing_or(feature, each.low)
        signed = -np.nan if feature.kind == "float32" else marker
        rows.append([each.low, each.high, *beyond(feature, each), marker, signed])
    has_floats = any(feature.kind == "float32" for feature in model.inputs)
    R = np.array(rows, dtype=np.float64).T[: 6 if has_floats else 5]
    answers = []
    for row in R:
        tried = np.tile(R[0], (len(model.inputs), 1))
        np.fill_diagonal(tried, row)
        answers.append(predict_checked(model, limits, tried))
    return LimitVectors(R, np.array(answers))


SHARES = (0.1, 0.3, 0.5)
"""Chances of a feature to be missing, for one vector after the other."""


@dataclass(frozen=True, eq=False)
class MissingVectors:
    """The test vectors once more, with some features missing."""

    is_missing: BoolArray  # (n_vectors, n_features) bool: Features that are not known
    classes: IntArray  # (n_vectors,) int64: What `bncc.model.missing` decides then


def drawn_missing(model: Model, vectors: Vectors) -> MissingVectors:
    """Draw missing features from a fixed seed."""
    rng = np.random.default_rng(0)
    shares = np.resize(SHARES, len(vectors.states))
    shares[0] = 1
    is_missing = rng.random(vectors.states.shape) < shares[:, np.newaxis]
    return MissingVectors(is_missing, predict_missing(model, vectors.states, is_missing))
