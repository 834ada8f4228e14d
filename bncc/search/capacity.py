"""Number of tables of a form that fit, from a linear model of their resources."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import count

import numpy as np

from bncc._types import FloatArray
from bncc.resources import Budget, Resources
from bncc.search.ensemble_configs import EnsembleConfig
from bncc.search.evaluation import Evaluator, Sizes

MOST_TABLES = 600
WITHOUT_LIMIT = 60
"""Number of boosted tables if no resource is limited."""
CUT_BYTES, TABLE_BYTES = 2, 1
CUT_STEPS, TABLE_STEPS = 10, 35
"""Steps of a cut and of a table, roughly proportional to instructions."""
USUAL_CODE, USUAL_PER_STEP = 300.0, 0.5
"""Initial estimates of code beyond rows and cuts, and of instructions per step, for a new form."""
USUAL_CUTS, USUAL_FILL = 4, 0.8
"""Initial estimate for a table that is not grown yet: cuts, and the fraction of rows in use."""
MARGIN = 0.995
"""Fraction of a limit that is targeted."""
STEEPEST = 4.0
"""Upper bound on bytes of flash per counted byte; its reciprocal is the lower bound."""
WORTH_MORE = 1.03
"""Growth factor of the tables that is worth another try."""
MOST_TRIES = 5
"""Number of tries after which the tables are halved until they fit."""


@dataclass(frozen=True)
class Line:
    """Linear model of the resources of boosted tables, by counted properties."""

    code: float = USUAL_CODE  # Bytes in addition to counted ones
    per_byte: float = 1.0  # Bytes per counted byte
    per_step: float = USUAL_PER_STEP  # Instructions per counted step

    @classmethod
    def through(cls, priced: Sequence[tuple[FloatArray, Resources]]) -> "Line":
        """Return the linear model of one form."""
        (n_bytes, steps), price = priced[-1]
        per_byte = 1.0
        if len(priced) > 1 and priced[-2][0][0] != n_bytes:
            (before, _), cheaper = priced[-2]
            slope = (price.flash - cheaper.flash) / (n_bytes - before)
            # The layout may have changed in between, in which case the slope is meaningless.
            per_byte = min(max(slope, 1.0 / STEEPEST), STEEPEST)
        per_step = USUAL_PER_STEP if price.slowest is None else price.slowest / steps
        return cls(price.flash - per_byte * n_bytes, per_byte, per_step)

    def most(self, counts: FloatArray, budget: Budget) -> int:
        """
        Return the number of tables that may fit.

        Shapes: `counts` (n, 2) float64.
        """
        if budget.flash is None and budget.instructions is None:
            return WITHOUT_LIMIT
        flash = np.inf if budget.room is None else MARGIN * budget.room
        steps = np.inf if budget.instructions is None else MARGIN * budget.instructions
        costs = counts * (self.per_byte, self.per_step) + (self.code, 0.0)
        return max(1, int((costs <= (flash, steps)).all(axis=1).sum()))


def counted(form: EnsembleConfig, sizes: Sizes, n_classes: int) -> FloatArray:
    """
    Count the resources of the first tables of an ensemble.

    Shapes: returns (MOST_TABLES, 2) float64, bytes of the first tables, and steps of a decision.
    """
    known: Sequence[tuple[float, int]] = sizes[:MOST_TABLES]
    each = np.array(known or [(USUAL_FILL * form.rows, USUAL_CUTS)], dtype=np.float64)
    others = np.tile(each.mean(axis=0), (MOST_TABLES - len(each), 1))
    rows, cuts = np.cumsum(np.vstack([each, others]), axis=0).T
    tables = np.arange(1, MOST_TABLES + 1)
    row_bytes = form.row_bytes(n_classes)
    of_rows = rows * row_bytes
    if form.dictionary:
        of_rows = rows + np.minimum(rows, form.dictionary) * row_bytes
    n_bytes = of_rows + CUT_BYTES * cuts + TABLE_BYTES * tables
    return np.stack([n_bytes, CUT_STEPS * cuts + TABLE_STEPS * tables], axis=1)


@dataclass(frozen=True, eq=False)
class Fitted:
    """Boosted tables that fit."""

    n_tables: int  # Requested number
    price: Resources  # Their resources


class Capacity:
    """The largest number of tables of a form that fits."""

    def __init__(self, evaluator: Evaluator) -> None:
        self._evaluator = evaluator
        self._base, self._budget = evaluator.given.base, evaluator.given.budget
        self._lines: dict[tuple[int, bool], Line] = {}

    def guess(self, form: EnsembleConfig) -> int:
        """Return the estimated number of tables that fit, without building any."""
        n_tables = self._most(form, ())
        return self._most(form, self._grown(form, n_tables))

    def knows(self, form: EnsembleConfig) -> bool:
        """Return whether the estimate is good: a form with this row layout has been measured."""
        return _kind(form) in self._lines

    def fitted(self, form: EnsembleConfig, n_tables: int) -> Fitted | None:
        """Find the largest number of tables that fits, or nearly so."""
        best, too_many = None, MOST_TABLES + 1
        priced: list[tuple[FloatArray, Resources]] = []
        for n_tries in count(1):
            found = self._evaluator.priced(form.settings(self._base, n_tables))
            counts = counted(form, found.sizes, found.n_classes)[len(found.sizes) - 1]
            priced.append((counts, found.price))
            self._lines[_kind(form)] = Line.through(priced)
            if self._budget.admits(found.price):
                best = Fitted(n_tables, found.price)
            else:
                too_many = min(n_tables, found.n_tables)
            n_tables = min(self._most(form, self._grown(form, n_tables)), too_many - 1)
            if n_tries >= MOST_TRIES:
                n_tables = min(n_tables, too_many // 2)
            # Fewer than requested: there is nothing left to gain, and boosting would add no more.
            is_all = best is not None and found.n_tables < best.n_tables
            if is_all or n_tables < (WORTH_MORE * best.n_tables if best else 1):
                break
        return best

    def _most(self, form: EnsembleConfig, sizes: Sizes) -> int:
        counts = counted(form, sizes, len(self._evaluator.given.dataset.classes))
        return self._line(form).most(counts, self._budget)

    def _grown(self, form: EnsembleConfig, n_tables: int) -> Sizes:
        return self._evaluator.grown(form.settings(self._base, n_tables))

    def _line(self, form: EnsembleConfig) -> Line:
        """Return the linear model of similar forms, or of those measured last."""
        usual = next(reversed(self._lines.values()), Line())
        return self._lines.get(_kind(form), usual)


def _kind(form: EnsembleConfig) -> tuple[int, bool]:
    """Return the key of forms with the same row layout."""
    return form.bits, form.dictionary > 0
