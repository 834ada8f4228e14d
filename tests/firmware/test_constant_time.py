"""Constant-time C on simulated targets: every decision takes the same time."""

from functools import cache

import numpy as np
import pytest

from bncc.device.inputs.cases import Effort, cases
from bncc.device.meter import Inputs, Meter
from bncc.device.sources import sources
from bncc.emit.emitter import EmitOptions, emit_c
from bncc.lower.kernels.families import FREE_OF_BRANCHES
from bncc.targets import TARGETS
from tests.firmware.compiled import faults, write_all
from tests.firmware.fleet import answers, comparing, disagreeing
from tests.firmware.machines import ENTRIES, LEVELS, MACHINES, MODELS
from tests.firmware.test_strict import C99

pytestmark = [pytest.mark.cc, pytest.mark.firmware]
COMPILED = ("host-gcc", "host-clang", "atmega328p", "cortex-m0", "rv32imc")
TELLING = ("many_features", "mixed_kinds", "tan_float", "letter_like", "wide_costs")


@cache
def emitted(name):
    return emit_c(MODELS[name](), EmitOptions("m", ENTRIES, constant_time=True))


@pytest.mark.parametrize("machine_name", COMPILED)
def test_compilers_warn_of_nothing_and_call_nothing(require_machine, machine_name, tmp_path):
    machine = MACHINES[machine_name]
    require_machine(machine)
    names = write_all(tmp_path, {name: emitted(name).files for name in TELLING})
    assert faults(machine, tmp_path, names, LEVELS, C99) == {}


def costs_of(name, bench, level, **options):
    """Measure states, some of them invalid, and readings at and next to thresholds."""
    model = MODELS[name]()
    asked = EmitOptions("m", frozenset({"raw"}), target=bench.target.name, **options)
    tried = list(cases(model, None, Effort(30, False, 0), has_raw=True))
    X = np.concatenate([case.x[:40] for case in tried if case.kind != "raw"])
    R = np.concatenate([case.x for case in tried if case.kind == "raw"])[:60]
    with Meter(sources(model, emit_c(model, asked).files), bench, level) as meter:
        return meter.costs(Inputs(X, R))


@pytest.mark.parametrize("target", ["avr", "cortex-m0", "cortex-m4", "rv32"])
@pytest.mark.parametrize("level", ["-Os", "-O2"])
@pytest.mark.parametrize("name", ["tan_float", "mixed_kinds"])
def test_every_decision_costs_the_same(require_bench, target, level, name):
    costs = costs_of(name, require_bench(target), level, constant_time=True)
    assert {entry: cost.max - cost.min for entry, cost in costs.items()} == {"predict": 0, "raw": 0}


@pytest.mark.parametrize("target", ["avr", "rv32"])
def test_states_out_of_range_are_refused(require_bench, target):
    """Targets whose int is as wide as a state, and wider."""
    names = ("wide_states", "mixed_kinds", "general_network")
    members = {name: comparing(MODELS[name](), emitted(name).files, 50) for name in names}
    assert disagreeing(answers(require_bench(target), "-O2", members)) == {}


BENCHES = [
    (target, compiler) for target in ("cortex-m0", "rv32") for compiler in TARGETS[target].flags
]
ALL_BENCHES = [(name, compiler) for name, target in TARGETS.items() for compiler in target.flags]
ALL_LEVELS = ("-O1", "-O2", "-O3", "-Os")
EACH = {
    "bit-slice": "letter_like_1_bit", "planes": "ten_classes_2_bits", "columns": "letter_like",
}  # fmt: skip
"""A model that a kernel has a layout for; the others have one for `mixed_kinds`."""


def spreads(name, bench, level, **options):
    """Return the spread of instructions or cycles over the inputs by entry point."""
    model = MODELS[name]()
    asked = EmitOptions(
        "m", frozenset({"raw", "scores"}), target=bench.target.name, constant_time=True, **options
    )
    tried = list(cases(model, None, Effort(20, False, 0), has_raw=True))
    X = np.concatenate([case.x[:25] for case in tried if case.kind != "raw"])
    R = np.concatenate([case.x for case in tried if case.kind == "raw"])[:40]
    with Meter(sources(model, emit_c(model, asked).files), bench, level) as meter:
        costs = meter.costs(Inputs(X, R))
    return {entry: cost.max - cost.min for entry, cost in costs.items()}


NONE = {"predict": 0, "scores": 0, "raw": 0}


@pytest.mark.parametrize(("target", "compiler"), BENCHES, ids=str)
@pytest.mark.parametrize(
    ("level", "name", "family"),
    [
        ("-Os", "tan_float", None), ("-O2", "mixed_kinds", None),
        ("-O3", "letter_like_1_bit", "plain"),
    ],
)  # fmt: skip
def test_no_compiler_makes_a_branch_of_a_mask(require_bench, target, compiler, level, name, family):
    bench = require_bench(target, compiler=compiler)
    assert spreads(name, bench, level, kernel=family) == NONE


@pytest.mark.slow
@pytest.mark.parametrize(("target", "compiler"), ALL_BENCHES, ids=str)
@pytest.mark.parametrize("family", FREE_OF_BRANCHES)
def test_no_compiler_makes_a_branch_in_any_kernel(require_bench, target, compiler, family):
    bench = require_bench(target, compiler=compiler)
    name = EACH.get(family, "mixed_kinds")
    found = {level: spreads(name, bench, level, kernel=family) for level in ALL_LEVELS}
    assert found == dict.fromkeys(ALL_LEVELS, NONE)


def test_ordinary_code_takes_longer_for_some_inputs(require_bench):
    costs = costs_of("tan_float", require_bench("cortex-m0"), "-Os")
    assert all(cost.max > cost.min for cost in costs.values())
