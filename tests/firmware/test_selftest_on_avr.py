"""
The self-test of every model that fits passes on a simulated ATmega1284P.

An AVR's int has 16 bits: sums that other machines form in 32 bits wrap there, and costs of more
than 32,767 bytes fill several arrays.
"""

import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from bncc.emit.emitter import EmitOptions, emit_c
from bncc.emit.vectors import drawn_vectors
from bncc.fixed_point import QFormat
from bncc.model.model import Model
from bncc.structure.graph import forest
from tests import models as hand
from tests.firmware.machines import MODELS, TOO_LARGE_FOR_AVR

pytestmark = pytest.mark.firmware

MAIN = """
#include <avr/interrupt.h>
#include <avr/io.h>
#include <avr/sleep.h>

int {name}_selftest(void);

static void put(char c)
{{
    loop_until_bit_is_set(UCSR0A, UDRE0);
    UDR0 = (uint8_t)c;
}}

int main(void)
{{
    UCSR0B = _BV(TXEN0);
    put(({name}_selftest() == 0) ? 'P' : 'F');
    put('\\n');
    loop_until_bit_is_set(UCSR0A, UDRE0);
    cli();
    sleep_enable();
    sleep_cpu();
}}
"""


def answer(
    folder: Path,
    name: str,
    model: Model,
    source_of: Callable[[str], str] = str,
    entries: frozenset[str] = frozenset(),
    n_vectors: int | None = None,
) -> str:
    """Return what the self-test of a model prints: P when all vectors agree, else F."""
    vectors = None if n_vectors is None else drawn_vectors(model, n_vectors)
    options = EmitOptions(
        name, entries, kernel="plain", vectors=vectors, is_bounded=vectors is not None
    )
    emission = emit_c(model, options)
    for file, text in emission.files.items():
        (folder / file).write_text(source_of(text), encoding="utf-8")
    (folder / "main.c").write_text(MAIN.format(name=name), encoding="utf-8")
    build = (
        "avr-gcc", "-mmcu=atmega1284p", "-std=c99", "-Os", f"-D{name.upper()}_SELFTEST_NO_MAIN",
        f"{name}.c", f"{name}_selftest.c", "main.c", "-o", "test.elf",
    )  # fmt: skip
    subprocess.run(build, cwd=folder, check=True)
    run = ("simavr", "-m", "atmega1284p", "-f", "16000000", "test.elf")
    done = subprocess.run(run, cwd=folder, capture_output=True, timeout=60, check=False)
    said = done.stdout + done.stderr
    return "P" if b"P." in said else "F" if b"F." in said else said.decode(errors="replace")


@pytest.mark.parametrize("name", sorted(set(MODELS) - TOO_LARGE_FOR_AVR))
def test_the_self_test_passes(
    name: str, tmp_path: Path, require_tool: Callable[[str], str]
) -> None:
    """Every vector gets Python's answer."""
    require_tool("avr-gcc")
    require_tool("simavr")
    assert answer(tmp_path, name, MODELS[name]()) == "P"


def test_sums_in_16_bits_are_noticed(tmp_path: Path, require_tool: Callable[[str], str]) -> None:
    """Without the cast that widens the first addition some vector disagrees."""
    require_tool("avr-gcc")
    require_tool("simavr")
    name = "wrapped"
    # 65,536 wraps to 0, below the 10 of the other class.
    tables = [[[0, 32768], [0, 0]], [[0, 32768], [0, 0]], [[10, 0], [0, 0]]]
    inputs = [hand.feature(f"x{i}", 2) for i in range(3)]
    model = hand.model_of(inputs, forest([None] * 3), QFormat(16, 0), [0, 0], tables)

    def narrowed(text: str) -> str:
        return text.replace(f"({name}_cost_t){name}_rom_uint16(", f"{name}_rom_uint16(")

    assert answer(tmp_path, name, model) == "P"
    assert answer(tmp_path, name, model, narrowed) == "F"


def test_a_wrong_reading_is_noticed(tmp_path: Path, require_tool: Callable[[str], str]) -> None:
    """Readings are compared too, of a struct and of an array, as they come out of flash."""
    require_tool("avr-gcc")
    require_tool("simavr")
    for name, right, wrong in (
        ("mixed_kinds", "    { 32767,", "    { 449,"),
        ("tan_float", "    0.5F,", "    9.0F,"),
    ):

        def changed(text: str, right: str = right, wrong: str = wrong) -> str:
            return text.replace(right, wrong, 1)

        assert answer(tmp_path, name, MODELS[name](), changed) == "F"


@pytest.mark.parametrize("name", ["naive_integer", "mixed_kinds", "general_network", "wide_states"])
def test_vectors_with_gaps_are_decided(
    name: str, tmp_path: Path, require_tool: Callable[[str], str]
) -> None:
    """Models that marginalize missing features; a different answer is detected."""
    require_tool("avr-gcc")
    require_tool("simavr")
    model, entries = MODELS[name](), frozenset({"missing"})

    def changed(text: str) -> str:
        return re.sub(r"(gap_classes\[\d+\] [^{]*\{\s*)\d+U", r"\g<1>200U", text)

    assert answer(tmp_path, name, model, entries=entries) == "P"
    assert answer(tmp_path, name, model, changed, entries) == "F"
