"""What the user should hear of a table's columns: ones that were hardly meant so."""

from collections.abc import Collection, Iterator

from bncc.data.dataset import Dataset
from bncc.model.model import Model
from bncc.structure.decision_tables import Grids
from bncc.train.order_notes import order_notes
from bncc.train.silent import tells_nothing

IDENTIFIER_SHARE = 0.5
MAX_PLAIN_CATEGORIES = 20
"""A column of texts is taken for an identifier above both this number and that share of rows."""
_MOST_NAMED = 5
"""Columns that one note names."""


def data_notes(model: Model, dataset: Dataset) -> tuple[str, ...]:
    """Return what is odd about the columns that a model was learned from."""
    stray = _stray_texts(dataset)
    return (
        *_first_line_notes(dataset),
        *_identifier_notes(model, dataset.n_rows, stray),
        *(
            f"column {name!r} holds numbers but is taken as text because of {text!r}; write ? "
            "where a reading is missing"
            for name, text in stray.items()
        ),
        *order_notes(dataset),
        *_silent_notes(model, dataset),
    )


def _first_line_notes(dataset: Dataset) -> Iterator[str]:
    """Yield a note if the names are readings: a file without a line of names has such."""
    names = [column.name for column in dataset.table.columns]
    # Names that count columns, as frames without names have, are meant.
    counted = {str(k) for k in range(len(names) + 1)}
    if len(names) > 1 and all(map(is_number, names)) and not counted.issuperset(names):
        yield (
            f"all columns have numbers for names, such as {names[0]!r}; if that is a row of "
            "readings, put a line of names above it"
        )


def _identifier_notes(model: Model, n_rows: int, others: Collection[str]) -> Iterator[str]:
    """Yield a note for every column that looks like the name or the number of a row."""
    for feature in model.features:
        n_texts = len(feature.categories)
        is_long = n_texts > max(MAX_PLAIN_CATEGORIES, n_rows * IDENTIFIER_SHARE)
        if is_long and feature.name not in others:
            yield (
                f"column {feature.name!r} has {n_texts} different texts in {n_rows} rows, as the "
                "name of a row would; leave such a column out with --drop"
            )


def _stray_texts(dataset: Dataset) -> dict[str, str]:
    """Return columns that a few texts among numbers make a category, each with the first text."""
    found = {}
    for column in dataset.table.columns:
        if column.kind != "category" or column.missing.all():
            continue
        cells = column.values[~column.missing].tolist()
        # A dictionary: a column may hold a hundred thousand texts, each of them once.
        stray = {cell: None for cell in dict.fromkeys(cells) if not is_number(cell)}
        if stray and sum(cell not in stray for cell in cells) > len(cells) / 2:
            found[column.name] = next(iter(stray))
    return found


def _silent_notes(model: Model, dataset: Dataset) -> Iterator[str]:
    """Yield a note if unused features are measured to carry no information about the class."""
    unused = [model.features[i].name for i in silent_features(model)]
    names = tells_nothing(dataset, unused)
    if 0 < len(names) < model.n_features:
        shown = ", ".join(names[:_MOST_NAMED]) + (", ..." if len(names) > _MOST_NAMED else "")
        yield (
            f"{len(names)} of {model.n_features} features are not used and carry no information "
            f"about the class in these rows: {shown}; each is constant, or its mutual information "
            "with the class is not above chance, alone and given any other feature; to do without "
            "their sensors, leave them out with --drop"
        )


def silent_features(model: Model) -> tuple[int, ...]:
    """Return the features that no decision depends on."""
    if isinstance(model.structure, Grids):
        read = {f for grid in model.structure.tables for f in grid.features}
        return tuple(i for i in range(model.n_features) if i not in read)
    return tuple(i for i, n in enumerate(model.n_states) if n == 1)


def is_number(text: str) -> bool:
    """Return whether a text reads as a number."""
    try:
        float(text)
    except ValueError:
        return False
    return True
