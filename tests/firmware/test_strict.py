"""Emitted C compiles without a warning, links with another model, and tests itself."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from bncc.emit.emitter import EmitOptions, emit_c
from bncc.fixed_point import QFormat
from bncc.lower.kernels.families import FAMILIES, FOR_CUTS, FOR_TREES
from bncc.model.model import Model
from bncc.structure.decision_tables import DecisionTable, TableEnsemble
from bncc.toolchain.tools import STRICT_C_FLAGS, STRICT_FLAGS
from tests import models as hand
from tests.agreement.large import mixed_kinds
from tests.firmware.analyzed import blamed, few, planted, write_all
from tests.firmware.machines import ENTRIES, MACHINES, MODELS, emit_all, emit_kernel

pytestmark = pytest.mark.cc
COMPILED = ("host-gcc", "host-clang", "atmega1284p", "cortex-m0", "rv32ic")
C99 = ("-std=c99", *STRICT_FLAGS, *STRICT_C_FLAGS)
C11 = ("-std=c11", *STRICT_FLAGS, *STRICT_C_FLAGS)
CPP17 = ("-xc++", "-std=c++17", *STRICT_FLAGS)
OLD_CPP17 = ("-xc++", "-std=c++1z", *STRICT_FLAGS)
FEW = few()


def sources(names: tuple[str, ...]) -> tuple[str, ...]:
    """Return the model and, where a main can be, the self-test of each."""
    return tuple(f"{name}{part}.c" for name in names for part in ("", "_selftest"))


def warnings(machine, folder, sources, *flags):
    """Return the messages of a compiler by file, for sources in one run."""
    command = (machine.compiler, *machine.flags, *flags, "-c", *sources)
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert not done.returncode or done.stderr, command
    return blamed(done.stderr)


def languages(machine, require_tool):
    """Return the flags of each language; a skip that names a compiler that is missing."""
    require_tool(machine.compiler)
    require_tool(re.sub("gcc$", "g++", machine.compiler))
    # avr-gcc 5 knows the standard by its first name
    return (C99, C11, OLD_CPP17 if machine.compiler == "avr-gcc" else CPP17)


@pytest.mark.firmware
@pytest.mark.parametrize("name", COMPILED)
def test_the_strict_flags_find_nothing_in_any_language(name, require_tool, tmp_path):
    """Every model and self-test, as C99, C11 and C++17; the path of values through C99 in turn.

    Warnings after optimization do not depend on the language.
    """
    machine = MACHINES[name]
    each_language = languages(machine, require_tool)
    files = sources(emit_all(tmp_path, machine))
    for language in each_language:
        assert warnings(machine, tmp_path, files, *language, "-fsyntax-only") == {}, language
    turn = files[COMPILED.index(name) :: len(COMPILED)]
    assert warnings(machine, tmp_path, turn, *C99, "-O2") == {}


def is_doubted(each, machine):
    """Return whether avr-g++ 5 warns of the sign of a cut's level in a list of cuts, a mask."""
    options = each.options
    return machine.compiler == "avr-gcc" and options.kernel == "cut-packed" and options.compare


@pytest.mark.long
@pytest.mark.firmware
@pytest.mark.parametrize("name", COMPILED)
def test_the_strict_flags_find_nothing_in_few_of_each_kernel(name, require_tool, tmp_path):
    """Every kernel and level with models in turn, as C99 and as C++17; optimized in turn."""
    machine = MACHINES[name]
    c99, _, cpp17 = languages(machine, require_tool)
    files = write_all(FEW, tmp_path)
    assert warnings(machine, tmp_path, files, *c99, "-fsyntax-only") == {}
    in_cpp = [file for each in FEW if not is_doubted(each, machine) for file in each.sources]
    assert warnings(machine, tmp_path, in_cpp, *cpp17, "-fsyntax-only") == {}
    turn = files[COMPILED.index(name) :: len(COMPILED)]
    assert warnings(machine, tmp_path, turn, *c99, "-O2") == {}


@pytest.mark.parametrize("language", [C99, CPP17], ids=["c99", "c++17"])
@pytest.mark.parametrize(
    ("defect", "warning"),
    [
        ("volatile int32_t wide = 1;\n    return wide;", "conversion"),
        ("const int16_t left = 0;\n    return 0;", "unused variable"),
    ],
    ids=["narrowed", "unused"],
)
def test_a_planted_warning_is_found(language, defect, warning, require_tool, tmp_path):
    """In one file among others, before code is generated, and it alone is named."""
    require_tool("gcc")
    require_tool("g++")
    write(tmp_path, planted(defect))
    first, *others = write_all(FEW[:3], tmp_path)
    run = (first, "m.c", *others)
    found = warnings(MACHINES["host-gcc"], tmp_path, run, *language, "-fsyntax-only")
    assert list(found) == ["m.c"]
    assert warning in "".join(found["m.c"])


@pytest.mark.firmware
@pytest.mark.parametrize("language", [C99, C11, CPP17], ids=["c99", "c11", "c++17"])
@pytest.mark.parametrize("name", COMPILED)
def test_the_strict_flags_find_nothing(name, language, require_tool, tmp_path):
    """At a usual level, on the host and for three microcontrollers, self-tests included."""
    machine = MACHINES[name]
    require_tool(machine.compiler)
    if language is CPP17:
        require_tool(re.sub("gcc$", "g++", machine.compiler))
    if language is CPP17 and machine.compiler == "avr-gcc":
        language = OLD_CPP17  # avr-gcc 5 knows the standard by its first name
    names = sources(emit_all(tmp_path, machine))
    assert len(names) > 2
    machine.compile(tmp_path, names, *language, "-O2")


@pytest.mark.firmware
@pytest.mark.parametrize("family", sorted(set(FAMILIES) - FOR_CUTS - FOR_TREES))
@pytest.mark.parametrize("name", COMPILED)
def test_the_strict_flags_find_nothing_in_any_kernel(name, family, require_tool, tmp_path):
    """Layouts chosen for size as C99, layouts chosen for speed as C++17."""
    machine = MACHINES[name]
    compiler = machine.compiler
    require_tool(compiler)
    require_tool(re.sub("gcc$", "g++", compiler))
    names = emit_kernel(tmp_path, machine, family, "size")
    assert len(names) > 2
    machine.compile(tmp_path, tuple(f"{n}.c" for n in names), *C99, "-Os")
    names = emit_kernel(tmp_path, machine, family, "speed")
    language = OLD_CPP17 if compiler == "avr-gcc" else CPP17
    machine.compile(tmp_path, tuple(f"{n}.c" for n in names), *language, "-O2")


def few_of_many() -> Model:
    """Return tables that read 5 of 300 features, whose numbers take more bits than their states."""
    read = (28, 48, 128, 153, 275)
    features = [hand.feature(f"f{k}", 3 if k in read else 1) for k in range(300)]
    cuts = [((0,), (1,), (1,), (1,), (0,)), ((1,), (0,), (0,), (0,), (0,))]
    structure = TableEnsemble(tuple(DecisionTable(read, of_table) for of_table in cuts))
    rows = [[[k % 7, 7 - k % 5] for k in range(32)] for _ in cuts]
    return hand.model_of(features, structure, QFormat(3, 1), [1, 0], rows)


@pytest.mark.firmware
@pytest.mark.parametrize("family", sorted(set(FAMILIES) - FOR_TREES - {"columns", "planes"}))
@pytest.mark.parametrize("name", ["host-gcc", "cortex-m0", "atmega1284p"])
def test_features_whose_numbers_are_wider_than_states_cause_no_warning(
    name, family, require_tool, tmp_path
):
    machine = MACHINES[name]
    require_tool(machine.compiler)
    options = EmitOptions("m", kernel=family, optimize="size")
    write(tmp_path, emit_c(few_of_many(), options).files)
    assert warnings(machine, tmp_path, ("m.c", "m_selftest.c"), *C99, "-Os") == {}


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_two_models_link_into_one_program(compiler, require_tool, tmp_path):
    """Every symbol carries its model's prefix, so nothing clashes; both answer."""
    require_tool(compiler)
    for name, model in (("first", hand.naive_integer()), ("second", mixed_kinds())):
        write(tmp_path, emit_c(model, EmitOptions(name, ENTRIES)).files)
    (tmp_path / "main.c").write_text(
        '#include "first.h"\n#include "second.h"\n'
        "int main(void)\n{\n    const uint8_t x[FIRST_N_FEATURES] = { 2, 0 };\n"
        "    const uint16_t z[SECOND_N_FEATURES] = { 9, 0, 0, 0, 0, 0 };\n"
        "    return !(first_predict(x) == 2 && second_predict(z) == SECOND_ERR_STATE);\n}\n"
    )
    parts = ("main.c", "first.c", "second.c")
    compile_program(tmp_path, compiler, *C99, *parts)
    assert run_program(tmp_path) == 0


def test_every_public_symbol_has_the_prefix(require_tool, tmp_path):
    """Everything else is static."""
    require_tool("gcc")
    machine = MACHINES["host-gcc"]
    write(tmp_path, emit_c(mixed_kinds(), EmitOptions("door", ENTRIES)).files)
    machine.compile(tmp_path, ("door.c",), "-O2")
    listed = subprocess.run(
        ("nm", "-g", "--defined-only", "door.o"), cwd=tmp_path, capture_output=True, text=True,
        check=True,
    )  # fmt: skip
    names = {line.split()[-1].lstrip("_") for line in listed.stdout.splitlines()}
    entries = ("predict", "predict_trusted", "predict_raw", "states", "scores", "class_name")
    assert names == {f"door_{entry}" for entry in entries}


def test_a_model_has_no_variable_and_no_state(require_tool, tmp_path):
    """
    Everything static is constant: .data and .bss are empty.

    Firmware is not relocated, so that its addresses are constants too.
    """
    require_tool("gcc")
    machine = MACHINES["host-gcc"]
    names = emit_all(tmp_path, machine)
    machine.compile(tmp_path, tuple(f"{name}.c" for name in names), "-O2", "-fno-pie")
    listed = subprocess.run(
        ("nm", *(f"{name}.o" for name in names)), cwd=tmp_path, capture_output=True, text=True,
        check=True,
    )  # fmt: skip
    assert not re.findall(r" [bBdDcC] (.*)", listed.stdout)


@pytest.mark.parametrize("name", MODELS)
def test_the_self_test_passes_and_a_corrupted_vector_fails_it(name, require_tool, tmp_path):
    """Its exit status is 0, and another one as soon as a class, state or reading is wrong."""
    require_tool("gcc")
    files = dict(emit_c(MODELS[name](), EmitOptions("m", ENTRIES)).files)
    write(tmp_path, files)
    compile_program(tmp_path, "gcc", *C99, "m.c", "m_selftest.c")
    assert run_program(tmp_path) == 0
    for array, place, wrong in (
        ("classes", 0, "200U"),
        ("states", 0, "255U" if "uint8_t m_vector_states" in files["m_vectors.h"] else "65535U"),
        ("readings", MODELS[name]().n_features, None),
    ):
        if name == "one_state_feature" and array == "readings":
            continue  # all readings are alike there
        write(tmp_path, {"m_vectors.h": corrupted(files["m_vectors.h"], array, place, wrong)})
        compile_program(tmp_path, "gcc", *C99, "m.c", "m_selftest.c")
        assert 0 < run_program(tmp_path) < 256, array  # no signal


def corrupted(vectors: str, array: str, place: int, wrong: str | None) -> str:
    """
    Return the vectors with one number of an array wrong; None returns its first number.

    The first vector's readings have the lowest states, those of the second the highest.
    """
    head, body = vectors.split(f"m_vector_{array}[")
    declared, body = body.split("{\n", 1)
    body, end = body.split("\n};", 1)
    numbers = body.split(",")
    numbers[place] = wrong or numbers[0]
    assert ",".join(numbers) != body
    return f"{head}m_vector_{array}[{declared}{{\n{','.join(numbers)}\n}};{end}"


def test_files_of_two_models_do_not_build_together(require_tool, tmp_path):
    """The header of another model stops compilation of C and vectors; class indices have names."""
    require_tool("gcc")
    ours = emit_c(hand.naive_integer(), EmitOptions("m", ENTRIES)).files
    theirs = emit_c(mixed_kinds(), EmitOptions("m", ENTRIES)).files
    for file, other in (("m.c", "m.h"), ("m_selftest.c", "m_vectors.h")):
        write(tmp_path, {**ours, other: theirs[other]})
        done = subprocess.run(
            ("gcc", "-std=c99", "-c", file), cwd=tmp_path, capture_output=True, text=True,
            check=False,
        )  # fmt: skip
        assert done.returncode != 0
        assert "is of another model than" in done.stderr
    for label in range(len(hand.naive_integer().classes)):
        assert re.search(rf"^    M_CLASS_\w+ = {label},?$", ours["m.h"], re.MULTILINE)


EMIT = """
import hashlib
from bncc.emit.emitter import EmitOptions, emit_c
from bncc.fixed_point import QFormat
from tests.firmware.machines import ENTRIES, MODELS
text = "".join(
    f"{file}{text}"
    for name, make in MODELS.items()
    for file, text in emit_c(make(), EmitOptions(name, ENTRIES)).files.items()
)
print(hashlib.sha256(text.encode()).hexdigest())
"""


def test_the_same_model_gives_the_same_bytes_in_another_process(tmp_path):
    """For any hash seed, folder and date; and no path of this machine is in them."""
    root = Path(__file__).resolve().parent.parent.parent
    digests = set()
    for seed, folder in (("1", tmp_path), ("2", root)):
        done = subprocess.run(
            (sys.executable, "-c", EMIT), capture_output=True, text=True, check=True, cwd=folder,
            env={"PYTHONHASHSEED": seed, "PYTHONPATH": str(root), "TZ": f"UTC{seed}"},
        )  # fmt: skip
        digests.add(done.stdout)
    assert len(digests) == 1
    for text in emit_c(mixed_kinds(), EmitOptions("m", ENTRIES)).files.values():
        assert str(root) not in text


def write(folder: Path, files) -> None:
    for file, text in files.items():
        (folder / file).write_text(text, encoding="utf-8")


def compile_program(folder: Path, compiler: str, *words: str) -> None:
    done = subprocess.run(
        (compiler, *words, "-o", "program"), cwd=folder, capture_output=True, text=True,
        check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[:2000]


def run_program(folder: Path) -> int:
    return subprocess.run((folder / "program",), check=False, timeout=60).returncode
