"""Networks marginalized over joint states, on simulated targets and by their compilers."""

from functools import cache

import pytest

from bncc.emit.emitter import EmitOptions, emit_c
from tests.firmware.compiled import faults, write_all
from tests.firmware.fleet import answers, comparing, disagreeing
from tests.firmware.machines import LEVELS, MACHINES
from tests.firmware.test_strict import C99
from tests.missing_oracle import joint_models, one_state_each

pytestmark = [pytest.mark.cc, pytest.mark.firmware]
COMPILED = ("host-gcc", "host-clang", "atmega328p", "cortex-m0", "cortex-m4", "rv32imc")
MODELS = {**joint_models(), "one state each": one_state_each()}
ENTRIES = frozenset({"missing"})


@cache
def emitted():
    return {name: emit_c(model, EmitOptions("m", ENTRIES)).files for name, model in MODELS.items()}


@pytest.mark.parametrize("name", COMPILED)
def test_compilers_warn_of_nothing_multiply_nothing_and_call_nothing(
    require_machine, name, tmp_path
):
    machine = MACHINES[name]
    require_machine(machine)
    assert faults(machine, tmp_path, write_all(tmp_path, emitted()), LEVELS, C99) == {}


@pytest.mark.parametrize("target", ["avr", "cortex-m0"])
def test_targets_agree(require_bench, target):
    """With 10, 30 and 50 % of all features missing."""
    bench = require_bench(target)
    members = {}
    for name, model in MODELS.items():
        files = emit_c(model, EmitOptions("m", ENTRIES, target=target, optimize="size")).files
        members[name] = comparing(model, files, 150)
        assert "missing" in members[name].entries
    assert disagreeing(answers(bench, "-Os", members)) == {}
