"""
Differences of two integer columns as further features of boosted tables.

A cut on ``x_i - x_j`` separates what takes a staircase of cuts on both.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations

import numpy as np

from bncc._types import AnyArray, IntArray
from bncc.boosting.boost import boost
from bncc.boosting.learn import samples_of
from bncc.boosting.settings import BoostSettings, recipe_of
from bncc.data.dataset import Column, Dataset, Table
from bncc.discretize.feature import (
    DIFFERENCE_KIND,
    Feature,
    integer_readings,
    states_of,
)
from bncc.discretize.fit import fit_features
from bncc.errors import OptionError
from bncc.structure.decision_tables import DecisionTable, GridTable, TableEnsemble
from bncc.train.settings import TrainSettings
from bncc.train.sum_settings import differences_of, n_bins_of

MOST_COLUMNS = 40
"""Columns whose pairs are all tried, those that tables cut most often: 780 pairs."""
TRIAL_ROWS, TRIAL_TABLES = 4000, 30
"""Training rows and tables of the trial that ranks columns and their differences."""

Pair = tuple[int, int]


def with_differences(
    features: Sequence[Feature], table: Table, dataset: Dataset, settings: TrainSettings
) -> tuple[Feature, ...]:
    """
    Return fitted features, and behind them the differences that a trial cuts most often.

    The trial boosts a few tables on a sample of the training rows, first of the columns alone where
    they are many, then with the differences of all pairs.
    """
    most = differences_of(settings)
    if not most:
        return tuple(features)
    pairs = list(pairs_of(features, table))
    if not pairs:
        raise OptionError(
            f"structure option differences={most} needs two columns of integers of the same type, "
            "int8, uint8 or int16, without missing cells; choose another type by --readings, or "
            "leave it out"
        )
    rows = np.random.default_rng([settings.seed, 3]).permutation(table.n_rows)[:TRIAL_ROWS]
    trial, y = table.take(np.sort(rows)), dataset.y[np.sort(rows)]
    n_classes = len(dataset.classes)
    wanted = {k for pair in pairs for k in pair}
    if len(wanted) > MOST_COLUMNS:
        counts = _uses(features, trial, y, n_classes, settings)
        ranked = sorted(wanted, key=lambda k: -counts[k])
        wanted = set(ranked[:MOST_COLUMNS])
        pairs = [pair for pair in pairs if wanted.issuperset(pair)]
    tried = _fitted(features, pairs, trial, y, settings)
    counts = _uses((*features, *tried), trial, y, n_classes, settings)[len(features) :]
    best = sorted(range(len(pairs)), key=lambda k: -counts[k])[:most]
    kept = [pairs[k] for k in sorted(best) if counts[k]]
    return (*features, *_fitted(features, kept, table, dataset.y, settings))


def pairs_of(features: Sequence[Feature], table: Table) -> Iterator[Pair]:
    """Yield the pairs of columns that can be subtracted."""
    columns = {column.name: column for column in table.columns}
    suitable = [
        k
        for k, feature in enumerate(features)
        if feature.kind in DIFFERENCE_KIND and not columns[feature.name].has_gaps
    ]
    names = set(columns)
    for first, second in combinations(suitable, 2):
        name = _name(features, (first, second))
        if features[first].kind == features[second].kind and name not in names:
            names.add(name)
            yield first, second


def _name(features: Sequence[Feature], pair: Pair) -> str:
    return f"{features[pair[0]].name} - {features[pair[1]].name}"


def _fitted(
    features: Sequence[Feature],
    pairs: Sequence[Pair],
    table: Table,
    y: IntArray,
    settings: TrainSettings,
) -> tuple[Feature, ...]:
    """Return the differences of pairs of features with candidate cuts."""
    readings = _readings(features, pairs, table)
    found: list[Feature] = []
    for pair in pairs:
        kind = DIFFERENCE_KIND[features[pair[0]].kind]
        values = readings[pair[0]] - readings[pair[1]]
        column = Column(_name(features, pair), "integer", values, np.zeros(len(y), np.bool_))
        (fitted,) = fit_features(
            Table((column,)),
            y,
            settings.discretize or "quantile",
            n_bins=n_bins_of(settings),
            rebin_states=True,
            readings=kind,
        )
        found.append(replace(fitted, missing_state=0, difference=pair))
    return tuple(found)


def _readings(
    features: Sequence[Feature], pairs: Sequence[Pair], table: Table
) -> Mapping[int, AnyArray]:
    columns = {column.name: column for column in table.columns}
    read = {k for pair in pairs for k in pair}
    return {
        k: integer_readings(features[k], columns[features[k].name]).astype(np.int64) for k in read
    }


def _uses(
    features: Sequence[Feature],
    table: Table,
    y: IntArray,
    n_classes: int,
    settings: TrainSettings,
) -> list[int]:
    """Return how many cuts of each feature the tables of a trial have."""
    few = BoostSettings(n_tables=TRIAL_TABLES, seed=settings.seed, engine=settings.engine)
    n_states = [feature.n_states for feature in features]
    samples = samples_of(states_of(tuple(features), table), y, n_states, n_classes)
    recipe = replace(
        recipe_of(few, len(features), n_classes), is_corrective=False, feature_share=1.0
    )
    counts = [0] * len(features)
    for grid in boost(samples, few, recipe).tables:
        n_cuts = [1] * len(grid.cuts)
        if isinstance(grid, DecisionTable):
            n_cuts = [len(cuts) for cuts in grid.cuts]
        for f, n in zip(grid.features, n_cuts, strict=True):
            counts[f] += n
    return counts


def without_idle_differences(
    features: Sequence[Feature], grids: TableEnsemble
) -> tuple[tuple[Feature, ...], TableEnsemble]:
    """Drop differences that no table cuts."""
    used = set(grids.features)
    kept = [k for k, f in enumerate(features) if f.difference is None or k in used]
    place = {f: k for k, f in enumerate(kept)}

    def placed(grid: GridTable) -> GridTable:
        return replace(grid, features=tuple(place[f] for f in grid.features))

    return tuple(features[k] for k in kept), TableEnsemble(tuple(map(placed, grids.tables)))
