"""Inputs with missing features for an agreement check, with Python's results."""

from collections.abc import Iterator

import numpy as np

from bncc._types import BoolArray, IntArray
from bncc.data.dataset import Table
from bncc.device.inputs.cases import ERR_STATE, Case, Effort
from bncc.device.inputs.cover import random_states, spans
from bncc.discretize.feature import states_of
from bncc.discretize.readings import representatives, state_dtype, states_of_raw
from bncc.model import missing
from bncc.model.model import Model

SHARES = (0.1, 0.3, 0.5)
"""Fractions of randomly missing features."""
_BLOCK_CELLS = 2**16


def missing_cases(
    model: Model, table: Table | None, effort: Effort, *, has_raw: bool
) -> Iterator[Case]:
    """Generate all inputs with missing features, block by block."""
    rng = np.random.default_rng(effort.seed)
    typical = [representatives(feature) for feature in model.features]
    for X, is_missing in _rows(model, table, effort, rng):
        yield _states_case(model, X, is_missing)
        if has_raw:
            R = np.column_stack([values[X[:, i]] for i, values in enumerate(typical)])
            y = missing.predict(model, states_of_raw(model.features, R), is_missing)
            yield Case("raw_missing", R, y.astype(np.int16), is_missing=is_missing)
    yield from _invalid(model, rng)


def missing_words(model: Model, effort: Effort) -> str:
    """Return a description of the inputs."""
    shares = ", ".join(f"{share:.0%}"[:-1] for share in SHARES[:-1])
    return (
        f"{effort.n_random:,} random states with {shares} and {SHARES[-1]:.0%} missing, "
        f"each of {model.n_features:,} features missing alone and known alone, none and all missing"
    )


def _rows(
    model: Model, table: Table | None, effort: Effort, rng: np.random.Generator
) -> Iterator[tuple[IntArray, BoolArray]]:
    n = model.n_features
    size = max(8, _BLOCK_CELLS // max(n, model.n_classes))
    if table is not None:
        X = states_of(model.features, table)
        for k, (start, stop) in enumerate(spans(len(X), size)):
            yield X[start:stop], rng.random((stop - start, n)) < SHARES[k % len(SHARES)]
    for share in SHARES:
        for start, stop in spans(-(-effort.n_random // len(SHARES)), size):
            yield random_states(model, stop - start, rng), rng.random((stop - start, n)) < share
    for start, stop in spans(n + 1, size):
        alone = np.arange(start, stop)[:, np.newaxis] == np.arange(n)
        yield random_states(model, stop - start, rng), alone
        yield random_states(model, stop - start, rng), ~alone


def _states_case(model: Model, X: IntArray, is_missing: BoolArray) -> Case:
    y = missing.predict(model, X, is_missing).astype(np.int16)
    return Case(
        "missing", np.ascontiguousarray(X, state_dtype(model.n_states)), y, is_missing=is_missing
    )


def _invalid(model: Model, rng: np.random.Generator) -> Iterator[Case]:
    """Set each feature in turn to the first state beyond its range, others missing at random."""
    dtype = state_dtype(model.n_states)
    n = model.n_features
    beyond = np.array(model.n_states)
    wrong = np.flatnonzero(beyond < np.iinfo(dtype).max)
    for start, stop in spans(len(wrong), max(8, _BLOCK_CELLS // n)):
        X = random_states(model, stop - start, rng)
        at = np.arange(stop - start), wrong[start:stop]
        X[at] = beyond[wrong[start:stop]]
        is_missing = rng.random(X.shape) < SHARES[-1]
        is_missing[at] = False
        y = np.full(stop - start, ERR_STATE, dtype=np.int16)
        yield Case("missing", X.astype(dtype), y, is_missing=is_missing)
