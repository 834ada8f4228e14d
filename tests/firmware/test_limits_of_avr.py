"""Constants up to the last byte that an AVR reads, in several arrays, and not one byte more."""

import re
import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from bncc.discretize.feature import Feature
from bncc.emit.emitter import EmitOptions, emit_c
from bncc.emit.vectors import drawn_vectors
from bncc.fixed_point import QFormat
from bncc.lower.c.constants import MOST_IN_ALL
from bncc.model.model import Model
from bncc.structure.graph import forest
from tests.agreement.large import random_model
from tests.firmware.compiled import classifier
from tests.firmware.machines import MODELS, TOO_LARGE_FOR_AVR
from tests.firmware.test_selftest_on_avr import answer

pytestmark = pytest.mark.firmware
Require = Callable[[str], str]


def filling(rom_bytes: int) -> Model:
    """Return a chain with exactly so many bytes of constants, the last of them in labels."""
    features = [Feature(f"x{i}", "state", n) for i, n in enumerate((34, 35, 34))]
    model = random_model(features, forest([None, 0, 1]), 26, QFormat(4, 4))

    def labelled(n: int) -> Model:
        return replace(model, classes=("x" * n, *model.classes[1:]))

    return labelled(
        rom_bytes - emit_c(labelled(1000), EmitOptions(kernel="plain")).layout.rom_bytes + 1000
    )


def compile_for(folder: Path, device: str, files: tuple[str, ...], *flags: str) -> str:
    """Compile and link for a device; return the compiler's errors."""
    command = ("avr-gcc", f"-mmcu={device}", "-std=c99", "-Os", *flags, *files, "-o", "test.elf")
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    return done.stderr


def write(folder: Path, model: Model, name: str, n_vectors: int | None = None) -> None:
    vectors = None if n_vectors is None else drawn_vectors(model, n_vectors)
    options = EmitOptions(name, kernel="plain", vectors=vectors, is_bounded=vectors is not None)
    files = emit_c(model, options).files
    for file, text in (classifier(files) if n_vectors is None else files).items():
        (folder / file).write_text(text, encoding="utf-8")


def ends(folder: Path) -> list[int]:
    """Return the end address of every constant of the linked model m."""
    listed = subprocess.run(
        ("avr-nm", "-S", "test.elf"), cwd=folder, capture_output=True, text=True, check=True
    )
    found = re.findall(r"^(\w+) (\w+) \w (m_\w+)$", listed.stdout, re.MULTILINE)
    arrays = re.findall(r"static const \w+ (m_\w+)\[", (folder / "m.c").read_text())
    sizes = {name: int(start, 16) + int(size, 16) for start, size, name in found}
    return [sizes[name] for name in arrays]


N_VECTORS = 32
VECTOR_BYTES = N_VECTORS * (3 + 1) + 3 + 3
"""Bytes of 32 vectors of 3 states and a class, of an invalid state for each of 3 features, and
of one step, the fewest that a self-test has."""


@pytest.mark.parametrize(("name", "end"), [("two_cost_arrays", 6), ("three_cost_arrays", 2)])
@pytest.mark.parametrize("by", [-1, 1])
def test_a_table_in_the_wrong_array_is_noticed(
    name: str, end: int, by: int, tmp_path: Path, require_tool: Require
) -> None:
    """When the arrays change one table too early or too late, some vector disagrees."""
    require_tool("avr-gcc")
    require_tool("simavr")

    def moved(text: str) -> str:
        found = f"if (t < {end}U) {{\n        return &"
        assert text.count(found) == ("_row(" in text)
        return text.replace(found, found.replace(f"{end}U", f"{end + by}U"))

    assert answer(tmp_path, name, MODELS[name](), moved) == "F"


def test_a_model_up_to_the_limit_passes_its_self_test(
    tmp_path: Path, require_tool: Require
) -> None:
    """Tables and vectors together have the largest size that is guaranteed to work."""
    require_tool("avr-gcc")
    require_tool("simavr")
    model = filling(MOST_IN_ALL - VECTOR_BYTES)
    assert answer(tmp_path, "m", model, n_vectors=N_VECTORS) == "P"


def test_beyond_16_bit_addresses_a_self_test_fails(tmp_path: Path, require_tool: Require) -> None:
    """So it would detect data that a larger program has pushed out of reach."""
    require_tool("avr-gcc")
    require_tool("simavr")

    def unrefused(text: str) -> str:
        return re.sub(r"#if defined\(__AVR__\)\n#error.*\n#endif\n", "", text)

    assert answer(tmp_path, "m", filling(0x10000), unrefused, n_vectors=N_VECTORS) == "F"


def test_vectors_beyond_the_limit_do_not_compile(tmp_path: Path, require_tool: Require) -> None:
    """With one byte more the self-test reports the limit instead of reading other data."""
    require_tool("avr-gcc")
    write(tmp_path, filling(MOST_IN_ALL - VECTOR_BYTES + 1), "m", N_VECTORS)
    complaint = compile_for(tmp_path, "atmega1284p", ("m.c", "m_selftest.c"))
    assert "of vectors are together more than the 65028 that an AVR reads" in complaint


@pytest.mark.parametrize("device", ["atmega1284p", "atmega2560", "atxmega128a1u"])
def test_all_constants_lie_below_64_k_behind_the_vectors(
    device: str, tmp_path: Path, require_tool: Require
) -> None:
    """A model of the maximum size, which fills the space on the AVR with the most vectors."""
    require_tool("avr-gcc")
    require_tool("avr-nm")
    write(tmp_path, filling(MOST_IN_ALL), "m")
    (tmp_path / "main.c").write_text(
        '#include "m.h"\nint main(void)\n{\n    static const uint8_t x[M_N_FEATURES] = { 0 };\n'
        "    return m_predict(x) + *m_class_name(0U);\n}\n"
    )
    assert compile_for(tmp_path, device, ("m.c", "main.c")) == ""
    assert max(ends(tmp_path)) <= 0x10000
    assert (max(ends(tmp_path)) == 0x10000) == (device == "atxmega128a1u")


@pytest.mark.parametrize("name", sorted(TOO_LARGE_FOR_AVR))
def test_avr_refuses_larger_models_with_a_remedy(
    name: str, tmp_path: Path, require_tool: Require
) -> None:
    """Compilation stops at an error that names the remedy."""
    require_tool("avr-gcc")
    write(tmp_path, MODELS[name](), name)
    complaint = compile_for(tmp_path, "atmega1284p", (f"{name}.c",), "-c")
    assert f'#error "{name}: ' in complaint
    assert 'train with fewer states, parents or bits"' in complaint


def test_one_byte_beyond_the_limit_is_refused(tmp_path: Path, require_tool: Require) -> None:
    """At the limit itself the model compiles, see above."""
    require_tool("avr-gcc")
    write(tmp_path, filling(MOST_IN_ALL + 1), "m")
    complaint = compile_for(tmp_path, "atmega1284p", ("m.c",), "-c")
    assert "65029 bytes of constants are more than the 65028 that an AVR reads" in complaint
