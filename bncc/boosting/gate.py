"""A margin gate: the first tables decide where their sums are far enough apart."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from bncc._types import BoolArray, FloatArray, IntArray
from bncc.boosting.front import MOST_DIFFERING
from bncc.boosting.settings import BoostSettings
from bncc.boosting.sums import Learned, Samples, fold_of_samples, sums_of, taken
from bncc.errors import ConstantColumnsError
from bncc.model.gate import Gate, margins


@dataclass(frozen=True, eq=False)
class HeldOut:
    """
    Decisions about rows without which the tables were learned.

    Shapes: `margins` (n_samples,) int64, of the tables before the gate; `is_other` (n_samples,)
    bool, whether all tables decide otherwise; `weights` (n_samples,) float64, of mean 1.
    """

    margins: IntArray
    is_other: BoolArray
    weights: FloatArray

    def gate(self, n_tables: int, most_differing: float) -> tuple[Gate, dict[str, Any]] | None:
        """
        Return the gate with the smallest margin that changes few decisions, and its record.

        None if that margin is larger than any row's.
        """
        order = np.argsort(-self.margins, kind="stable")
        margin, whole = self.margins[order], self.weights.sum()
        differing = np.cumsum(self.weights[order] * self.is_other[order]) / whole
        # A margin admits all rows with it: those of a tie are admitted together.
        is_last = np.append(margin[1:] != margin[:-1], True)
        admitted = np.flatnonzero(is_last & (differing <= most_differing) & (margin > 0))
        if not len(admitted):
            return None
        last = int(admitted[-1])
        answers = float(self.weights[order[: last + 1]].sum() / whole)
        record = {"answers": round(answers, 6), "differing": round(float(differing[last]), 6)}
        return Gate(n_tables, int(margin[last])), record


def held_out(
    samples: Samples, settings: BoostSettings, learn: Callable[[Samples], Learned]
) -> HeldOut | None:
    """
    Learn without each fold in turn; None with too few rows, or if too few tables grow.

    Tables are grown again: those that have seen a row are surer of it, so that a margin chosen on
    training rows does not carry over.
    """
    n = len(samples.y)
    fold_of = fold_of_samples(samples, settings.seed)
    found = HeldOut(np.zeros(n, np.int64), np.zeros(n, np.bool_), samples.weights)
    n_folds = int(fold_of.max()) + 1
    if n_folds < 2:
        return None
    for fold in range(n_folds):
        held = fold_of == fold
        try:
            learned = learn(taken(samples, ~held))
        except ConstantColumnsError:
            return None
        if len(learned.tables) <= settings.gate:
            return None
        X = samples.X[held]
        first = sums_of(learned, X, settings.gate)
        found.margins[held] = margins(first)
        found.is_other[held] = first.argmin(axis=1) != sums_of(learned, X).argmin(axis=1)
    return found


def with_gate(learned: Learned, found: HeldOut | None, settings: BoostSettings) -> Learned:
    """Return tables with a gate, if one is asked for and any margin is large enough."""
    if found is None or len(learned.tables) <= settings.gate:
        return learned
    most = MOST_DIFFERING if settings.gate_differing is None else settings.gate_differing
    chosen = found.gate(settings.gate, most)
    if chosen is None:
        return learned
    gate, record = chosen
    return replace(learned, gate=gate, gate_record=record)
