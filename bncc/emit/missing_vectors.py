"""Test vectors with gaps, for C that sums missing features out, and the answers Python gave."""

from dataclasses import dataclass

import numpy as np

from bncc._types import BoolArray, IntArray
from bncc.emit.vectors import Vectors
from bncc.model.missing import predict
from bncc.model.model import Model

SHARES = (0.1, 0.3, 0.5)
"""Chances of a feature to be missing, for one vector after the other."""


@dataclass(frozen=True, eq=False)
class GapVectors:
    """The test vectors once more, with gaps."""

    is_missing: BoolArray  # (n_vectors, n_features) bool: Features that are not known
    classes: IntArray  # (n_vectors,) int64: What `bncc.model.missing` decides then


def drawn_gaps(model: Model, vectors: Vectors) -> GapVectors:
    """Draw gaps from a fixed seed."""
    rng = np.random.default_rng(0)
    shares = np.resize(SHARES, len(vectors.states))
    shares[0] = 1
    is_missing = rng.random(vectors.states.shape) < shares[:, np.newaxis]
    return GapVectors(is_missing, predict(model, vectors.states, is_missing))
