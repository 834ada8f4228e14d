"""Inputs of an agreement check, Python's results, and the strength of the check."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np

from bncc._types import AnyArray, BoolArray, FloatArray, IntArray
from bncc.data.dataset import Table
from bncc.device.inputs.cover import (
    boundary_states,
    joint_states,
    n_joint_states,
    random_states,
    raw_blocks,
    row_cover,
    row_states,
    spans,
)
from bncc.discretize.feature import states_of
from bncc.discretize.readings import far_table, raw_of_table, state_dtype, states_of_raw
from bncc.errors import OptionError
from bncc.model.model import Model
from bncc.model.reference import scores
from bncc.model.used import used_features
from bncc.wording import counted

FEW_STATES = 2**16
"""Largest number of joint states for which all are tested."""

MOST_STATES = 2**24
"""Largest number of joint states in an exhaustive check."""

FAR_ROWS = 256
"""Rows of readings beyond the range of training, and beyond their types."""

ERR_STATE = -1
_BLOCK_CELLS = 2**22


@dataclass(frozen=True, eq=False)
class Case:
    """A block of inputs for some entry points, with the results of the reference."""

    # ``invalid`` has states out of range, which ``predict`` and ``scores`` reject
    kind: Literal[
        "states",
        "invalid",
        "raw",
        "raw_checked",
        "missing",
        "raw_missing",
        "filter",
        "confidence",
        "unknown",
        "counters",
        "adaptation",
    ]
    # (n, n_features) array: uint8 or uint16 states, or float64 raw readings; for ``filter``
    # (n, 1 + n_classes) int64, scores behind 1 where a sequence begins, else 0, and for
    # ``confidence`` behind 1 for the confidence and 0 for the decision; for ``unknown``,
    # ``counters`` and ``adaptation`` see these methods of `bncc.device.machine.Machine`
    x: AnyArray
    y: IntArray  # (n,) int16: Class indices, or errors
    # (n, n_classes) int64 or None: Scores, for ``states`` and ``raw``; zeros for ``invalid``
    scores: IntArray | None = None
    # (n, n_features) bool or None: Missing features, for ``missing`` and ``raw_missing``
    is_missing: BoolArray | None = None


@dataclass(frozen=True)
class Effort:
    """Extent of an agreement check."""

    n_random: int = 1000  # Number of random states, and of random raw readings
    exhaustive: bool = False  # True to test all joint states even if they are many
    seed: int = 0  # Random seed


def cases(
    model: Model, table: Table | None = None, effort: Effort = Effort(), *, has_raw: bool = True
) -> Iterator[Case]:
    """Generate all inputs of a check, block by block."""
    rng = np.random.default_rng(effort.seed)
    if table is not None:
        for start in range(0, table.n_rows, _block_rows(model)):
            part = table.take(np.arange(start, min(start + _block_rows(model), table.n_rows)))
            X = states_of(model.features, part)
            yield _state_case(model, X)
            if has_raw:
                yield _raw_case(model, raw_of_table(model.features, part), X)
    for X in _state_blocks(model, effort, rng):
        yield _state_case(model, X)
    yield from _invalid_cases(model, rng)
    if has_raw:
        for R in raw_blocks(model, effort.n_random, rng, _block_rows(model)):
            yield _raw_case(model, R, states_of_raw(model.features, R))
        # As a table and not as raw values: driver and Python must agree on their conversion.
        for start, stop in spans(FAR_ROWS, _block_rows(model)):
            far = far_table(model.features, stop - start, rng)
            yield _raw_case(
                model, raw_of_table(model.features, far), states_of(model.features, far)
            )


def takes_all_states(model: Model, effort: Effort) -> bool:
    """Return whether a check tests all joint states."""
    n = n_joint_states(model)
    if effort.exhaustive and n > MOST_STATES:
        raise OptionError(
            f"the model has more than {MOST_STATES:,} joint states, too many for --exhaustive; "
            "use --random N"
        )
    return effort.exhaustive or n <= FEW_STATES


def strength(
    model: Model, table: Table | None = None, effort: Effort = Effort(), *, has_raw: bool = True
) -> str:
    """Describe the strength of a check."""
    words = [] if table is None else [counted(table.n_rows, "data row")]
    if takes_all_states(model, effort):
        words.append(f"all {counted(n_joint_states(model), 'joint state')}")
    else:
        words.append(counted(effort.n_random, "random state"))
        words.append(f"every row of {counted(len(model.tables), 'table')}")
    if has_raw:
        words.append(counted(effort.n_random, "random reading"))
        words.append(f"{FAR_ROWS} rows out of range")
    n_thresholds = sum(len(feature.thresholds) for feature in model.features)
    if has_raw and n_thresholds:
        words.append(f"3 values at each of {counted(n_thresholds, 'threshold')}")
    return ", ".join(words)


def _block_rows(model: Model) -> int:
    return min(max(_BLOCK_CELLS // max(model.n_features, model.n_classes), 1), FEW_STATES)


def _state_blocks(model: Model, effort: Effort, rng: np.random.Generator) -> Iterator[IntArray]:
    size = _block_rows(model)
    if takes_all_states(model, effort):
        for start, stop in spans(n_joint_states(model), size):
            yield joint_states(model, start, stop)
        return
    for start, stop in spans(effort.n_random, size):
        X = random_states(model, stop - start, rng)
        yield X
        # Near a boundary a small error in a cost becomes an error in the class.
        yield boundary_states(model, X[: min(len(X), 2000)])
    for strides, n_inputs in row_cover(model):
        for start, stop in spans(n_inputs, size):
            yield row_states(model, strides, start, stop, rng)


def _state_case(model: Model, X: IntArray) -> Case:
    total = scores(model, X)
    x = np.ascontiguousarray(X, dtype=state_dtype(model.n_states))
    return Case("states", x, total.argmin(axis=1).astype(np.int16), total)


def _invalid_cases(model: Model, rng: np.random.Generator) -> Iterator[Case]:
    """
    Put one state out of range, for every used feature: the first beyond the range and the largest.

    The others are once sampled at random and once zero, since states that are checked together can
    mask each other.
    """
    dtype = state_dtype(model.n_states)
    largest = int(np.iinfo(dtype).max)
    drawn = random_states(model, 1, rng)[0].astype(dtype)
    wrong = [
        (others, i, state)
        for others in (drawn, np.zeros_like(drawn))
        for i in used_features(model) or range(model.n_features)
        for n_states in (model.n_states[i],)
        for state in sorted({min(n_states, largest), largest})
        if state >= n_states
    ]
    for start, stop in spans(len(wrong), _block_rows(model)):
        x = np.stack([others for others, _, _ in wrong[start:stop]])
        for k, (_, i, state) in enumerate(wrong[start:stop]):
            x[k, i] = state
        refused = np.full(stop - start, ERR_STATE, dtype=np.int16)
        yield Case("invalid", x, refused, np.zeros((len(x), model.n_classes), dtype=np.int64))


def _raw_case(model: Model, R: FloatArray, X: IntArray) -> Case:
    total = scores(model, X)
    return Case("raw", R, total.argmin(axis=1).astype(np.int16), total)
