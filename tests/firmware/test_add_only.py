"""Emitted code adds, compares and reads tables: it never multiplies, divides or calls a library."""

import re
from dataclasses import replace
from functools import lru_cache
from itertools import product

import pytest

from benchmarks.shared.trained_models import rows_of
from bncc.emit.emitter import EmitOptions, emit_c, emit_candidate
from bncc.errors import OptionError
from bncc.lower.cost_model import candidate
from bncc.lower.kernels.families import FAMILIES, FOR_AVR, FOR_CUTS, FOR_GATES, FOR_TREES
from bncc.lower.kernels.looped.layout import looped
from bncc.program.pipeline import optimize, program_of
from bncc.train.settings import TrainSettings
from bncc.train.train_model import train_model
from tests.agreement.test_direct_readings import THRESHOLDS, model_of
from tests.firmware.compiled import compile_as_one, faults, write_all
from tests.firmware.machines import ENTRIES, LEVELS, MACHINES, MODELS, emit_all, emit_kernel
from tests.firmware.test_rules import COMPILED
from tests.firmware.test_strict import C99, OLD_CPP17
from tests.models import gated, products_of_sensors

pytestmark = [pytest.mark.cc, pytest.mark.firmware]


@pytest.fixture(params=MACHINES)
def machine(request, require_machine):
    chosen = MACHINES[request.param]
    require_machine(chosen)
    return chosen


@pytest.mark.long
@pytest.mark.parametrize("level", LEVELS)
def test_no_multiplication_no_division_no_library(machine, level, tmp_path):
    """Every kind of model, with all entry points, as a firmware project would compile it."""
    names = emit_all(tmp_path, machine)
    assert offenses(machine, names, level, tmp_path) == {}


@pytest.mark.parametrize(
    ("name", "family"),
    [
        (name, family)
        for name in ("host-clang", "atmega328p", "cortex-m0", "rv32imc", "mips32")
        for family in sorted(set(FAMILIES) - FOR_CUTS - FOR_TREES)
        if name == "atmega328p" or family not in FOR_AVR
    ],
)
@pytest.mark.parametrize(("best", "level"), [("size", "-Os"), ("speed", "-O3")])
def test_no_kernel_multiplies_or_calls(name, best, level, family, require_machine, tmp_path):
    """
    Kernels chosen for size where compilers tend to multiply, for speed where they vectorize.

    Words of a byte are chosen only for an AVR; clang may shift many of them by a product.
    """
    machine = MACHINES[name]
    require_machine(machine)
    names = emit_kernel(tmp_path, machine, family, best)
    assert len(names) > 2
    assert offenses(machine, names, level, tmp_path) == {}


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("family", sorted(set(FAMILIES) - FOR_CUTS - FOR_TREES))
def test_no_kernel_multiplies_and_accumulates(family, level, require_machine, tmp_path):
    """Compilers scale loop indices by a 16-bit multiply-accumulate instruction if there is one."""
    machine = MACHINES["cortex-m4"]
    require_machine(machine)
    names = emit_kernel(tmp_path, machine, family, "size")
    assert offenses(machine, names, level, tmp_path) == {}


@pytest.mark.parametrize("level", LEVELS)
def test_the_end_of_a_run_is_not_multiplied_out(level, require_machine, tmp_path):
    """An AVR's compiler tends to compute the end address of a loop from its iterations."""
    machine = MACHINES["atmega328p"]
    require_machine(machine)
    model = MODELS["letter_like_1_bit"]()
    program, _ = optimize(program_of(model))
    moved = replace(program, tables=program.tables[1:] + program.tables[:1])
    kernel = next(each for each in looped(moved) if each.n_runs > 1)
    assert not kernel.finder.is_own  # not x[0], x[1], ...: entries name the features
    options = EmitOptions("m", ENTRIES, target="avr")
    emission = emit_candidate(model, candidate(moved, kernel, "avr"), options)
    for file, text in emission.files.items():
        (tmp_path / file).write_text(text, encoding="utf-8")
    assert offenses(machine, ("m",), level, tmp_path) == {}


@lru_cache
def comparisons():
    """Return the C of every kernel of cuts that compares readings or keys, with and without a gate.

    A list of bytes indexes readings of four, which an AVR's compiler tends to multiply. Row numbers
    count backwards, and tables before and behind a gate have one loop.
    """
    models = {kind: model_of(kind, 11) for kind in THRESHOLDS}
    models |= {"mixed": products_of_sensors(9, 9), "many": products_of_sensors(3, 40)}
    found = {}
    for kind, model in models.items():
        for kernel, compare in product(sorted(FOR_CUTS), ("readings", "keys")):
            gates = {"gate": gated(model, 2, 9)} if kernel in FOR_GATES else {}
            for gate, each in ({"": model} | gates).items():
                options = EmitOptions("m", ENTRIES, kernel=kernel, compare=compare)
                try:
                    emission = emit_c(each, options)
                except OptionError:
                    continue
                assert emission.layout.direct is not None
                found[f"{kind} {kernel} {compare} {gate}"] = emission.files
    return found


@pytest.mark.parametrize("level", LEVELS)
def test_no_comparison_of_readings_multiplies(machine, level, tmp_path):
    found = comparisons()
    assert len(found) > 30
    assert {
        kernel for kernel in FOR_CUTS if any(kernel in key.split() for key in found)
    } == FOR_CUTS
    names = write_all(tmp_path, found)
    assert faults(machine, tmp_path, names, [level], C99) == {}
    if level == "-O2" and machine in [MACHINES[name] for name in COMPILED]:
        language = OLD_CPP17 if "clang" not in machine.compiler else ("-xc++", "-std=c++17")
        compile_as_one(machine, tmp_path, names, (*language, level))


def boosted(bits, **options):
    """Return settings of boosted tables."""
    named = {key: str(value) for key, value in options.items()}
    return TrainSettings(structure="tables", structure_options=named, bits=bits, seed=1)


TRAINED = {
    "naive": TrainSettings(structure="naive", parameters="ml", bits=4, seed=1),
    "chow-liu": TrainSettings(structure="chow-liu", parameters="ml", bits=3, seed=1),
    "few": boosted(3, tables=12, rows=8),
    "many": boosted(4, tables=40, rows=16),
    "leaves": boosted(3, tables=10, leaves=6),
    "gate": boosted(3, **{"tables": 24, "rows": 8, "gate": 8, "gate-differing": 0.02}),
}
"""Tables of which many have rows of the same number, so that addresses are equally far apart."""
TARGETS = {"atmega328p": "avr", "cortex-m4": "cortex-m4", "host-gcc": "x86"}
"""Targets of the machines whose compilers multiply most."""


@lru_cache
def trained(data_set):
    """Return models of a bundled set."""
    return {key: train_model(rows_of(data_set, None), each).model for key, each in TRAINED.items()}


@pytest.mark.long
@pytest.mark.parametrize("data_set", ["robot", "wifi"])
@pytest.mark.parametrize("name", TARGETS)
def test_no_trained_model_multiplies(name, data_set, require_machine, tmp_path):
    machine = MACHINES[name]
    require_machine(machine)
    found = {}
    for (key, model), kernel, compare, aim in product(
        trained(data_set).items(),
        (None, *sorted(FOR_CUTS)),
        (None, "readings", "keys"),
        ("size", "balanced", "speed"),
    ):
        options = EmitOptions(
            "m", ENTRIES, kernel=kernel, compare=compare, optimize=aim, target=TARGETS[name]
        )
        try:
            found[f"{key} {kernel} {compare} {aim}"] = emit_c(model, options).files
        except OptionError:
            continue
    assert len(found) > 60
    texts = {files["m.c"]: key for key, files in found.items()}
    names = write_all(tmp_path, {key: found[key] for key in texts.values()})
    assert faults(machine, tmp_path, names, LEVELS, C99) == {}


def offenses(machine, names, level, folder):
    """Compile models and return by name the instructions and calls that must not be there."""
    machine.compile(folder, tuple(f"{name}.c" for name in names), "-std=c99", level)
    contents = machine.contents(folder, tuple(f"{name}.o" for name in names))
    found = {}
    for name in names:
        instructions, undefined = contents[f"{name}.o"]
        assert len(instructions) > 15, name
        wrong = {m for m in instructions if re.fullmatch(machine.multiplies, m)} | undefined
        if wrong:
            found[name] = wrong
    return found


@pytest.mark.parametrize("level", LEVELS)
def test_the_check_sees_a_multiplication(machine, level, tmp_path):
    """A product of two variables and a quotient are found, as instruction or as library call.

    In one object among others, and it alone is named.
    """
    text = "int {0}(int a, int b);\nint {0}(int a, int b) {{\n    volatile int c = a;\n"
    text += "    c += b; c -= a;\n" * 10 + "    return {1};\n}}\n"
    for name, value in (("before", "c"), ("f", "a * b / (a - 7)"), ("behind", "c")):
        (tmp_path / f"{name}.c").write_text(text.format(name, value))
    found = offenses(machine, ("before", "f", "behind"), level, tmp_path)
    assert list(found) == ["f"]
    if machine.compiler in ("gcc", "clang"):
        assert len(found["f"]) >= 2


def test_every_kind_of_model_is_looked_at():
    """Naive Bayes and TAN, integer and float thresholds, categories, wide states, many classes."""
    kinds = {feature.kind for make in MODELS.values() for feature in make().features}
    assert kinds == {"int8", "uint8", "int16", "int32", "float32", "category", "state"}
    assert max(make().n_classes for make in MODELS.values()) == 26
    assert any(max(make().n_states) > 255 for make in MODELS.values())


PATTERNS = {
    "host-gcc": (
        "mul imul imulq mulx div idivl pmuludq vpmulld pmaddwd mulss divsd vfmadd231ps fmul fidiv",
        "lea shl add psubd movl movdqa vpaddd sub cmovl sbb padding vpminub",
    ),
    "atmega328p": ("mul muls mulsu fmul fmuls fmulsu", "add movw lpm elpm rjmp sub com"),
    "cortex-m0": (
        "mul muls mla mls umull smull umlal smlal smulbb smlad sdiv udiv vmul vdiv smmul umaal",
        "movs adds mvns lsls subs smov mov uxtb sxth ldrsh push sub vmov umov ubfx usat",
    ),
    "mips32": (
        "mul mult multu div divu madd msubu mul.s div.d nmadd.d",
        "addu sll move mflo mov.s mtc1",
    ),
    "rv32i": ("mul mulh mulhsu mulhu div divu rem remu fmul.s fdiv.s", "add sub slli mv mvn lbu"),
}


@pytest.mark.parametrize("name", PATTERNS)
def test_the_patterns_name_exactly_what_multiplies_or_divides(name):
    """No false negatives and no false positives."""
    if name == "host-gcc" and "pmul" not in MACHINES[name].multiplies:
        pytest.skip("the list is of x86 instructions; this machine is another one")
    bad, good = PATTERNS[name]
    pattern = MACHINES[name].multiplies
    assert [m for m in bad.split() if not re.fullmatch(pattern, m)] == []
    assert [m for m in good.split() if re.fullmatch(pattern, m)] == []
