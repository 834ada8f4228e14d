"""Streamed features, on simulated targets and by their compilers."""

from functools import cache

import pytest

from bncc.emit.emitter import EmitOptions, emit_c
from tests.firmware.compiled import compile_as_one, faults, write_all
from tests.firmware.fleet import answers, comparing, disagreeing
from tests.firmware.machines import ENTRIES, LEVELS, MACHINES, MODELS
from tests.firmware.test_strict import C99, OLD_CPP17

pytestmark = [pytest.mark.cc, pytest.mark.firmware]
COMPILED = ("host-gcc", "host-clang", "atmega328p", "cortex-m0", "rv32imc")
TELLING = ("many_features", "mixed_kinds", "general_network", "letter_like", "wide_costs")
"""Naive Bayes with its bits and as a struct, several parents, readings as an array, wide sums."""


def options(**more):
    return EmitOptions("m", ENTRIES | {"stream"}, **more)


@cache
def emitted():
    return {name: emit_c(MODELS[name](), options()).files for name in TELLING}


@pytest.mark.parametrize("name", COMPILED)
def test_compilers_warn_of_nothing_and_call_nothing(require_machine, name, tmp_path):
    """Compilers replace loops that clear or copy arrays with library calls."""
    machine = MACHINES[name]
    require_machine(machine)
    names = write_all(tmp_path, emitted())
    language = OLD_CPP17 if "clang" not in machine.compiler else ("-xc++", "-std=c++17")
    compile_as_one(machine, tmp_path, names, (*language, "-O2"))
    assert faults(machine, tmp_path, names, LEVELS, C99) == {}


@pytest.mark.parametrize("target", ["avr", "cortex-m0", "rv32", "big-endian"])
def test_targets_agree(require_bench, target):
    bench = require_bench(target)
    members = {}
    for name in ("tan_float", "category_with_missing", "general_network", "mixed_kinds"):
        files = emit_c(MODELS[name](), options(target=target, optimize="size")).files
        members[name] = comparing(MODELS[name](), files, 50)
        assert "stream" in members[name].entries
    assert "stream_raw" in members["tan_float"].entries
    assert disagreeing(answers(bench, "-Os", members)) == {}
