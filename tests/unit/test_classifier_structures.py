"""BNClassifier with structures that are learned together with their tables."""

import numpy as np
import pytest
from sklearn.datasets import load_iris

from bncc import BNClassifier

JOINT = {"structure": "tan-all", "parameters": "ml", "random_state": 0, "epochs": 30}


def n_edges(**options):
    clf = BNClassifier(**{**JOINT, **options}).fit(*load_iris(return_X_y=True))
    return clf.to_model().structure.n_edges


def test_a_price_of_size_reaches_the_training():
    quick = {"structure_options": {"step": "0.2"}, "lam": 0.0}
    assert n_edges(**quick) > n_edges(**quick, size_weight=1e3) == 0


def test_a_price_of_size_without_effect_is_refused():
    with pytest.raises(ValueError, match="choose structure='tan-subset', tan-all or tan-heur"):
        n_edges(structure="naive", size_weight=1.0)


def test_structure_options_may_be_numbers_and_lists():
    given = {"parents": 2, "widths": [1, 2]}
    X, y = np.arange(60).reshape(20, 3) % 7, np.arange(20) % 2
    steps = {"epochs": 2, "bits": 2, "random_state": 0, "structure": "tan-subset"}
    ours = BNClassifier(structure_options=given, **steps).fit(X, y)
    texts = BNClassifier(structure_options={"parents": "2", "widths": "1,2"}, **steps).fit(X, y)
    assert ours.model_.training["structure_options"] == {"parents": "2", "widths": "1,2"}
    assert (ours.predict(X) == texts.predict(X)).all()
    with pytest.raises(ValueError, match="structure_options is 'order=none'; pass a dict such as"):
        BNClassifier(structure_options="order=none").fit(X, y)


def test_what_steers_the_descent_reaches_the_model():
    given = {"dropout": 0.25, "jitter": 0.1, "average": 0.5, "quantize_from": 0.75}
    clf = BNClassifier(parameters="free", epochs=2, engine="torch", random_state=0, **given)
    training = clf.fit(*load_iris(return_X_y=True)).model_.training
    assert {key: training[key] for key in given} == given
    with pytest.raises(ValueError, match="unknown engine 'abacus'"):
        BNClassifier(engine="abacus").fit(*load_iris(return_X_y=True))


def test_sums_of_tables_are_discretized_as_on_the_command_line():
    few = {"structure_options": {"tables": 4}, "epochs": 2, "random_state": 0}
    fitted = BNClassifier("tables", **few).fit(*load_iris(return_X_y=True))
    assert fitted.model_.training["discretize"] == "quantile"
    coarse = BNClassifier("tables", discretize="mdl", **few).fit(*load_iris(return_X_y=True))
    assert coarse.model_.training["discretize"] == "mdl"
