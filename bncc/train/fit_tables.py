"""Training of boosted tables, from raw readings to a model."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from bncc._types import FloatArray, IntArray
from bncc.boosting.learn import learn_tables, samples_of
from bncc.boosting.sums import Learned, Samples
from bncc.data.dataset import Column, Dataset, Table
from bncc.data.splits import SplitRule
from bncc.discretize.feature import Feature, states_of
from bncc.discretize.fit import READINGS, fit_features
from bncc.discretize.missing import LOWEST, cuts_above_missing
from bncc.errors import DataError
from bncc.fixed_point import QFormat
from bncc.model.front import FRONT
from bncc.model.gate import GATE
from bncc.model.model import Model
from bncc.progress import Progress, nth_part, silence
from bncc.structure.decision_tables import BranchingTable, DecisionTable, GridTable, TableEnsemble
from bncc.train.coarse_cuts import coarse_inputs
from bncc.train.differences import with_differences, without_idle_differences
from bncc.train.settings import TrainSettings
from bncc.train.sum_settings import boost_settings_of, cut_bits_of, n_bins_of, shift_of
from bncc.train.weights import row_weights

MOST_OF_A_BYTE = 255
"""Largest number of states of a feature that the C reads as a byte."""


def sum_inputs(features: Sequence[Feature], *, is_one_kind: bool = True) -> tuple[Feature, ...]:
    """Prepare fitted features for boosted tables, whose types are ours to choose or are given."""
    typed = one_kind(features) if is_one_kind else features
    return one_range([missing_below(feature) for feature in typed])


def one_kind(features: Sequence[Feature]) -> tuple[Feature, ...]:
    """Give numeric columns a common kind, so that readings are an array."""
    narrow = [feature for feature in features if feature.kind == "int16"]
    kinds = {feature.kind for feature in features} - {"int16"}
    if len(kinds) != 1 or 2 * len(narrow) > len(features):
        return tuple(features)
    (kind,) = kinds
    if kind not in LOWEST:
        return tuple(features)
    number = float if kind == "float32" else int
    return tuple(
        replace(feature, kind=kind, thresholds=tuple(map(number, feature.thresholds)))
        for feature in features
    )


def missing_below(feature: Feature) -> Feature:
    """Place missing readings below all others."""
    if not feature.is_numeric:
        return feature
    thresholds = feature.thresholds
    if feature.has_missing_state:
        thresholds = cuts_above_missing(feature.kind, thresholds)
    return replace(feature, thresholds=thresholds, n_states=len(thresholds) + 1, missing_state=0)


def one_range(features: Sequence[Feature]) -> tuple[Feature, ...]:
    """
    Give all columns of states the range of the widest.

    Boosted tables compare states only with cuts: a state above those in a column's training rows is
    above all cuts. So the C checks its input against one limit instead of one per column.
    """
    given = [feature.n_states for feature in features if feature.kind == "state"]
    most = max((n for n in given if n <= MOST_OF_A_BYTE), default=0)
    return tuple(
        replace(feature, n_states=most)
        if feature.kind == "state" and feature.n_states < most
        else feature
        for feature in features
    )


def pruned(
    features: Sequence[Feature], grids: TableEnsemble
) -> tuple[tuple[Feature, ...], TableEnsemble]:
    """Drop thresholds that no table uses; a state is then the interval between two others."""
    used = grids.used_cuts
    kept = [
        _kept(feature, set(used.get(f, ())))
        if feature.is_numeric
        else tuple(range(feature.n_states - 1))
        for f, feature in enumerate(features)
    ]
    place = [{cut: k for k, cut in enumerate(cuts)} for cuts in kept]
    tables = tuple(_placed(grid, place) for grid in grids.tables)
    inputs = (_fewer(feature, cuts) for feature, cuts in zip(features, kept, strict=True))
    return tuple(inputs), TableEnsemble(tables)


def _cuts_of(grid: GridTable) -> Iterator[tuple[int, tuple[int, ...]]]:
    """Yield features with cuts, a feature for each of its nodes in a tree."""
    is_tree = isinstance(grid, BranchingTable)
    cuts = ((cut,) for cut in grid.cuts) if is_tree else grid.cuts
    yield from zip(grid.features, cuts, strict=True)


def _placed(grid: GridTable, place: Sequence[Mapping[int, int]]) -> GridTable:
    """Return a table with other numbers of its cuts."""
    placed = [tuple(place[f][cut] for cut in cuts) for f, cuts in _cuts_of(grid)]
    if isinstance(grid, BranchingTable):
        return replace(grid, cuts=tuple(cut for (cut,) in placed))
    return DecisionTable(grid.features, tuple(placed))


def _kept(feature: Feature, used: set[int]) -> tuple[int, ...]:
    """Return the remaining cuts, ascending; the one below the missing state always remains."""
    n_cuts = len(feature.thresholds)
    below_missing = {n_cuts} if feature.has_missing_state else set()
    return tuple(sorted(used | below_missing))


def _fewer(feature: Feature, kept: Sequence[int]) -> Feature:
    if not feature.is_numeric:
        return feature
    thresholds = tuple(feature.thresholds[cut] for cut in kept if cut < len(feature.thresholds))
    missing_state = sum(cut < feature.missing_state for cut in kept)
    return replace(
        feature, n_states=len(kept) + 1, thresholds=thresholds, missing_state=missing_state
    )


MOVES = ((0, 0), (-1, 0), (1, 0), (0, -1), (0, 1))
"""Rows and columns of pixels by which an image is shifted."""


def sources_of(height: int, width: int, move: tuple[int, int]) -> IntArray:
    """
    Return the source pixel of each pixel of a shifted image.

    Shapes: returns (height * width,) int64, row by row; pixels from beyond the edge repeat it.
    """
    row = np.clip(np.arange(height) - move[0], 0, height - 1)
    column = np.clip(np.arange(width) - move[1], 0, width - 1)
    return np.asarray((row[:, None] * width + column).ravel())


def image_of(table: Table, height: int, width: int) -> Table:
    """Return readings as the pixels of an image, which share one kind."""
    if len(table.columns) != height * width:
        raise DataError(
            f"shift={height}x{width} needs {height * width} columns, and the rows have "
            f"{len(table.columns)}; use the height and width of the image"
        )
    odd = [column.name for column in table.columns if column.kind == "category"]
    if odd:
        raise DataError(
            f"shift={height}x{width} needs pixels, but column {odd[0]!r} contains text; fix its "
            "cells, or leave out shift"
        )
    if any(column.has_gaps for column in table.columns):
        # A shift moves a missing pixel to any column.
        table = Table(tuple(replace(each, has_gaps_elsewhere=True) for each in table.columns))
    if len({column.kind for column in table.columns}) == 1:
        return table
    return Table(tuple(map(_fractions, table.columns)))


def _fractions(column: Column) -> Column:
    return replace(column, kind="float", values=column.values.astype(np.float64))


def moved_tables(image: Table, height: int, width: int) -> Iterator[Table]:
    """Shift the images of all rows."""
    for move in MOVES:
        sources = sources_of(height, width, move)
        columns = (
            replace(image.columns[source], name=column.name)
            for source, column in zip(sources.tolist(), image.columns, strict=True)
        )
        yield Table(tuple(columns))


def fit_sum(dataset: Dataset, settings: TrainSettings, progress: Progress = silence) -> Model:
    """Train boosted tables on all rows of a data set."""
    rows = sum_rows(dataset, settings)
    n_classes = len(rows.classes)
    boosting = boost_settings_of(settings, n_classes)
    learned = learn_tables(
        rows.X,
        rows.y,
        rows.n_states,
        n_classes,
        boosting,
        rows.weights,
        progress,
        n_copies=rows.n_copies,
        split=rows.split,
    )
    return rows.model(learned, boosting.bits)


@dataclass(frozen=True, eq=False)
class SumRows:
    """Training rows of boosted tables."""

    features: tuple[Feature, ...]  # The inputs, with all thresholds that may be cuts
    classes: tuple[str, ...]  # Their labels
    # (n_samples, n_features) uint16: Their states, including those of shifted images if requested
    X: IntArray
    y: IntArray  # (n_samples,) int: Their classes
    # (n_samples,) float64 or None: Sample weights; None for equal weights
    weights: FloatArray | None
    n_copies: int  # Images per row: the row's own first, then shifted ones
    split: SplitRule  # How rows, not images, are held out

    @property
    def n_states(self) -> tuple[int, ...]:
        """Cardinality of each feature."""
        return tuple(feature.n_states for feature in self.features)

    @property
    def samples(self) -> Samples:
        """Return the training samples of boosting."""
        n_classes = len(self.classes)
        return samples_of(
            self.X, self.y, self.n_states, n_classes, self.weights, self.n_copies, self.split
        )

    def model(self, learned: Learned, bits: int) -> Model:
        """Return the model of boosted tables that were learned from these rows."""
        inputs, grids = without_idle_differences(*pruned(self.features, learned.grids))
        # Costs of rare classes, and those of a front, may take more bits than those of tables.
        bits = max(bits, *(int(t.max()).bit_length() for t in (learned.prior, *learned.tables)))
        q_format = QFormat(bits - learned.frac_bits, learned.frac_bits)
        records = {FRONT: learned.front, GATE: learned.gate_record}
        training = {key: dict(record) for key, record in records.items() if record is not None}
        tables = learned.prior, learned.tables
        return Model(inputs, self.classes, grids, q_format, *tables, training, learned.gate)


def sum_rows(dataset: Dataset, settings: TrainSettings) -> SumRows:
    """Prepare rows for boosted tables."""
    shape = shift_of(settings)
    readings = dataset.table if shape is None else image_of(dataset.table, *shape)
    features = sum_inputs(
        fit_features(
            readings,
            dataset.y,
            settings.discretize or "quantile",
            n_bins=n_bins_of(settings),
            rebin_states=settings.discretize is not None,
            readings=settings.readings,
        ),
        is_one_kind=settings.readings == READINGS[0],
    )
    features = coarse_inputs(features, readings, cut_bits_of(settings))
    features = with_differences(features, readings, dataset, settings)
    tables = (readings,) if shape is None else moved_tables(readings, *shape)
    X = np.concatenate([states_of(features, table).astype(np.uint16) for table in tables])
    n_copies = len(X) // dataset.n_rows
    y = np.tile(dataset.y, n_copies)
    given = row_weights(dataset, settings.class_weight)
    weights = None if given is None else np.tile(given, n_copies)
    return SumRows(features, dataset.classes, X, y, weights, n_copies, dataset.split)


def fit_sums(
    settings: TrainSettings,
    dataset: Dataset,
    rest: Dataset,
    held: Dataset,
    progress: Progress,
) -> tuple[Model, Model, Dataset, None]:
    """Train boosted tables without the validation rows, and again on all rows."""
    n_runs = 2 if held.n_rows else 1
    first = fit_sum(rest, settings, nth_part(progress, 0, n_runs))
    if n_runs == 1:
        return first, first, rest, None
    return first, fit_sum(dataset, settings, nth_part(progress, 1, n_runs)), dataset, None
