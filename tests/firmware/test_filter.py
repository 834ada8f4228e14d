"""The time of the filter over decisions, of trained models, on simulated targets."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from bncc.device.bounds import EFFORT
from bncc.device.inputs.cases import Effort
from bncc.device.inputs.filter import hostile_steps
from bncc.device.meter import Inputs, Meter
from bncc.emit.emitter import EmitOptions, emit_c
from bncc.model.filter import Filter, answered, required
from bncc.model.model import Model
from bncc.on_device import sources_of
from tests.dwelling import trained, with_transitions
from tests.firmware.machines import MODELS

pytestmark = [pytest.mark.cc, pytest.mark.firmware]
PRICES = (0, 9, 255, 300, 70000)
"""Prices of every width, and 0, with which a step keeps nothing."""
EFFORTS = (EFFORT, Effort(n_random=40, seed=1))
FILTERED = EmitOptions("m", frozenset({"filter"}))


@cache
def models() -> dict[str, Model]:
    """Return models with filters: trained ones, of many classes, and of wide sums."""
    found = {f"naive {price}": trained("naive", price) for price in PRICES}
    found["naive held"] = replace(trained("naive", 9), filter=Filter(9, 3))
    found["naive later"] = replace(trained("naive", 9), filter=Filter(9, lag=4))
    found["naive held and later"] = replace(trained("naive", 9), filter=Filter(300, 3, lag=100))
    found["naive transitions later"] = with_transitions(trained("naive", 9), 40, lag=4)
    for key, largest in (("bytes", 40), ("words", 300)):
        found[f"naive transitions of {key}"] = with_transitions(trained("naive", 9), largest)
    found["wide_costs transitions"] = with_transitions(MODELS["wide_costs"](), 70000)
    return {**found, "tables 300": trained("tables", 300)} | {
        name: replace(MODELS[name](), filter=Filter(40)) for name in ("wide_costs", "mixed_kinds")
    }


def emission_of(model: Model, **more):
    return emit_c(model, replace(FILTERED, **more))


@pytest.mark.parametrize("target", ["avr", "cortex-m0", "rv32"])
def test_no_hostile_step_takes_longer_than_those_of_the_header(require_bench, target):
    """Nor do others of the same kinds."""
    bench = require_bench(target)
    keys = ("naive 9", "tables 300", "wide_costs", "naive transitions of words", "naive later")
    for key in (*keys, "naive transitions later"):
        model = models()[key]
        emission = emission_of(model, target=target)
        assert emission.layout.filter is not None
        largest = emission.layout.filter.largest
        X = np.zeros((1, model.n_features), dtype=np.int64)
        with Meter(sources_of(model, emission), bench, "-O2") as meter:
            found = [
                meter.costs(Inputs(X, steps=steps), ("filter",))["filter"]
                for steps in (hostile_steps(model, largest, effort) for effort in EFFORTS)
            ]
        assert found[0].max >= found[1].max, key
        steps = hostile_steps(model, largest, EFFORTS[0])
        one = np.zeros(len(steps), dtype=np.int64)
        assert np.array_equal(found[0].classes, answered(steps, one, required(model.filter)))
