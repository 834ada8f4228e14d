"""Machine code to prove: what is built, what is refused, images of the user."""

import importlib.util
import struct
from dataclasses import replace
from itertools import product

import pytest

from bncc.device.cross import link_program
from bncc.device.image import Builder, model_object
from bncc.emit.emitter import EmitOptions, emit_c
from bncc.errors import OptionError, ToolchainError
from bncc.on_device import sources_of
from bncc.prove import build
from bncc.prove.build import ENTRIES, TARGETS
from bncc.prove.code import code_of
from bncc.resources import ENTRIES as ALL_ENTRIES
from bncc.targets import find_target
from bncc.toolchain.tools import run
from tests import models as hand

EVERYTHING = frozenset({"raw", "trusted", "scores", "scores-raw"})


def emitted(target, entries=EVERYTHING):
    return emit_c(hand.sum_of_tables(), EmitOptions("m", entries, target=target, optimize="size"))


@pytest.mark.firmware
@pytest.mark.parametrize(
    ("target", "compiler"), [*product(TARGETS, ["gcc"]), *product(TARGETS[:-1], ["ziglang"])]
)
def test_every_entry_point_is_a_function_of_the_program(require_bench, target, compiler):
    """At the highest level too: the harness is another object, into which nothing is inlined."""
    names = find_target(target).flags
    bench = require_bench(target, next(name for name in names if name.endswith(compiler)))
    for level in ("-Os", "-O3"):
        code, symbols = build.build(hand.sum_of_tables(), emitted(target), bench, level, ENTRIES)
        assert symbols == {
            "predict-raw": "m_predict_raw",
            "predict": "m_predict",
            "trusted": "m_predict_trusted",
            "scores": "m_scores",
            "scores-raw": "m_scores_raw",
        }
        assert code.target.name == target
        starts = {code.entry(symbol) for symbol in symbols.values()}
        # Equal functions may be folded, but readings and states are not alike.
        assert len({code.entry("m_predict_raw"), code.entry("m_predict")}) == 2
        assert all(start % 2 == 0 and code.bytes_at(start, 2) for start in starts)


@pytest.mark.firmware
def test_the_same_model_gives_the_same_program(require_bench):
    """The digest in a safety case is that of a program which others can build."""
    bench = require_bench("cortex-m0")
    first, second = (
        build.build(hand.sum_of_tables(), emitted("cortex-m0"), bench, "-Os", ["predict"])[0]
        for _ in range(2)
    )
    other, _ = build.build(hand.sum_of_tables(), emitted("cortex-m0"), bench, "-O2", ["predict"])
    assert first.sha256 == second.sha256 != other.sha256


@pytest.fixture
def image(require_bench, tmp_path):
    """Return a linked program for a Cortex-M0."""
    bench = require_bench("cortex-m0")
    builder = Builder(tmp_path, bench.target, bench.compiler)
    built = sources_of(hand.sum_of_tables(), emitted("cortex-m0"))
    return link_program(builder, bench.simulator, "harness", model_object(builder, built, "-Os"))


@pytest.mark.firmware
def test_an_image_of_the_user_is_read(image):
    target = find_target("cortex-m0")
    code = build.image_of(image.path, target, "m_predict")
    assert code.entry("m_predict") == image.symbols["m_predict"] & ~1
    with pytest.raises(ToolchainError, match=r"no symbol 'm_predikt'; it may be inlined"):
        build.image_of(image.path, target, "m_predikt")


@pytest.mark.firmware
def test_a_function_of_arm_instructions_is_refused(require_bench, tmp_path):
    compiler = require_bench("cortex-m0").compiler.path
    (tmp_path / "f.c").write_text("int f_predict(void) { return 0; }\n")
    for state, names in (("-mthumb", set()), ("-marm", {"f_predict"})):
        flags = ("-mcpu=arm7tdmi", state, "-nostdlib", "-Wl,-e,f_predict")
        run((compiler, *flags, "f.c", "-o", "f.elf"), tmp_path)
        code = code_of(tmp_path / "f.elf", find_target("cortex-m0"))
        assert code.of_arm_state == names
    with pytest.raises(ToolchainError, match="compile it with -mthumb"):
        build.image_of(tmp_path / "f.elf", code.target, "f_predict")


@pytest.mark.firmware
def test_an_image_that_cannot_be_proved_is_refused(image, tmp_path):
    arm, riscv = find_target("cortex-m0"), find_target("rv32")
    with pytest.raises(OptionError, match="is not a program for rv32; pass another --target"):
        build.image_of(image.path, riscv, "m_predict")
    with pytest.raises(OptionError, match="is an object that is not linked"):
        build.image_of(tmp_path / "m-Os.o", arm, "m_predict")
    content = image.path.read_bytes()
    for wrong in (b"", content[:10], b"\x7fELG" + content[4:]):
        image.path.write_bytes(wrong)
        with pytest.raises(OptionError, match="is not an ELF file; pass a linked program"):
            build.image_of(image.path, arm, "m_predict")
    for bits, order in ((2, 1), (1, 2)):
        image.path.write_bytes(content[:4] + bytes([bits, order]) + content[6:])
        with pytest.raises(OptionError, match="is not a program for cortex-m0"):
            build.image_of(image.path, arm, "m_predict")


@pytest.mark.firmware
def test_an_avr_with_another_program_counter_is_refused(require_bench, tmp_path):
    """By the flags in the header; those of the family 5, 31 and others are accepted."""
    bench = require_bench("avr")
    builder = Builder(tmp_path, bench.target, bench.compiler)
    built = sources_of(hand.sum_of_tables(), emitted("avr"))
    found = link_program(builder, bench.simulator, "harness", model_object(builder, built, "-Os"))
    content = found.path.read_bytes()
    assert build.image_of(found.path, bench.target, "m_predict").entry("m_predict")
    for family, is_known in ((5, True), (31, True), (6, False), (2, False), (102, False)):
        found.path.write_bytes(content[:36] + bytes([family | 0x80]) + content[37:])
        if is_known:
            build.image_of(found.path, bench.target, "m_predict")
        else:
            with pytest.raises(OptionError, match=f"family avr{family}; proofs cover AVRs"):
                build.image_of(found.path, bench.target, "m_predict")


@pytest.mark.firmware
def test_a_damaged_image_is_one_sentence(image):
    """Whatever elftools raises; a prefix may also be whole enough to have lost its symbols."""
    content = image.path.read_bytes()
    (sections,) = struct.unpack("<I", content[32:36])
    wrong = [content[:length] for length in range(20, len(content), 997)]
    wrong += [content[:32] + struct.pack("<I", at) + content[36:] for at in (1, sections - 7)]
    for each in wrong:
        image.path.write_bytes(each)
        with pytest.raises((OptionError, ToolchainError), match=r"damaged|no symbol"):
            build.image_of(image.path, find_target("cortex-m0"), "m_predict")


@pytest.mark.parametrize(
    ("model", "entries", "chosen"),
    [
        ("sum_of_tables", [], ("predict-raw",)),
        ("all_zero", [], ("predict",)),
        ("sum_of_tables", ["scores", "predict", "scores"], ("predict", "scores")),
        ("sum_of_tables", ["all"], build.ALL),
        ("sum_of_tables", ["all", "scores-raw"], ENTRIES),
        ("all_zero", ["all"], ("predict", "trusted", "scores")),
        ("all_zero", ["all", "predict-raw"], build.ALL),
    ],
)
def test_entry_points_are_chosen_by_the_thresholds(model, entries, chosen):
    assert build.chosen_entries(getattr(hand, model)(), entries) == chosen


@pytest.mark.parametrize("entry", sorted(set(ALL_ENTRIES) - set(ENTRIES)))
def test_an_entry_point_without_proofs_is_refused_with_the_others(entry):
    with pytest.raises(OptionError, match=f"covers predict-raw, .* not {entry}; name some"):
        build.chosen_entries(hand.sum_of_tables(), ["predict", entry])


def test_an_entry_point_that_the_c_lacks_is_refused():
    built = sources_of(hand.sum_of_tables(), emitted(None, frozenset()))
    assert build.symbol_of(built, "predict-raw") == "m_predict_raw"
    with pytest.raises(OptionError, match="no predict_trusted; leave out --entry trusted"):
        build.symbol_of(replace(built), "trusted")


def test_a_target_without_a_decoder_is_refused():
    for target in TARGETS:
        build.check_target(target)
    with pytest.raises(OptionError, match="do not cover x86 yet; use --target cortex-m0 or"):
        build.check_target("x86")


def test_capstone_is_named_with_its_extra(monkeypatch):
    build.require_decoder()
    found = importlib.util.find_spec
    monkeypatch.setattr(
        build, "find_spec", lambda name: None if name == "capstone" else found(name)
    )
    with pytest.raises(
        ToolchainError, match=r"needs capstone.*; run `pip install -e '\.\[prove\]'"
    ):
        build.require_decoder()
