"""Figure 5 of S1 on small data: sets of missing features, and their treatment."""

from functools import partial
from itertools import product

import numpy as np
import pytest

from bncc.errors import OptionError
from bncc.papers import s1_runs
from bncc.papers.experiments import Effort, Request, reproduce
from bncc.papers.s1 import EXPERIMENTS, MISSING_ROWS, SHARES
from bncc.papers.s1_runs import (
    WITHOUT_FEATURES,
    errors_with_missing,
    log_joint_without,
    missing_sets,
)
from bncc.structure.graph import forest
from bncc.train.margin.settings import MarginSettings
from bncc.train.maximum_likelihood import ml_log_tables
from tests.folds import small_fold
from tests.s1_files import write_s1_files

s1_missing = partial(reproduce, EXPERIMENTS["s1-missing"])


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    """Make descents short."""
    short = MarginSettings(lambdas=(0.1,), most_iterations=3)
    monkeypatch.setattr(s1_runs, "MarginSettings", lambda: short)


def test_more_missing_are_the_same_and_others_and_more_draws_begin_alike():
    few, many = missing_sets(9, 3, 4), missing_sets(9, 6, 5)
    assert few.sum(axis=1).tolist() == [3] * 4
    assert many.sum(axis=1).tolist() == [6] * 5
    assert (few <= many[:4]).all()
    assert len(np.unique(missing_sets(9, 3, 20), axis=0)) > 5


@pytest.mark.parametrize("missing", list(product([False, True], repeat=3)))
def test_missing_features_are_summed_out(missing):
    fold = small_fold()
    structure = forest([None, 0, 1])
    data = fold.X, fold.y, structure, fold.n_states, fold.n_classes
    prior, tables = ml_log_tables(*data)
    found = log_joint_without(
        structure, fold.n_states, (prior, tables), fold.X_test, np.array(missing)
    )
    a, b, c = (table.reshape(-1, 2, 2) for table in tables)
    joint = np.exp(prior)[:, None, None, None] * np.exp(
        a[0].T[:, :, None, None]
        + np.moveaxis(b, 2, 0)[:, :, :, None]
        + np.moveaxis(c, 2, 0)[:, None, :, :]
    )
    for row, x in zip(found, fold.X_test, strict=True):
        at = tuple(
            slice(None) if gone else slice(k, k + 1) for k, gone in zip(x, missing, strict=True)
        )
        assert np.exp(row) == pytest.approx(
            joint[(slice(None), *at)].sum(axis=(1, 2, 3)), rel=1e-12
        )


@pytest.mark.parametrize("name", WITHOUT_FEATURES)
def test_with_all_missing_one_class_is_left(name):
    fold = small_fold()
    (error,) = errors_with_missing(fold, name, 3, 1)
    rates = (fold.y_test == 0).mean(), (fold.y_test == 1).mean()
    assert min(abs(error - rate) for rate in rates) < 1e-12
    complete = errors_with_missing(fold, name, 0, 2)
    assert complete[0] == complete[1] < error


def test_cells_tell_what_is_missing_and_what_chance_does(tmp_path):
    write_s1_files(tmp_path)
    (tmp_path / "raw" / "usps_all.csv.gz").unlink()
    told = []
    effort = Effort(n_runs=3, log=tmp_path / "log")
    request = Request(tmp_path, columns=("NB-ML", "SVM"), effort=effort)
    cells = s1_missing(request, lambda done, _: told.append(done))
    absent = [cell for cell in cells if cell["data"] == "usps"]
    assert [cell["note"] for cell in absent] == ["there is no usps_all.csv.gz"] * 2
    assert all(cell["ours"] is None for cell in absent)
    found = [cell for cell in cells if cell["data"] == "spambase"]
    counts = sorted({round(share * 3) for share in SHARES})
    assert [(cell["column"], cell["missing"]) for cell in found] == [
        (column, count) for column in request.columns for count in counts
    ]
    assert found[0]["note"] == "none missing"
    assert found[0]["sd"] == 0.0
    assert found[1]["note"].startswith("mean of 3 draws, sd ")
    assert found[1]["row"] == "spambase, 1 missing"
    assert {cell["n_features"] for cell in found} == {3}
    assert told == sorted(told)
    assert told[-1] == 1.0
    assert s1_missing(request) == cells, "all of it is kept"


def test_quick_is_spambase_with_fewer_draws(tmp_path):
    write_s1_files(tmp_path)
    cells = s1_missing(Request(tmp_path, quick=True, columns=("NB-MM",)))
    assert {cell["data"] for cell in cells} == {"spambase"}
    assert "mean of 10 draws" in cells[-1]["note"]
    with pytest.raises(OptionError, match="no row 'dcmall'; choose from 'usps', 'spambase'"):
        s1_missing(Request(tmp_path, rows=("dcmall",)))
    assert MISSING_ROWS == ("usps", "spambase")
