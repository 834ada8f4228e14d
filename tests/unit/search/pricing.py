"""Prices by table bits, as quickly as that."""

from bncc.model.card import model_facts
from bncc.model.model import Model
from bncc.search.budget import Budget, Price

CODE = 200
"""Bytes that the priced C of these tests has beside its tables."""


def price_by_tables(
    model: Model, budget: Budget, readings: object, *, is_timed: bool = False
) -> Price:
    flash = CODE + model_facts(model)["table_bits"] // 8
    return Price(flash, 10 * len(model.tables), "size", is_measured=False)
