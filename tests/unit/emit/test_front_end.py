"""The C of a front end compiles without a warning in every language, adds and compares alone."""

import re
import subprocess
from pathlib import Path

import pytest

from bncc.emit.front_end import front_end_c
from bncc.errors import OptionError
from bncc.toolchain.tools import STRICT_C_FLAGS, STRICT_FLAGS
from tests.front_ends import front_end, with_levels

COMPILERS = {
    "gcc": ("-O3",),
    "clang": ("-O3",),
    "g++": ("-xc++", "-std=c++17", "-Os"),
    "arm-none-eabi-gcc": ("-mcpu=cortex-m0", "-mthumb", "-Os"),
    "avr-gcc": ("-mmcu=atmega328p", "-Os"),
    "riscv64-unknown-elf-gcc": ("-march=rv32imc", "-mabi=ilp32", "-O2"),
}


@pytest.mark.cc
@pytest.mark.parametrize("compiler", COMPILERS)
@pytest.mark.parametrize(
    ("form", "length", "hop"), [("int16", 24, 6), ("uint8", 512, 256), ("-9..300", 64, 64)]
)
def test_strict_flags_find_nothing_and_nothing_multiplies(
    compiler: str, form: str, length: int, hop: int, require_tool, tmp_path: Path
) -> None:
    require_tool(compiler)
    for file, text in front_end_c(with_levels(form, length, hop), "f").items():
        (tmp_path / file).write_text(text, encoding="utf-8")
    flags = COMPILERS[compiler]
    if "-xc++" not in flags:
        flags = ("-std=c99", *STRICT_C_FLAGS, *flags)
    command = (compiler, *STRICT_FLAGS, *flags, "-S", "f.c", "-o", "f.s")
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.stderr == ""
    text = (tmp_path / "f.s").read_text()
    # A multiplication, a division, or a call of a function that is not of the front end.
    assert not re.search(r"^\s+(v?p?i?mul|i?div|[us]div|rem)\w*\s", text, re.MULTILINE)
    called = re.findall(r"^\s+(?:call|r?call|bl|jal)\s+(\w+)", text, re.MULTILINE)
    assert [name for name in called if not re.search(r"(\b|_|\d)f_", name)] == []


def test_no_name_from_data_reaches_the_c() -> None:
    tested = front_end("int16", 24, 6, channels=["int", "a*/b", "ü-long " * 20], signals=None)
    for text in front_end_c(tested, "f").values():
        assert text.isascii()
        assert "*/b" not in text


def test_lines_fit_a_screen() -> None:
    for text in front_end_c(with_levels("int16", 128, 32), "front_end").values():
        assert max(map(len, text.splitlines())) <= 100


def test_a_name_that_cannot_prefix_symbols_is_refused() -> None:
    with pytest.raises(OptionError, match="reserved word"):
        front_end_c(front_end(), "int")


def test_the_same_front_end_gives_the_same_bytes() -> None:
    assert front_end_c(front_end(), "f") == front_end_c(front_end(), "f")
