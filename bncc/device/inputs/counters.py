"""Operations to try emitted counters with: decisions, read-outs, counters that are near full."""

from collections.abc import Iterator

import numpy as np

from bncc._types import IntArray
from bncc.device.inputs.cases import Case, Effort
from bncc.device.inputs.cover import random_states
from bncc.device.inputs.unknown import values_near
from bncc.model.confidence import margins_of
from bncc.model.counters import FULL, CounterLayout, Counters, added, hits_of, required
from bncc.model.model import Model
from bncc.model.reference import scores
from bncc.model.unknown import Unknown

STEPS = 120
"""Decisions of each kind of scores."""
BETWEEN = 24
"""Decisions between two read-outs."""
COUNT, CLEAR, BEGIN, READ, SET = 0, 1, 2, 3, 2**16
"""Operations of ``runtime/counters.h``."""
_KINDS = 6


def counter_words() -> str:
    """Describe the operations in words."""
    return f"{STEPS * _KINDS:,} counted decisions"


def counter_cases(
    model: Model, largest: int, effort: Effort, *, has_unknown: bool
) -> Iterator[Case]:
    """Generate operations with the results of the reference, no score above `largest`."""
    counters, rule = required(model.counters), model.unknown if has_unknown else None
    layout = counters.layout(has_unknown=has_unknown)
    rng = np.random.default_rng(effort.seed)
    shape = (STEPS, model.n_classes)
    least = rng.choice([0, 0, 1], (STEPS, 1))
    margin = rng.choice(np.array([*counters.margins, largest]), (STEPS, 1))
    margin = np.maximum(margin + rng.integers(-1, 2, (STEPS, 1)), 0)
    at_limits = least + margin + rng.choice([0, 0, largest], shape)
    at_limits[np.arange(STEPS), rng.integers(0, model.n_classes, STEPS)] = least[:, 0]
    few = [
        rng.integers(0, largest + 1, shape),
        at_limits,
        scores(model, random_states(model, STEPS, rng)),
    ]
    for is_full in (False, True):
        for drawn in few:
            found = np.clip(drawn, 0, largest)
            yield _case(model, counters, layout, rule, found, rng, is_full=is_full)


def _case(
    model: Model,
    counters: Counters,
    layout: CounterLayout,
    rule: Unknown | None,
    drawn: IntArray,
    rng: np.random.Generator,
    *,
    is_full: bool,
) -> Case:
    """Return decisions in sequences, from counters of 0 or from some that are next to full."""
    values: IntArray = np.zeros(len(layout.names), dtype=np.int64)
    # By row: the operation, a value to be set, the row of scores, and the result
    rows: list[tuple[int, int, int | None, int]] = [(CLEAR, 0, None, 0)]
    if is_full:
        # Every other counter becomes full within a few decisions.
        values = np.where(np.arange(len(values)) % 2, 5, FULL - 1) - rng.integers(0, 5, len(values))
        rows += [(SET + READ + k, value, None, 0) for k, value in enumerate(values.tolist())]
    is_known = None
    R = np.zeros((len(drawn), len(model.inputs)))
    if rule is not None:
        R = np.column_stack([rng.choice(values_near(f, rule), len(R)) for f in model.inputs])
        is_known = rule.known_class(model.features, R, drawn) >= 0
    begins = rng.random(len(drawn)) < 1 / 10
    begins[0] = True
    decisions = drawn.argmin(axis=1)
    hits = hits_of(
        decisions, margins_of(drawn), counters.margins, layout, is_known, np.cumsum(begins)
    )
    for k in range(len(drawn)):
        if begins[k] and k:
            rows.append((BEGIN, 0, None, 0))
        rows.append((COUNT, 0, k, int(decisions[k])))
        values = added(values, hits[k : k + 1])
        if (k + 1) % BETWEEN == 0:
            rows += [(READ + j, 0, None, int(value)) for j, value in enumerate(values)]
    x = np.zeros((len(rows), 2 + model.n_classes + R.shape[1] * (rule is not None)))
    for j, (operation, value, at, _) in enumerate(rows):
        x[j, :2] = operation, value
        if at is not None:
            x[j, 2 : 2 + model.n_classes] = drawn[at]
            if rule is not None:
                x[j, 2 + model.n_classes :] = R[at]
    y = np.array([result for _, _, _, result in rows], dtype=np.int64)
    return Case("counters", x, y.astype(np.uint16).view(np.int16))
