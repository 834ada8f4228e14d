"""The counters of decisions in C: limits on the margin that fit its type."""

from dataclasses import dataclass

from bncc.model.counters import FULL, CounterLayout, Counters


@dataclass(frozen=True)
class CounterPlan:
    """
    Template data for the counters.

    A bin whose least margin exceeds every score is never counted, and not compared.
    """

    layout: CounterLayout
    limits: tuple[tuple[int, int], ...]  # Least margin and number of each bin, the last one first
    full: int = FULL  # Value of a counter at which all are halved

    @property
    def n_bins(self) -> int:
        """Number of bins of margins."""
        return self.layout.n_bins

    @property
    def n_bytes(self) -> int:
        """Bytes of all counters, and of the class of the decision before."""
        return 2 * (len(self.layout.names) + self.layout.is_in_time)


def plan_counters(counters: Counters, largest: int, *, has_unknown: bool) -> CounterPlan:
    """Return the bins that margins of scores up to a largest one can reach."""
    limits = [(least, k) for k, least in enumerate(counters.margins) if 0 < least <= largest]
    return CounterPlan(counters.layout(has_unknown=has_unknown), tuple(limits[::-1]))
