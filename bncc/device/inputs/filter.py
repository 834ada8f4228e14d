"""Sequences of scores to try emitted filters on: of the model, random ones, and hostile ones."""

from collections.abc import Iterator
from typing import TypeAlias

import numpy as np

from bncc._types import IntArray
from bncc.device.inputs.cases import Case, Effort
from bncc.device.inputs.cover import random_states
from bncc.model.filter import Filter, answered, matrix_of, required
from bncc.model.model import Model
from bncc.model.reference import scores

STEPS = 400
"""Steps of each kind of scores."""
Shape: TypeAlias = tuple[int, int]
LONGEST = 60
"""Mean number of steps of a sequence."""


def hostile_steps(model: Model, largest: int, effort: Effort) -> IntArray:
    """Return the scores of all kinds of sequences, one after the other, (n, n_classes) int64."""
    return np.concatenate([case.x[:, 1:] for case in filter_cases(model, largest, effort)])


def filter_words(effort: Effort) -> str:
    """Describe the sequences in words."""
    return f"{effort.n_random + STEPS * len(_KINDS):,} steps of the filter"


def filter_cases(model: Model, largest: int, effort: Effort) -> Iterator[Case]:
    """Generate steps of sequences with the answers of the reference, no score above `largest`."""
    rule = required(model.filter)
    rng = np.random.default_rng(effort.seed)
    if effort.n_random:
        yield _case(scores(model, random_states(model, effort.n_random, rng)), rule, rng)
    for kind in _KINDS:
        drawn = kind(rng, (STEPS, model.n_classes), largest, rule)
        yield _case(np.clip(drawn, 0, largest), rule, rng)


def _case(steps: IntArray, rule: Filter, rng: np.random.Generator) -> Case:
    """Return scores in sequences of random lengths, the first of which begins at once."""
    begins = rng.random(len(steps)) < 1 / LONGEST
    begins[0] = True
    y = answered(steps, np.cumsum(begins), rule)
    return Case("filter", np.column_stack([begins, steps]).astype(np.int64), y.astype(np.int16))


def _any(rng: np.random.Generator, shape: Shape, largest: int, rule: Filter) -> IntArray:
    """Return scores of any size, also without a zero."""
    return rng.integers(0, largest + 1, shape)


def _small(rng: np.random.Generator, shape: Shape, largest: int, rule: Filter) -> IntArray:
    """Return small scores, which tie often and add up over many steps."""
    return rng.integers(0, 3, shape)


def _near(rng: np.random.Generator, shape: Shape, largest: int, rule: Filter) -> IntArray:
    """Return scores at and next to the price and its half, 0 and the largest."""
    switch = rule.switch
    ends = [0, 0, 1, switch // 2, switch - 1, switch, switch + 1, largest - 1, largest]
    return rng.choice(np.array(ends, dtype=np.int64), shape)


def _turns(rng: np.random.Generator, shape: Shape, largest: int, rule: Filter) -> IntArray:
    """Return the largest scores of all classes but one, which stays for 1, 2, ... steps."""
    stays = np.repeat(np.arange(shape[0]), np.arange(shape[0]) % 9 + 1)[: shape[0]]
    return np.where(np.arange(shape[1]) == stays[:, None] % shape[1], 0, largest)


def _equal(rng: np.random.Generator, shape: Shape, largest: int, rule: Filter) -> IntArray:
    """Return equal scores of all classes in a step, between steps that favor one."""
    favors = np.where(np.arange(shape[1]) == rng.integers(0, shape[1], (shape[0], 1)), 0, largest)
    level = rng.choice([0, 1, largest], (shape[0], 1))
    return np.where(rng.random((shape[0], 1)) < 0.3, favors, level)


def _ordered(rng: np.random.Generator, shape: Shape, largest: int, rule: Filter) -> IntArray:
    """
    Return steps that take long: costs ascend, descend or alternate by class, near or far apart.

    Each class is cheaper than those before it, or on the other branch of the machine code not,
    and costs are below the price, or on the other branch beyond it.
    """
    n, n_classes = shape
    up = np.arange(n_classes, dtype=np.int64)
    falls = np.where(up % 2 == 0, n_classes + up, n_classes - 1 - up)  # Every other class is less
    rises = np.where(up % 2 == 1, n_classes + up, n_classes - 1 - up)
    orders = [order - order.min() for order in (up[::-1], up, falls, rises)]
    found = np.empty((n, n_classes), dtype=np.int64)
    costs, prices = np.zeros(n_classes, dtype=np.int64), matrix_of(rule.prices, n_classes)
    for k in range(n):
        order = orders[k // _HELD % len(orders)]
        if k // (_HELD * len(orders)) % 2 == 0:
            level = costs.max() - costs + order * max(1, (rule.switch - 1) // (2 * n_classes))
        else:
            level = order * (largest // int(order.max()))
        found[k] = np.clip(level, 0, largest)
        costs += found[k]
        costs = (np.minimum(costs - costs.min(), rule.switch)[:, None] + prices).min(axis=0)
    return found


_HELD = 25
"""Number of steps of one order."""
_KINDS = (_any, _small, _near, _turns, _equal, _ordered)
