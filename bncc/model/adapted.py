"""Models that adapt, as on a device: labeled inputs are learned, others decided on."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from bncc._types import IntArray
from bncc.model import reference
from bncc.model.adaptation import (
    AdaptationEffect,
    Judged,
    Offsets,
    effect_of,
    judged,
    labeled_halves,
    number_learned,
    required,
    rows_of,
)
from bncc.model.model import Model


class AdaptedModel:
    """A model with the offsets that a device has learned: what ``NAME_adaptation_t`` is in C."""

    def __init__(self, model: Model) -> None:
        """Begin without offsets; refuse a model that does not adapt."""
        self.model = model
        self._tables = required(model.adaptation).tables
        n_rows = max((model.lookups[t].n_rows for t in self._tables), default=1)
        self._offsets = Offsets(required(model.adaptation), n_rows, model.n_classes)

    def forget(self) -> None:
        """Set all offsets to 0."""
        self._offsets.forget()

    def learn(self, X: IntArray, y: IntArray) -> int:
        """
        Learn inputs with their classes, one after the other; return how many moved offsets.

        An index that is no class changes nothing. Shapes: `X` (n, n_features) int, states; `y` (n,)
        int.
        """
        scores, rows = reference.scores(self.model, X), rows_of(self.model.lookups, self._tables, X)
        known = np.flatnonzero((y >= 0) & (y < self.model.n_classes)).tolist()
        return sum(self._offsets.learn(rows[k], scores[k], int(y[k])) for k in known)

    def scores(self, X: IntArray) -> IntArray:
        """Return costs with offsets less the least, (n, n_classes) int64; `X` as in `learn`."""
        rows = rows_of(self.model.lookups, self._tables, X)
        costs = self._offsets.costs(rows, reference.scores(self.model, X))
        return np.asarray(costs - costs.min(axis=1, keepdims=True))


def taught(model: Model, X: IntArray, scores: IntArray) -> IntArray:
    """
    Return the adapted class of each input, once it was learned as one of the class after its own.

    Shapes: `X` (n, n_features) int, states; `scores` (n, n_classes) int; returns (n,) int64.
    """
    rule = required(model.adaptation)
    rows = rows_of(model.lookups, rule.tables, X)
    offsets = Offsets(rule, int(rows.max(initial=0)) + 1, model.n_classes)
    labels = (scores.argmin(axis=1) + 1) % model.n_classes
    found = np.zeros(len(X), dtype=np.int64)
    for k, label in enumerate(labels.tolist()):
        offsets.learn(rows[k], scores[k], label)
        found[k] = offsets.classes(rows[k], scores[k])
    return found


@dataclass(frozen=True, eq=False)
class LabeledInputs:
    """Inputs with their classes, in the order of learning, and to whom a device has adapted."""

    X: IntArray  # (n, n_features) states
    y: IntArray  # (n,) class indices, or -1 for an unknown class
    groups: Sequence[str] = ()  # Group of each, by which a device forgets; none if all are of one

    def scores(self, model: Model, X: IntArray, groups: Sequence[str] = ()) -> IntArray:
        """Return scores of inputs as those of devices that have learned what is of their group."""
        adapted = AdaptedModel(model)
        if not groups:
            adapted.learn(self.X, self.y)
            return adapted.scores(X)
        found = np.zeros((len(X), model.n_classes), dtype=np.int64)
        of_rows, learned = np.array(groups), np.array(self.groups)
        for group in dict.fromkeys(groups):
            adapted.forget()
            adapted.learn(self.X[learned == group], self.y[learned == group])
            found[of_rows == group] = adapted.scores(X[of_rows == group])
        return found

    def effect(
        self, before: IntArray, after: IntArray, y: IntArray, groups: Sequence[str] = ()
    ) -> AdaptationEffect:
        """Return the effect on rows (n,) with classes `y`, from decisions before and after."""
        of_rows = np.array(groups or [""] * len(y))
        parts = [of_rows == group for group in dict.fromkeys(of_rows.tolist())]
        found = [Judged((before != y)[part], (after != y)[part]) for part in parts]
        is_learned = (self.y >= 0) & (not groups or np.isin(np.array(self.groups), of_rows))
        effect = effect_of(int(is_learned.sum()), found)
        assert effect is not None, "some rows are left"
        return effect


def effect_on_halves(
    model: Model, X: IntArray, y: IntArray, groups: IntArray
) -> AdaptationEffect | None:
    """
    Return the effect on what follows the first half of each run; None if no row follows.

    See `labeled_halves`. Shapes: `X` (n, n_features) int, states; `y` and `groups` (n,) int.
    """
    rule = required(model.adaptation)
    halves = list(labeled_halves(y, groups))
    rows, scores = rows_of(model.lookups, rule.tables, X), reference.scores(model, X)
    return effect_of(number_learned(halves), judged(rule, halves, rows, scores, y))
