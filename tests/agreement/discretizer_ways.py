"""Every discretizer form, on features that test its limits."""

from unittest.mock import patch

import numpy as np

from bncc.discretize.feature import Feature
from bncc.emit.emitter import EmitOptions, emit_c
from bncc.fixed_point import QFormat
from bncc.lower.discretizers.choice import in_lines, searched, ways
from bncc.lower.discretizers.rates import rates_of
from bncc.structure.graph import forest
from tests import models as hand

LOW8, LOW16, LOW32 = -(2**7), -(2**15), -(2**31)
TINY, HUGE = 2.0**-149, 2.0**128 - 2.0**104
FEATURES = {
    "int16 bytes": (
        Feature("a", "int16", 4, thresholds=(0, 100, 254), missing_state=1),
        Feature("b", "int16", 5, thresholds=(-20, 3, 40), missing_state=4),
        Feature("c", "int16", 3, thresholds=(7, 9), missing_state=0),
        Feature("d", "int16", 18, thresholds=tuple(range(-1, 33, 2)), missing_state=17),
    ),
    "int16 ends": (
        Feature("a", "int16", 4, thresholds=(LOW16, LOW16 + 1, LOW16 + 9), missing_state=2),
        Feature("b", "int16", 4, thresholds=(32700, 32766, 32767), missing_state=0),
        Feature("c", "int16", 4, thresholds=(-30000, 0, 30000), missing_state=3),
        Feature("d", "int16", 1),
    ),
    "int8": (
        Feature("a", "int8", 4, thresholds=(LOW8, LOW8 + 1, 100), missing_state=1),
        Feature("b", "int8", 5, thresholds=(-20, 3, 40), missing_state=4),
        Feature("c", "int8", 3, thresholds=(126, 127), missing_state=0),
        Feature("d", "int8", 18, thresholds=tuple(range(-1, 33, 2)), missing_state=17),
    ),
    "uint8": (
        Feature("a", "uint8", 4, thresholds=(0, 1, 254), missing_state=3),
        Feature("b", "uint8", 4, thresholds=(127, 128, 255)),
        Feature("c", "uint8", 3, thresholds=(7, 9), missing_state=2),
        Feature("d", "uint8", 17, thresholds=tuple(range(0, 256, 17))),
    ),
    "int32": (
        Feature("a", "int32", 4, thresholds=(LOW32, LOW32 + 1, LOW32 + 200), missing_state=3),
        Feature("b", "int32", 4, thresholds=(2**31 - 200, 2**31 - 2, 2**31 - 1), missing_state=1),
        Feature("c", "int32", 5, thresholds=(-100000, 0, 255, 100000), missing_state=0),
    ),
    "float32": (
        Feature("a", "float32", 4, thresholds=(-1.5, 0.0, 2.0**-10), missing_state=3),
        Feature("b", "float32", 5, thresholds=(-TINY, TINY, 2.0), missing_state=4),
        Feature("c", "float32", 4, thresholds=(-HUGE, -2.0, -1.0), missing_state=0),
        Feature("d", "float32", 3, thresholds=(1.0, HUGE), missing_state=1),
        Feature("e", "float32", 2, missing_state=1),
    ),
    "mixed bytes": (
        Feature("a", "uint8", 4, thresholds=(4, 5, 200), missing_state=1),
        Feature("b", "int8", 4, thresholds=(-4, 5, 100), missing_state=2),
        Feature("c", "float32", 3, thresholds=(-0.5, 0.5), missing_state=2),
    ),
    "wide": (
        Feature("a", "int16", 5, thresholds=(-300, -100, 2000, 9000), missing_state=4),
        Feature("b", "int16", 4, thresholds=(32000, 32500, 32767), missing_state=0),
        Feature("c", "int16", 4, thresholds=(1000, 1001, 1002), missing_state=1),
        Feature("d", "int16", 4, thresholds=(LOW16, LOW16 + 500, 0), missing_state=2),
    ),
    "mixed": (
        Feature("a", "int16", 4, thresholds=(1, 2, 3), missing_state=1),
        Feature("b", "int32", 4, thresholds=(10, 20, 30), missing_state=2),
        Feature("c", "float32", 4, thresholds=(-0.5, 0.5, 1.5), missing_state=3),
        Feature("d", "category", 3, categories=("x", "y"), missing_state=2),
    ),
}
METHODS = (
    "linear loop", "binary loop", "linear", "binary", "tree", "bytes", "nibbles", "guided",
    "guided far",
)  # fmt: skip


def model_of(features, n_classes=200):
    """Return a model of many classes, so that another state of any feature is another class."""
    rng = np.random.default_rng(0)
    tables = [rng.integers(0, 2**16, (f.n_states, n_classes)).tolist() for f in features]
    return hand.model_of(
        features, forest([None] * len(features)), QFormat(16, 0), [0] * n_classes, tables
    )


def plan(features, method):
    """Return the plan with one discretizer form for all; trees for features that lack it."""
    way, _, place = method.partition(" ")
    k = -1 if place == "far" else 0
    search = way if way in ("linear", "binary") else None
    if place == "loop":
        return searched(features, search, rates_of(None))
    every = {i: ways(f, search, rates_of(None)) for i, f in enumerate(features) if f.is_numeric}
    chosen = {
        i: ([one for one in some if one.method == way] or [some[0]])[k] for i, some in every.items()
    }
    return in_lines(features, search, rates_of(None), chosen)


def emitted(features, method, name="m", n_classes=200):
    """Return the C with one discretizer form for all features."""
    with patch("bncc.lower.surroundings.choose_discretizers", return_value=plan(features, method)):
        return emit_c(model_of(features, n_classes), EmitOptions(name)).files
