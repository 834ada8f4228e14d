"""The rules for decisions that a model may have: a filter, a confidence, unknown readings."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from bncc._types import FloatArray, IntArray
from bncc.model import confidence, unknown
from bncc.model import filter as over_time
from bncc.model.model import Model
from bncc.model.used import used_inputs


@dataclass(frozen=True)
class Rule:
    """A rule: its name is that of its field in `Model` and of its entry point."""

    compares: str  # Operands of the branches of its C
    on: str  # Where its time depends on them
    required: Callable[[Any], Any]  # Refuses None
    # A rule of the largest C that training chooses for a model, where its bytes alone matter
    stand_in: Callable[[Model], Any]
    # Results on rows by scores (n, n_classes) and readings (n, n_inputs), as the last of its
    # functions returns them: (n,) int
    decide: Callable[[Model, IntArray, FloatArray | None], IntArray]


def _switching(model: Model) -> over_time.Filter:
    return over_time.Filter(2**15 - 1)


def _leveled(model: Model) -> confidence.Confidence:
    """Return levels in octaves, the largest at half of a bound on all scores."""
    largest = int(model.prior.max() + sum(int(table.max()) for table in model.tables))
    margins = sorted({0, *(largest >> k for k in range(1, confidence.LEVELS))})
    percent = tuple(range(50, 50 + len(margins)))
    return confidence.Confidence(tuple(margins), percent, margins[-1])


def _ranged(model: Model) -> unknown.Unknown:
    """Return ranges of all inputs, with a least margin for each number of readings outside."""
    rated = (model.inputs[f] for f in used_inputs(model))
    ranges = {feature.name: (None,) * model.n_classes for feature in rated if feature.is_numeric}
    return unknown.Unknown(ranges, 1, -1)


def _filtered(model: Model, scores: IntArray, R: FloatArray | None) -> IntArray:
    """Return the classes of rows that are one sequence."""
    rule = over_time.required(model.filter)
    return over_time.decided(scores, np.zeros(len(scores), dtype=np.int64), rule)


def _sure(model: Model, scores: IntArray, R: FloatArray | None) -> IntArray:
    return confidence.decided(scores, confidence.required(model.confidence))


def _known(model: Model, scores: IntArray, R: FloatArray | None) -> IntArray:
    assert R is not None, "readings are compared"
    return unknown.required(model.unknown).known_class(model.features, R, scores)


RULES: Mapping[str, Rule] = {
    "confidence": Rule("margins", "scores", confidence.required, _leveled, _sure),
    "filter": Rule("costs", "scores", over_time.required, _switching, _filtered),
    "unknown": Rule("readings", "them", unknown.required, _ranged, _known),
}
"""All rules for decisions."""


def rules_of(model: Model) -> tuple[str, ...]:
    """Return the names of the rules that a model has."""
    return tuple(name for name in RULES if getattr(model, name) is not None)


def own_entries(model: Model) -> tuple[str, ...]:
    """Return the entry points of C that only some models have: rules, counters, an adaptation."""
    others = {"counters": model.counters, "adapt": model.adaptation}
    return *rules_of(model), *(name for name, found in others.items() if found is not None)


def with_stand_ins(model: Model, names: Collection[str]) -> Model:
    """Return a model with a stand-in for each of some rules that it does not have."""
    lacking = [name for name in RULES if name in names and getattr(model, name) is None]
    stand_ins = {name: RULES[name].stand_in(model) for name in lacking}
    return replace(model, **stand_ins) if lacking else model
