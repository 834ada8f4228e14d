"""The filter over decisions in C: types that hold every cost for all scores, and prices."""

from dataclasses import dataclass, replace

from bncc.errors import IrError
from bncc.lower.c.c99 import ArrayText, array, unsigned
from bncc.lower.sample_stream import aligned
from bncc.model.filter import Filter
from bncc.program.ir import width_of


@dataclass(frozen=True)
class FilterPlan:
    """
    Template data for the filter.

    Between two steps the C keeps each cost up to the price, which decides alike: a step reads no
    more of it. With a price of each transition that is the largest: from the class of least cost,
    whose kept cost is 0, no transition costs more. With a lag it keeps one more of these, so that
    the origin of a path tells such a class from one at the price.
    """

    switch: int  # Price of a switch, or the largest of a transition
    largest: int  # No score exceeds this
    n_classes: int
    sum_bits: int  # Width of a cost in a step, which holds the largest score and the price
    hold: int = 1  # Decisions in a row that a switch needs
    # Price of each transition, from the class of the row; None if every switch has one price
    transitions: tuple[tuple[int, ...], ...] | None = None
    lag: int = 0  # Readings that a decision waits for

    @property
    def held_bits(self) -> int:
        """Width of a cost between two steps."""
        return width_of(self.most_kept)

    @property
    def held_type(self) -> str:
        """C type of a cost between two steps."""
        return unsigned(self.held_bits)

    @property
    def sum_type(self) -> str:
        """C type of a cost in a step."""
        return unsigned(self.sum_bits)

    @property
    def most_kept(self) -> int:
        """No cost between two steps exceeds this."""
        return self.switch + (self.transitions is not None and self.lag > 0)

    @property
    def largest_path(self) -> int:
        """No path to a class, without its score, costs more than this."""
        return self.switch if self.transitions is None else self.most_kept + self.switch

    @property
    def n_origins(self) -> int:
        """Number of classes that are kept: of each class for each reading of the lag."""
        return self.lag * self.n_classes

    @property
    def place_bits(self) -> int:
        """Width of a place among these."""
        return width_of(self.n_origins)

    @property
    def place_type(self) -> str:
        """C type of a place among these."""
        return unsigned(self.place_bits)

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
        """Additions and subtractions of a step, also of indices, without counters of loops."""
        n, of_hold = self.n_classes, int(self.hold > 1)
        # One place for each class, that of the next step, and two for each reading of the lag
        of_lag = n + 1 + 2 * self.lag if self.lag else 0
        if self.transitions is not None:
            # Each path and score, the cost above the least one, and the index of prices
            return n * (n + 3 + (self.lag > 0)) + of_hold + of_lag
        return n * (3 if self.switch else 1) + of_hold + of_lag

    @property
    def comparisons(self) -> int:
        """Comparisons of costs in a step, and of what a hold or a lag compares."""
        of_hold = 4 if self.hold > 1 else 0
        of_lag = 2 + self.lag if self.lag else 0
        if self.transitions is not None:
            n_paths = self.n_classes + (self.lag > 0)
            return self.n_classes * (n_paths + 1) - 1 + of_hold + of_lag
        return self.n_classes * (2 if self.switch else 1) - 1 + of_hold + of_lag

    @property
    def _members(self) -> list[tuple[int, int]]:
        """Number and bytes of the members of the state, in order."""
        of_costs = (self.n_classes + (3 if self.hold > 1 else 0), self.held_bits // 8)
        of_lag = [(1, self.place_bits // 8), (1 + self.n_origins, 1)]
        return [of_costs, *(of_lag if self.lag else [])]

    @property
    def n_bytes(self) -> int:
        """Bytes of the state between two steps, without alignment."""
        return sum(n * width for n, width in self._members)

    @property
    def alignment(self) -> int:
        """Bytes to a multiple of which targets align the state."""
        return max(width for _, width in self._members)

    @property
    def aligned_bytes(self) -> int:
        """Bytes of the state on targets that align each number to its size."""
        at = 0
        for n, width in self._members:
            at = aligned(at, width) + n * width
        return aligned(at, self.alignment)


def plan_filter(rule: Filter, largest: int, sum_bits: int, n_classes: int) -> FilterPlan:
    """Choose types for a filter, scores up to a largest one and the bits of their type."""
    switch = rule.switch
    plan = FilterPlan(switch, largest, n_classes, sum_bits, rule.hold, rule.transitions, rule.lag)
    if plan.largest_sum >= 1 << 32:
        raise IrError(
            f"the price {switch} of a switch and scores of up to {largest} exceed 32 bits; train "
            "with fewer bits, or with a lower price"
        )
    return replace(plan, sum_bits=max(sum_bits, width_of(plan.largest_sum)))
