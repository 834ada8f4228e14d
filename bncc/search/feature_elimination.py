"""Recursive elimination of features: those that the error needs least for what they cost."""

from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from bncc._types import FloatArray, IntArray
from bncc.boosting.boost import boost
from bncc.boosting.importance import permutation_importance
from bncc.boosting.settings import BoostSettings, Recipe, recipe_of
from bncc.boosting.sums import Samples, rows_of
from bncc.discretize.feature import states_of
from bncc.search.split_folds import Fold
from bncc.structure.catalog import SUM
from bncc.train.settings import TrainSettings

SIZES = (5, 10, 15, 20, 30, 40)
"""Numbers of boosted tables that judge features: as few as fit in little flash, and enough to use
many features."""
SHARE = 0.15
"""Smallest fraction of the features that is eliminated at once."""
WEIGHTS = (0.5, 1.0, 0.0)
"""Exponents of the cost in the worth per cost, each of which leads to other sets."""
BRANCH = 32
"""Number of features up to which all paths are the first one."""
LEAST_COST = 1e-3
"""Smallest cost of a feature, as a fraction of the limits: one that others pay for is not free."""

Grouping = Sequence[Hashable]
"""A label for each feature, shared by those that may go together."""
Cost = Callable[[Sequence[int]], float]
"""Indices of features to what their front end costs, as a fraction of the limits."""


@dataclass(frozen=True, eq=False)
class FeatureSet:
    """
    Features, and how well they classify.

    Shapes: `misses` (len(SIZES), n_rows) float64: 1 for an error of that number of tables, on the
    validation rows of all folds in turn.
    """

    columns: tuple[int, ...]  # Ascending indices of a table's columns
    misses: FloatArray

    def misses_of(self, n_tables: float) -> FloatArray:
        """Return the errors (n_rows,) of the largest known number of tables up to one."""
        return np.asarray(self.misses[max(0, int(np.searchsorted(SIZES, n_tables, "right")) - 1)])


@dataclass(frozen=True, eq=False)
class _Rows:
    """
    Rows of a fold, in states.

    Shapes: `held_states` (n_held, n_features) int, `held_classes` (n_held,) int.
    """

    samples: Samples
    settings: BoostSettings
    held_states: IntArray
    held_classes: IntArray


def eliminations(
    folds: Sequence[Fold], base: TrainSettings, groupings: Sequence[Grouping], cost: Cost
) -> Iterator[FeatureSet]:
    """
    Yield sets of features, from all to one, on a path for each of `WEIGHTS`.

    A feature is worth what the log-loss on validation rows rises if its values are permuted, mean
    over the folds. Candidates are single features, and all those of a group, such as a signal. They
    are eliminated in the order of their worth per saved cost. No set is yielded twice.
    """
    rng = np.random.default_rng(base.seed)
    parts = [_rows_of(fold, base) for fold in folds]
    worths: dict[tuple[int, ...], FloatArray] = {}
    root = tuple(range(len(groupings[0])))
    for weight in WEIGHTS:
        columns = root
        while True:
            if columns not in worths:
                misses, worth = [], np.zeros(len(columns))
                for part in parts:
                    missed, values = _judged(part, columns, rng)
                    misses.append(missed)
                    worth += values / len(parts)
                worths[columns] = np.maximum(worth, 0.0)
                yield FeatureSet(columns, np.concatenate(misses, axis=1))
            if len(columns) == 1:
                break
            columns = _kept(columns, worths[columns], groupings, cost, weight)
            if len(columns) > BRANCH:
                root = columns


def _rows_of(fold: Fold, base: TrainSettings) -> _Rows:
    plain = TrainSettings()  # What is asked of another structure may not suit tables
    settings = replace(
        base,
        structure=SUM,
        structure_options={"tables": str(SIZES[-1])},
        parameters=plain.parameters,
        float_=plain.float_,
        engine=plain.engine,
    )
    rows, boosting, _ = fold.ready(settings)
    y = fold.held.with_classes(rows.classes).y
    return _Rows(rows.samples, boosting, states_of(rows.features, fold.held.table), y)


def _judged(
    part: _Rows, columns: Sequence[int], rng: np.random.Generator
) -> tuple[FloatArray, FloatArray]:
    """Return the errors (len(SIZES), n_held) on validation rows, and the worth of each feature."""
    chosen = list(columns)
    samples = replace(part.samples, X=part.samples.X[:, chosen])
    recipe: Recipe = recipe_of(part.settings, len(chosen), samples.n_classes)
    grown = boost(samples, part.settings, recipe)
    # Rows of an unknown class have no weight in the loss.
    is_known = (part.held_classes >= 0).astype(np.float64)
    held = replace(
        samples,
        X=part.held_states[:, chosen],
        y=np.maximum(part.held_classes, 0),
        weights=is_known,
    )
    by_table = grown.scores.rows[rows_of(grown.tables, held.X)]
    sums = grown.scores.prior + by_table.cumsum(axis=1)
    at = np.minimum(SIZES, len(grown.tables)) - 1
    missed = (sums[:, at].argmax(axis=2) != part.held_classes[:, None]).T.astype(np.float64)
    return missed, permutation_importance(grown.tables, grown.scores, held, rng)


def _kept(
    columns: tuple[int, ...],
    worth: FloatArray,
    groupings: Sequence[Grouping],
    cost: Cost,
    weight: float,
) -> tuple[int, ...]:
    """Return the features without those of the least worth for their cost to the power `weight`."""
    whole = cost(columns)
    worth_of = dict(zip(columns, worth.tolist(), strict=True))
    candidates: list[tuple[int, ...]] = [(column,) for column in columns]
    for grouping in groupings:
        groups: dict[Hashable, list[int]] = {}
        for column in columns:
            groups.setdefault(grouping[column], []).append(column)
        if len(groups) > 1:
            candidates += [tuple(of) for of in groups.values() if len(of) > 1]
    rated = []
    for candidate in candidates:
        rest = [column for column in columns if column not in candidate]
        saved = max(whole - cost(rest), LEAST_COST) if rest else whole
        rated.append((sum(worth_of[c] for c in candidate) / saved**weight, candidate))
    dropped: set[int] = set()
    most = max(1, int(SHARE * len(columns)))
    for _, candidate in sorted(rated):
        if len(dropped) >= most or len(dropped | {*candidate}) == len(columns):
            break
        dropped |= {*candidate}
    return tuple(column for column in columns if column not in dropped)
