"""Models that record the ranges of their training readings."""

from dataclasses import replace

import numpy as np

from bncc.discretize.feature import LARGEST_INT, SMALLEST_INT, Feature
from bncc.model.model import Model
from bncc.model.ranges import READINGS

LARGEST_FLOAT = float(np.finfo(np.float32).max)


def ranged(model: Model, seed: int = 0) -> Model:
    """Return a model that records ranges of training readings, some up to the ends of the types."""
    rng = np.random.default_rng(seed)
    record = {f.name: _range(f, rng) for f in model.inputs if f.kind != "category"}
    return replace(model, training={**model.training, READINGS: record})


def _range(feature: Feature, rng: np.random.Generator) -> dict[str, int | float]:
    some: list[int | float]
    if feature.kind == "state":
        some = rng.integers(0, feature.n_states, 2).tolist()
    elif feature.kind == "float32":
        drawn = rng.normal(0, 10, 5).astype(np.float32).astype(float).tolist()
        some = [0.0, -0.0, 2.0**-149, LARGEST_FLOAT, -LARGEST_FLOAT, 2.5, -1.0, *drawn]
    else:
        low, high = SMALLEST_INT[feature.kind], LARGEST_INT[feature.kind]
        some = [low, high, 0, -300, 300, *rng.integers(low, high, 5).tolist()]
        some = [value for value in some if low <= value <= high]
    ends = [some[k] for k in rng.integers(0, len(some), 2)]
    return {"min": min(ends), "max": max(ends)}
