"""C without branches on its input, on simulated machines: every decision costs the same."""

import numpy as np
import pytest

from bncc.build.agreement import verify
from bncc.build.inputs.cases import Effort, cases
from bncc.build.meter import Inputs, Meter
from bncc.emit.emitter import EmitOptions, emit_c
from tests.firmware.machines import ENTRIES, LEVELS, MACHINES, MODELS
from tests.firmware.test_add_only import offenses
from tests.firmware.test_strict import C99

pytestmark = [pytest.mark.cc, pytest.mark.firmware]
COMPILED = ("host-gcc", "host-clang", "atmega328p", "cortex-m0", "rv32imc")
TELLING = ("many_features", "mixed_kinds", "tan_float", "letter_like", "wide_costs")


def emitted(name, constant_time=True, **options):
    return emit_c(MODELS[name](), EmitOptions("m", ENTRIES, constant_time=constant_time, **options))


@pytest.mark.parametrize("machine_name", COMPILED)
def test_compilers_warn_of_nothing_and_call_nothing(require_tool, machine_name, tmp_path):
    machine = MACHINES[machine_name]
    require_tool(machine.compiler)
    require_tool(f"{machine.binutils}objdump")
    for name in TELLING:
        text = emitted(name).files
        (tmp_path / f"{name}.c").write_text(text["m.c"].replace('"m.h"', f'"{name}.h"'))
        (tmp_path / f"{name}.h").write_text(text["m.h"])
    machine.compile(tmp_path, tuple(f"{name}.c" for name in TELLING), *C99, "-O2")
    for level in LEVELS:
        assert offenses(machine, TELLING, level, tmp_path) == {}


def costs_of(name, bench, level, **options):
    """Measure states, some of them none, and readings at and beside thresholds."""
    model = MODELS[name]()
    asked = EmitOptions("m", frozenset({"raw"}), target=bench.target.name, **options)
    tried = list(cases(model, None, Effort(30, False, 0), has_raw=True))
    X = np.concatenate([case.x[:40] for case in tried if case.kind != "raw"])
    R = np.concatenate([case.x for case in tried if case.kind == "raw"])[:60]
    with Meter(model, emit_c(model, asked).files, bench, level) as meter:
        return meter.costs(Inputs(X, R))


@pytest.mark.parametrize("target", ["avr", "cortex-m0", "cortex-m4", "rv32"])
@pytest.mark.parametrize("level", ["-Os", "-O2"])
@pytest.mark.parametrize("name", ["tan_float", "mixed_kinds"])
def test_every_decision_costs_the_same(require_bench, target, level, name):
    costs = costs_of(name, require_bench(target), level, constant_time=True)
    assert {entry: cost.max - cost.min for entry, cost in costs.items()} == {"predict": 0, "raw": 0}


@pytest.mark.parametrize("target", ["avr", "rv32"])
@pytest.mark.parametrize("name", ["wide_states", "mixed_kinds", "general_network"])
def test_states_out_of_range_are_refused(require_bench, target, name):
    """Where an int has the bits of a state, and where it has more."""
    require_bench(target)
    outcome = verify(MODELS[name](), target, emission=emitted(name), n_random=50)
    assert outcome.agree, outcome.first_mismatch


def test_ordinary_code_takes_longer_for_some_inputs(require_bench):
    costs = costs_of("tan_float", require_bench("cortex-m0"), "-Os")
    assert all(cost.max > cost.min for cost in costs.values())
