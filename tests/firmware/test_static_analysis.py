"""clang-tidy and gcc's -fanalyzer find nothing in emitted C, but find planted defects."""

import re
import subprocess
from pathlib import Path

import pytest

from bncc.emit.emitter import EmitOptions, emit_c
from bncc.model.missing import why_not
from bncc.toolchain.tools import STRICT_C_FLAGS, STRICT_FLAGS
from tests.firmware.analyzed import STUBS, all_of, blamed, few, planted, write, write_all
from tests.firmware.machines import MACHINES, MODELS
from tests.firmware.packages import KINDS, files_of

pytestmark = pytest.mark.firmware
FEW = few()
CONFIG = Path(__file__).parent / ".clang-tidy"
CLANG = {
    "avr": ("--target=avr", "-mmcu=atmega328p", f"-I{STUBS}"),
    "arm": ("--target=arm-none-eabi", "-mcpu=cortex-m0"),
    "host": (f"-I{STUBS}",),
}
"""Machines that clang parses for: their widths of types and branches of the preprocessor."""
C99 = ("-std=c99", *STRICT_FLAGS, *STRICT_C_FLAGS)
ANALYZER = (
    *(flag for flag in C99 if flag != "-Werror"),
    "-O2", "-fanalyzer", "-Wcast-align=strict", "-Wdouble-promotion", "-Wduplicated-branches",
    "-Wduplicated-cond", "-Wfloat-equal", "-Wlogical-op", "-Wnull-dereference",
    "-Wold-style-definition", "-Wpointer-arith", "-Wredundant-decls", "-Wswitch-default",
    "-Wunused-macros", "-Wvla", "-Wwrite-strings",
)  # fmt: skip
"""The analysis of paths, which an error would stop, and warnings that the strict tests lack."""
EXAMPLES = ("esp-idf", "zephyr")
"""Packages whose example is a program in C; the sketches of the others are in C++."""
COMPILERS = ("host-gcc", "cortex-m4", "rv32imc")
TOO_LARGE = "that an AVR reads by 16-bit addresses"
"""End of the error by which emitted C says that its constants do not fit an AVR."""


def clang_tidy(folder: Path, sources: tuple[str, ...], machine: str) -> str:
    """Return the messages of clang-tidy for some files; empty where all is well."""
    done = subprocess.run(
        ("clang-tidy", "--quiet", f"--config-file={CONFIG}", *sources, "--", *C99, *CLANG[machine]),
        cwd=folder, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert not done.returncode or "error:" in done.stdout, done.stderr
    return done.stdout


def analyze(folder: Path, sources: tuple[str, ...], name: str, *flags: str) -> str:
    """Return the messages of a compiler's analyzer for some files; empty where all is well."""
    machine = MACHINES[name]
    done = subprocess.run(
        (machine.compiler, *machine.flags, *ANALYZER, *flags, "-c", *sources),
        cwd=folder, capture_output=True, text=True, check=False,
    )  # fmt: skip
    return done.stderr


def in_turn(batch, among):
    """Return a part of a batch for each of some names: one run of a tool reads each part."""
    among = list(among)
    return {name: batch[k :: len(among)] for k, name in enumerate(among)}


@pytest.mark.long
@pytest.mark.parametrize("machine", CLANG)
def test_clang_tidy_finds_nothing(machine, require_tool, tmp_path):
    """Machines take turns."""
    require_tool("clang-tidy")
    batch = in_turn(FEW, CLANG)[machine]
    assert blamed(clang_tidy(tmp_path, write_all(batch, tmp_path), machine), batch) == {}


@pytest.mark.parametrize("name", COMPILERS)
def test_the_analyzer_of_gcc_finds_nothing(name, require_tool, tmp_path):
    """Along all paths of every function, those of the self-test included; compilers take turns."""
    require_tool(MACHINES[name].compiler)
    batch = in_turn(FEW, COMPILERS)[name]
    assert blamed(analyze(tmp_path, write_all(batch, tmp_path), name), batch) == {}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("package", EXAMPLES)
def test_nothing_is_found_in_the_examples_of_packages(package, kind, require_tool, tmp_path):
    """The example that users copy: the program that runs every vector on a board."""
    require_tool("clang-tidy")
    require_tool(MACHINES["host-gcc"].compiler)
    files = {Path(path).name: text for path, text in files_of(kind, package).items()}
    write(files, tmp_path)
    assert clang_tidy(tmp_path, ("main.c",), "host") == ""
    assert analyze(tmp_path, ("main.c",), "host-gcc", f"-I{STUBS}") == ""


@pytest.mark.slow
@pytest.mark.parametrize("model", MODELS)
def test_nothing_is_found_in_any_kernel(model, require_tool, tmp_path):
    """Every optimization goal; by both tools, for all targets."""
    for tool in ("clang-tidy", *(MACHINES[name].compiler for name in COMPILERS)):
        require_tool(tool)
    batch = all_of(model)
    sources = write_all(batch, tmp_path)
    for machine in CLANG:
        found = blamed(clang_tidy(tmp_path, sources, machine), batch)
        assert [line for own in found.values() for line in own if TOO_LARGE not in line] == []
        assert machine == "avr" or not found
    for name in COMPILERS:
        assert blamed(analyze(tmp_path, sources, name), batch) == {}, name


@pytest.mark.parametrize(
    ("defect", "check"),
    [
        ("const int16_t two[2] = { 0, 0 };\n    return two[2];", "clang-diagnostic-array-bounds"),
        ("int16_t best;\n    return best;", "clang-analyzer-core.uninitialized.UndefReturn"),
        ("if (M_N_CLASSES > 0U)\n        return 1;\n    return 0;", "braces-around-statements"),
    ],
    ids=["out of bounds", "uninitialized", "no braces"],
)
def test_clang_tidy_finds_a_planted_defect(defect, check, require_tool, tmp_path):
    """In one file among others, and names it alone."""
    require_tool("clang-tidy")
    write(planted(defect), tmp_path)
    sound = write_all(FEW[:3], tmp_path)
    found = blamed(clang_tidy(tmp_path, (sound[0], "m.c", *sound[1:]), "host"), FEW[:3])
    assert list(found) == ["m.c"]
    assert check in "".join(found["m.c"])


@pytest.mark.parametrize("name", COMPILERS)
@pytest.mark.parametrize(
    ("defect", "warning"),
    [
        ("const int16_t two[2] = { 0, 0 };\n    return two[2];", "-Warray-bounds"),
        ("int16_t best;\n    return best;", "-Wanalyzer-use-of-uninitialized-value"),
        ("const int16_t *p = 0;\n    return *p;", "-Wanalyzer-null-dereference"),
    ],
    ids=["out of bounds", "uninitialized", "null"],
)
def test_the_analyzer_of_gcc_finds_a_planted_defect(defect, warning, name, require_tool, tmp_path):
    """In one file among others, and names it alone."""
    require_tool(MACHINES[name].compiler)
    write(planted(defect), tmp_path)
    sound = write_all(FEW[:3], tmp_path)
    found = blamed(analyze(tmp_path, (sound[0], "m.c", *sound[1:]), name), FEW[:3])
    assert list(found) == ["m.c"]
    assert warning in "".join(found["m.c"])


FALSE_READS = ("+ *more);", "+ *more));", "(*to + m_message(")
"""Reads listed in docs/SPEC.md: sums of a forest, which `m_clear` has set as volatile."""
READS = {"int32_thresholds": ("return *p;",), "letter_like": FALSE_READS}
"""Sites that are reported for a model; others of a forest may have some of the same."""
MISSING = [name for name in MODELS if why_not(MODELS[name]()) is None]
FEW_MISSING = ("tan_float", "naive_integer", "general_network", *READS)


@pytest.mark.parametrize(
    "name",
    [pytest.param(n, marks=() if n in FEW_MISSING else pytest.mark.slow) for n in MISSING],
)
def test_the_analyzer_of_clang_finds_the_listed_reads_alone(name, require_tool, tmp_path):
    """One model of each form of `--with missing`, and a large one."""
    require_tool("clang")
    write(emit_c(MODELS[name](), EmitOptions("m", frozenset({"missing"}))).files, tmp_path)
    done = subprocess.run(
        ("clang", "--analyze", "-Xclang", "-analyzer-output=text", "-std=c99", "m.c"),
        cwd=tmp_path, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    lines = (tmp_path / "m.c").read_text(encoding="utf-8").splitlines()
    found = re.findall(r"^m\.c:(\d+):\d+: warning: ", done.stderr, re.MULTILINE)
    told = [lines[int(number) - 1] for number in found]
    known = READS.get(name, FALSE_READS)
    assert [line for line in told if not any(code in line for code in known)] == []
    assert all(any(code in line for line in told) for code in READS.get(name, ()))
    assert not told or name in READS or name not in FEW_MISSING
