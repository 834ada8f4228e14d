"""Warnings about a data set: columns and rows that are probably mistakes."""

import re
from collections.abc import Collection, Iterator, Sequence

import numpy as np

from bncc._types import FloatArray, IntArray
from bncc.data.dataset import Column, Dataset
from bncc.discretize.feature import subtracted
from bncc.model.model import Model
from bncc.structure.decision_tables import TableEnsemble

LEAST_ROWS = 50
"""Smallest number of rows whose order is informative."""
MONOTONIC_VALUES = 20
"""Number of values from which on a monotonic column is a row number or a time."""
RUN_LENGTH = 10
"""Mean run length of a value, from which on it may be a subject; for three values or more."""
RUNS_PER_VALUE = 1.5
"""Limit on runs per value of a subject's number: each value occurs in one run, or some in two."""
ALIKE = 0.5
"""Limit on the distance of neighboring rows of a class, relative to random rows of the class, below
which rows are in time order. For the sets behind it, see docs/how-to/own-data.md."""
IDENTIFIERS = frozenset({"id", "ids", "index", "idx", "serial", "uid", "uuid"})
"""Words of the name of a column that numbers rows."""
ENUMERATED = 2
"""Limit on the range of different integers, in their common step, over the rows of the table. In a
range that small, as many readings repeat."""
_MOST_COLUMNS = 48
"""Number of columns for comparisons of rows, evenly spread."""
_BLOCK, _MOST_BLOCKS = 1000, 20
"""Rows per block and number of blocks, evenly spread, that are examined of larger tables."""


def order_notes(dataset: Dataset) -> Iterator[str]:
    """Yield a note, with its remedy, for each sign that rows are not independent of each other."""
    if dataset.n_rows < LEAST_ROWS:
        return
    n_table = dataset.n_rows
    if dataset.n_rows > _BLOCK * _MOST_BLOCKS:
        begin = np.linspace(0, dataset.n_rows - _BLOCK, _MOST_BLOCKS).astype(np.int64)
        dataset = dataset.take(np.unique(begin[:, None] + np.arange(_BLOCK)))
    for column in dataset.table.columns:
        words = _column_words(column, n_table, is_ordered=dataset.split.ordered)
        if words is not None:
            yield f"column {column.name!r} {words}"
    if dataset.split.is_random:
        ratio = neighbor_ratio(dataset)
        if ratio is not None and ratio < ALIKE:
            yield (
                f"neighboring rows of a class are {1 / ratio:.1f} times as similar as random "
                "ones, as in a time series, so random validation rows underestimate the "
                "error rate; name persons or recordings with --groups, or split into blocks "
                "with --ordered"
            )


def _column_words(column: Column, n_table: int, *, is_ordered: bool = False) -> str | None:
    """Return why a column of a table is probably not a reading, and the remedy."""
    column = column.take(np.flatnonzero(~column.missing))
    if len(column.values) < LEAST_ROWS:
        return None
    codes = column.codes
    n_values, n_rows = int(codes.max()) + 1, len(codes)
    steps = np.diff(codes)
    n_runs = 1 + int((steps != 0).sum())
    if n_values >= 3 and n_runs <= RUNS_PER_VALUE * n_values and n_rows >= RUN_LENGTH * n_runs:
        return (
            "is constant over long runs of rows, like the number of a person or a "
            "recording; name it with --groups, which excludes it from the features"
        )
    if column.kind != "category" and n_values >= MONOTONIC_VALUES:
        if not (steps < 0).any() or not (steps > 0).any():
            way = "rises" if (steps > 0).any() else "falls"
            more = "" if is_ordered else ", and if rows are in time order add --ordered"
            return (
                f"only {way} from row to row, like a row number or a time; drop it with "
                f"--drop{more}"
            )
        if column.kind == "integer" and n_values == n_rows and _is_enumerated(column, n_table):
            said = "has a different value in each row, like an identifier"
            return f"{said}; if it is one, drop it with --drop"
    return None


def _is_enumerated(column: Column, n_rows: int) -> bool:
    """Return whether different integers fill their range as numbers of rows do, or are named so."""
    words = re.findall(r"[A-Z]?[a-z]+|[A-Z]+", column.name)
    if not IDENTIFIERS.isdisjoint(word.lower() for word in words):
        return True
    values = np.sort(column.values)
    span = int(values[-1]) - int(values[0])
    return bool(span // int(np.gcd.reduce(np.diff(values))) < ENUMERATED * n_rows)


def neighbor_ratio(dataset: Dataset) -> float | None:
    """
    Return the mean distance of neighboring rows of a class, relative to random rows of the class.

    Distances are those of ranks, summed over columns of varying numbers. None if there are none, or
    hardly any neighbors of one class.
    """
    numbers = [
        column
        for column in dataset.table.columns
        if column.kind in ("integer", "float") and _column_words(column, dataset.n_rows) is None
    ]
    ranks = [_ranks(column) for column in numbers[:: 1 + len(numbers) // _MOST_COLUMNS]]
    ranks = [each for each in ranks if each.min() < each.max()]
    first = np.flatnonzero(np.diff(dataset.y) == 0)
    if not ranks or len(first) < LEAST_ROWS:
        return None
    random = _random_partners(dataset.y, first)
    near = sum(float(np.abs(each[first] - each[first + 1]).mean()) for each in ranks)
    far = sum(float(np.abs(each[first] - each[random]).mean()) for each in ranks)
    return near / far if far > 0 else None


def _random_partners(y: IntArray, rows: IntArray) -> IntArray:
    """Return a random row of the same class for each row, with a fixed seed."""
    rng = np.random.default_rng(0)
    order = np.argsort(y, kind="stable")
    begin = np.searchsorted(y[order], y[rows])
    counts = np.searchsorted(y[order], y[rows], side="right") - begin
    return np.asarray(order[begin + (rng.random(len(rows)) * counts).astype(np.int64)])


def _ranks(column: Column) -> FloatArray:
    """Return the mean rank of each value, with missing ones in the middle."""
    _, codes, counts = np.unique(column.values, return_inverse=True, return_counts=True)
    ranks = (np.cumsum(counts) - counts / 2)[codes]
    ranks[column.missing] = len(ranks) / 2
    return np.asarray(ranks)


LEVEL = 0.01
"""Significance level of all tests of a feature together, by Bonferroni's correction."""
_BINS = 4
_MOST_ROWS = 20_000
_MOST_TESTS = 4_000
"""Pairs of features that are tested; further features are not reported."""
_ROWS_PER_CELL = 5
"""Rows per cell of the table of a pair and the class; with fewer a test has little power."""


def tells_nothing(dataset: Dataset, candidates: Sequence[str]) -> list[str]:
    """
    Return the columns, among some, that carry no measurable information about the class.

    Such a column is constant, or its mutual information with the class is not above chance, both
    alone and given each other column. Columns are cut into quarters (texts into their most frequent
    values) and G-tests compare with the chi-squared distribution. With too few rows for that, no
    varying column is reported.
    """
    step = 1 + dataset.n_rows // _MOST_ROWS
    rows = np.arange(0, dataset.n_rows, step)
    y = np.unique(dataset.y[rows], return_inverse=True)[1]
    bins = {column.name: _binned(column.take(rows)) for column in dataset.table.columns}
    constant = [name for name in candidates if not bins[name].any()]
    varying = [name for name in candidates if bins[name].any()]
    is_enough = len(y) >= _ROWS_PER_CELL * _BINS**2 * (int(y.max()) + 1)
    tested = varying[: _MOST_TESTS // len(bins)] if is_enough else []
    found = [name for name in tested if not any(_above_chance(bins, name, y))]
    return [name for name in candidates if name in {*constant, *found}]


def _above_chance(bins: dict[str, IntArray], name: str, y: IntArray) -> Iterator[bool]:
    """Yield the result of each test of a column for information: alone, then given another."""
    from scipy.special import chdtri  # slow import

    others = [each for other, each in bins.items() if other != name and each.any()]
    for given in (np.zeros_like(y), *others):
        g, freedom = _g_test(bins[name], y, given)
        yield bool(freedom and g > chdtri(freedom, LEVEL / (1 + len(others))))


def _g_test(x: IntArray, y: IntArray, given: IntArray) -> tuple[float, int]:
    """Return 2 n I(X; Y | Z) in nats, and its degrees of freedom, over the states that occur."""
    shape = int(given.max()) + 1, int(x.max()) + 1, int(y.max()) + 1
    counts = np.zeros(shape)
    np.add.at(counts, (given, x, y), 1)
    of_x, of_y = counts.sum(axis=2, keepdims=True), counts.sum(axis=1, keepdims=True)
    expected = of_x * of_y / np.maximum(counts.sum(axis=(1, 2), keepdims=True), 1)
    seen = counts > 0
    g = 2 * float((counts[seen] * np.log(counts[seen] / expected[seen])).sum())
    freedom = ((of_x[:, :, 0] > 0).sum(axis=1) - 1) * ((of_y[:, 0] > 0).sum(axis=1) - 1)
    return g, int(np.maximum(freedom, 0).sum())


def _binned(column: Column) -> IntArray:
    """Return small states: quarters of numbers, frequent texts, missing cells of their own."""
    known = ~column.missing
    states = np.zeros(len(column.missing), dtype=np.int64)
    if not known.any():
        return states
    if column.kind == "category":
        texts = column.values[known].tolist()
        counts: dict[str, int] = {}
        for text in texts:
            counts[text] = counts.get(text, 0) + 1
        order = sorted(counts, key=lambda text: -counts[text])
        index = {text: min(k, _BINS) for k, text in enumerate(order)}
        states[known] = [index[text] for text in texts]
    else:
        values = column.values[known]
        cuts = np.unique(np.quantile(values, np.arange(1, _BINS) / _BINS))
        states[known] = np.searchsorted(cuts, values, side="left")
        if not states.any():  # more than three quarters have the smallest value
            states[known] = values > values.min()
    states[~known] = states.max() + 1
    return np.asarray(np.unique(states, return_inverse=True)[1], dtype=np.int64)


IDENTIFIER_SHARE = 0.5
MAX_PLAIN_CATEGORIES = 20
"""A column of texts is considered an identifier above both this number and fraction of rows."""
_MOST_NAMED = 5
"""Number of columns that one note names."""


def data_notes(model: Model, dataset: Dataset) -> tuple[str, ...]:
    """Return warnings about the columns that a model was learned from."""
    stray = _stray_texts(dataset)
    return (
        *_first_line_notes(dataset),
        *_identifier_notes(model, dataset.n_rows, stray),
        *(
            f"column {name!r} contains numbers but is treated as text because of {text!r}; "
            "write ? for missing readings"
            for name, text in stray.items()
        ),
        *_group_notes(dataset),
        *order_notes(dataset),
        *_silent_notes(model, dataset),
    )


def _first_line_notes(dataset: Dataset) -> Iterator[str]:
    """Yield a note if the names are readings, as in a file without a header."""
    names = [column.name for column in dataset.table.columns]
    # Names that number columns, as frames without names have, are intended.
    counted = {str(k) for k in range(len(names) + 1)}
    if len(names) > 1 and all(map(is_number, names)) and not counted.issuperset(names):
        yield (
            f"all column names are numbers, such as {names[0]!r}; if that is a row of "
            "readings, add a header line above it"
        )


def _group_notes(dataset: Dataset) -> Iterator[str]:
    """Yield a note if classes occur in one group alone, so no split can evaluate them."""
    if alone := classes_of_one_group(dataset):
        shown, one = shown_names(alone), len(alone) == 1
        which = f"class {shown} occurs" if one else f"{len(alone)} classes occur ({shown})"
        yield (
            f"{which} in one group of {dataset.split.column!r} only, so either training rows or "
            f"validation rows lack {'it' if one else 'each'}; add groups with the same classes, or "
            "split without --groups"
        )


def classes_of_one_group(dataset: Dataset) -> list[str]:
    """Return the classes that occur in one group alone."""
    if dataset.split.groups is None:
        return []
    pairs = np.unique(np.stack([dataset.y, dataset.split.groups]), axis=1)
    n_groups = np.bincount(pairs[0], minlength=len(dataset.classes))
    return [dataset.classes[c] for c in np.flatnonzero(n_groups == 1)]


def shown_names(names: Sequence[str]) -> str:
    """Return the first of some names, quoted."""
    shown = ", ".join(repr(name) for name in names[:_MOST_NAMED])
    return shown + (", ..." if len(names) > _MOST_NAMED else "")


def _identifier_notes(model: Model, n_rows: int, others: Collection[str]) -> Iterator[str]:
    """Yield a note for every column that looks like the name or the number of a row."""
    for feature in model.features:
        n_texts = len(feature.categories)
        is_long = n_texts > max(MAX_PLAIN_CATEGORIES, n_rows * IDENTIFIER_SHARE)
        if is_long and feature.name not in others:
            yield (
                f"column {feature.name!r} has {n_texts} different texts in {n_rows} rows, "
                "like an identifier; drop such a column with --drop"
            )


def _stray_texts(dataset: Dataset) -> dict[str, str]:
    """Return columns that a few texts among numbers make a category, each with the first text."""
    found = {}
    for column in dataset.table.columns:
        if column.kind != "category" or column.missing.all():
            continue
        cells = column.values[~column.missing].tolist()
        # A dictionary: a column may have a hundred thousand texts, each of them once.
        stray = {cell: None for cell in dict.fromkeys(cells) if not is_number(cell)}
        if stray and sum(cell not in stray for cell in cells) > len(cells) / 2:
            found[column.name] = next(iter(stray))
    return found


_UNUSED = "are unused and carry no"


def is_of_columns(note: str) -> bool:
    """Return whether the remedy of a note is to drop columns, which a front end has none of."""
    return _UNUSED in note or note.startswith("column ")


def _silent_notes(model: Model, dataset: Dataset) -> Iterator[str]:
    """Yield a note if unused features have no measurable information about the class."""
    unused = [model.features[i].name for i in silent_features(model)]
    names = tells_nothing(dataset, unused)
    if 0 < len(names) < model.n_features:
        shown = ", ".join(names[:_MOST_NAMED]) + (", ..." if len(names) > _MOST_NAMED else "")
        yield (
            f"{len(names)} of {model.n_features} features {_UNUSED} "
            f"information about the class in these rows: {shown}; each is constant, or its "
            "mutual information with the class is not above chance, alone and given any "
            "other feature; to save their sensors, emit C of the used "
            "features with `bncc emit-c --inputs used`, or train without the others with --drop"
        )


def silent_features(model: Model) -> tuple[int, ...]:
    """Return the features that no decision depends on."""
    if isinstance(model.structure, TableEnsemble):
        read = {f for grid in model.structure.tables for f in grid.features}
        read |= subtracted(model.features[f] for f in read)
        return tuple(i for i in range(len(model.inputs)) if i not in read)
    return tuple(i for i, n in enumerate(model.n_states) if n == 1)


def is_number(text: str) -> bool:
    """Return whether a text parses as a number."""
    try:
        float(text)
    except ValueError:
        return False
    return True
