"""Differences of columns that boosted tables cut as well."""

import numpy as np
import pytest

from bncc.data.dataset import Column, Dataset, Table
from bncc.discretize.feature import Feature, states_of
from bncc.errors import OptionError
from bncc.model.file import to_bytes
from bncc.model.model import check_model
from bncc.model.reference import predict
from bncc.structure.decision_tables import DecisionTable, TableEnsemble
from bncc.train import differences
from bncc.train.differences import without_idle_differences
from bncc.train.fit_tables import fit_sum
from bncc.train.settings import TrainSettings


def dataset(n_rows=800, n_columns=5, kind="integer", names=None, gaps=()):
    """Return columns of which the difference of the first two decides."""
    rng = np.random.default_rng(1)
    X = rng.integers(0, 200, (n_rows, n_columns))
    y = (X[:, 0] - X[:, 1] > 10).astype(np.int64)
    values = X.astype(np.int64) if kind == "integer" else X + 0.5
    columns = []
    for k in range(n_columns):
        missing = np.zeros(n_rows, bool)
        missing[:3] = k in gaps
        name = names[k] if names else f"x{k}"
        columns.append(Column(name, kind, values[:, k], missing))
    return Dataset(Table(tuple(columns)), y, ("no", "yes"), "class")


def settings(n=2, readings="smallest", **others):
    options = {"tables": "4", "rows": "4", "differences": str(n), **others}
    return TrainSettings(structure="tables", structure_options=options, readings=readings)


@pytest.mark.parametrize(("readings", "kind"), [("smallest", "int16"), ("auto", "int32")])
@pytest.mark.parametrize("form", [{"rows": "4"}, {"leaves": "4"}])
def test_the_difference_that_decides_is_found(readings, kind, form):
    options = {"tables": "4", "differences": "1", **form}
    with_one = TrainSettings(structure="tables", structure_options=options, readings=readings)
    data = dataset()
    model = fit_sum(data, with_one)
    check_model(model)
    (found,) = (f for f in model.features if f.difference is not None)
    assert (found.name, found.kind, found.difference) == ("x0 - x1", kind, (0, 1))
    X = states_of(model.features, data.table)
    assert (predict(model, X) != data.y).mean() < 0.01


def test_equal_seeds_give_equal_models():
    first, second = (fit_sum(dataset(), settings(3)) for _ in range(2))
    assert to_bytes(first) == to_bytes(second)


def test_no_more_than_asked_are_kept_and_none_by_default():
    assert len(fit_sum(dataset(), settings(2)).features) <= 7
    assert not fit_sum(dataset(), settings(0)).has_differences


def test_of_many_columns_those_that_tables_cut_are_paired(monkeypatch):
    """With room for two columns, the pair is that of the two that decide."""
    monkeypatch.setattr(differences, "MOST_COLUMNS", 2)
    model = fit_sum(dataset(), settings(8))
    assert [f.difference for f in model.features[5:]] == [(0, 1)]


def test_columns_with_gaps_are_left_out():
    model = fit_sum(dataset(gaps=(0,)), settings(8, readings="int16"))
    assert all(0 not in (f.difference or ()) for f in model.features)


def test_a_difference_whose_name_is_taken_is_left_out():
    """The name of the third column is that of the difference of the others."""
    data = dataset(n_columns=3, names=("a", "b", "a - b"))
    model = fit_sum(data, settings(8))
    assert all(f.difference != (0, 1) for f in model.features)


@pytest.mark.parametrize(
    ("data", "readings"),
    [
        (dataset(kind="float"), "auto"),
        (dataset(), "int32"),
        (dataset(n_columns=2, gaps=(1,)), "int16"),
    ],
)
def test_data_without_such_columns_are_refused(data, readings):
    with pytest.raises(OptionError, match="differences=2 needs two columns of integers"):
        fit_sum(data, settings(2, readings=readings))


@pytest.mark.parametrize(("value", "words"), [("x", "is not an integer"), ("-1", "0 .. 1024")])
def test_a_wrong_number_is_refused(value, words):
    with pytest.raises(OptionError, match=words):
        settings(value)


def test_differences_that_no_table_cuts_are_dropped():
    """Tables refer to the others by their new numbers; inputs remain in any case."""
    inputs = tuple(Feature(f"x{k}", "uint8", 2, (3,)) for k in range(3))
    pairs = ((0, 1), (1, 2), (0, 2))
    found = tuple(Feature(f"d{k}", "int16", 2, (0,), difference=p) for k, p in enumerate(pairs))
    grids = TableEnsemble((DecisionTable((1, 5), ((0,), (0,))), DecisionTable((4,), ((0,),))))
    features, kept = without_idle_differences((*inputs, *found), grids)
    assert [f.name for f in features] == ["x0", "x1", "x2", "d1", "d2"]
    assert [grid.features for grid in kept.tables] == [(1, 4), (3,)]
