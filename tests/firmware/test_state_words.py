"""States in words: clean, without a call at every level, one load on targets that have it."""

import re
from functools import cache

import pytest

from bncc.emit.emitter import EmitOptions, emit_c
from bncc.toolchain.tools import STRICT_C_FLAGS, STRICT_FLAGS
from tests.firmware.compiled import classifier
from tests.firmware.machines import LEVELS, MACHINES, MODELS

pytestmark = [pytest.mark.cc, pytest.mark.firmware]
COMPILED = (
    ("host-gcc", "x86"), ("host-clang", "x86"), ("cortex-m4", "cortex-m4"),
    ("cortex-m0", "cortex-m4"), ("rv32imc", "cortex-m4"),
)  # fmt: skip
"""Compilers and targets; the last two have the C of another target on purpose."""
CHECKED = ("letter_like", "three_classes_2_bits")
"""Models with states of 8 and of 16 bits."""


@cache
def emitted(name, target):
    options = EmitOptions(name, kernel="plain", optimize="speed", target=target)
    return classifier(emit_c(MODELS[name](), options).files)


def compiled(folder, machine, target, *flags):
    """Compile the models and return how many instructions they have; none of them calls."""
    for name in CHECKED:
        for file, text in emitted(name, target).items():
            (folder / file).write_text(text, encoding="utf-8")
    machine.compile(folder, tuple(f"{name}.c" for name in CHECKED), *STRICT_FLAGS, *flags)
    objects = tuple(f"{name}.o" for name in CHECKED)
    assert machine.undefined(folder, objects) == set()
    return len(machine.mnemonics(folder, objects))


@pytest.mark.parametrize("level", ["-O0", "-O1", *LEVELS])
@pytest.mark.parametrize(("name", "target"), COMPILED)
def test_words_are_clean_and_call_nothing(name, target, level, require_machine, tmp_path):
    """Not even where they are put together byte by byte."""
    machine = MACHINES[name]
    require_machine(machine)
    assert compiled(tmp_path, machine, target, "-std=c99", *STRICT_C_FLAGS, level) > 30


@pytest.mark.parametrize("name", ["host-gcc", "host-clang", "cortex-m4"])
def test_words_are_clean_in_later_languages(name, require_machine, require_tool, tmp_path):
    machine, target = MACHINES[name], dict(COMPILED)[name]
    require_machine(machine)
    require_tool(re.sub("gcc$", "g++", machine.compiler))
    compiled(tmp_path, machine, target, "-std=c11", *STRICT_C_FLAGS, "-O2")
    compiled(tmp_path, machine, target, "-xc++", "-std=c++17", "-O2")


@pytest.mark.parametrize("level", ["-O2", "-O3"])
@pytest.mark.parametrize("name", ["host-gcc", "host-clang", "cortex-m4"])
def test_a_word_is_one_load(name, level, require_machine, tmp_path):
    """Put together byte by byte, words would take three instructions a state, as comparisons do."""
    machine, target = MACHINES[name], dict(COMPILED)[name]
    require_machine(machine)
    words = compiled(tmp_path, machine, target, "-std=c99", level)
    assert words < compiled(tmp_path, machine, None, "-std=c99", level) - 30
