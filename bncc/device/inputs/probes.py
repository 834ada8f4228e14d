"""Raw readings for an agreement check: every threshold from both sides, where it shows."""

from collections.abc import Iterator, Sequence

import numpy as np

from bncc._types import FloatArray, IntArray
from bncc.device.inputs.cover import (
    boundary_states,
    decisions_along,
    random_states,
    readers,
    spans,
)
from bncc.discretize.readings import probe_values, representatives, states_of_raw
from bncc.model.model import Model
from bncc.model.reference import costs

PROBE_CELLS = 2**24
"""Cells of all readings that try one value of one feature; huge models stop there."""


def raw_blocks(
    model: Model, n_random: int, rng: np.random.Generator, size: int
) -> Iterator[FloatArray]:
    """
    Generate raw readings that try every probe of every feature.

    Shapes: yields (n, n_features) float64, values of the C types.
    """
    values = [probe_values(feature) for feature in model.features]
    for start, stop in spans(n_random, size):
        yield np.column_stack([rng.choice(v, size=stop - start) for v in values])
    # Every value of every feature at once, in a few inputs ...
    for start, stop in spans(max(len(v) for v in values), size):
        k = np.arange(start, stop)
        yield np.column_stack([v[k % len(v)] for v in values])
    # ... then each alone, where the decision hangs on it.
    yield from _stacked(_probes(model, values, rng), size)


def _stacked(parts: Iterator[FloatArray], size: int) -> Iterator[FloatArray]:
    """Join small blocks to such of about `size` rows."""
    waiting: list[FloatArray] = []
    for part in parts:
        waiting.append(part)
        if sum(len(block) for block in waiting) >= size:
            yield np.concatenate(waiting)
            waiting = []
    if waiting:
        yield np.concatenate(waiting)


def _probes(
    model: Model, values: Sequence[FloatArray], rng: np.random.Generator
) -> Iterator[FloatArray]:
    """
    Generate raw rows that try each value of each feature where a wrong state would show.

    For a value of state s and each state that a mistake could make of it (a neighbor, the state of
    a missing reading, the ends), the context is one in which the two lead to different decisions.
    """
    X = random_states(model, 128, rng)
    X = np.concatenate([boundary_states(model, X), X[:1]])
    total, tables = costs(model, X), readers(model)
    R = np.column_stack([representatives(f)[X[:, j]] for j, f in enumerate(model.features)])
    budget = PROBE_CELLS // model.n_features
    for i, feature in enumerate(model.features):
        own = states_of_raw((feature,), values[i][:, None])[:, 0]
        decisions = decisions_along(model, X, total, i, tables[i])
        pairs = _revealing(decisions, own, feature.missing_state)
        budget -= len(pairs)
        if budget < 0:
            return
        rows = R[pairs[:, 1]]
        rows[:, i] = values[i][pairs[:, 0]]
        yield rows


def _revealing(decisions: IntArray, own: IntArray, missing_state: int) -> IntArray:
    """Return pairs of a value and a context, from decisions by context and state."""
    last = decisions.shape[1] - 1
    rivals = (own - 1, own + 1, np.full_like(own, missing_state), 0 * own, 0 * own + last)
    chosen = [
        np.argmax(decisions[:, own] != decisions[:, np.clip(rival, 0, last)], axis=0)
        for rival in rivals
    ]
    return np.unique([(k, c) for column in chosen for k, c in enumerate(column)], axis=0)
