"""Readings for the checked entry point: within their limits, at them, beyond them, and missing."""

from collections.abc import Iterator, Sequence

import numpy as np

from bncc._types import FloatArray
from bncc.data.dataset import Table
from bncc.device.inputs.cases import Case, Effort
from bncc.device.inputs.cover import PROBE_CELLS, spans
from bncc.discretize.feature import LARGEST_INT, SMALLEST_INT, Feature
from bncc.discretize.readings import missing_or, probe_values, raw_of_table
from bncc.model.checked import Limits, beyond, predict_checked
from bncc.model.model import Model

_BLOCK_CELLS = 2**22


def checked_cases(
    model: Model, limits: Sequence[Limits], table: Table | None, effort: Effort
) -> Iterator[Case]:
    """Generate the inputs of ``m_predict_raw_checked``, block by block."""
    rng = np.random.default_rng(effort.seed)
    size = max(1, _BLOCK_CELLS // model.n_features)
    for R in _blocks(model.inputs, limits, table, effort.n_random, size, rng):
        y = predict_checked(model, limits, R).astype(np.int16)
        yield Case("raw_checked", R, y)


def checked_words(effort: Effort) -> str:
    """Return a description of the inputs."""
    return (
        f"{2 * effort.n_random:,} readings within their limits and with one beyond, "
        "every limit from both sides, each reading alone missing"
    )


def _blocks(
    features: Sequence[Feature],
    limits: Sequence[Limits],
    table: Table | None,
    n_random: int,
    size: int,
    rng: np.random.Generator,
) -> Iterator[FloatArray]:
    edges = [edge_values(*pair) for pair in zip(features, limits, strict=True)]
    inside = [_within(*pair) for pair in zip(features, limits, strict=True)]

    def drawn(n: int) -> FloatArray:
        return np.column_stack([rng.choice(values, n) for values in inside])

    if table is not None:
        for start, stop in spans(table.n_rows, size):
            yield raw_of_table(features, table.take(np.arange(start, stop)))
    for start, stop in spans(n_random, size):
        R = drawn(stop - start)
        yield R
        # One reading of each row at or beyond its limits, so that no error masks another.
        column = rng.integers(0, len(features), len(R))
        for i in np.unique(column).tolist():
            R[column == i, i] = rng.choice(edges[i], int((column == i).sum()))
        yield R
    budget = PROBE_CELLS // len(features)
    for i, values in enumerate(edges):
        budget -= len(values)
        if budget < 0:
            return
        R = drawn(len(values))
        R[:, i] = values
        yield R


def edge_values(feature: Feature, limits: Limits) -> FloatArray:
    """
    Return readings at the limits, the next ones beyond, the extremes and the missing one.

    Shapes: returns (n,) float64, values of the C type.
    """
    marker = missing_or(feature, limits.low)
    ends = (limits.low, limits.high, *beyond(feature, limits))
    if feature.kind == "float32":
        special = probe_values(feature)[-12:]  # zeros, denormals, infinities, NaN of both signs
        return np.array([*ends, *special], dtype=np.float64)
    if feature.is_numeric:
        extremes = [float(SMALLEST_INT[feature.kind]), float(LARGEST_INT[feature.kind]), 0]
    else:
        extremes = [marker - 1]
    return np.array([*ends, marker, *extremes], dtype=np.float64)


def _within(feature: Feature, limits: Limits) -> FloatArray:
    values = np.concatenate([probe_values(feature), [limits.low, limits.high]])
    return values[(values >= limits.low) & (values <= limits.high)]
