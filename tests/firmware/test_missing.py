"""Networks summed over joint states, on simulated machines and as compilers for them see the C."""

import pytest

from bncc.device.agreement import verify
from bncc.emit.emitter import EmitOptions, emit_c
from tests.firmware.machines import LEVELS, MACHINES
from tests.firmware.test_add_only import offenses
from tests.firmware.test_strict import C99
from tests.missing_oracle import joint_models, one_state_each

pytestmark = [pytest.mark.cc, pytest.mark.firmware]
COMPILED = ("host-gcc", "host-clang", "atmega328p", "cortex-m0", "cortex-m4", "rv32imc")
MODELS = {**joint_models(), "one state each": one_state_each()}
ENTRIES = frozenset({"missing"})


@pytest.mark.parametrize("name", COMPILED)
def test_compilers_warn_of_nothing_multiply_nothing_and_call_nothing(
    require_machine, name, tmp_path
):
    machine = MACHINES[name]
    require_machine(machine)
    names = tuple(f"m{k}" for k in range(len(MODELS)))
    for own, model in zip(names, MODELS.values(), strict=True):
        for file, text in emit_c(model, EmitOptions(own, ENTRIES)).files.items():
            (tmp_path / file).write_text(text, encoding="utf-8")
    machine.compile(tmp_path, tuple(f"{own}.c" for own in names), *C99, "-O2")
    for level in LEVELS:
        assert offenses(machine, names, level, tmp_path) == {}


@pytest.mark.parametrize("target", ["avr", "cortex-m0"])
@pytest.mark.parametrize("name", ["several parents", "class with parents"])
def test_targets_agree(require_bench, target, name):
    require_bench(target)
    model = MODELS[name]
    emission = emit_c(model, EmitOptions("m", ENTRIES, target=target, optimize="size"))
    outcome = verify(model, target, emission=emission, opt_level="-Os", n_random=150)
    assert outcome.agree, outcome.first_mismatch
    assert "10, 30 and 50% missing" in outcome.strength
