"""Readings from files, as the commands need them."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from bncc._types import IntArray
from bncc.cli.console import Console
from bncc.data.dataset import Dataset, Table
from bncc.data.files import file_digest
from bncc.data.readers import read_table
from bncc.data.target import dataset_of, fold_parts, group_labels
from bncc.errors import DataError, OptionError
from bncc.model.model import Model
from bncc.model.training_record import recorded_data


def training_parts(
    path: str,
    class_name: str | None,
    fold: int | None,
    console: Console,
    drop: Sequence[str] = (),
    *,
    groups: str | None = None,
    ordered: bool = False,
) -> tuple[Dataset, Dataset | None]:
    """Read a training file."""
    table = read_table(path, fold=fold)
    console.detail(f"read {table.n_rows} rows and {len(table.columns)} columns from {path}")
    if groups is not None and groups in drop:
        raise OptionError(
            f"column {groups!r} is named by both --drop and --groups, which already excludes it "
            "from the features; leave out --drop"
        )
    table = table.without(drop)
    train, test = fold_parts(table, class_name, fold, groups=groups, ordered=ordered)
    n_kept = dataset_of(table, class_name, groups=groups).n_rows
    _tell_dropped(n_kept, table.n_rows, console)
    if groups is not None and train.split.most_folds(train.n_rows) < 2:
        raise DataError(
            f"all rows are in one group of {groups!r}, so no validation rows are left; leave out "
            "--groups, or name another column"
        )
    if test is not None:
        note_shared_groups(train, test, console)
    return replace(train, digest=file_digest(path)), test


def test_rows(train: Dataset, path: str, console: Console) -> Dataset:
    """Read the labeled rows of another file as a test set."""
    table = read_table(path)
    split = train.split
    groups = split.column if split.groups is not None and split.column in table.names else None
    dataset = dataset_of(table, train.class_name, groups=groups, ordered=split.ordered)
    _tell_dropped(dataset.n_rows, table.n_rows, console)
    if dataset.table.test_rows is not None:
        dataset = dataset.take(dataset.table.test_rows)
    if dataset.n_rows == 0:
        raise DataError(f"'{path}' contains no row with a class; name labeled rows with --test")
    note_shared_groups(train, dataset, console)
    return dataset.with_classes(train.classes)


def note_shared_groups(train: Dataset, test: Dataset, console: Console) -> None:
    """Warn if the test error is not that of new groups, or if that is unknown."""
    column = train.split.column
    if train.split.groups is None:
        return
    if test.split.groups is None:
        console.note(
            f"the test rows have no column {column!r}: whether they share groups with the "
            "training rows is unknown, and their interval assumes independent rows; add the "
            "column"
        )
        return
    shared = train.split.present & test.split.present
    if shared:
        console.note(
            f"training and test rows share {len(shared)} of the {len(test.split.present)} test "
            f"groups of {column!r}, so the test error rate is not that of new groups; keep each "
            "group in one of the two parts"
        )


def note_training_rows(model: Model, path: str, fold: int | None, console: Console) -> None:
    """Warn if rows are those that a model was trained on, where its record has their file."""
    data = recorded_data(model.training)
    if data is None or data["of"] != "file" or fold is not None:
        return
    if file_digest(path) == data["sha256"]:
        console.note(
            f"the model was trained on '{path}', so this error is optimistic; name rows that the "
            "training did not use"
        )


def note_unknown_classes(
    console: Console, y: IntArray, rows: str, *, excluded: str = "the confusion matrix"
) -> None:
    """Warn about rows of classes that a model lacks; shape: `y` (n_rows,) int, -1 for such."""
    unknown = int((y < 0).sum())
    if unknown:
        console.note(
            f"{unknown} of {len(y)} {rows} have a class that the model does not know; they "
            f"count as errors and are excluded from {excluded}"
        )


def _tell_dropped(n_kept: int, n_rows: int, console: Console) -> None:
    if n_kept < n_rows:
        console.note(f"{n_rows - n_kept} of {n_rows} rows have no class and are ignored")


def labeled_rows(
    model: Model,
    path: str,
    class_name: str | None,
    fold: int | None,
    console: Console,
    groups: str | None = None,
) -> tuple[Dataset, tuple[str, ...]]:
    """Read labeled rows with a model's classes."""
    if groups in {feature.name for feature in model.features}:
        raise DataError(
            f"the model reads column {groups!r}, so it cannot be dropped; train the model with "
            f"--groups {groups}"
        )
    table = read_table(path, fold=fold)
    labels = () if groups is None else group_labels(table, groups)
    others = table if groups is None else table.without([groups])
    name = _class_column(model, others, class_name)
    dataset = dataset_of(others, name)
    (column,) = (column for column in table.columns if column.name == name)
    has_class = np.flatnonzero(~column.missing)
    _tell_dropped(dataset.n_rows, table.n_rows, console)
    labels = tuple(labels[row] for row in has_class) if labels else ()
    if dataset.table.test_rows is not None and fold is not None:
        labels = tuple(labels[row] for row in dataset.table.test_rows) if labels else ()
        dataset = dataset.take(dataset.table.test_rows)
    return dataset.with_classes(model.classes), labels


def rows_to_classify(
    path: str, class_name: str | None, fold: int | None, console: Console
) -> Table:
    """Read rows that need no class."""
    table = read_table(path, fold=fold)
    if class_name is not None:
        if class_name not in table.names:
            raise DataError(
                f"there is no column '{class_name}'; leave out --class, which is not needed here"
            )
        console.note("--class has no effect here: no class is needed")
    if table.test_rows is not None and fold is not None:
        return table.take(table.test_rows)
    return table


def _class_column(model: Model, table: Table, class_name: str | None) -> str:
    """Return the class column's name: the one given, else `class`, else the last."""
    features = {feature.name for feature in model.features}
    # The groups of the training are no class, although they may be the last column.
    names = [name for name in table.names if name != model.training.get("groups")] or table.names
    candidates: Sequence[str | None] = (
        (class_name,)
        if class_name is not None
        else ("class" if "class" in names else names[-1], _trained_class(model))
    )
    for name in candidates:
        if name is not None and name not in features and (class_name or name in table.names):
            return name
    raise DataError(
        f"column '{candidates[0]}' is a feature of the model, not the class; name the class "
        "column with --class, or use bncc predict for unlabeled rows"
    )


def _trained_class(model: Model) -> str | None:
    name = model.training.get("class_name")
    return name if isinstance(name, str) else None
