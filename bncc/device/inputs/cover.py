"""States and readings that reach every table row, class boundary and threshold, or everything."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import prod

import numpy as np

from bncc._types import FloatArray, IntArray
from bncc.discretize.readings import (
    probe_values,
    representatives,
    states_of_values,
    with_difference,
)
from bncc.model.model import Model
from bncc.model.reference import costs, predict

DIFFERENCE_CONTEXTS = 8
"""Rows that test each value of a difference."""
PROBE_CELLS = 2**24
"""Limit on the cells of all readings that test one value of one feature, for huge models."""


def spans(n: int, size: int) -> Iterator[tuple[int, int]]:
    """Cut ``0 .. n`` into ranges of at most `size`."""
    for start in range(0, n, size):
        yield start, min(start + size, n)


def n_joint_states(model: Model) -> int:
    """Return the number of joint states of all features."""
    return prod(model.n_states)


def joint_states(model: Model, start: int, stop: int) -> IntArray:
    """
    Return joint states by number, the last feature fastest.

    Shapes: returns X (stop - start, n_features) int64, states.
    """
    number = np.arange(start, stop, dtype=np.int64)
    X = np.empty((len(number), model.n_features), dtype=np.int64)
    for i in range(model.n_features - 1, -1, -1):
        number, X[:, i] = np.divmod(number, model.n_states[i])
    return X


def random_states(model: Model, n: int, rng: np.random.Generator) -> IntArray:
    """
    Return states sampled uniformly.

    Shapes: returns X (n, n_features) int64, states.
    """
    return rng.integers(0, np.array(model.n_states), size=(n, model.n_features), dtype=np.int64)


@dataclass(frozen=True)
class Course:
    """Sequence of the states of a feature over the inputs."""

    stride: int  # Number of consecutive inputs with the same state
    states: tuple[int, ...]  # The states, repeated


def row_cover(model: Model) -> tuple[tuple[dict[int, Course], int], ...]:
    """
    Plan inputs that reach every row of every table, sharing inputs between tables.

    Within one group, input k gives feature j the state number ``(k // stride) % len(states)`` of
    its course; the features of a table then take all their joint levels in ``n_inputs`` steps.
    """
    groups: list[tuple[dict[int, Course], int]] = []
    for lookup in model.lookups:
        courses_of = lookup.courses(model.n_states)
        wanted, n_inputs = {j: Course(*each) for j, each in courses_of.items()}, lookup.n_rows
        for k, (courses, longest) in enumerate(groups):
            # A table joins if its features are free or already have the required course.
            if all(courses.get(j, course) == course for j, course in wanted.items()):
                courses.update(wanted)
                groups[k] = (courses, max(longest, n_inputs))
                break
        else:
            groups.append((wanted, n_inputs))
    return tuple(groups)


def row_states(
    model: Model, courses: dict[int, Course], start: int, stop: int, rng: np.random.Generator
) -> IntArray:
    """
    Return some of the inputs that `row_cover` planned for one group.

    Shapes: returns X (stop - start, n_features) int64, states.
    """
    X = random_states(model, stop - start, rng)
    number = np.arange(start, stop, dtype=np.int64)
    for j, course in courses.items():
        X[:, j] = np.array(course.states)[(number // course.stride) % len(course.states)]
    return X


def boundary_states(model: Model, X: IntArray) -> IntArray:
    """
    Return states on both sides of class boundaries that differ in one feature.

    Between two inputs of different class, if the second's states replace the first's one feature at
    a time, the decision changes at some step; bisection finds one.

    Shapes: `X` (n, n_features) int; returns (2 m, n_features) int64, states, m <= n // 2; none
    where all pairs have one class.
    """
    half = len(X) // 2
    a, b = X[:half], X[half : 2 * half]
    class_a = predict(model, a)
    differ = class_a != predict(model, b)
    a, b, class_a = a[differ], b[differ], class_a[differ]
    if len(a) == 0:
        return np.empty((0, model.n_features), dtype=np.int64)
    low = np.zeros(len(a), dtype=np.int64)
    high = np.full(len(a), model.n_features, dtype=np.int64)
    while (high - low > 1).any():
        middle = (low + high) // 2
        same = predict(model, _mix(a, b, middle)) == class_a
        low, high = np.where(same, middle, low), np.where(same, high, middle)
    return np.concatenate([_mix(a, b, low), _mix(a, b, high)])


def _mix(a: IntArray, b: IntArray, n_taken: IntArray) -> IntArray:
    taken = np.arange(a.shape[1]) < n_taken[:, None]
    return np.where(taken, b, a)


def readers(model: Model) -> tuple[tuple[int, ...], ...]:
    """Return, for each feature, the tables that read it."""
    tables: list[list[int]] = [[] for _ in model.features]
    for t, lookup in enumerate(model.lookups):
        for j in lookup.read:
            tables[j].append(t)
    return tuple(map(tuple, tables))


def decisions_along(
    model: Model, X: IntArray, total: IntArray, i: int, touched: tuple[int, ...]
) -> IntArray:
    """
    Return the decision as a function of one feature, with the others fixed.

    Shapes: `X` (n, n_features) int; `total` (n, n_classes) int64; returns (n, n_states[i]) int64,
    class indices.
    """
    rest = total.copy()
    for t in touched:
        rest -= model.tables[t][model.lookups[t].rows(X)]
    decisions = np.empty((len(X), model.n_states[i]), dtype=np.int64)
    for state in range(model.n_states[i]):
        moved = rest.copy()
        for t in touched:
            moved += model.tables[t][model.lookups[t].rows(X, {i: state})]
        decisions[:, state] = moved.argmin(axis=1)
    return decisions


def raw_blocks(
    model: Model, n_random: int, rng: np.random.Generator, size: int
) -> Iterator[FloatArray]:
    """
    Generate raw readings that test every probe value of every feature.

    Shapes: yields (n, n_inputs) float64, values of the C types.
    """
    values = [probe_values(feature) for feature in model.inputs]
    for start, stop in spans(n_random, size):
        yield np.column_stack([rng.choice(v, size=stop - start) for v in values])
    # Every value of every feature together, in a few inputs ...
    for start, stop in spans(max(len(v) for v in values), size):
        k = np.arange(start, stop)
        yield np.column_stack([v[k % len(v)] for v in values])
    # ... then each alone, where the decision depends on it.
    yield from _stacked(_probes(model, values, rng), size)
    yield from _stacked(_difference_probes(model, rng), size)


def _difference_probes(model: Model, rng: np.random.Generator) -> Iterator[FloatArray]:
    """Generate raw rows that test each value of each difference, in several contexts."""
    values = [probe_values(feature) for feature in model.inputs]
    budget = PROBE_CELLS // model.n_features
    for feature in model.features[len(model.inputs) :]:
        wanted = np.repeat(probe_values(feature), DIFFERENCE_CONTEXTS)
        budget -= len(wanted)
        if budget < 0:
            return
        R = np.column_stack([rng.choice(v, size=len(wanted)) for v in values])
        yield with_difference(model.features, feature, R, wanted)


def _stacked(parts: Iterator[FloatArray], size: int) -> Iterator[FloatArray]:
    """Join small blocks to blocks of about `size` rows."""
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
    Generate raw rows that test each value of each feature where a wrong state would be visible.

    For a value of state s and each possible wrong state (a neighbor, the state of a missing
    reading, the ends), the context is one in which the two lead to different decisions.
    """
    X = random_states(model, 128, rng)
    X = np.concatenate([boundary_states(model, X), X[:1]])
    total, tables = costs(model, X), readers(model)
    R = np.column_stack([representatives(f)[X[:, j]] for j, f in enumerate(model.inputs)])
    budget = PROBE_CELLS // model.n_features
    for i, feature in enumerate(model.inputs):
        own = states_of_values(feature, values[i])
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
