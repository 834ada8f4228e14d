"""Number of tables of a form that fit, from a linear model of their resources."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import count

import numpy as np

from bncc._types import BoolArray, FloatArray
from bncc.resources import Budget, Optimize, Resources
from bncc.search.ensemble_configs import BYTE, EnsembleConfig
from bncc.search.evaluation import Evaluator, Sizes

MOST_TABLES = 600
WITHOUT_LIMIT = 60
"""Number of boosted tables if no resource is limited."""
CUT_BYTES, TABLE_BYTES = 2, 1
CUT_STEPS, TABLE_STEPS = 10, 35
"""Steps of a cut and of a table, roughly proportional to instructions."""
NODE_BYTES, HIGH_BYTE_NODE_BYTES, LEAF_BYTES = 12.5, 6.5, 4.0
"""Bytes of a node of a tree, of one that compares the high byte only, and of a leaf."""
NODE_STEPS, LEAF_STEPS = 8, 40
"""Steps of a node and of a row that is added, twice their instructions."""
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

Kind = tuple[int, bool, bool, bool, int, bool]
"""Key of forms with the same row layout."""


@dataclass(frozen=True)
class Line:
    """Linear model of the resources of boosted tables in one layout, by counted properties."""

    code: float = USUAL_CODE  # Bytes in addition to counted ones
    per_byte: float = 1.0  # Bytes per counted byte
    fixed: float = 0.0  # Instructions in addition to those of the steps
    per_step: float = USUAL_PER_STEP  # Instructions per counted step

    @classmethod
    def through(cls, priced: Sequence[tuple[FloatArray, Resources]]) -> "Line":
        """Return the linear model of one form at one optimization goal."""
        (n_bytes, steps), price = priced[-1]
        per_byte = 1.0
        per_step = USUAL_PER_STEP if price.slowest is None else price.slowest / steps
        # The kernel may have changed in between, in which case the slopes are meaningless.
        if len(priced) > 1 and priced[-2][0][0] != n_bytes:
            (before, _), cheaper = priced[-2]
            slope = (price.flash - cheaper.flash) / (n_bytes - before)
            per_byte = min(max(slope, 1.0 / STEEPEST), STEEPEST)
        if len(priced) > 1 and priced[-2][0][1] != steps:
            (_, before), cheaper = priced[-2]
            if price.slowest is not None and cheaper.slowest is not None:
                slope = (price.slowest - cheaper.slowest) / (steps - before)
                per_step = min(max(slope, per_step / STEEPEST), per_step)
        fixed = 0.0 if price.slowest is None else price.slowest - per_step * steps
        return cls(price.flash - per_byte * n_bytes, per_byte, fixed, per_step)

    def most(self, counts: FloatArray, budget: Budget) -> int:
        """
        Return the number of tables that may fit.

        Shapes: `counts` (n, 2) float64.
        """
        if budget.flash is None and budget.instructions is None:
            return WITHOUT_LIMIT
        return max(1, int(self.admits(counts, budget).sum()))

    def admits(self, counts: FloatArray, budget: Budget) -> BoolArray:
        """
        Return which numbers of tables may fit.

        Shapes: `counts` (..., 2) float64; returns (...) bool.
        """
        flash = np.inf if budget.room is None else MARGIN * budget.room
        steps = np.inf if budget.instructions is None else MARGIN * budget.instructions
        costs = counts * (self.per_byte, self.per_step) + (self.code, self.fixed)
        return np.asarray((costs <= (flash, steps)).all(axis=-1))

    def time(self, counts: FloatArray) -> float:
        """
        Return the estimated instructions.

        Shapes: `counts` (2,) float64.
        """
        return self.fixed + self.per_step * float(counts[1])


def counted(form: EnsembleConfig, sizes: Sizes, n_classes: int) -> FloatArray:
    """
    Count the resources of the first tables of an ensemble.

    Shapes: returns (MOST_TABLES, 2) float64, bytes of the first tables, and steps of a decision.
    """
    known: Sequence[tuple[float, int]] = sizes[:MOST_TABLES]
    n_rows = form.most_rows
    usual = (n_rows, n_rows - 1) if form.is_branching else (USUAL_FILL * n_rows, USUAL_CUTS)
    each = np.array(known or [usual], dtype=np.float64)
    others = np.tile(each.mean(axis=0), (MOST_TABLES - len(each), 1))
    all_sizes = np.vstack([each, others])
    rows, cuts = np.cumsum(all_sizes, axis=0).T
    tables = np.arange(1, MOST_TABLES + 1)
    row_bytes = form.row_bytes(n_classes)
    if form.is_branching:
        node = HIGH_BYTE_NODE_BYTES if form.cut_bits == BYTE else NODE_BYTES
        leaf = LEAF_BYTES + (0 if form.is_single else form.lane_bytes(n_classes))
        # A path through a tree passes about as many nodes as a balanced tree is deep, and one more.
        depths = np.cumsum(np.log2(all_sizes[:, 0]) + 1)
        steps = NODE_STEPS * depths + LEAF_STEPS * tables
        return np.stack([node * cuts + leaf * rows, steps], axis=1)
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
        self._lines: dict[tuple[Kind, Optimize], Line] = {}

    def guess(self, form: EnsembleConfig, budget: Budget | None = None) -> int:
        """
        Return the estimated number of tables that fit, without building any.

        They fit in the search's budget, unless another one is given.
        """
        if form.is_single:
            return 1
        n_tables = self._most(form, (), budget)
        return self._most(form, self._grown(form, n_tables), budget)

    def knows(self, form: EnsembleConfig) -> bool:
        """Return whether the estimate is good: a form with this row layout has been measured."""
        return any(kind == _kind(form) for kind, _ in self._lines)

    def may_fit(self, form: EnsembleConfig) -> bool:
        """Return whether one table fits by the estimate."""
        (counts,) = counted(form, self._grown(form, 1), self._n_classes)[:1]
        return any(line.admits(counts, self._budget) for line in self._lines_of(form))

    def time(self, form: EnsembleConfig, n_tables: int) -> float:
        """Return the estimated instructions of some tables in the layout that decides the fit."""
        sizes = self._grown(form, n_tables)[:n_tables]
        counts = counted(form, sizes, self._n_classes)[len(sizes) - 1]
        return min(line.time(counts) for line in self._lines_of(form))

    def fitted(self, form: EnsembleConfig, n_tables: int) -> Fitted | None:
        """Find the largest number of tables that fits, or nearly so."""
        best, too_many = None, MOST_TABLES + 1
        priced: dict[Optimize, list[tuple[FloatArray, Resources]]] = {}
        for n_tries in count(1):
            found = self._evaluator.priced(form.settings(self._base, n_tables))
            if not found.is_known:
                break
            counts = counted(form, found.sizes, found.n_classes)[len(found.sizes) - 1]
            goal = found.price.optimize
            priced.setdefault(goal, []).append((counts, found.price))
            self._lines[_kind(form), goal] = Line.through(priced[goal])
            if self._budget.admits(found.price):
                best = Fitted(n_tables, found.price)
            else:
                too_many = min(n_tables, found.n_tables)
            if form.is_single:
                break
            n_tables = min(self._most(form, self._grown(form, n_tables)), too_many - 1)
            if n_tries >= MOST_TRIES:
                n_tables = min(n_tables, too_many // 2)
            # Fewer than requested: there is nothing left to gain, and boosting would add no more.
            is_all = best is not None and found.n_tables < best.n_tables
            if is_all or n_tables < (WORTH_MORE * best.n_tables if best else 1):
                break
        return best

    @property
    def _n_classes(self) -> int:
        return len(self._evaluator.given.dataset.classes)

    def _most(self, form: EnsembleConfig, sizes: Sizes, budget: Budget | None = None) -> int:
        counts = counted(form, sizes, self._n_classes)
        return max(line.most(counts, budget or self._budget) for line in self._lines_of(form))

    def _grown(self, form: EnsembleConfig, n_tables: int) -> Sizes:
        return self._evaluator.grown(form.settings(self._base, n_tables))

    def _lines_of(self, form: EnsembleConfig) -> list[Line]:
        """
        Return the linear models of similar forms by goal, or that of the last measured one.

        With limits on flash and time there is one of the smallest layout in any case, which is not
        measured as long as a faster one fits.
        """
        kind, budget = _kind(form), self._budget
        known = [line for (other, _), line in self._lines.items() if other == kind]
        if known and ((kind, "size") in self._lines or None in (budget.flash, budget.instructions)):
            return known
        of_form = [
            line
            for (other, goal), line in self._lines.items()
            if other[2:] == kind[2:] and (goal == "size" or not known)
        ]
        return [*known, of_form[-1] if of_form else Line()]


def _kind(form: EnsembleConfig) -> Kind:
    """Return the key of forms with the same row layout."""
    layout = form.bits, form.dictionary > 0, form.is_branching, form.is_single
    return *layout, form.cut_bits, form.differences > 0
