"""clang-tidy and gcc's -fanalyzer find nothing in emitted C, and something in a planted defect."""

import re
import subprocess
from itertools import cycle
from pathlib import Path

import pytest

from bncc.emit.emitter import EmitOptions, emit_c
from bncc.model.missing import why_not
from bncc.toolchain.tools import STRICT_C_FLAGS, STRICT_FLAGS
from tests.firmware.analyzed import STUBS, all_of, few, planted, write
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


def clang_tidy(folder: Path, sources: tuple[str, ...], machine: str) -> str:
    """Return what clang-tidy says; nothing where all is well."""
    done = subprocess.run(
        ("clang-tidy", "--quiet", f"--config-file={CONFIG}", *sources, "--", *C99, *CLANG[machine]),
        cwd=folder, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert not done.returncode or "error:" in done.stdout, done.stderr
    return done.stdout


def analyze(folder: Path, sources: tuple[str, ...], name: str, *flags: str) -> str:
    """Return what a compiler's analyzer says; nothing where all is well."""
    machine = MACHINES[name]
    done = subprocess.run(
        (machine.compiler, *machine.flags, *ANALYZER, *flags, "-c", *sources),
        cwd=folder, capture_output=True, text=True, check=False,
    )  # fmt: skip
    return done.stderr


def test_clang_tidy_finds_nothing(require_tool, tmp_path):
    """Machines take turns."""
    require_tool("clang-tidy")
    for analyzed, machine in zip(FEW, cycle(CLANG), strict=False):
        write(analyzed.files, tmp_path)
        assert clang_tidy(tmp_path, analyzed.sources, machine) == "", str(analyzed)


def test_the_analyzer_of_gcc_finds_nothing(require_tool, tmp_path):
    """Along all paths of every function, those of the self-test included; compilers take turns."""
    for name in COMPILERS:
        require_tool(MACHINES[name].compiler)
    for analyzed, name in zip(FEW, cycle(COMPILERS), strict=False):
        write(analyzed.files, tmp_path)
        assert analyze(tmp_path, analyzed.sources, name) == "", str(analyzed)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("package", EXAMPLES)
def test_nothing_is_found_in_the_examples_of_packages(package, kind, require_tool, tmp_path):
    """In what users copy from: the program that runs every vector on a board."""
    require_tool("clang-tidy")
    require_tool(MACHINES["host-gcc"].compiler)
    files = {Path(path).name: text for path, text in files_of(kind, package).items()}
    write(files, tmp_path)
    assert clang_tidy(tmp_path, ("main.c",), "host") == ""
    assert analyze(tmp_path, ("main.c",), "host-gcc", f"-I{STUBS}") == ""


@pytest.mark.slow
@pytest.mark.parametrize("model", MODELS)
def test_nothing_is_found_in_any_kernel(model, require_tool, tmp_path):
    """With every level of what is best; by both tools, for all machines."""
    for tool in ("clang-tidy", *(MACHINES[name].compiler for name in COMPILERS)):
        require_tool(tool)
    for analyzed in all_of(model):
        write(analyzed.files, tmp_path)
        for machine in CLANG:
            assert clang_tidy(tmp_path, analyzed.sources, machine) == "", str(analyzed)
        for name in COMPILERS:
            assert analyze(tmp_path, analyzed.sources, name) == "", str(analyzed)


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
    require_tool("clang-tidy")
    write(planted(defect), tmp_path)
    assert check in clang_tidy(tmp_path, ("m.c",), "host")


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
    require_tool(MACHINES[name].compiler)
    write(planted(defect), tmp_path)
    assert warning in analyze(tmp_path, ("m.c",), name)


FALSE_READS = ("+ *more);", "+ *more));", "(*to + m_message(")
"""What docs/SPEC.md lists: sums of a forest, which `m_clear` has set as volatile."""
READS = {"int32_thresholds": ("return *p;",), "letter_like": FALSE_READS}
"""Sites that are reported for a model; others of a forest may have some of the same."""
MISSING = [name for name in MODELS if why_not(MODELS[name]()) is None]
FEW_MISSING = ("tan_float", "naive_integer", "general_network", *READS)


@pytest.mark.parametrize(
    "name",
    [pytest.param(n, marks=() if n in FEW_MISSING else pytest.mark.slow) for n in MISSING],
)
def test_the_analyzer_of_clang_finds_the_listed_reads_alone(name, require_tool, tmp_path):
    """Of `--with missing`, one model of each of its forms and a large one."""
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
