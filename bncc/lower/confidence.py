"""The confidence of decisions in C: limits on the margin that fit its type."""

from dataclasses import dataclass

from bncc.model.confidence import UNSURE, Confidence


@dataclass(frozen=True)
class ConfidencePlan:
    """
    Template data for the confidence.

    Levels whose least margin exceeds every score are left out: no margin reaches them.
    """

    levels: tuple[tuple[int, int], ...]  # Least margin and percentage, the largest margin first
    least_margin: int | None  # Margin from which on a decision is accepted; None accepts none
    unsure: int = UNSURE  # Result for a rejected decision

    @property
    def lowest(self) -> int:
        """Percentage of the smallest margins."""
        return self.levels[-1][1]

    @property
    def others(self) -> tuple[tuple[int, int], ...]:
        """Levels of larger margins."""
        return self.levels[:-1]


def plan_confidence(confidence: Confidence, largest: int) -> ConfidencePlan:
    """Return the levels that margins of scores up to a largest one can reach."""
    levels = zip(confidence.margins, confidence.percent, strict=True)
    reached = tuple(level for level in levels if level[0] <= largest)
    least = confidence.least_margin
    return ConfidencePlan(reached[::-1], None if least > largest else least)
