"""Two classifiers on many data sets: wins, ties, losses, and a signed-rank test."""

from dataclasses import dataclass

import numpy as np
from scipy.stats import rankdata, wilcoxon

from bncc._types import FloatArray


@dataclass(frozen=True)
class Comparison:
    """How one classifier stands against another."""

    wins: int  # wins, ties, losses: Data sets on which it is better, equal, worse
    ties: int
    losses: int
    median: float  # Of the differences, its value less the other's
    p: float | None  # Of the one-sided Wilcoxon signed-rank test; None where all differences are 0
    # Whether the test's alternative is that its values are less than the other's, not greater
    is_less: bool

    @property
    def n(self) -> int:
        """Number of data sets."""
        return self.wins + self.ties + self.losses


def compare(
    ours: FloatArray, theirs: FloatArray, negligible: float, *, more_is_better: bool = False
) -> Comparison:
    """
    Compare two classifiers, data set by data set.

    The test is one-sided in the direction of the median difference. Where the median is 0, as it
    is with many ties, the direction is that of the greater sum of ranks, and "less" if they are
    equal. Differences of 0 are dropped (Wilcoxon's own way). It is exact for up to 50 differences
    whose magnitudes are all different, as in scipy, and normal otherwise.

    Shapes: `ours`, `theirs` (n_sets,) float64.

    References
    ----------
    S2, section 4, tables 1 to 4.
    """
    d = np.asarray(ours, dtype=np.float64) - np.asarray(theirs, dtype=np.float64)
    d = np.where(np.abs(d) <= negligible, 0.0, d)
    less, more = int((d < 0).sum()), int((d > 0).sum())
    wins, losses = (more, less) if more_is_better else (less, more)
    median = float(np.median(d)) if len(d) else 0.0
    is_less = _sum_of_ranks(d) <= 0 if median == 0 else median < 0
    p = None
    if less + more:
        p = float(wilcoxon(d[d != 0], alternative="less" if is_less else "greater").pvalue)
    return Comparison(wins, len(d) - less - more, losses, median, p, is_less)


def _sum_of_ranks(d: FloatArray) -> float:
    """Return the signed ranks' sum: positive where differences above 0 are more or larger."""
    d = d[d != 0]
    return float((np.sign(d) * rankdata(np.abs(d))).sum())
