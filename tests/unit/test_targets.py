"""The table of targets: complete, consistent with the list of tools and with the C."""

import subprocess

import pytest

from bncc.device.cross import SIMULATORS, Toolchain, find_toolchain
from bncc.device.image import Builder
from bncc.errors import OptionError
from bncc.targets import GENERIC, TARGETS, find_target, fitted_as, target_of
from bncc.toolchain import tools as toolchain
from bncc.toolchain.tools import find_tools

CLI = ("x86", "avr", "cortex-m0", "cortex-m3", "cortex-m4", "cortex-m7", "rv32", "big-endian")


def test_the_machines_are_those_of_the_command_line():
    """In the order in which they are listed."""
    assert tuple(TARGETS) == CLI
    assert all(target.name == name and target.title for name, target in TARGETS.items())


def test_a_machine_that_is_none_is_told_with_the_others():
    """Exit code 2 on the command line."""
    assert find_target("rv32") is TARGETS["rv32"]
    with pytest.raises(OptionError, match="there is no target 'esp32'; there are x86, avr, cort"):
        find_target("esp32")


def test_machines_whose_costs_are_fitted_on_another_one_name_it():
    """Itself comes first, and the generic one last."""
    assert fitted_as("cortex-m7") == ("cortex-m7", "cortex-m4", GENERIC)
    assert fitted_as("big-endian") == ("big-endian", "rv32", GENERIC)
    assert fitted_as("host") == ("host", GENERIC)
    assert fitted_as(None) == (GENERIC,)
    alike = {target.alike for target in TARGETS.values()} - {None}
    assert {GENERIC} | alike <= set(TARGETS)
    assert all(TARGETS[name].alike is None for name in alike)


def test_a_part_is_an_alias_of_one_target():
    """Whatever the case of its name; other names stay."""
    assert [target_of(name) for name in ("nrf52832", "STM32F030", "rv32", "z80")] == [
        "cortex-m4", "cortex-m0", "rv32", "z80",
    ]  # fmt: skip
    names = [name for target in TARGETS.values() for name in target.parts]
    assert len(set(names)) == len(names) > 20
    assert all(name == name.lower() and name not in TARGETS for name in names)


@pytest.mark.parametrize("target", TARGETS)
def test_flags_and_tools_name_the_same_compilers(monkeypatch, target):
    """Each compiler with flags for a machine serves it, and each that serves it has flags."""
    monkeypatch.setattr(toolchain, "is_x86", lambda: True)
    monkeypatch.delenv("CC", raising=False)
    serving = [t.name for t in find_tools() if t.role == "compiler" and target in t.serves]
    assert list(TARGETS[target].flags) == serving


@pytest.mark.parametrize("target", TARGETS)
def test_simulators_serve_the_machines_that_name_them(target):
    """And the tool that a board, a core or a microcontroller names is the simulator's."""
    for simulated in TARGETS[target].runs_on:
        tool = SIMULATORS[simulated.simulator].tool(target)
        assert target in tool.serves
        assert (tool.name, tool.role) == (simulated.tool, "simulator")
        assert TARGETS[target].simulated(type(simulated)) is simulated
    listed = [t.name for t in find_tools() if t.role == "simulator" and target in t.serves]
    others = [SIMULATORS[name].tool(target).name for name in TARGETS[target].simulators]
    assert set(listed) == set(others) - {"simavr"}


LAYOUT = """
#include <stddef.h>
#include <stdint.h>
struct reading { int8_t a; int32_t b; };
extern const int8_t is_packed[sizeof(struct reading) == 5 ? 1 : -1];
extern const int8_t is_aligned[sizeof(struct reading) == 8 ? 1 : -1];
"""


@pytest.mark.firmware
@pytest.mark.parametrize(
    ("target", "compiler"), [(t.name, name) for t in TARGETS.values() for name in t.flags]
)
def test_compilers_see_what_the_table_says(require_bench, tmp_path, target, compiler):
    """Byte order, struct packing, unit of floats: the compiler's own macros and sizes."""
    bench: Toolchain = require_bench(target, compiler)
    flags = bench.target.flags[compiler]
    (tmp_path / "empty.c").write_text("")
    macros = subprocess.run(
        (*bench.compiler.command, *flags, "-dM", "-E", "empty.c"),
        cwd=tmp_path, capture_output=True, text=True, check=True,
    ).stdout  # fmt: skip
    order = "BIG" if bench.target.byte_order == ">" else "LITTLE"
    assert f"#define __BYTE_ORDER__ __ORDER_{order}_ENDIAN__" in macros
    has_unit = target in ("x86", "cortex-m4", "cortex-m7", "big-endian")
    units = ("__ARM_FP ", "__SSE2__ ", "__mips_hard_float ", "__riscv_flen ")
    assert any(f"#define {unit}" in macros for unit in units) == has_unit
    layout = "packed" if bench.target.packed else "aligned"
    lines = [line for line in LAYOUT.splitlines() if "is_" not in line or layout in line]
    builder = Builder(tmp_path, bench.target, bench.compiler)
    builder.write({"layout.c": "\n".join(lines) + "\n"})
    builder.compile("layout.c", "layout.o", "-O2")


@pytest.mark.firmware
@pytest.mark.parametrize("target", TARGETS)
def test_an_image_lies_where_the_table_says(require_bench, tmp_path, target):
    """Code at the start of the ROM, variables at the start of the RAM."""
    bench = require_bench(target)
    builder = Builder(tmp_path, bench.target, bench.compiler)
    source = "static volatile int n;\nint main(void);\nint main(void)\n{\n    return n;\n}\n"
    builder.write({"main.c": source})
    image = builder.link("main.elf", builder.compile("main.c", "main.o", "-Os"))
    assert image.segments[0][0] == bench.target.rom
    if target != "avr":
        assert image.symbols["bncc_data_start"] == bench.target.ram
        assert image.symbols["n"] >= bench.target.ram
    tables = 8 if (target, bench.compiler.name) == ("big-endian", "ziglang") else 0  # a GOT
    assert image.ram == (2 if target == "avr" else 4) + tables
    assert 20 < image.flash < 500


def test_a_bench_of_every_kind_is_found(require_bench):
    """With ``all``, every compiler and simulator that is installed."""
    require_bench("cortex-m4", "arm-none-eabi-gcc", "qemu")
    require_bench("cortex-m4", "ziglang", "unicorn")
    benches = find_toolchain(TARGETS["cortex-m4"], compiler="all", simulator="all")
    assert [(b.compiler.name, b.simulator.name) for b in benches] == [
        ("arm-none-eabi-gcc", "qemu"),
        ("arm-none-eabi-gcc", "unicorn"),
        ("ziglang", "qemu"),
        ("ziglang", "unicorn"),
    ]
