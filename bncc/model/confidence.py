"""
Confidence of decisions: the probability that one is right, by the margin of its scores.

The margin is the second least score less the least, an integer. A table of a few levels gives the
probability of each range of margins, and decisions below a least margin are rejected.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from bncc._types import BoolArray, IntArray
from bncc.errors import ModelError

CONFIDENCE = "confidence"
"""
Key in a model's training record: how good its confidence is, on ``held_out`` and on ``test`` rows.

Each is None, or a `ConfidenceEffect` as a mapping.
"""
UNSURE = -7
"""Result for a rejected decision."""
LEVELS = 8
"""Most levels that training chooses."""
MAX_LEVELS = 16
"""Most levels of a confidence."""
MAX_MARGIN = 2**32 - 1
LIKELIHOOD = 0.95
"""Probability with which a bound on an error rate holds."""


@dataclass(frozen=True)
class Confidence:
    """
    The confidence of a model's decisions by their margin.

    Parameters
    ----------
    margins : tuple of int
        Least margin of each level, ascending from 0, in units of a cost.
    percent : tuple of int
        Probability in percent that a decision of the level is right, ascending.
    least_margin : int
        Margin from which on decisions are accepted; 0 accepts all.
    """

    margins: tuple[int, ...]
    percent: tuple[int, ...]
    least_margin: int = 0

    def percent_of(self, margins: IntArray) -> IntArray:
        """Return the percentages (n,) int64 of margins (n,)."""
        level = np.searchsorted(self.margins, margins, side="right") - 1
        return np.asarray(np.array(self.percent, dtype=np.int64)[level])

    def accepts(self, margins: IntArray) -> BoolArray:
        """Return which decisions of margins (n,) are accepted, (n,) bool."""
        return np.asarray(margins) >= self.least_margin


@dataclass(frozen=True)
class ConfidenceEffect:
    """Calibration and accepted decisions of a confidence on some rows."""

    n: int  # Rows
    error: float  # Error rate of all decisions
    accepted: int  # Rows whose decisions are accepted
    error_accepted: float | None  # Error rate of these; None without any
    error_bound: float | None  # Upper bound on it that holds with `LIKELIHOOD`
    calibration_error: float  # Mean difference between confidence and share of right decisions

    @property
    def words(self) -> str:
        """The figures in words."""
        calibrated = f"calibration error {100 * self.calibration_error:.1f} points"
        if self.accepted == self.n:
            return calibrated
        share = f"{100 * self.accepted / self.n:.1f} % accepted"
        if self.error_accepted is None or self.error_bound is None:
            return f"{share}; {calibrated}"
        return (
            f"{share} with error {100 * self.error_accepted:.2f} % (at most "
            f"{100 * self.error_bound:.2f} % at 95 % confidence), {100 * self.error:.2f} % of all; "
            f"{calibrated}"
        )


def margins_of(scores: IntArray) -> IntArray:
    """
    Return the margins of scores: the second least less the least.

    Shapes: `scores` (n_samples, n_classes) int; returns (n_samples,) int64.
    """
    least = np.partition(np.asarray(scores, dtype=np.int64), 1, axis=1)
    return np.asarray(least[:, 1] - least[:, 0])


def decided(scores: IntArray, confidence: Confidence) -> IntArray:
    """
    Return the class of each row, or `UNSURE` where the decision is rejected.

    Shapes: `scores` (n_samples, n_classes) int; returns (n_samples,) int64.
    """
    accepted = confidence.accepts(margins_of(scores))
    return np.where(accepted, np.asarray(scores).argmin(axis=1), UNSURE)


def required(found: Confidence | None) -> Confidence:
    """Return the confidence of a model, or refuse a model without one."""
    if found is None:
        raise ModelError("the model has no confidence; train it with --confidence or --max-error")
    return found


def check_confidence(confidence: Confidence) -> None:
    """Raise a ModelError if a confidence is not one."""
    margins, percent = confidence.margins, confidence.percent
    is_valid = 1 <= len(margins) == len(percent) <= MAX_LEVELS and margins[0] == 0
    is_valid = is_valid and _ascends(margins, strictly=True) and margins[-1] <= MAX_MARGIN
    is_valid = is_valid and _ascends(percent) and 0 <= percent[0] and percent[-1] <= 100
    if not (is_valid and 0 <= confidence.least_margin <= MAX_MARGIN):
        raise ModelError(
            f"the confidence of the model is invalid: it has 1 .. {MAX_LEVELS} levels, with "
            "margins that ascend from 0 and percentages that do not descend"
        )


def _ascends(values: Sequence[int], *, strictly: bool = False) -> bool:
    return all(a < b or (a == b and not strictly) for a, b in pairwise(values))


def error_bound(n_wrong: int, n: int, risk: float = 1 - LIKELIHOOD) -> float:
    """Return the upper Clopper-Pearson bound on an error rate, exceeded with at most this risk."""
    from scipy.stats import beta

    return 1.0 if n_wrong >= n else float(beta.ppf(1 - risk, n_wrong + 1, n - n_wrong))


def effect_of(
    confidence: Confidence, margins: IntArray, right: BoolArray, risk: float = 1 - LIKELIHOOD
) -> ConfidenceEffect | None:
    """
    Return how good a confidence is on some decisions; None without any.

    `risk` is that of the bound on the error of accepted decisions. Shapes: `margins` (n,) int,
    `right` (n,) bool.
    """
    if len(margins) == 0:
        return None
    said = confidence.percent_of(margins)
    gaps = [abs((right[said == p] - p / 100).sum()) for p in np.unique(said)]
    accepted = confidence.accepts(margins)
    n, n_wrong = int(accepted.sum()), int((accepted & ~right).sum())
    return ConfidenceEffect(
        len(margins),
        float((~right).mean()),
        n,
        n_wrong / n if n else None,
        error_bound(n_wrong, n, risk) if n else None,
        float(sum(gaps)) / len(margins),
    )
