"""Fast prices from table bits."""

from bncc.model.card import model_facts
from bncc.model.model import Model
from bncc.resources import Budget, Resources, Span

CODE = 200
"""Bytes of the priced C of these tests in addition to its tables."""


def resources(flash: int, instructions: int = 1) -> Resources:
    """Return so many bytes, and a decision of so many instructions."""
    span = Span(instructions, instructions, instructions)
    return Resources(
        "cortex-m0", flash, 0, 0, {"predict": span}, None, ("predict",), "size", "-Os", "estimated"
    )


def price_by_tables(
    model: Model, budget: Budget, readings: object, failed: object = None
) -> Resources:
    flash = CODE + model_facts(model)["table_bits"] // 8
    return resources(flash, 10 * len(model.tables))


def no_estimate(model: Model, budget: Budget) -> None:
    """Leave the time of the fastest layout unknown."""
