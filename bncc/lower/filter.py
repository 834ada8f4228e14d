"""The filter over decisions in C: types that hold every cost for all scores."""

from dataclasses import dataclass

from bncc.errors import IrError
from bncc.lower.c.c99 import unsigned
from bncc.model.filter import Filter
from bncc.program.ir import width_of


@dataclass(frozen=True)
class FilterPlan:
    """
    Template data for the filter.

    Between two steps the C keeps each cost up to the price, which decides alike: a step reads no
    more of it.
    """

    switch: int  # Price of a switch
    largest: int  # No score exceeds this
    n_classes: int
    held_bits: int  # Width of a cost between two steps, which holds the price
    sum_bits: int  # Width of a cost in a step, which holds the largest score and the price
    hold: int = 1  # Decisions in a row that a switch needs

    @property
    def held_type(self) -> str:
        """C type of a cost between two steps."""
        return unsigned(self.held_bits)

    @property
    def sum_type(self) -> str:
        """C type of a cost in a step."""
        return unsigned(self.sum_bits)

    @property
    def largest_sum(self) -> int:
        """No cost in a step exceeds this."""
        return self.largest + self.switch

    @property
    def additions(self) -> int:
        """Additions and subtractions of a step."""
        return self.n_classes * (3 if self.switch else 1) + (self.hold > 1)

    @property
    def comparisons(self) -> int:
        """Comparisons of costs in a step, and of classes where a switch needs several."""
        return self.n_classes * (2 if self.switch else 1) - 1 + (4 if self.hold > 1 else 0)

    @property
    def n_bytes(self) -> int:
        """Bytes of the state between two steps."""
        return (self.n_classes + (3 if self.hold > 1 else 0)) * self.held_bits // 8


def plan_filter(rule: Filter, largest: int, sum_bits: int, n_classes: int) -> FilterPlan:
    """Choose types for a filter, scores up to a largest one and the bits of their type."""
    switch = rule.switch
    if largest + switch >= 1 << 32:
        raise IrError(
            f"the price {switch} of a switch and scores of up to {largest} exceed 32 bits; train "
            "with fewer bits, or with a lower price"
        )
    in_step = max(sum_bits, width_of(largest + switch))
    return FilterPlan(switch, largest, n_classes, width_of(switch), in_step, rule.hold)
