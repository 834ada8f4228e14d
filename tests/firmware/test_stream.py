"""Features one by one, on simulated machines and as compilers for them see the C."""

import pytest

from bncc.device.agreement import verify
from bncc.emit.emitter import EmitOptions, emit_c
from tests.firmware.machines import ENTRIES, LEVELS, MACHINES, MODELS
from tests.firmware.test_add_only import offenses
from tests.firmware.test_strict import C99, OLD_CPP17

pytestmark = [pytest.mark.cc, pytest.mark.firmware]
COMPILED = ("host-gcc", "host-clang", "atmega328p", "cortex-m0", "rv32imc")
TELLING = ("many_features", "mixed_kinds", "general_network", "letter_like", "wide_costs")
"""Naive Bayes with its bits and as a struct, several parents, readings as an array, wide sums."""


def options(**more):
    return EmitOptions("m", ENTRIES | {"stream"}, **more)


def emit_into(folder):
    for name in TELLING:
        emission = emit_c(MODELS[name](), EmitOptions(name, ENTRIES | {"stream"}))
        for file, text in emission.files.items():
            (folder / file).write_text(text, encoding="utf-8")


@pytest.mark.parametrize("name", COMPILED)
def test_compilers_warn_of_nothing_and_call_nothing(require_machine, name, tmp_path):
    """Loops that clear or copy arrays are what compilers make library calls of."""
    machine = MACHINES[name]
    require_machine(machine)
    emit_into(tmp_path)
    machine.compile(tmp_path, tuple(f"{model}.c" for model in TELLING), *C99, "-O2")
    language = OLD_CPP17 if "clang" not in machine.compiler else ("-xc++", "-std=c++17")
    machine.compile(tmp_path, tuple(f"{model}.c" for model in TELLING), *language, "-O2")
    for level in LEVELS:
        assert offenses(machine, TELLING, level, tmp_path) == {}


@pytest.mark.parametrize("target", ["avr", "cortex-m0", "rv32", "big-endian"])
@pytest.mark.parametrize("name", ["tan_float", "category_with_missing"])
def test_targets_agree(require_bench, target, name):
    require_bench(target)
    model = MODELS[name]()
    emission = emit_c(model, options(target=target, optimize="size"))
    outcome = verify(model, target, emission=emission, opt_level="-Os", n_random=50)
    assert outcome.agree, outcome.first_mismatch
