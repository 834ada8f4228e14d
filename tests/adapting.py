"""Models that adapt: trained ones of each structure, and rules at the limits of their types."""

from collections.abc import Callable
from dataclasses import replace
from functools import cache, partial

from bncc.model.adaptation import Adaptation, addressable
from bncc.model.filter import Filter
from bncc.model.model import Model
from bncc.train.decision_rules import DecisionRules
from bncc.train.settings import TrainSettings
from bncc.train.train_model import train_model
from tests import models as hand
from tests.dwelling import dataset

SETTINGS = {
    "naive": TrainSettings(structure="naive", parameters="ml"),
    "tables": TrainSettings(structure="tables", structure_options={"tables": "8"}),
    "trees": TrainSettings(structure="tables", structure_options={"tables": "3", "leaves": "6"}),
}


@cache
def adapting(structure: str) -> Model:
    """Return a trained model with the adaptation that is chosen for it."""
    settings = SETTINGS[structure]
    result = train_model(dataset(), settings)
    return DecisionRules(adapts=True).applied(result, dataset(), settings).model


def with_rule(model: Model, tables: int, step: int, margin: int, bound: int = 7) -> Model:
    """Return a model with offsets of the rows of its first tables."""
    named = addressable(model.structure)[:tables]
    return replace(model, adaptation=Adaptation(named, step, margin, bound))


ADAPTING: dict[str, Callable[[], Model]] = {
    "adapting": partial(adapting, "naive"),
    "adapting_tables": lambda: with_rule(adapting("tables"), 4, 2, 3),
    "adapting_trees": partial(adapting, "trees"),
    "adapting_all": lambda: with_rule(adapting("tables"), 8, 1, 1, 1),
    "adapting_far": lambda: with_rule(adapting("tables"), 2, 2**20, 2**24),
    "adapting_two_classes": lambda: with_rule(hand.wide_states(), 0, 8, 5, 3),
    "adapting_front": lambda: with_rule(hand.FRONTS["products_behind_a_front"](), 2, 4, 9),
    "adapting_filtered": lambda: replace(ADAPTING["adapting_tables"](), filter=Filter(9)),
    "adapting_gate": lambda: with_rule(hand.GATES["products_with_a_gate"](), 2, 4, 9),
}
"""Models that adapt: offsets of classes and of rows, in sums of every width."""
