"""Loops over keys of floats: their address is computed once, not for every cut."""

from dataclasses import replace

import numpy as np
import pytest

from bncc.device.meter import Inputs, Meter
from bncc.device.sources import sources
from bncc.discretize.feature import Feature
from bncc.discretize.readings import representatives, states_of_raw
from bncc.emit.emitter import EmitOptions, emit_candidate
from bncc.lower.cost_model import candidate
from bncc.lower.kernels.families import FAMILIES
from bncc.program.ir import decisions
from bncc.program.pipeline import optimize
from tests.cut_programs import cut_program, stand_in

pytestmark = pytest.mark.firmware
N_STATES = 12
# Bounds on the instructions with the usual pointer over those with the volatile one.
RATIOS = {"cut-lanes": (1.04, 1.30)}
LOOPS = ("cut-lanes", "cut-loop", "cut-packed")


def measured(program, files, bench, level):
    """Return mean instructions and flash of `predict_raw`."""
    rng = np.random.default_rng(0)
    R = np.stack([rng.choice(representatives(each), 8) for each in program.features], axis=1)
    X = states_of_raw(program.features, R)
    with Meter(sources(stand_in(program), files), bench, level) as meter:
        cost = meter.costs(Inputs(X, R))["raw"]
        assert np.array_equal(cost.classes, decisions(program, X))
        return cost.mean, meter.footprint(("raw",)).flash


@pytest.mark.parametrize("level", ["-O2", "-Os"])
@pytest.mark.parametrize("target", ["avr", "cortex-m0", "cortex-m4", "rv32"])
@pytest.mark.parametrize("family", LOOPS)
def test_the_address_of_keys_is_read_once(require_bench, family, target, level):
    """Otherwise processors of 32 bits take more instructions; AVR has the same code."""
    bench = require_bench(target)
    rng = np.random.default_rng(1)
    plain = cut_program(10, N_STATES, 4, 12, 16, bits=3, seed=0)
    cuts = np.sort(rng.normal(size=(10, N_STATES - 1)).astype(np.float32)).astype(float).tolist()
    features = tuple(
        Feature(f"x{i}", "float32", N_STATES, tuple(each)) for i, each in enumerate(cuts)
    )
    program = optimize(replace(plain, features=features))[0]
    kernel = next(iter(FAMILIES[family](program)))
    found = replace(candidate(program, kernel, None), compare="keys")
    files = emit_candidate(stand_in(program), found, EmitOptions("m", frozenset({"raw"}))).files
    volatile = "M_KEYS_AT volatile"
    assert volatile in files["m.c"]
    without = {**files, "m.c": files["m.c"].replace(volatile, "M_KEYS_AT")}
    ours, theirs = (measured(program, each, bench, level) for each in (files, without))
    if target == "avr":
        assert ours == theirs
    else:
        least, most = RATIOS.get(family, (0.997, 1.15))
        assert least < theirs[0] / ours[0] < most
        assert ours[1] <= theirs[1] + 12
