"""Trained models of five data sets, readings to try, and what they are as blobs."""

from functools import lru_cache

import numpy as np
from sklearn import datasets

from bncc import BNClassifier
from bncc._types import FloatArray, IntArray
from bncc.discretize.feature import inputs_of
from bncc.discretize.readings import probe_values, states_of_raw
from bncc.model.model import Model
from bncc.model.reference import predict
from bncc.pack.writer import readings_of_raw

TABLES = {"tables": 24, "rows": 8}
FIVE = {
    "digits": {"structure": "tables", "structure_options": TABLES, "epochs": 2},
    "wine": {"structure": "tables", "structure_options": TABLES, "epochs": 2},
    "breast_cancer": {"structure": "tables", "structure_options": TABLES, "epochs": 2},
    "iris": {"structure": "naive", "parameters": "ml", "bits": 6},
    "wine_tan": {"structure": "chow-liu", "parameters": "ml", "bits": 4},
}
"""Options of training by name; a name begins with that of its data set."""


@lru_cache
def trained(name: str) -> Model:
    """Return a trained model of floats, or of integers for digits."""
    X, y = getattr(datasets, f"load_{name.removesuffix('_tan')}")(return_X_y=True)
    X = X.astype(np.int16) if name == "digits" else X.astype(np.float32)
    return BNClassifier(**FIVE[name], random_state=0).fit(X, y).to_model()


def probes(model: Model, n: int, seed: int = 0) -> FloatArray:
    """Return raw rows next to thresholds, missing and extreme readings among them."""
    rng = np.random.default_rng(seed)
    columns = [rng.choice(probe_values(feature), n) for feature in inputs_of(model.features)]
    return np.stack(columns, axis=1)


def tried(model: Model, n: int, seed: int = 0) -> tuple[IntArray, IntArray]:
    """Return readings for the runtime and the decisions of the reference."""
    R = probes(model, n, seed)
    return readings_of_raw(model.features, R), predict(model, states_of_raw(model.features, R))
