"""Adaptation to labeled inputs, of trained models, on simulated targets and by their compilers."""

from dataclasses import replace

import pytest

from bncc.device.inputs.adaptation import adaptation_cases
from bncc.device.inputs.cases import Effort
from bncc.emit.emitter import EmitOptions, emit_c
from bncc.lower.kernels.families import FOR_GATES
from bncc.model.model import Model
from tests.adapting import ADAPTING
from tests.firmware.compiled import compile_as_one, faults, write_all
from tests.firmware.fleet import answers, comparing, disagreeing
from tests.firmware.machines import LEVELS, MACHINES
from tests.firmware.test_rules import COMPILED
from tests.firmware.test_strict import C99, OLD_CPP17

pytestmark = [pytest.mark.cc, pytest.mark.firmware]


def options(model: Model) -> EmitOptions:
    """Return options for an adaptation, and a filter that takes adapted scores if there is one."""
    return EmitOptions("m", frozenset({"adapt", *(("filter",) if model.filter else ())}))


@pytest.mark.parametrize("name", COMPILED)
def test_compilers_warn_of_nothing_multiply_nothing_and_call_nothing(
    require_machine, name, tmp_path
):
    machine = MACHINES[name]
    require_machine(machine)
    made = {key: make() for key, make in ADAPTING.items()}
    files = {key: emit_c(model, options(model)).files for key, model in made.items()}
    for key, model in made.items():
        for kernel in sorted(FOR_GATES) if model.gate else ():
            files[f"{key}, {kernel}"] = emit_c(model, replace(options(model), kernel=kernel)).files
    names = write_all(tmp_path, files)
    language = OLD_CPP17 if "clang" not in machine.compiler else ("-xc++", "-std=c++17")
    compile_as_one(machine, tmp_path, names, (*language, "-O2"))
    assert faults(machine, tmp_path, names, LEVELS, C99) == {}


@pytest.mark.parametrize("target", ["avr", "cortex-m0", "rv32", "big-endian"])
@pytest.mark.parametrize("level", ["-Os", "-O3"])
def test_targets_agree_step_by_step(require_bench, target, level):
    """Labels learned, forgotten and decided on, one class again and again among them."""
    bench = require_bench(target)
    members = {}
    for key, make in ADAPTING.items():
        model = make()
        emission = emit_c(model, options(model))
        largest, has_scores = emission.layout.largest_sum, model.filter is not None
        steps = list(adaptation_cases(model, largest, Effort(100), has_scores=has_scores))
        members[key] = comparing(model, emission.files, 20, also=steps)
        assert "adaptation" in members[key].entries
    assert disagreeing(answers(bench, level, members)) == {}
