"""BNClassifier with structures that are learned together with their tables."""

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
    with pytest.raises(ValueError, match="choose --structure tan-subset, tan-all or tan-heur"):
        n_edges(structure="naive", size_weight=1.0)
