"""Samples whose class depends on several features jointly."""

import numpy as np

from bncc.boosting.learn import samples_of
from bncc.boosting.sums import Samples

N_STATES = [4, 6, 1, 300, 2]
N_CLASSES = 3


def few_samples(n: int = 400, weights: np.ndarray | None = None) -> Samples:
    rng = np.random.default_rng(7)
    X = np.stack([rng.integers(0, r, n) for r in N_STATES], axis=1).astype(np.uint16)
    y = ((X[:, 0] > 1) ^ (X[:, 3] > 140)).astype(int) + (X[:, 1] == 2)
    return samples_of(X, y, N_STATES, N_CLASSES, weights)
