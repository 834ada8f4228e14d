"""Optional parts of a model that use its scores: rules for decisions, counters, adaptation."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from bncc._types import FloatArray, IntArray
from bncc.model import adaptation, confidence, counters, unknown
from bncc.model import filter as over_time
from bncc.model.model import Model
from bncc.model.used import used_inputs
from bncc.resources import PLAIN_FILTER, FilterForm


@dataclass(frozen=True)
class Extra:
    """An optional part of a model, by the name of its entry point."""

    field: str  # Its field in `Model` and in a layout
    compares: str  # Operands of the branches of its C
    on: str  # Where its time depends on them
    required: Callable[[Any], Any]  # Refuses None
    # One of the largest C that training chooses for a model, where its bytes alone matter, and of
    # the form of a filter
    stand_in: Callable[[Model, FilterForm], Any]


@dataclass(frozen=True)
class Rule(Extra):
    """A rule for decisions."""

    # Results on rows by scores (n, n_classes) and readings (n, n_inputs), as the last of its
    # functions returns them: (n,) int
    decide: Callable[[Model, IntArray, FloatArray | None], IntArray]


def _switching(model: Model, form: FilterForm) -> over_time.Filter:
    """Return prices of 16 bits."""
    largest, n = 2**15 - 1, model.n_classes
    rows = tuple(tuple(largest * (a != b) for b in range(n)) for a in range(n))
    return over_time.Filter(largest, form.hold, rows if form.has_transitions else None, form.lag)


def _leveled(model: Model, form: FilterForm) -> confidence.Confidence:
    """Return levels in octaves, the largest at half of a bound on all scores."""
    largest = int(model.prior.max() + sum(int(table.max()) for table in model.tables))
    margins = sorted({0, *(largest >> k for k in range(1, confidence.LEVELS))})
    percent = tuple(range(50, 50 + len(margins)))
    return confidence.Confidence(tuple(margins), percent, margins[-1])


def _ranged(model: Model, form: FilterForm) -> unknown.Unknown:
    """Return ranges of all inputs, with a least margin for each number of readings outside."""
    rated = (model.inputs[f] for f in used_inputs(model))
    ranges = {feature.name: (None,) * model.n_classes for feature in rated if feature.is_numeric}
    return unknown.Unknown(ranges, 1, -1)


def _counted(model: Model, form: FilterForm) -> counters.Counters:
    """Return bins of the margins of a confidence, counted in time."""
    margins = _leveled(model, form).margins[: counters.MAX_BINS]
    none = (0,) * (model.n_classes - 1)
    expected = counters.Counts(
        (1, *none),
        (1, *(0,) * (len(margins) - 1)),
        unknown=None if model.unknown is None else 0,
        stays=0,
        switches=0,
    )
    return counters.Counters(margins, expected)


def _adapting(model: Model, form: FilterForm) -> adaptation.Adaptation:
    """Return offsets of the rows of as many tables as training tries."""
    (*_, tables) = adaptation.tables_to_try(model.structure, model.lookups, model.n_classes)
    return adaptation.Adaptation(tables, 2, 1)


def _filtered(model: Model, scores: IntArray, R: FloatArray | None) -> IntArray:
    """Return the answers to rows that are one sequence."""
    rule = over_time.required(model.filter)
    return over_time.answered(scores, np.zeros(len(scores), dtype=np.int64), rule)


def _sure(model: Model, scores: IntArray, R: FloatArray | None) -> IntArray:
    return confidence.decided(scores, confidence.required(model.confidence))


def _known(model: Model, scores: IntArray, R: FloatArray | None) -> IntArray:
    assert R is not None, "readings are compared"
    return unknown.required(model.unknown).known_class(model.features, R, scores)


RULES: Mapping[str, Rule] = {
    "confidence": Rule("confidence", "margins", "scores", confidence.required, _leveled, _sure),
    "filter": Rule("filter", "costs", "scores", over_time.required, _switching, _filtered),
    "unknown": Rule("unknown", "readings", "them", unknown.required, _ranged, _known),
}
"""All rules for decisions."""
EXTRAS: Mapping[str, Extra] = {
    **RULES,
    "counters": Extra("counters", "margins", "scores", counters.required, _counted),
    "adapt": Extra("adaptation", "costs", "scores", adaptation.required, _adapting),
}
"""All optional parts, those first on which others depend."""


def rules_of(model: Model) -> tuple[str, ...]:
    """Return the names of the rules that a model has."""
    return tuple(name for name in RULES if getattr(model, name) is not None)


def own_entries(model: Model) -> tuple[str, ...]:
    """Return the entry points that only some models have: rules, counters, an adaptation."""
    return tuple(name for name, each in EXTRAS.items() if getattr(model, each.field) is not None)


def with_stand_ins(model: Model, names: Collection[str], form: FilterForm = PLAIN_FILTER) -> Model:
    """Return a model with a stand-in for each of some of `EXTRAS` that it does not have."""
    for name, each in EXTRAS.items():
        if name in names and getattr(model, each.field) is None:
            model = replace(model, **{each.field: each.stand_in(model, form)})
    return model
