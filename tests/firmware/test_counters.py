"""Counters of decisions, of trained models, on simulated targets and by their compilers."""

import pytest

from bncc.device.inputs.cases import Effort
from bncc.device.inputs.counters import counter_cases
from bncc.emit.emitter import EmitOptions, emit_c
from tests.counters import COUNTED
from tests.firmware.compiled import compile_as_one, faults, write_all
from tests.firmware.fleet import answers, comparing, disagreeing
from tests.firmware.machines import LEVELS, MACHINES
from tests.firmware.test_rules import COMPILED
from tests.firmware.test_strict import C99, OLD_CPP17

pytestmark = [pytest.mark.cc, pytest.mark.firmware]


def emitted(name):
    """Return a model with counters, of unknown readings too if it can, and its C."""
    model = COUNTED[name]()
    more = {"unknown"} if model.unknown is not None else set()
    return model, emit_c(model, EmitOptions("m", frozenset({"counters", *more})))


@pytest.mark.parametrize("name", COMPILED)
def test_compilers_warn_of_nothing_multiply_nothing_and_call_nothing(
    require_machine, name, tmp_path
):
    machine = MACHINES[name]
    require_machine(machine)
    names = write_all(tmp_path, {key: emitted(key)[1].files for key in COUNTED})
    language = OLD_CPP17 if "clang" not in machine.compiler else ("-xc++", "-std=c++17")
    compile_as_one(machine, tmp_path, names, (*language, "-O2"))
    assert faults(machine, tmp_path, names, LEVELS, C99) == {}


@pytest.mark.parametrize("target", ["avr", "cortex-m0", "rv32", "big-endian"])
@pytest.mark.parametrize("level", ["-Os", "-O3"])
def test_targets_agree_step_by_step(require_bench, target, level):
    """Decisions in sequences, margins at the limits of bins, and counters that are next to full."""
    bench = require_bench(target)
    members = {}
    for key in COUNTED:
        model, emission = emitted(key)
        has_unknown = model.unknown is not None
        largest = emission.layout.largest_sum
        steps = list(counter_cases(model, largest, Effort(100), has_unknown=has_unknown))
        members[key] = comparing(model, emission.files, 20, also=steps)
        assert "counters" in members[key].entries
    assert disagreeing(answers(bench, level, members)) == {}
