"""Footprint of a classifier: its own bytes, those of library routines, and nothing else."""

from pathlib import Path

import pytest

from bncc.device import image
from bncc.device.image import Builder, Image
from bncc.device.meter import Footprint, Meter
from bncc.device.sources import sources
from bncc.emit.emitter import EmitOptions, emit_c
from bncc.emit.textbook import textbook_c
from bncc.errors import MisfitError, ToolchainError
from bncc.structure.decision_tables import DecisionTable, TableEnsemble
from bncc.targets import TARGETS
from bncc.toolchain.tools import run
from tests import models as hand
from tests.agreement.large import letter_like
from tests.unit.device.written import MODEL, NOTHING, in_assembly, in_c, meter, of

pytestmark = pytest.mark.firmware

PLACES = [(target.name, compiler) for target in TARGETS.values() for compiler in target.flags]
ONE_EACH = [(target, None) for target in TARGETS] + [("x86", "clang"), ("rv32", "ziglang")]
# With the return that follows, 64 bytes.
NOPS = {
    "avr": 31 * "nop;",
    "cortex": 31 * "nop;",
    "rv32": 31 * "nop;",
    "big-endian": 14 * "nop;",
    "x86": 63 * "nop;",
}
ROM = '#if defined(__AVR__)\n__attribute__((section(".progmem.data")))\n#endif\n'


def measured(bench, files, level="-Os", kept=("predict",)) -> tuple[Footprint, set[str]]:
    """Return the footprint, and the symbols of the image it was taken from."""
    with meter(bench, files, level) as built:
        found = built.footprint(kept)
        image = Image(Path(built._folder.name) / "footprint.elf", bench.target)
        return found, set(image.symbols)


@pytest.mark.parametrize(("target", "compiler"), PLACES)
def test_a_classifier_without_code_costs_nothing(require_bench, target, compiler):
    """The stub's section is excluded for every origin."""
    stub = in_c("(void)x;\nreturn 0;", '__attribute__((section(".stub")))')
    found, symbols = measured(require_bench(target, compiler), stub)
    assert found == Footprint(0, 0)
    assert "t_predict" in symbols


@pytest.mark.parametrize(("target", "compiler"), PLACES)
def test_code_is_charged_to_the_byte(require_bench, target, compiler):
    """64 bytes of instructions are 64 bytes, compared with an empty classifier."""
    code = f"{of(NOPS, target)} {of(NOTHING, target)}"
    found, _ = measured(require_bench(target, compiler), in_assembly(code))
    assert found == Footprint(64, 0)


@pytest.mark.parametrize(("target", "compiler"), ONE_EACH)
def test_constants_are_flash_and_variables_are_both(require_bench, target, compiler):
    """1000 bytes more of each, where something reads them, are 1000 bytes more in the sum."""
    kinds = {
        "constants": (f"{ROM}static const uint8_t a[{{}}] = {{{{ 1, 2, 3 }}}};", 1000, 0),
        "variables": ("static uint8_t a[{}];", 0, 1000),
        "initial values": ("static uint8_t a[{}] = {{ 1, 2, 3 }};", 1000, 1000),
    }
    bench = require_bench(target, compiler)
    for before, flash, ram in kinds.values():
        body = "volatile const uint8_t *p = a;\nreturn p[x[0]];"
        if "const" not in before:
            body = f"a[x[0]] = x[0];\n{body}"
        less, more = (measured(bench, in_c(body, before.format(n)))[0] for n in (1024, 2024))
        assert (more.flash - less.flash, more.ram - less.ram) == (flash, ram)
        assert 0 <= less.ram - (1024 if ram else 0) < 32  # its beginning may be aligned


COMPARISON = {"avr": "__gtsf2", "rv32": "__gtsf2"} | {
    name: "__aeabi_fcmpgt"
    for name, target in TARGETS.items()
    if name.startswith("cortex-m") and "FPU" not in target.title
}


@pytest.mark.parametrize("target", TARGETS)
def test_a_comparison_of_floats_is_charged_with_the_routine_it_calls(require_bench, target):
    """Once for several uses; with a floating-point unit there is none to call."""

    def comparing(*limits):
        return in_c(
            f"return (int16_t)({' + '.join(f'(y > {limit}F)' for limit in limits)} + 0 * x[0]);",
            "static volatile float y;",
        )

    bench = require_bench(target)
    (one, symbols), (three, _) = (
        measured(bench, comparing(*limits)) for limits in (["1.5"], ["1.5", "-2.5", "9.0"])
    )
    assert 4 <= one.ram == three.ram < 8
    if target in COMPARISON:
        assert COMPARISON[target] in symbols
        each = (three.flash - one.flash) / 2
        assert 0 < each < one.flash - 40
    else:
        assert not any("fcmp" in name or name.endswith("tsf2") for name in symbols)
        assert one.flash < 60


@pytest.mark.parametrize("target", ["cortex-m0", "rv32", "big-endian"])
def test_a_copy_is_charged_with_memcpy(require_bench, target):
    """The compiler adds the call, which is not in the C."""
    pair = "static struct { uint8_t a[200]; } from, to;"
    body = "from.a[x[0]] = x[0];\nto = from;\nreturn to.a[x[0] / 2U];"
    short, symbols = measured(require_bench(target), in_c(body, pair))
    _, without = measured(require_bench(target), in_c("return 0 * x[0];"))
    assert any("memcpy" in name for name in symbols - without)
    assert short.flash > 40


@pytest.mark.parametrize("target", TARGETS)
def test_entry_points_nobody_calls_are_free(require_bench, target):
    """The constants of every emitted classifier are in flash."""
    model = letter_like("float32")
    files = emit_c(model, EmitOptions("m", frozenset({"trusted", "scores"}), kernel="plain")).files
    table = sum(costs.size for costs in model.tables)
    with Meter(sources(model, files), require_bench(target), "-Os") as built:
        by = {kept: built.footprint(kept) for kept in (("predict",), ("raw",), ("predict", "raw"))}
    assert all(found.ram == 0 for found in by.values())
    assert table < by["predict",].flash < by["raw",].flash < by["predict", "raw"].flash
    assert by["predict", "raw"].flash < by["predict",].flash + by["raw",].flash - table


def test_the_textbook_is_charged_with_what_ours_avoids(require_bench):
    """Its thresholds are floats, and comparing them takes a library where there is no unit."""
    bench, model, symbols = require_bench("cortex-m0"), hand.tan_float(), []
    for files in (
        emit_c(model, EmitOptions("m", kernel="plain")).files,
        textbook_c(model, "m").files,
    ):
        with Meter(sources(model, files), bench, "-Os") as built:
            built.footprint(("predict", "raw"))
            image = Image(Path(built._folder.name) / "footprint.elf", bench.target)
            symbols.append({name for name in image.symbols if name.startswith("__aeabi_f")})
    assert not symbols[0]
    assert "__aeabi_fcmpgt" in symbols[1]


@pytest.mark.parametrize(("target", "compiler"), PLACES)
def test_a_program_that_does_not_fit_is_one_sentence(require_bench, target, compiler):
    """The linker's own words name sections and regions."""
    bench = require_bench(target, compiler)
    arrays = "".join(
        f"{ROM}static const uint8_t a{k}[{n}] = {{ {k} }};\n"
        for k, n in enumerate([30000] * 5 if target == "avr" else [6 << 20])
    )
    reads = " + ".join(f"*(const volatile uint8_t *)a{k}" for k in range(arrays.count("static")))
    told = f"^the program does not fit in the memory of {target}; train with fewer bits"
    with (
        meter(bench, in_c(f"return (int16_t)({reads} + 0 * x[0]);", arrays)) as built,
        pytest.raises(MisfitError, match=told) as error,
    ):
        built.footprint(("predict",))
    assert "\n" not in str(error.value)
    assert error.value.exit_code == 2


def test_what_emitted_c_says_itself_is_passed_on(require_bench):
    """A model that no AVR can address has an error of its own."""
    bench, files = (
        require_bench("avr"),
        in_c("return x[0] * 0;", '#error "t: too much; train less"'),
    )
    with pytest.raises(MisfitError, match=r"^too much; train less$"):
        meter(bench, files)


def test_other_failures_keep_the_compilers_words(require_bench, tmp_path):
    """An undefined symbol, and invalid C."""
    bench = require_bench("cortex-m0")
    with pytest.raises(ToolchainError, match=r"undefined (reference|symbol).* .?nowhere"):
        measured(bench, in_c("return nowhere(x);", "int16_t nowhere(const uint8_t *x);"))
    with pytest.raises(ToolchainError, match=r"t\.c:5:8: error"):
        meter(bench, in_c("return y;"))
    builder = Builder(tmp_path, bench.target, bench.compiler)
    builder.write({"main.c": "int main(void);\nint main(void)\n{\n    return 0;\n}\n"})
    image = builder.link("main.elf", builder.compile("main.c", "main.o", "-O2"))
    assert image.segments[0][1][:4] == image.symbols["bncc_stack_top"].to_bytes(4, "little")


def test_the_packed_kernel_of_two_classes_compiles_without_a_doubt(require_bench, tmp_path):
    """Compilers do not see that the first of many tables would initialize both sums."""
    bench = require_bench("cortex-m4", "arm-none-eabi-gcc")
    table = DecisionTable((0, 1, 2), ((0,), (0,), (0,)))
    model = hand.model_of(
        [hand.feature(name, 2) for name in "abc"],
        TableEnsemble((table,) * 60),
        hand.QFormat(2, 1),
        [0, 3],
        [[[(k + 3 * r + 5 * c) % 8 for c in range(2)] for r in range(8)] for k in range(60)],
    )
    files = emit_c(model, EmitOptions("t", kernel="packed")).files
    builder = Builder(tmp_path, bench.target, bench.compiler)
    builder.write(files)
    for level in ("-Os", "-O2"):
        builder.compile("t.c", "t.o", level)
        assert (tmp_path / "t.o").exists()


def test_a_doubt_of_the_compiler_does_not_stop_a_measurement(require_bench, tmp_path):
    bench = require_bench("cortex-m4", "arm-none-eabi-gcc")
    found = "int16_t y;\nif (x[0] > 3U) {\n    y = (int16_t)(7 * x[0]);\n}\n"
    body = found + "return (x[0] > 1U) ? y : 0;"
    assert measured(bench, in_c(body), "-O2")[0].flash > 0
    builder = Builder(tmp_path, bench.target, bench.compiler)
    builder.write(in_c(body))
    with pytest.raises(ToolchainError, match="uninitialized"):
        builder.compile("t.c", "t.o", "-O2")


def test_glue_is_compiled_once_for_equal_headers(require_bench, tmp_path, monkeypatch):
    """Comments of the model's header do not matter, its declarations do."""
    bench = require_bench("cortex-m0", "arm-none-eabi-gcc")
    builder = Builder(tmp_path, bench.target, bench.compiler)
    plain = in_c("return 0;")
    more = plain | {"t.h": plain["t.h"] + "extern const char other;\n"}
    commands, objects = [], []

    def counted(command, folder):
        commands.append(command)
        return run(command, folder)

    monkeypatch.setattr(image, "run", counted)
    image._compiled.cache_clear()
    for files in (plain, plain, more):
        built = sources(MODEL, files)
        commented = {"t.h": f"/* {len(objects)} */\n{built.files['t.h']}"}
        builder.write(built.files | commented)
        objects.append((tmp_path / builder.compile_glue("stub.c", "stub.o", "-Os")).read_bytes())
    assert len(commands) == 2
    assert objects[0] == objects[1]
    assert image._compiled.cache_info().hits == 1
