"""
Programs on a simulated AVR: their bytes, their cycles, their stack, and how they fail.

The expected cycles are those of the AVR instruction set manual, for parts with a 16-bit program
counter.
"""

import re
import struct
import subprocess
from collections.abc import Callable
from importlib.resources import as_file
from importlib.resources import files as package_files
from pathlib import Path

import pytest

from bncc.device.machine import HarnessError
from bncc.device.simulators import simavr
from bncc.errors import ToolchainError
from bncc.toolchain import tools as toolchain
from bncc.toolchain.tools import STRICT_C_FLAGS, STRICT_FLAGS
from tests.unit.device.avr_programs import CYCLES, ECHO, FRAGMENTS, FRAME, RINGS, STACK

pytestmark = pytest.mark.firmware

MCUS = ("atmega328p", "atmega1284p")
RUNTIME = package_files("bncc.device").joinpath("runtime")


@pytest.fixture
def built(
    tmp_path: Path, require_tool: Callable[[str], str], missing: Callable[[str], None]
) -> Callable[..., tuple[Path, int]]:
    """Return ``built(source, mcu, *flags)``: a program, and the address of its request."""
    require_tool("avr-gcc")
    if not simavr.is_available():
        missing("libsimavr is not installed")

    def build(source: str, mcu: str = MCUS[0], *flags: str) -> tuple[Path, int]:
        header = RUNTIME.joinpath("port_doorbell.h").read_text(encoding="utf-8")
        (tmp_path / "bncc_port.h").write_text(header, encoding="utf-8")
        (tmp_path / "main.c").write_text(f'#include "bncc_port.h"\n{source}', encoding="utf-8")
        command = (
            "avr-gcc", f"-mmcu={mcu}", "-std=c99", "-Os", *flags, "main.c", "-o", "main.elf",
        )  # fmt: skip
        subprocess.run(command, cwd=tmp_path, check=True)
        names = subprocess.run(
            ("avr-nm", "main.elf"), cwd=tmp_path, check=True, capture_output=True, text=True
        ).stdout
        found = re.search(r"^([0-9a-f]+) . bncc_request$", names, re.MULTILINE)
        assert found is not None
        return tmp_path / "main.elf", int(found[1], 16)

    return build


def answer(program: tuple[Path, int], mcu: str = MCUS[0], request: bytes = b"") -> bytes:
    """Run a program to its end."""
    return simavr.run(program[0], mcu, request, program[1], cycle_limit=100_000_000)


def numbers(reply: bytes) -> list[int]:
    """Return the 32-bit numbers that a program wrote."""
    return [number for (number,) in struct.iter_unpack("<I", reply)]


@pytest.mark.parametrize("mcu", MCUS)
@pytest.mark.parametrize("level", ["-O0", "-Os", "-O3"])
def test_bytes_go_in_and_out(built, mcu, level):
    """Every byte value arrives, a read past the end is reported, and two runs give the same."""
    program = built(ECHO, mcu, level)
    values = bytes(range(256)) * 2
    blocks = [values[at : at + 7] for at in range(0, len(values), 7)]
    request = b"".join(bytes([len(block)]) + block for block in blocks)
    assert answer(program, mcu, request) == b">" + values + bytes([len(blocks[-1])])
    assert answer(program, mcu, request + b"\0left") == b">" + values + b"\0"
    assert answer(program, mcu, request + b"\6short") == b">" + values + b"\6"
    assert answer(program, mcu, request) == answer(program, mcu, request)


@pytest.mark.parametrize("level", ["-Os", "-O3"])
def test_the_compiler_knows_that_memory_changes(built, level):
    """Read bytes are loaded again, and bytes to write are stored in time."""
    source = """
    int main(void)
    {
        unsigned char c = 5U;
        port_open();
        (void)port_read(&c, 1U);
        c = (unsigned char)(c + 1U);
        port_write(&c, 1U);
        c = 0U;
        return port_close(0);
    }
    """
    assert answer(built(source, MCUS[0], level), request=b"a") == b"b"


@pytest.mark.parametrize("mcu", MCUS)
def test_the_address_may_be_the_symbol_or_the_data_address(built, mcu):
    """An ELF file adds 0x800000 to data addresses; both are understood."""
    elf, address = built(ECHO, mcu)
    assert address > 0x800000
    assert answer((elf, address - 0x800000), mcu) == answer((elf, address), mcu)


@pytest.mark.parametrize("mcu", MCUS)
def test_cycles_are_those_of_the_manual(built, mcu):
    """Each fragment costs what the manual says, and nothing costs the same first and last."""
    measured = "\n".join(f'    MEASURE("{code}");' for code in FRAGMENTS)
    program = built(CYCLES.replace("MEASURED", measured), mcu, "-DBNCC_METER")
    first, *costs, last = numbers(answer(program, mcu))
    assert first == last > 0
    assert {code: cost - first for code, cost in zip(FRAGMENTS, costs, strict=True)} == FRAGMENTS
    assert costs[-1] - costs[-2] == 8000


def test_the_store_itself_does_not_count(built):
    """`out` takes one cycle and `sts` two; the clock shows the end of the instruction before."""
    by_out, by_sts, one_more = numbers(answer(built(RINGS, MCUS[0], "-DBNCC_METER")))
    assert by_out == by_sts == one_more - 1


@pytest.mark.parametrize("mcu", MCUS)
def test_the_deepest_stack_is_exact(built, mcu):
    """A call takes two bytes and what it pushes; a half-written stack pointer is no depth."""
    program = built(STACK, mcu, "-DBNCC_METER")
    empty, once, twice, *dips = numbers(answer(program, mcu))
    assert (empty, once, twice) == (0, 5, 5)
    assert dips == [max(2 + n, 5) for n in range(700)]


def test_a_frame_is_as_deep_as_the_compiler_says(built, tmp_path):
    """The depth is the sum of gcc's figures for two nested functions, and return addresses."""
    (depth,) = numbers(answer(built(FRAME, MCUS[0], "-DBNCC_METER", "-fstack-usage")))
    account = (tmp_path / "main.su").read_text(encoding="utf-8")
    usage = {name: int(size) for name, size in re.findall(r":([a-z]\w*)\S*\t(\d+)\t", account)}
    assert usage["framed"] > 300
    assert depth == usage["framed"] + usage["use"]


@pytest.mark.parametrize("mcu", MCUS)
@pytest.mark.parametrize(
    ("code", "sentence"),
    [
        ('__asm__(".word 0x9404");', "ran an illegal instruction after"),
        ("*(volatile char *)0xF000 = 1;", "accessed memory beyond its RAM after"),
        ("return *(volatile char *)0xF000;", "accessed memory beyond its RAM after"),
        ('__asm__("jmp %0" : : "i"(FLASHEND + 1UL));', "left its flash memory after"),
        ("return 0;", "jumps to itself forever after"),
        ("for (;;) { }", "jumps to itself forever after"),
        ('__asm__("cli\\n\\tsleep");', "fell asleep after"),
        ('__asm__("sei\\n\\tsleep");', "fell asleep after"),
        ("for (;;) { DOORBELL; }", "had not ended after"),
        ("bncc_request.address = RAMEND; port_write((char *)RAMEND, 2U);", "outside its RAM after"),
        ("port_write((char *)0x40, 1U);", "outside its RAM after"),
        ("port_write((char *)RAMEND, (size_t)-1);", "outside its RAM after"),
        ("ring('?');", "asked for something unknown after"),
        ("return port_close(7);", "quit with status 7,"),
        ("return port_close(-1);", "quit with status 99,"),
    ],
)
def test_every_failure_has_its_sentence(built, mcu, code, sentence):
    """A program that does not quit in peace is a HarnessError that names the processor."""
    unused = "(void)port_open; (void)port_read; (void)port_write; (void)port_close;"
    program = built(f"int main(void) {{ {unused} {code} return port_close(0); }}", mcu)
    with pytest.raises(HarnessError, match=sentence) as error:
        answer(program, mcu)
    assert f"on the simulated {mcu}; " in str(error.value)
    assert "\n" not in str(error.value)
    assert error.value.exit_code == 1


def test_what_simavr_prints_is_no_output(built):
    """The serial port, which simavr echoes, is not the program's answer."""
    source = """
    int main(void)
    {
        unsigned char c = 'a';
        UCSR0B = _BV(TXEN0);
        UDR0 = 'x';
        loop_until_bit_is_set(UCSR0A, UDRE0);
        UDR0 = '\\n';
        loop_until_bit_is_set(UCSR0A, UDRE0);
        port_open();
        port_write(&c, (size_t)port_read(&c, 1U));
        return port_close(0);
    }
    """
    assert answer(built(source), request=b"b") == b"b"


def test_the_limit_is_the_callers(built):
    """Cycles beyond the limit are a failure, and the same program passes under a larger one."""
    program, address = built(
        """
        int main(void)
        {
            volatile uint16_t n;
            port_open();
            for (n = 0U; n < 10000U; n++) { }
            return port_close(0);
        }
        """
    )
    with pytest.raises(
        HarnessError, match=r"had not ended after 2\d{4} cycles.*; try fewer inputs"
    ):
        simavr.run(program, MCUS[0], b"", address, cycle_limit=20_000)
    assert simavr.run(program, MCUS[0], b"", address, cycle_limit=1_000_000) == b""


def test_a_processor_simavr_does_not_know(built, tmp_path):
    """An unknown processor, a missing file and a wrong request are errors of the caller."""
    elf, address = built("int main(void) { port_open(); return port_close(0); }")
    with pytest.raises(ToolchainError, match="does not know the processor") as error:
        simavr.run(elf, "atmega0", b"", address, cycle_limit=1000)
    assert error.value.exit_code == 2
    with pytest.raises(ToolchainError, match="the file cannot be read"):
        simavr.run(tmp_path / "none.elf", MCUS[0], b"", address, cycle_limit=1000)
    with pytest.raises(ToolchainError, match="the request lies outside the RAM"):
        simavr.run(elf, MCUS[0], b"", 0x8FF, cycle_limit=1000)


def test_the_library_has_a_version(built):
    """The version is the one in the installed headers."""
    assert re.fullmatch(r"\d+\.\d+\S*", simavr.version() or "")


@pytest.fixture
def afresh():
    """Forget the runner before and after a test."""
    simavr._build.cache_clear()
    yield
    simavr._build.cache_clear()


def test_without_the_library_the_message_names_the_packages(afresh, monkeypatch, tmp_path):
    """Every compiler fails to build the runner: nothing is available, and the remedy is named."""

    def fails(command, folder):
        raise ToolchainError("simavr/sim_avr.h: No such file or directory")

    monkeypatch.setattr(toolchain, "run", fails)
    assert not simavr.is_available()
    assert simavr.version() is None
    with pytest.raises(ToolchainError, match=r"run `apt install libsimavr-dev libelf-dev`"):
        simavr.run(tmp_path / "any.elf", MCUS[0], b"", 0, cycle_limit=1)


def test_without_a_compiler_the_message_names_one(afresh, monkeypatch, tmp_path):
    """The library may well be there."""
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CC", raising=False)
    monkeypatch.setattr(toolchain, "find_spec", lambda name: None)
    assert not simavr.is_available()
    with pytest.raises(ToolchainError, match="no C compiler was found"):
        simavr.run(tmp_path / "any.elf", MCUS[0], b"", 0, cycle_limit=1)


@pytest.mark.parametrize("define", ["-UBNCC_METER", "-DBNCC_METER"])
@pytest.mark.parametrize("level", ["-O0", "-Os", "-O2"])
@pytest.mark.parametrize(
    ("compiler", "machine"),
    [("avr-gcc", "-mmcu=atmega328p"), ("arm-none-eabi-gcc", "-mcpu=cortex-m0")],
)
def test_the_port_passes_the_strict_flags(compiler, machine, level, define, tmp_path, require_tool):
    """No warning, and no function that a program without the meter leaves unused."""
    require_tool(compiler)
    meter = (
        "#ifdef BNCC_METER\nvoid probe(void)\n{\n    port_stack_mark();\n    (void)port_elapsed();"
    )
    meter += "\n    (void)port_stack_depth();\n}\n#endif\n"
    source = f'#include "port_doorbell.h"\nvoid probe(void);\n{meter}{ECHO}'
    (tmp_path / "main.c").write_text(source, encoding="utf-8")
    flags = ("-std=c99", *STRICT_FLAGS, *STRICT_C_FLAGS, "-DBNCC_DOORBELL=0x50000000U")
    flags += ("-DMODEL_N_FEATURES=4", "-DMODEL_N_CLASSES=2")  # for stack_paint.h
    with as_file(RUNTIME) as folder:
        command = (compiler, machine, level, *flags, define, f"-I{folder}", "-c", "main.c")
        toolchain.run(command, tmp_path)
    assert (tmp_path / "main.o").is_file()
