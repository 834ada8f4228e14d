"""Trained models with counters of decisions: in time and not, with rules, and with few bins."""

from collections.abc import Callable
from dataclasses import replace
from functools import cache, partial

from bncc.model.counters import Counters, Counts
from bncc.model.model import Model
from bncc.train.decision_rules import DecisionRules
from bncc.train.train_model import train_model
from tests.dwelling import dataset
from tests.unknown import MIXED, SETTINGS, readings


@cache
def counting(structure: str, *kinds: str, unknown: float | None = None) -> Model:
    """Return a trained model with counters: of rows in time order, or of some types of readings."""
    rows = readings(kinds, gaps=0.1) if kinds else dataset()
    settings = SETTINGS[structure]
    rules = DecisionRules(confidence=bool(kinds), unknown=unknown, counters=True)
    return rules.applied(train_model(rows, settings), rows, settings).model


def with_bins(model: Model, *margins: int) -> Model:
    """Return a model with other bins of margins, all of whose decisions are in the first one."""
    assert model.counters is not None
    held = model.counters.expected
    counts = Counts(
        held.classes,
        (held.n, *(0,) * (len(margins) - 1)),
        held.unknown,
        held.stays,
        held.switches,
    )
    return replace(model, counters=Counters(margins, counts))


COUNTED: dict[str, Callable[[], Model]] = {
    "counted": partial(counting, "naive"),
    "counted_trees": partial(counting, "trees", "float32", "float32"),
    "counted_unknown": partial(counting, "naive", unknown=0.1),
    "counted_mixed": partial(counting, "tables", *MIXED, unknown=0.1),
    "counted_alone": lambda: with_bins(counting("naive"), 0),
    "counted_far": lambda: with_bins(counting("tables"), 0, 1, 2**16, 2**32 - 1),
}
"""Models with counters: trained ones, of one bin of margins, and of bins that none reaches."""
