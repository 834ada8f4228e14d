"""Explanation of a prediction: the contribution of each table, and changes that would flip it."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import inf

import numpy as np

from bncc._types import BoolArray, FloatArray, IntArray
from bncc.discretize.feature import LARGEST_INT, SMALLEST_INT, Feature
from bncc.discretize.readings import is_missing_reading
from bncc.model.model import Model
from bncc.model.ranges import reading_ranges
from bncc.model.reference import costs, predict, rows
from bncc.model.used import used_features

BLOCK = 256
"""States that are tried at once, the nearest first."""


@dataclass(frozen=True)
class Change:
    """The nearest state of one feature that changes the decision, all others held."""

    feature: int  # Which one
    state: int  # Its other state
    decision: int  # The class index that it leads to


def contributions(model: Model, X: IntArray) -> FloatArray:
    r"""
    Return the contributions of the prior and of each table to each class.

    With integer costs q and B_F fraction bits, table t says for class c

    .. math:: 2^{-B_F} \Bigl(\frac{1}{C} \sum_k q_t[k] - q_t[c]\Bigr)

    so that a table that tells no classes apart says 0, and the class of the largest sum over tables
    is decided for, but for ties. Where a table has vetoes, the mean is over the classes without
    one.

    Shapes: `X` (n_samples, n_features) int; returns (n_samples, 1 + n_tables, n_classes) float64,
    in nats, the prior first; 0 in the mean over classes, those that it calls impossible aside.
    """
    said = _costs_read(model, X)
    counts = np.ones(said.shape, dtype=np.bool_)
    if model.veto is not None:
        counts = said < model.veto
        counts |= ~counts.any(axis=2, keepdims=True)
    unit = 2.0**-model.q_format.frac_bits
    mean = said.mean(axis=2, keepdims=True, where=counts)
    return np.asarray(unit * (mean - said))


def impossible(model: Model, X: IntArray) -> BoolArray:
    """
    Return which classes have a probability of 0 in the prior and in each table.

    Shapes: `X` (n_samples, n_features) int; returns (n_samples, 1 + n_tables, n_classes) bool, the
    prior first.
    """
    said = _costs_read(model, X)
    veto = model.veto
    return np.zeros(said.shape, dtype=np.bool_) if veto is None else said >= veto


def _costs_read(model: Model, X: IntArray) -> IntArray:
    """Return the costs that are read of the prior and of each table."""
    read = rows(model, X)
    said = np.empty((len(read), 1 + len(model.tables), model.n_classes), dtype=np.int64)
    said[:, 0] = model.prior
    for t, table in enumerate(model.tables):
        said[:, 1 + t] = table[read[:, t]]
    return said


def runner_up(model: Model, x: IntArray) -> tuple[int, int]:
    """
    Return the class that is decided for, and the next best one.

    Shapes: `x` (n_features,) int.
    """
    order = np.argsort(costs(model, x[None])[0], kind="stable")
    return int(order[0]), int(order[1])


def changes(model: Model, x: IntArray) -> tuple[Change, ...]:
    """
    Return for each feature the nearest state that changes the decision.

    Shapes: `x` (n_features,) int.
    """
    found = []
    for f in sorted({f for lookup in model.lookups for f in lookup.features}):
        states = np.arange(model.n_states[f])
        nearest_first = np.argsort(np.abs(states - x[f]), kind="stable")[1:]
        turned = _first_turn(model, x, f, nearest_first)
        if turned is not None:
            found.append(Change(f, *turned))
    return tuple(found)


@dataclass(frozen=True)
class Flip:
    """The nearest reading in one direction that changes the decision."""

    reading: float  # Value of the feature's C type, or a state
    change: float  # Its distance from the row's reading, > 0
    state: int  # Its state
    decision: int  # The class index that it leads to


@dataclass(frozen=True)
class Margin:
    """Distances by which one reading changes the decision, all others held."""

    feature: int  # Which one
    reading: float  # The row's reading, as the C takes it
    down: Flip | None  # None if no smaller reading changes the decision
    up: Flip | None  # Likewise for larger ones

    @property
    def smallest(self) -> float | None:
        """The smaller distance of both; None without either."""
        return min((flip.change for flip in (self.down, self.up) if flip), default=None)


def margins(model: Model, r: FloatArray, x: IntArray) -> tuple[Margin, ...]:
    """
    Return the margin of each used feature whose reading is a number and not missing.

    Shapes: `r` (n_features,) float64, readings as the C takes them; `x` (n_features,) int, their
    states.
    """
    found = []
    for f in used_features(model):
        feature, reading = model.features[f], float(r[f])
        is_label = feature.kind == "category"
        is_beyond = feature.kind == "state" and reading >= feature.n_states
        if is_label or is_beyond or is_missing_reading(feature, r[f : f + 1])[0]:
            continue
        least, largest = _ends(feature)
        inside = [s for s in range(model.n_states[f]) if s in least]
        below = [s for s in reversed(inside) if s < x[f]]
        above = [s for s in inside if s > x[f]]
        down, up = (
            _flip(nearest, reading, _first_turn(model, x, f, np.array(states, dtype=np.int64)))
            for states, nearest in ((below, largest), (above, least))
        )
        found.append(Margin(f, reading, down, up))
    return tuple(found)


def _flip(
    nearest: Mapping[int, float], reading: float, turned: tuple[int, int] | None
) -> Flip | None:
    if turned is None:
        return None
    state, decision = turned
    return Flip(nearest[state], abs(nearest[state] - reading), state, decision)


def closest_first(model: Model, found: Iterable[Margin]) -> list[tuple[Margin, float | None]]:
    """
    Return margins with their share of the feature's training range, the smallest share first.

    Shares compare features of different units. It is None, and the margin after all others, without
    a record of the range or a reading that changes the decision.
    """
    ranges = reading_ranges(model.features, model.training)

    def share(margin: Margin) -> float | None:
        seen = None if ranges is None else ranges[margin.feature]
        if margin.smallest is None or seen is None or seen.low is None or seen.high is None:
            return None
        return margin.smallest / (seen.high - seen.low) if seen.high > seen.low else None

    shares = [(margin, share(margin)) for margin in found]
    return sorted(shares, key=lambda each: _last_if_none(each[1], each[0].smallest))


def _last_if_none(*values: float | None) -> tuple[float, ...]:
    return tuple(inf if value is None else value for value in values)


def _ends(feature: Feature) -> tuple[dict[int, float], dict[int, float]]:
    """Return the least and the largest finite reading of each state that has readings."""
    if feature.kind == "state":
        own = {s: float(s) for s in range(feature.n_states)}
        return own, own
    if feature.kind == "float32":
        greatest = np.finfo(np.float32).max
        with np.errstate(over="ignore"):  # the largest float's neighbor is infinity
            cuts = np.array(feature.thresholds, dtype=np.float32)
            starts = [-greatest, *np.nextafter(cuts, np.float32(np.inf))]
        stops = [*cuts, greatest]
    else:
        starts = [SMALLEST_INT[feature.kind], *(t + 1 for t in feature.thresholds)]
        stops = [*feature.thresholds, LARGEST_INT[feature.kind]]
    first = int(feature.has_missing_below)
    pairs = [(s, float(a), float(b)) for s, (a, b) in enumerate(zip(starts, stops, strict=True))]
    pairs = [(s, a, b) for s, a, b in pairs if s >= first and a <= b]
    return {s: a for s, a, _ in pairs}, {s: b for s, _, b in pairs}


def _first_turn(model: Model, x: IntArray, f: int, states: IntArray) -> tuple[int, int] | None:
    """
    Return the first of some states of a feature that changes the decision, and the new class.

    Shapes: `x` (n_features,) int; `states` (n,) int.
    """
    decision = int(predict(model, x[None])[0])
    for start in range(0, len(states), BLOCK):
        others = states[start : start + BLOCK]
        moved = np.tile(x, (len(others), 1))
        moved[:, f] = others
        decided = predict(model, moved)
        turned = np.flatnonzero(decided != decision)
        if len(turned):
            return int(others[turned[0]]), int(decided[turned[0]])
    return None
