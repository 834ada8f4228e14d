"""The filter over decisions in C: types that hold every cost for all scores, and prices."""

from dataclasses import dataclass, replace

from bncc.errors import IrError
from bncc.lower.c.c99 import ArrayText, array, unsigned
from bncc.model.filter import Filter
from bncc.program.ir import width_of


@dataclass(frozen=True)
class FilterPlan:
    """
    Template data for the filter.

    Between two steps the C keeps each cost up to the price, which decides alike: a step reads no
    more of it. With a price of each transition that is the largest: from the class of least cost,
    whose kept cost is 0, no transition costs more.
    """

    switch: int  # Price of a switch, or the largest of a transition
    largest: int  # No score exceeds this
    n_classes: int
    held_bits: int  # Width of a cost between two steps, which holds the price
    sum_bits: int  # Width of a cost in a step, which holds the largest score and the price
    hold: int = 1  # Decisions in a row that a switch needs
    # Price of each transition, from the class of the row; None if every switch has one price
    transitions: tuple[tuple[int, ...], ...] | None = None

    @property
    def held_type(self) -> str:
        """C type of a cost between two steps."""
        return unsigned(self.held_bits)

    @property
    def sum_type(self) -> str:
        """C type of a cost in a step."""
        return unsigned(self.sum_bits)

    @property
    def largest_path(self) -> int:
        """No path to a class, without its score, costs more than this."""
        return self.switch if self.transitions is None else 2 * self.switch

    @property
    def largest_sum(self) -> int:
        """No cost in a step exceeds this."""
        return max(self.largest + self.switch, self.largest_path)

    @property
    def at_type(self) -> str:
        """C type of an index of the transitions."""
        return unsigned(8 if self.n_classes**2 < 256 else 16)

    @property
    def arrays(self) -> tuple[ArrayText, ...]:
        """The prices of transitions, by the class that they lead to."""
        if self.transitions is None:
            return ()
        prices = [price for to in zip(*self.transitions, strict=True) for price in to]
        return (
            array("transition", self.held_bits, prices, "Prices of transitions to each class."),
        )

    @property
    def additions(self) -> int:
        """Additions and subtractions of a step, without those of indices."""
        if self.transitions is not None:
            return self.n_classes * (self.n_classes + 2) + (self.hold > 1)
        return self.n_classes * (3 if self.switch else 1) + (self.hold > 1)

    @property
    def comparisons(self) -> int:
        """Comparisons of costs in a step, and of classes where a switch needs several."""
        of_hold = 4 if self.hold > 1 else 0
        if self.transitions is not None:
            return self.n_classes * (self.n_classes + 1) - 1 + of_hold
        return self.n_classes * (2 if self.switch else 1) - 1 + of_hold

    @property
    def n_bytes(self) -> int:
        """Bytes of the state between two steps."""
        return (self.n_classes + (3 if self.hold > 1 else 0)) * self.held_bits // 8


def plan_filter(rule: Filter, largest: int, sum_bits: int, n_classes: int) -> FilterPlan:
    """Choose types for a filter, scores up to a largest one and the bits of their type."""
    switch = rule.switch
    plan = FilterPlan(
        switch, largest, n_classes, width_of(switch), sum_bits, rule.hold, rule.transitions
    )
    if plan.largest_sum >= 1 << 32:
        raise IrError(
            f"the price {switch} of a switch and scores of up to {largest} exceed 32 bits; train "
            "with fewer bits, or with a lower price"
        )
    return replace(plan, sum_bits=max(sum_bits, width_of(plan.largest_sum)))
