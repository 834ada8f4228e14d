"""BNClassifier keeps scikit-learn's contract, and predicts what its C predicts."""

import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_iris, load_wine
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_score, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils.estimator_checks import check_estimator

from bncc import BNClassifier, load_model, save_model
from bncc.model import reference

MAY_FAIL = {"check_sample_weight_equivalence_on_dense_data": "thresholds know of no weights"}
"""Checks of scikit-learn that may fail, each with its reason."""


def quick(**options):
    """Return a classifier that needs no torch."""
    return BNClassifier(**{"parameters": "ml", "random_state": 0, **options})


@pytest.fixture(scope="module")
def iris():
    return load_iris(return_X_y=True, as_frame=True)


@pytest.fixture(scope="module")
def fitted(iris):
    return quick().fit(*iris)


def statuses(estimator):
    with warnings.catch_warnings():
        # the checks fit other libraries' estimators and odd data; only the outcome counts here
        warnings.simplefilter("ignore")
        results = check_estimator(
            estimator, expected_failed_checks=MAY_FAIL, on_skip=None, on_fail=None
        )
    assert len(results) > 40
    return {r["check_name"]: r["exception"] for r in results if r["status"] == "failed"}


@pytest.mark.parametrize("structure", ["naive", "chow-liu", "forest"])
@pytest.mark.parametrize("parameters", ["ml", "bdeu", "margin"])
def test_scikit_learn_finds_nothing_to_complain_about_without_torch(structure, parameters):
    assert statuses(BNClassifier(structure, parameters)) == {}


def test_scikit_learn_finds_nothing_to_complain_about_in_what_descends():
    assert statuses(BNClassifier()) == statuses(BNClassifier("tables", epochs=2)) == {}


@pytest.mark.parametrize(
    ("load", "least"), [(load_iris, 0.9), (load_wine, 0.9), (load_breast_cancer, 0.9)]
)
def test_it_learns(load, least):
    scores = cross_val_score(quick(), *load(return_X_y=True), cv=3)
    assert scores.mean() > least


def test_the_default_learns_too(iris):
    X, X_test, y, y_test = train_test_split(*iris, random_state=0)
    assert BNClassifier(random_state=0).fit(X, y).score(X_test, y_test) > 0.9


def test_it_predicts_what_the_integer_model_predicts(iris, fitted):
    X, _ = iris
    model = fitted.to_model()
    states = np.column_stack(
        [
            (X[f.name].to_numpy(np.float32)[:, None] > f.thresholds).sum(axis=1)
            for f in model.features
        ]
    )
    costs = reference.costs(model, states)
    assert fitted.predict(X).tolist() == costs.argmin(axis=1).tolist()
    assert fitted.decision_function(X).tolist() == (-costs).tolist()
    nats = -costs * 2.0**-model.q_format.frac_bits
    odds = np.exp(nats) / np.exp(nats).sum(axis=1, keepdims=True)
    assert fitted.predict_proba(X) == pytest.approx(odds, abs=1e-12)
    assert np.exp(fitted.predict_log_proba(X)) == pytest.approx(odds, abs=1e-12)


def test_two_classes_have_one_decision_value_which_agrees_with_predict(iris):
    X, y = iris
    X, y = X[y != 0], y[y != 0]
    clf = quick(bits=2).fit(X, y)
    values = clf.decision_function(X)
    assert values.shape == (100,)
    assert values.dtype == np.float64
    assert clf.predict(X).tolist() == np.where(values > 0, 2, 1).tolist()


@pytest.mark.parametrize(
    ("labels", "texts"),
    [
        (["b", "a", "c"], ("a", "b", "c")),
        ([10, 9, -1], ("-1", "9", "10")),
        ([1.0, 0.0, 2.0], ("0", "1", "2")),
        ([True, False, True], ("False", "True")),
        (np.array(["b", "a", "c"], dtype=object), ("a", "b", "c")),
        (pd.Categorical(["b", "a", "c"]), ("a", "b", "c")),
    ],
)
def test_labels_come_back_as_they_were_and_the_model_holds_their_text(labels, texts):
    X = [[0], [5], [9]] * 6
    y = np.tile(np.asarray(labels), 6)
    clf = quick(structure="naive", discretize="quantile").fit(X, y)
    assert clf.model_.classes == texts
    assert set(clf.predict(X)) <= set(y.tolist())
    assert clf.classes_.dtype == y.dtype


def test_columns_of_a_frame_keep_their_types():
    n = 40
    frame = pd.DataFrame(
        {
            "whole": np.arange(n),
            "real": np.arange(n) / 7,
            "wide": np.arange(n) * 10**6,
            "text": ["a", "b"] * (n // 2),
            "kind": pd.Categorical(["x"] * n),
            "gap": [None, 1.5] * (n // 2),
        }
    )
    y = np.arange(n) >= n // 2
    clf = quick(structure="naive").fit(frame, y)
    kinds = {feature.name: feature.kind for feature in clf.model_.features}
    assert kinds == {
        "whole": "int16",
        "real": "float32",
        "wide": "int32",
        "text": "category",
        "kind": "category",
        "gap": "float32",
    }
    assert clf.score(frame, y) == 1
    assert clf.feature_names_in_.tolist() == list(frame.columns)
    assert clf.predict(frame.assign(kind="never seen", gap=np.nan)).tolist() == y.tolist()


def test_columns_of_a_frame_are_matched_as_scikit_learn_does(fitted, iris):
    X, _ = iris
    with pytest.raises(ValueError, match="feature names"):
        fitted.predict(X[X.columns[::-1]])
    with pytest.warns(UserWarning, match="valid feature names"):
        assert fitted.predict(X.to_numpy()).tolist() == fitted.predict(X).tolist()


def test_a_frame_with_numbers_for_names_is_taken_by_position(iris):
    X, y = iris
    bare = X.set_axis(range(4), axis=1)
    clf = quick().fit(bare, y)
    assert [feature.name for feature in clf.model_.features] == ["x0", "x1", "x2", "x3"]
    assert clf.predict(bare).tolist() == clf.predict(X.to_numpy()).tolist()


def test_states_are_taken_as_they_are():
    X = np.array([[0, 1], [1, 0], [2, 1], [2, 0]] * 5)
    y = X[:, 0] // 2
    clf = quick(discretize="none", structure="naive").fit(X, y)
    assert [(f.kind, f.n_states) for f in clf.model_.features] == [("state", 3), ("state", 2)]
    assert clf.predict(X).tolist() == y.tolist()
    with pytest.raises(ValueError, match="not a state"):
        quick(discretize="none").fit(X - 1, y)


def test_missing_readings_are_a_value_of_their_own_or_fall_back():
    X = np.array([[0.0], [1.0], [np.nan]] * 10)
    y = np.array([0, 0, 1] * 10)
    clf = quick(structure="naive").fit(X, y)
    assert clf.predict([[np.nan], [0.5]]).tolist() == [1, 0]
    assert quick(structure="naive").fit(X[:2].repeat(9, 0), [0] * 9 + [1] * 9).predict(
        [[np.nan]]
    ) in ([0], [1])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"structure": "oak"}, "oak"),
        ({"parameters": "guess"}, "unknown parameters 'guess'"),
        ({"discretize": "sorcery"}, "sorcery"),
        ({"bits": 0}, "0 bits"),
        ({"bits": 4, "int_bits": 4, "frac_bits": 4}, "add up to 8 bits"),
        ({"quantize": False, "bits": 4}, "without quantization"),
        ({"structure_options": {"colour": "red"}}, "colour"),
        ({"validation": 1.5}, "validation"),
        ({"random_state": -1}, "random_state is -1"),
        ({"n_bins": 1}, "n_bins is 1"),
    ],
)
def test_parameters_without_sense_are_value_errors_in_fit(iris, options, message):
    clf = quick(**options)
    with pytest.raises(ValueError, match=message) as caught:
        clf.fit(*iris)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("X", "y", "message"),
    [
        ([[1.0], [2.0]], ["a", "a"], "only one class"),
        ([[1.0], [np.inf]], ["a", "b"], "infinity"),
        ([[1.0], [1e300]], ["a", "b"], "float32"),
        ([[1.0], [2.0]], ["a"], "inconsistent"),
        ([[1.0], [2.0]], [0.5, 0.7], "Unknown label type"),
        ([[1.0], [2.0]], None, "requires y"),
        (pd.DataFrame({"a": [1.0, np.inf]}), ["a", "b"], "infinite number"),
        (
            pd.DataFrame({"a": pd.to_datetime(["2020-01-01", "2020-01-02"])}),
            [0, 1],
            "which is not supported",
        ),
    ],
)
def test_data_that_cannot_be_learned_from_are_value_errors(X, y, message):
    with pytest.raises(ValueError, match=message):
        quick().fit(X, y)


def test_an_option_without_effect_is_said_aloud(iris):
    with pytest.warns(UserWarning, match="epochs has no effect"):
        quick(epochs=3).fit(*iris)


def test_bits_and_seed_reach_the_model(iris):
    model = quick(int_bits=3, frac_bits=5, random_state=7).fit(*iris).to_model()
    assert (model.q_format.int_bits, model.q_format.frac_bits) == (3, 5)
    assert model.training["seed"] == 7
    assert quick().fit(*iris).model_.q_format.bits == 6
    assert quick(quantize=False).fit(*iris).model_.q_format.bits == 24


def test_a_random_state_instance_draws_the_seed(iris):
    seeds = {
        quick(random_state=np.random.RandomState(0)).fit(*iris).model_.training["seed"]
        for _ in range(2)
    }
    assert len(seeds) == 1
    assert quick(random_state=None).fit(*iris).model_.training["seed"] >= 0


def test_nothing_works_before_fit(iris, tmp_path):
    clf = quick()
    for call in (clf.predict, clf.predict_proba, clf.decision_function, clf.verify):
        with pytest.raises(NotFittedError):
            call(iris[0])
    with pytest.raises(NotFittedError):
        clf.to_model()
    with pytest.raises(NotFittedError):
        clf.emit_c(tmp_path)


def test_it_can_be_searched_cloned_piped_and_pickled(iris, fitted):
    X, y = iris
    search = GridSearchCV(quick(), {"bits": [2, 6], "structure": ["naive", "forest"]}, cv=3)
    assert search.fit(X, y).best_score_ > 0.9
    assert clone(fitted).get_params() == fitted.get_params()
    tenths = FunctionTransformer(lambda frame: (frame * 10).round().astype(int))
    pipe = make_pipeline(tenths, quick()).fit(X, y)
    assert {f.kind for f in pipe[-1].model_.features} == {"int16"}
    again = pickle.loads(pickle.dumps(fitted))
    assert again.predict(X).tolist() == fitted.predict(X).tolist()


def test_its_model_is_saved_and_loaded(tmp_path, fitted, iris):
    save_model(fitted.to_model(), tmp_path / "iris.bncc")
    loaded = load_model(tmp_path / "iris.bncc")
    assert loaded.tables[0].tolist() == fitted.model_.tables[0].tolist()
    assert loaded.training == fitted.model_.training


def test_it_writes_c_files_and_does_not_overwrite_them(tmp_path, fitted):
    paths = fitted.emit_c(tmp_path / "out", "iris")
    files = {path.name for path in paths if path.is_file()}
    assert {"iris.c", "iris.h", "iris_vectors.h", "iris_selftest.c"} <= files
    header = (tmp_path / "out" / "iris.h").read_text()
    assert "iris_predict_raw(" in header
    assert "iris_scores(" in header
    with pytest.raises(FileExistsError):
        fitted.emit_c(tmp_path / "out", "iris")
    assert fitted.emit_c(tmp_path / "out", "iris", overwrite=True) == paths
    assert tmp_path / "p/src/iris.c" in fitted.emit_c(tmp_path / "p", "iris", package="cmake")
    with pytest.raises(ValueError, match="register"):
        fitted.emit_c(tmp_path, "register")


@pytest.mark.cc
def test_its_c_agrees_on_readings_and_on_what_is_generated(fitted, iris, require_tool):
    require_tool("gcc")
    outcome = fitted.verify(iris[0], compiler="gcc", n_random=200)
    assert outcome.agree
    assert outcome.checked > len(iris[0]) + 200
    assert fitted.verify(compiler="gcc", n_random=10).agree
    with pytest.raises(ValueError, match="feature names"):
        fitted.verify(iris[0].iloc[:, :2], compiler="gcc")
