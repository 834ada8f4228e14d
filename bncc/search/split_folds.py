"""Training and validation rows, with a cache of learned tables for the forms that share them."""

from collections.abc import Hashable, Iterator
from dataclasses import replace
from functools import cached_property
from math import ceil
from typing import TypeVar

import numpy as np

from bncc._types import BoolArray, FloatArray, IntArray
from bncc.boosting.boost import Boosted, boost, eliminated
from bncc.boosting.front import with_front
from bncc.boosting.gate import HeldOut, with_gate
from bncc.boosting.importance import most_important, reading
from bncc.boosting.learn import held_out_of, refit_tables
from bncc.boosting.settings import BoostSettings, Recipe, recipe_of
from bncc.boosting.sums import Learned, Samples
from bncc.data.dataset import Column, Dataset
from bncc.discretize.feature import LARGEST_INT, states_of
from bncc.model import reference
from bncc.model.model import Model
from bncc.search.ensemble_configs import GATE_DIFFERING_KEY, OF_FRONT
from bncc.structure.catalog import SUM
from bncc.train.differences import pairs_of
from bncc.train.fit_tables import SumRows, sum_rows
from bncc.train.holdout import split_rows, tells_apart
from bncc.train.settings import TrainSettings
from bncc.train.sum_settings import boost_settings_of, inputs_key

ENOUGH_ROWS = 5000
"""Smallest number of validation rows over all folds: one fifth of fewer rows is too noisy. On
satimage (folds 1 and 2, 1 to 16 KB) and spambase (two halves, 1 and 4 KB), the best of 36 forms on
four fifths instead of one has 0.1 and 0.3 percentage points less error on the test rows."""
ENOUGH_TO_CHOOSE = 20000
"""Likewise for the candidates that may be chosen: the standard error of a difference is then half
of that with `ENOUGH_ROWS`."""
LEAST_UNITS = 5
"""Smallest number of units of a fold: with few units in all, no difference can be clear."""
OF_REFIT = frozenset({
    "n_tables", "bits", "frac_bits", "float_epochs", "quantized_epochs", "lr", "last_lr", "dropout",
    "weight_decay", "batch_size", "has_prior", "dictionary", "front", "front_differing",
    "gate", "gate_differing",
})  # fmt: skip
"""Settings of boosting that do not change how tables grow, apart from their number."""
BYTE_SPAN = 255
BYTES = ("int8", "uint8")
MOST_MODELS = 64
"""Largest number of learned models that are kept for their layouts."""
SPARE = 1.25
"""Ratio of grown to requested tables if the existing ones are too few, for later requests."""

Kept = TypeVar("Kept")


class Fold:
    """
    Training rows, and validation rows for evaluation.

    Shapes: `class_weights` (n_classes,) float64.
    """

    def __init__(
        self,
        rest: Dataset,
        held: Dataset,
        base: TrainSettings,
        choose_by: str = "error",
        class_weights: FloatArray | None = None,
    ) -> None:
        self.rest, self.held = rest, held
        self.choose_by, self._class_weights = choose_by, class_weights
        self._base = base
        self._rows: dict[Hashable, SumRows] = {}
        self._models: dict[str, Model] = {}
        # Without fronts and margins of gates, which share them
        self._learned: dict[str, Learned] = {}
        self._held_out: dict[str, HeldOut | None] = {}  # Decisions that choose margins of gates
        self._eliminated: dict[Hashable, tuple[IntArray, ...]] = {}
        self._grown: dict[Hashable, tuple[int, Boosted | None]] = {}

    @property
    def chooses_by_error(self) -> bool:
        """True if all errors have equal weight."""
        return self.choose_by == "error"

    @property
    def cut_bits(self) -> int:
        """Bits to compare of most columns, if those are floats or hold integers beyond a byte."""
        columns = self.rest.table.columns
        n_wide = sum(c.kind == "integer" and _span(c) > BYTE_SPAN for c in columns)
        if 2 * n_wide >= len(columns):
            return 8
        n_floats = sum(c.kind == "float" for c in columns)
        are_floats = self._base.readings not in LARGEST_INT and 2 * n_floats >= len(columns)
        return 16 if are_floats else 0

    @property
    def are_numbers(self) -> bool:
        """True if there are columns for which forms may choose some cuts."""
        is_named = self._base.discretize is not None or "cuts" in self._base.structure_options
        kinds = {column.kind for column in self.rest.table.columns}
        return not is_named and bool(kinds & {"integer", "float"})

    @property
    def n_columns(self) -> int:
        """Number of columns of which forms may select some; 0 if the user limits their number."""
        is_named = "inputs" in self._base.structure_options
        return 0 if is_named else len(self.rest.table.columns)

    @property
    def are_bytes(self) -> bool:
        """
        True if differences of two columns of bytes are a form to try.

        Those of int16 take 32 bits, which widens all that is compared, so they are left to users.
        """
        if "differences" in self._base.structure_options:
            return False
        rows, _, _ = self.ready(replace(self._base, structure=SUM))
        pairs = pairs_of(rows.features, self.rest.table)
        return any(rows.features[first].kind in BYTES for first, _ in pairs)

    def grown(self, settings: TrainSettings) -> Boosted:
        """Return tables before the refit."""
        _, boosting, recipe = self.ready(settings)
        n_tables = boosting.n_tables
        grows = tuple(value for name, value in vars(boosting).items() if name not in OF_REFIT)
        key: tuple[Hashable, ...] = (
            *inputs_key(settings),
            *grows,
            recipe.eta,
            boosting.is_single_tree,
        )
        if recipe.is_corrective:
            key += (n_tables, boosting.weight_decay)
        asked, grown = self._grown.get(key, (0, None))
        if grown is None or asked < n_tables:
            asked = n_tables if grown is None else ceil(SPARE * n_tables)
            samples = self._readable(settings, boosting.n_inputs)
            grown = boost(samples, replace(boosting, n_tables=asked, n_inputs=0), recipe)
            self._grown[key] = asked, grown
        return grown.first(n_tables)

    def _readable(self, settings: TrainSettings, n_inputs: int) -> Samples:
        """Return training rows of which no more than some features vary; 0 for no limit."""
        rows, boosting, _ = self.ready(settings)
        if not n_inputs:
            return rows.samples
        key = inputs_key(settings)
        if key not in self._eliminated:
            self._eliminated[key] = eliminated(rows.samples, boosting)
        return reading(rows.samples, most_important(self._eliminated[key], n_inputs))

    def model(self, settings: TrainSettings) -> Model:
        """Learn boosted tables."""
        key = repr(settings)
        if key in self._models:
            return self._models[key]
        rows, boosting, recipe = self.ready(settings)
        guards = {*OF_FRONT, GATE_DIFFERING_KEY}
        options = {k: v for k, v in settings.structure_options.items() if k not in guards}
        plain_key = repr(replace(settings, structure_options=options))
        if plain_key not in self._learned:
            learned = refit_tables(self.grown(settings), rows.samples, boosting, recipe)
            _keep(self._learned, plain_key, learned)
        learned = self._learned[plain_key]
        if boosting.gate:
            if plain_key not in self._held_out:
                _keep(self._held_out, plain_key, held_out_of(rows.samples, boosting))
            learned = with_gate(learned, self._held_out[plain_key], boosting)
        else:
            learned = with_front(learned, rows.samples, boosting)
        model = rows.model(learned, boosting.bits)
        _keep(self._models, key, model)
        return model

    def misses(self, model: Model) -> BoolArray:
        """Return the validation rows that a model misclassifies."""
        X = states_of(model.features, self.held.table)
        found = reference.predict(model, X)
        return np.asarray(found != self.held.with_classes(model.classes).y)

    def losses(self, model: Model, misses: BoolArray) -> FloatArray:
        """Return a model's loss on each row, given its misses, in the measure of the choice."""
        if self.choose_by == "log-loss":
            y = self.held.with_classes(model.classes).y
            X = states_of(model.features, self.held.table)
            return np.asarray(-reference.log_proba(model, X)[np.arange(len(y)), y])
        return self.weighted(misses)

    def weighted(self, misses: BoolArray) -> FloatArray:
        """Return the weights of errors, in a measure that depends on errors only."""
        weights = self._class_weights
        return np.asarray(misses * (1.0 if weights is None else weights[self.held.y]))

    @property
    def n_units(self) -> int:
        """Number of units of the validation rows, see `SplitRule.units`."""
        return int(self._units.max()) + 1

    def by_unit(self, losses: FloatArray) -> FloatArray:
        """Return the sum of the losses of each unit, (n_units,) float64."""
        return np.asarray(np.bincount(self._units, weights=losses), dtype=np.float64)

    @cached_property
    def _units(self) -> IntArray:
        return self.held.split.units(self.held.n_rows, LEAST_UNITS)

    def ready(self, settings: TrainSettings) -> tuple[SumRows, BoostSettings, Recipe]:
        """Return the training rows in states, and how to boost tables on them."""
        key = inputs_key(settings)
        if key not in self._rows:
            self._rows[key] = sum_rows(self.rest, settings)
        rows = self._rows[key]
        boosting = boost_settings_of(settings, len(rows.classes))
        return rows, boosting, recipe_of(boosting, len(rows.features), len(rows.classes))


def _keep(cache: dict[str, Kept], key: str, value: Kept) -> None:
    """Add a value to a cache, which drops its oldest ones."""
    if len(cache) >= MOST_MODELS:
        cache.pop(next(iter(cache)))
    cache[key] = value


def _span(column: Column) -> int:
    known = column.values[~column.missing]
    return int(known.max()) - int(known.min()) if len(known) else 0


def folds_of(
    dataset: Dataset,
    base: TrainSettings,
    choose_by: str | None = None,
    *,
    enough: int = ENOUGH_ROWS,
) -> Iterator[Fold]:
    """Split rows into folds, each the validation set of the others, until these are enough rows."""
    rest, held = split_rows(dataset, base)
    if held.n_rows == 0:
        return
    choose_by = choose_by or default_choice(base)
    weights = _balanced(dataset) if choose_by == "balanced-error" else None
    yield Fold(rest, held, base, choose_by, weights)
    n_others = min(round(rest.n_rows / held.n_rows), rest.split.most_folds(rest.n_rows))
    if not dataset.split.is_random:
        # Each of three groups or blocks is a fold, whatever their sizes.
        n_others = max(n_others, min(2, rest.split.most_folds(rest.n_rows)))
    if n_others < 2:
        return
    rest_rows, _ = dataset.split.holdout(dataset.y, base.validation, base.seed)
    fold_of = np.full(dataset.n_rows, -1)
    fold_of[rest_rows] = rest.split.folds(rest.y, n_others, base.seed)
    # Rows of one group or block are similar, however many they are.
    n_wanted = int(fold_of.max()) + 1
    if dataset.split.is_random:
        n_wanted = min(n_wanted, ceil(enough / held.n_rows) - 1)
    for k in range(n_wanted):
        is_in = fold_of == k
        others = dataset.take(np.flatnonzero(~is_in))
        if tells_apart(others):
            yield Fold(others, dataset.take(np.flatnonzero(is_in)), base, choose_by, weights)


def default_choice(base: TrainSettings) -> str:
    """Return the default objective, by the class weights."""
    return "error" if base.class_weight is None else "balanced-error"


def _balanced(dataset: Dataset) -> FloatArray:
    """Return the weight of an error by class, such that the mean is the balanced error rate."""
    counts = np.bincount(dataset.y, minlength=len(dataset.classes))
    n_there = int((counts > 0).sum())
    return np.asarray(dataset.n_rows / (n_there * np.maximum(counts, 1)))
