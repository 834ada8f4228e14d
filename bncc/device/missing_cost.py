"""What a decision costs where features are missing."""

from dataclasses import replace

import numpy as np

from bncc._types import BoolArray, IntArray
from bncc.device.cross import Bench
from bncc.device.machine import HarnessError
from bncc.device.meter import Cost, Inputs, Meter
from bncc.emit.emitter import EmitOptions, emit_c
from bncc.errors import MisfitError, ModelError
from bncc.model import missing
from bncc.model.model import Model

SHARE = 0.3
"""Part of the features that is missing by chance."""


def drawn_gaps(X: IntArray) -> BoolArray:
    """Return which features of which rows are missing by chance, the same for equal shapes."""
    return np.random.default_rng(0).random(X.shape) < SHARE


def missing_cost(
    model: Model, bench: Bench, inputs: Inputs, *, opt_level: str, options: EmitOptions
) -> Cost | None:
    """Measure ``m_predict_missing``, 30 % of the features missing by chance."""
    gaps = drawn_gaps(inputs.X)
    try:
        emission = emit_c(model, replace(options, entries=options.entries | {"missing"}))
        with Meter(model, emission.files, bench, opt_level) as meter:
            cost = meter.costs(Inputs(inputs.X, gaps=gaps))["missing"]
    except (MisfitError, ModelError):
        return None
    wrong = int((cost.classes != missing.predict(model, inputs.X, gaps)).sum())
    if wrong:
        raise HarnessError(
            f"missing on {bench.place} decides {wrong} of {len(gaps)} inputs otherwise than the "
            "model; run `bncc verify --with missing` for this target"
        )
    return cost
