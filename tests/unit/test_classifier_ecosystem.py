"""BNClassifier inside scikit-learn's meta-estimators, and messages in the words of Python."""

import ast
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import ColumnTransformer
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.ensemble import VotingClassifier
from sklearn.impute import SimpleImputer
from sklearn.inspection import permutation_importance
from sklearn.model_selection import GridSearchCV, GroupKFold, cross_val_score
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline

import bncc
from bncc import BNClassifier
from bncc._arguments import as_arguments

IRIS = load_iris(return_X_y=True, as_frame=True)
CANCER = load_breast_cancer(return_X_y=True)
PACKAGES = ("compiler", "data", "discretize", "emit", "model", "search", "structure", "train")


def quick(**options):
    """Return a classifier that counts."""
    return BNClassifier(**{"structure": "naive", "parameters": "ml", "random_state": 0, **options})


@pytest.mark.parametrize("data", [IRIS, CANCER], ids=["three classes", "two classes"])
@pytest.mark.parametrize("method", ["sigmoid", "isotonic"])
def test_its_scores_can_be_calibrated(data, method):
    """Scikit-learn's loss functions take float64; they refused integers."""
    X, y = data
    calibrated = CalibratedClassifierCV(quick(), method=method, cv=3).fit(X, y)
    probabilities = calibrated.predict_proba(X)
    assert probabilities.sum(axis=1) == pytest.approx(1)
    assert (calibrated.predict(X) == y).mean() > 0.9


@pytest.mark.parametrize("data", [IRIS, CANCER], ids=["three classes", "two classes"])
def test_decision_values_are_whole_numbers_as_floats(data):
    X, y = data
    values = quick().fit(X, y).decision_function(X)
    assert values.dtype == np.float64
    assert (values == np.rint(values)).all()
    assert not np.signbit(values[values == 0]).any()


def test_it_searches_a_grid_as_a_step_of_a_pipeline():
    X, y = IRIS
    steps = make_pipeline(SimpleImputer().set_output(transform="pandas"), quick())
    search = GridSearchCV(steps, {"bnclassifier__bits": [1, 4]}, cv=3).fit(X, y)
    assert search.best_params_["bnclassifier__bits"] in (1, 4)
    best = search.best_estimator_
    assert best[-1].feature_names_in_.tolist() == list(X.columns)
    assert best.score(X, y) > 0.9
    assert best[:-1].transform(X).equals(X.rename(columns=str))


def test_a_frame_of_mixed_columns_goes_through_a_transformer():
    X, y = IRIS
    X = X.assign(color=pd.Categorical(np.where(y > 0, "red", "blue")))
    keep = ColumnTransformer([("all", "passthrough", list(X.columns))]).set_output(
        transform="pandas"
    )
    fitted = make_pipeline(keep, quick()).fit(X, y)
    assert fitted[-1].model_.features[-1].kind == "category"
    assert fitted.score(X, y) > 0.9


@pytest.mark.parametrize("voting", ["soft", "hard"])
def test_it_votes(voting):
    X, y = CANCER
    voters = VotingClassifier([("bn", quick()), ("gauss", GaussianNB())], voting=voting)
    assert voters.fit(X, y).score(X, y) > 0.9


def test_its_features_have_importances_by_permutation():
    X, y = IRIS
    found = permutation_importance(quick().fit(X, y), X, y, n_repeats=3, random_state=0)
    assert found.importances_mean.argmax() in (2, 3)  # the petals
    assert found.importances_mean.max() > 0.02


def test_it_is_judged_on_groups():
    X, y = IRIS
    groups = np.arange(len(y)) % 5
    scores = cross_val_score(quick(), X, y, groups=groups, cv=GroupKFold(5))
    assert scores.shape == (5,)
    assert scores.min() > 0.8


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"lr": -1.0}, r"^lr is -1\.0; it must be a positive number$"),
        ({"lam": -1.0, "parameters": "hybrid"}, "^lam is -1.0; it must be a number, 0 or more$"),
        ({"structure": ["naive"]}, "^unknown structure '\\['naive'\\]'; choose "),
        ({"random_state": -1}, "^random_state is -1; it must be at least 0$"),
        ({"n_bins": 1}, "^n_bins is 1; it must be at least 2$"),
        ({"quantize": False, "bits": 3}, "leave out quantize=False, or the bits$"),
        ({"bits": 6, "int_bits": 3, "frac_bits": 2}, r"^int_bits=3 and frac_bits=2 .* not bits=6;"),
        ({"size_weight": 1.0}, "^size_weight needs .*; choose structure='tan-"),
        (
            {"structure": "tables", "parameters": "ml"},
            "^structure='tables' .* leave out parameters",
        ),
    ],
)
def test_errors_name_arguments(options, said):
    with pytest.raises(ValueError, match=said) as caught:
        quick(**options).fit(*IRIS)
    assert "--" not in str(caught.value)


def test_warnings_and_notes_name_arguments():
    with pytest.warns(UserWarning, match="^epochs has no effect with parameters='ml'$"):
        quick(epochs=3).fit(*IRIS)
    X = IRIS[0].assign(serial=[f"n{i}" for i in range(150)])
    notes = quick().fit(X, IRIS[1]).notes_
    assert any(note.endswith("drop such a column with X.drop(columns=...)") for note in notes)


def test_no_message_keeps_a_flag():
    """All texts of the packages that an estimator calls, their docstrings left out."""
    texts = []
    for package in PACKAGES:
        for path in (Path(bncc.__file__).parent / package).rglob("*.py"):
            nodes = list(ast.walk(ast.parse(path.read_text("utf-8"))))
            statements = {id(node.value) for node in nodes if isinstance(node, ast.Expr)}
            texts += [
                node.value
                for node in nodes
                if isinstance(node, ast.Constant)
                and isinstance(node.value, str)
                and id(node) not in statements
            ]
    flags = [text for text in texts if "--" in text.replace("<!--", "").replace("-->", "")]
    assert len(flags) > 40
    kept = {as_arguments(text) for text in flags if "--" in as_arguments(text)}
    assert kept <= {"--", "<!-- ", " -->", " * ------"}
