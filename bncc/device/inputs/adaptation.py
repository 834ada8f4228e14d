"""Sequences of labels to try emitted adaptations on: random ones, and hostile ones."""

from collections.abc import Iterator

import numpy as np

from bncc._types import IntArray
from bncc.device.inputs.cases import Case, Effort
from bncc.device.inputs.cover import random_states
from bncc.model.adaptation import Offsets, required, rows_of
from bncc.model.model import Model
from bncc.model.reference import scores

STEPS = 400
"""Steps of each kind of sequence."""
DECIDE, FORGET, LEARN = range(3)
"""Steps of ``runtime/adaptation.h``: a decision, after all is forgotten, or a class is learned."""
MOVED = 256
"""Added to a class where learning has moved offsets."""
OF_SCORES = 512
"""Unit of a digest of adapted scores, where they are compared."""


def adaptation_words(model: Model, effort: Effort) -> str:
    """Describe the sequences in words."""
    n = effort.n_random + STEPS * (len(_KINDS) + model.n_classes)
    return f"{n:,} labels learned, forgotten and decided on"


def adaptation_cases(
    model: Model, largest: int, effort: Effort, *, has_scores: bool = False
) -> Iterator[Case]:
    """
    Generate steps of sequences with the results of the reference, no score above `largest`.

    Results include a sum of adapted scores if `has_scores`.
    """
    for steps, of_rows, X in _sequences(model, largest, effort):
        yield _case(model, steps, of_rows, X, has_scores=has_scores)


def _sequences(
    model: Model, largest: int, effort: Effort
) -> Iterator[tuple[IntArray, IntArray, IntArray]]:
    """Yield steps (n,), scores (n, n_classes) and states (n, n_features)."""
    rng = np.random.default_rng(effort.seed)
    if effort.n_random:
        X = random_states(model, effort.n_random, rng)
        labels = rng.integers(0, LEARN + model.n_classes, len(X))
        yield labels, scores(model, X), X
    few = random_states(model, 4, rng)
    for kind in _KINDS:
        X = few[rng.integers(0, len(few), STEPS)]
        drawn = np.clip(kind(rng, (STEPS, model.n_classes), largest), 0, largest)
        # The label after the last class is none.
        yield rng.integers(0, LEARN + model.n_classes + 1, STEPS), drawn, X
    for c in range(model.n_classes):
        # One class again and again, against all others: its offsets stay at their bounds.
        X = np.repeat(few[:1], STEPS, axis=0)
        against = np.where(np.arange(model.n_classes) == c, largest, 0)
        yield np.full(STEPS, LEARN + c), np.tile(against, (STEPS, 1)), X


def _case(
    model: Model, steps: IntArray, of_rows: IntArray, X: IntArray, *, has_scores: bool
) -> Case:
    """Return steps, the first of which forgets, with the results of the reference."""
    adaptation = required(model.adaptation)
    steps = steps.copy()
    steps[0] = FORGET
    rows = rows_of(model.lookups, adaptation.tables, X)
    offsets = Offsets(adaptation, int(rows.max(initial=0)) + 1, model.n_classes)
    y = np.zeros(len(steps), dtype=np.int16)
    for k, step in enumerate(steps.tolist()):
        moved = False
        if step == FORGET:
            offsets.forget()
        elif LEARN <= step < LEARN + model.n_classes:
            moved = offsets.learn(rows[k], of_rows[k], step - LEARN)
        y[k] = int(offsets.classes(rows[k], of_rows[k])) + MOVED * moved
        if has_scores:
            costs = offsets.costs(rows[k], of_rows[k])
            y[k] += OF_SCORES * _digest((costs - costs.min()).tolist())
    return Case("adaptation", np.column_stack([steps, of_rows, X]).astype(np.int64), y)


def _digest(costs: list[int]) -> int:
    """Return six bits that all bits of all scores have a part in, as the runtime computes them."""
    total = 0
    for cost in costs:
        total = (31 * total + cost) % (1 << 32)
    total ^= total >> 16
    return (total ^ total >> 6 ^ total >> 12) & 63


def _any(rng: np.random.Generator, shape: tuple[int, int], largest: int) -> IntArray:
    """Return scores of any size, also without a zero."""
    return rng.integers(0, largest + 1, shape)


def _small(rng: np.random.Generator, shape: tuple[int, int], largest: int) -> IntArray:
    """Return small scores, which tie often."""
    return rng.integers(0, 3, shape)


def _far(rng: np.random.Generator, shape: tuple[int, int], largest: int) -> IntArray:
    """Return scores at 0 and at the largest, which offsets rarely outweigh."""
    return rng.choice(np.array([0, 0, 1, largest - 1, largest], dtype=np.int64), shape)


_KINDS = (_any, _small, _far)
