"""Proofs of AVR programs: trained models are proved, and what is wrong is refuted."""

import re
from dataclasses import replace
from pathlib import Path
from random import Random

import numpy as np
import pytest

import bncc
from bncc.cli.main import main
from bncc.device.machine import pack, row_dtype
from bncc.device.simulators import simavr
from bncc.discretize.feature import Feature
from bncc.discretize.readings import probe_values, states_of_raw
from bncc.emit.emitter import EmitOptions, emit_c
from bncc.errors import ToolchainError
from bncc.model.file import load_model
from bncc.model.model import QFormat
from bncc.model.reference import predict
from bncc.prove.build import ENTRIES, build
from bncc.prove.prove import prove
from bncc.prove.replay import Replay, patched
from tests import models as hand
from tests.unit.prove.programs import linked

DATA = Path(bncc.__file__).parent / "data" / "bundled"
pytestmark = pytest.mark.firmware


@pytest.fixture(scope="module")
def bench(require_bench, require_tool):
    require_tool("gcc")
    return require_bench("avr", simulator="simavr")


@pytest.fixture(scope="module")
def wifi(tmp_path_factory):
    """Return naive Bayes trained on the bundled readings of seven networks."""
    path = tmp_path_factory.mktemp("wifi") / "m.bncc"
    with pytest.raises(SystemExit):
        main([
            "train", str(DATA / "wifi_localization.csv.gz"), "--structure", "naive",
            "--parameters", "ml", "-o", str(path), "--quiet",
        ])  # fmt: skip
    return load_model(path)


def built(bench, model, *edits, optimize="size", kernel=None):
    """Return the program of a model whose C has been edited, and its symbols."""
    entries = frozenset({"raw", "trusted", "scores", "scores-raw"})
    options = EmitOptions("m", entries, target="avr", optimize=optimize, kernel=kernel)
    emission = emit_c(model, options)
    text = emission.files["m.c"]
    for old, new in edits:
        assert re.search(old, text), text
        text = re.sub(old, new, text, count=1)
    emission = replace(emission, files={**emission.files, "m.c": text})
    return build(model, emission, bench, "-Os", ENTRIES)


def lanes_of_ten_bits():
    """Return naive Bayes of so many features that lanes of 5 bits are widened to 10 bits."""
    rng = np.random.default_rng(1)
    features = [Feature(f"s{k}", "int16", 6, thresholds=(0, 7, 14, 21, 28)) for k in range(16)]
    tables = [rng.integers(0, 16, (6, 6)).tolist() for _ in features]
    return hand.model_of(features, hand.forest([None] * 16), QFormat(6, 0), [1] * 6, tables)


@pytest.mark.no_cover
@pytest.mark.parametrize(
    ("old", "new", "status"),
    [
        ("", "", "proved"),
        ("0x1F07C1FU", "0x1F07C0FU", "refuted"),
        (">> 5", ">> 4", "refuted"),
        ("0x7F07C1FU", "0x0F07C1FU", "refuted"),
        (r"\(sum\[0\] >> 10\)", "(sum[0] >> 9)", "refuted"),
        ("cost < least", "cost <= least", "refuted"),
    ],
)
def test_lanes_that_a_loop_moves_bit_by_bit_are_followed(bench, old, new, status):
    """AVR shifts by one bit only: ``lsr``, ``ror``, ``ror``, ``ror`` five or ten times."""
    model = lanes_of_ten_bits()
    code, symbols = built(bench, model, (old, new), optimize="balanced", kernel="lanes")
    found = prove(model, code, symbols["trusted"], "trusted", time_limit=60)
    assert found.status == status, found.sentence


@pytest.mark.parametrize("optimize", ["size", "speed"])
def test_a_trained_model_is_proved(bench, wifi, optimize):
    """Every entry point; no call needs more instructions or stack than the bounds."""
    code, symbols = built(bench, wifi, optimize=optimize)
    for entry in ("trusted", "predict", "predict-raw"):
        found = prove(wifi, code, symbols[entry], entry)
        assert found.status == "proved", found.sentence
    rng = np.random.default_rng(0)
    R = np.stack([rng.choice(probe_values(f), 200) for f in wifi.features], axis=1)
    replay = Replay(code, symbols["predict-raw"])
    calls = [replay.call(row.tobytes()) for row in pack(R, row_dtype(wifi.features, packed=True))]
    assert max(call.instructions for call in calls) <= found.instructions
    assert max(call.stack for call in calls) == found.stack


@pytest.mark.no_cover
@pytest.mark.parametrize("kernel", ["looped", "planes"])
@pytest.mark.parametrize(("new", "status"), [(r"\1\2", "proved"), (r"\1(\2 ^ 0x8U)", "refuted")])
def test_a_loop_ends_at_the_high_byte_of_an_address(bench, kernel, new, status):
    """Behind 256 features, which an increment of the high byte of their address finds."""
    rng = np.random.default_rng(1)
    features = [Feature(f"s{k}", "int16", 3, thresholds=(0, 7)) for k in range(256)]
    tables = [rng.integers(0, 8, (3, 3)).tolist() for _ in features]
    model = hand.model_of(features, hand.forest([None] * 256), QFormat(3, 0), [1] * 3, tables)
    edit = (r"(m_\w+\[\d+\] M_ROM = \{\n.* s0 \*/\n +(?:/\* 0 \*/ )?)(\w+U)", new)
    code, symbols = built(bench, model, edit, optimize="balanced", kernel=kernel)
    found = prove(model, code, symbols["trusted"], "trusted", time_limit=200)
    assert found.status == status, found.sentence


def test_scores_are_proved(bench):
    model = hand.naive_integer()
    code, symbols = built(bench, model)
    assert prove(model, code, symbols["scores"], "scores").status == "proved"


@pytest.mark.parametrize(
    ("entry", "old", "new", "reason"),
    [
        ("trusted", r"(m_words\[.*\n.*\n +)0x(....)U", r"\1(0x\2U ^ 0x8U)", "wrong-answer"),
        ("predict-raw", r"(m_cuts_int16\[.*\n.*\n +)", r"\g<1>1 + ", "wrong-answer"),
        ("predict-raw", r"value > m_rom", "value >= m_rom", "wrong-answer"),
        ("predict", r"x\[i\] > m_rom", "x[i] > 1U + m_rom", "wrong-answer"),
        ("predict", r"return 0U;", "return 1U;", "wrong-answer"),
    ],
)
def test_a_wrong_program_is_refuted(bench, wifi, entry, old, new, reason):
    """A cost, a threshold, a border, and a check of states that is weaker or dropped."""
    code, symbols = built(bench, wifi, (old, new))
    found = prove(wifi, code, symbols[entry], entry)
    assert (found.status, found.reason) == ("refuted", reason), found.sentence
    assert set(found.input) == {feature.name for feature in wifi.features}


def test_a_swapped_tie_is_refuted(bench, wifi):
    code, symbols = built(bench, wifi, (r"cost\[c\] < lowest", "cost[c] <= lowest"))
    found = prove(wifi, code, symbols["trusted"], "trusted")
    assert (found.status, found.reason) == ("refuted", "wrong-answer")
    assert found.actual > found.expected


@pytest.mark.no_cover
@pytest.mark.parametrize(
    ("text", "reason", "told"),
    [
        ("ffcf", "time", "does not return"),  # rjmp .
        ("c0e0 0895", "registers", "r28"),  # ldi r28, 0; ret
        ("1394 0895", "registers", "r1"),  # inc r1; ret
        ("8091 0001 0895", "memory", "read at 0x100 of RAM"),  # lds r24, 0x100; ret
        ("8093 0001 0895", "memory", "write at 0x100 of RAM"),  # sts 0x100, r24; ret
        ("fc01 8681 0895", "memory", "read at 0x1006 of RAM"),  # ldd r24, Z+6, past the input
        ("efef ffef e491 0895", "memory", "of flash"),  # lpm r30, Z at 0xffff
        ("8f91 8f91 8f91 0895", "memory", "the caller's frame"),  # pop r24, three times
        ("8f93 0895", "memory", ""),  # push r24; ret
        ("85b1 0895", "memory", "unknown instruction"),  # in r24, 5
        ("7894 0895", "registers", "the flag I"),  # sei; ret
    ],
)
def test_a_broken_rule_is_refuted(bench, text, reason, told):
    model = hand.naive_integer()
    code, symbols = built(bench, model)
    wrong = patched(code, code.entry(symbols["trusted"]), bytes.fromhex(text))
    found = prove(model, wrong, symbols["trusted"], "trusted", time_limit=10)
    assert (found.status, found.reason) == ("refuted", reason), found.sentence
    assert told in found.detail


@pytest.mark.no_cover
@pytest.mark.parametrize("entry", ["trusted", "predict-raw"])
def test_no_mutant_is_wrongly_proved(bench, entry):
    """One changed bit each; every input of states is tried, and many readings."""
    model = hand.naive_integer()
    code, symbols = built(bench, model)
    rng = Random(entry)
    first = code.entry(symbols["trusted"]) - 60
    X = hand.all_states(model)
    wanted = predict(model, X)
    rows = [x.astype(np.uint8).tobytes() for x in X]
    if entry == "predict-raw":
        chosen = np.random.default_rng(0)
        R = np.stack([chosen.choice(probe_values(f), 300) for f in model.features], axis=1)
        wanted = predict(model, states_of_raw(model.features, R))
        rows = [row.tobytes() for row in pack(R, row_dtype(model.features, packed=True))]
    n_refused = 0
    for _ in range(20):
        at = rng.randrange(first, code.entry(symbols[entry]) + 20)
        mutant = patched(code, at, bytes([code.bytes_at(at, 1)[0] ^ 1 << rng.randrange(8)]))
        if prove(model, mutant, symbols[entry], entry, time_limit=5).status != "proved":
            n_refused += 1
            continue
        replay = Replay(mutant, symbols[entry])
        calls = [replay.call(row) for row in rows]
        assert [call.outcome for call in calls] == wanted.tolist(), f"a bit at {at:#x}"
        assert all(call.ended and call.violation is None for call in calls)
    assert n_refused


CONSTANTS_IN_RAM = """
#include <stdint.h>
volatile uint8_t table[3] = {1, 2, 0};
int16_t f(const uint8_t *x) { return table[x[0]]; }
int16_t cli(const uint8_t *x) { __asm__ volatile("cli"); return (int16_t)x[0]; }
"""


def test_constants_in_ram_and_switched_interrupts_are_not_proved(bench, tmp_path):
    """Start-up code copies the table, but nothing says that it stays as it is."""
    model = hand.naive_integer()
    code = linked(tmp_path, bench, CONSTANTS_IN_RAM, ["f", "cli"])
    found = prove(model, code, "f", "trusted", time_limit=10)
    assert found.status != "proved"
    found = prove(model, code, "cli", "trusted", time_limit=10)
    assert found.status != "proved"


def in_assembly(*lines):
    """Return a function of these instructions as C."""
    body = "".join(f'"\\t{line}\\n"' for line in lines)
    return f'__asm__(".text\\n.global f\\n.type f, @function\\nf:\\n"{body}".size f, .-f\\n");\n'


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        (("lsr r24",), "proved"),
        (("com r24", "com r24", "lsr r24"), "proved"),
        (("andi r24, 6", "com r24", "com r24", "lsr r24"), "proved"),
        (("andi r24, 2", "com r24", "com r24", "lsr r24"), "refuted"),
        (("andi r24, 6", "com r24", "lsr r24"), "refuted"),
    ],
)
def test_complements_of_some_bits_have_all_bits(bench, tmp_path, lines, expected):
    """The class is the state of the one feature."""
    features = [Feature("s", "int16", 4, thresholds=(0, 7, 14))]
    table = [[0 if c == s else 9 for c in range(4)] for s in range(4)]
    model = hand.model_of(features, hand.forest([None]), QFormat(6, 0), [0] * 4, [table])
    read = ("movw r30, r24", "ld r24, Z", "add r24, r24")
    code = linked(tmp_path, bench, in_assembly(*read, *lines, "clr r25", "ret"), ["f"])
    assert prove(model, code, "f", "trusted", time_limit=20).status == expected


@pytest.mark.parametrize(("load", "expected"), [("ld", "undecided"), ("lpm", "refuted")])
def test_flash_at_the_address_of_a_reading_is_none(bench, tmp_path, load, expected):
    """The sum of an address and a number of 32 bits keeps bits that AVR's 16 do not have."""
    features = [Feature(f"s{k}", "int16", 2, thresholds=(10,)) for k in range(2)]
    forest = hand.forest([None, None])
    model = hand.model_of(features, forest, QFormat(2, 0), [0, 3], [[[0, 0], [2, 0]]] * 2)
    code = linked(tmp_path, bench, in_assembly(
        "movw r26, r24", "ld r18, X", "mov r19, r18", "lsl r19", "lsl r19",
        "ldi r30, lo8(1f)", "ldi r31, hi8(1f)", "add r30, r19", "adc r31, r1",
        "lpm r20, Z+", "lpm r21, Z+", "lpm r22, Z+", "lpm r23, Z",
        "movw r30, r24", "add r30, r20", "adc r31, r21",
        f"{load} r24, Z", "and r24, r18", "clr r25", "ret",
        "1: .long 0x00800000, 0x00800001",
    ), ["f"])  # fmt: skip
    assert prove(model, code, "f", "trusted", time_limit=20).status == expected


def four_states():
    """Return a model of one feature, whose state is the class."""
    features = [Feature("s", "int16", 4, thresholds=(0, 7, 14))]
    table = [[0 if c == s else 9 for c in range(4)] for s in range(4)]
    return hand.model_of(features, hand.forest([None]), QFormat(6, 0), [0] * 4, [table])


CLASS = ("movw r30, r24", "ld r20, Z")
"""The address of the input, and the class that is right."""


def test_an_address_is_one_modulo_16_bits(bench, tmp_path):
    """Four times 2^14 of a state are none, so that the wrong class is returned."""
    code = linked(tmp_path, bench, in_assembly(
        *CLASS, "mov r21, r20", *["add r21, r21"] * 6, "clr r18", "movw r26, r24",
        *["add r26, r18", "adc r27, r21"] * 4, "cp r26, r24", "cpc r27, r25",
        "ldi r25, 0", "mov r24, r20", "brne 1f", "ldi r24, 0", "1: ret",
    ), ["f"])  # fmt: skip
    assert prove(four_states(), code, "f", "trusted", time_limit=20).status != "proved"


@pytest.mark.parametrize(("high", "step"), [("ldi r19, 0", 300), ("ldi r19, 3", 1)])
def test_the_high_byte_of_an_address_in_two_bytes_has_a_carry(bench, tmp_path, high, step):
    """The upper byte of the sum is added to the class that is right."""
    code = linked(tmp_path, bench, in_assembly(
        *CLASS, "mov r18, r25", high, f"subi r18, lo8(-{step})", f"sbci r19, hi8(-{step})",
        "mov r24, r20", "ldi r25, 0", "add r24, r19", "ret",
    ), ["f"])  # fmt: skip
    assert prove(four_states(), code, "f", "trusted", time_limit=20).status != "proved"


def test_a_call_of_a_function_that_only_returns_takes_stack(bench, tmp_path):
    lines = in_assembly("rcall 1f", *CLASS, "mov r24, r20", "ldi r25, 0", "1: ret")
    code = linked(tmp_path, bench, lines, ["f"])
    found = prove(four_states(), code, "f", "trusted", time_limit=20)
    assert (found.status, found.stack) == ("proved", 2)


OUT = ("in r0, 0x3f", "cli", "out 0x3e, r29", "out 0x3f, r0", "out 0x3d, r28")
DOWN = ("in r28, 0x3d", "in r29, 0x3e", "sbiw r28, 1", *OUT)


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        ((*DOWN, "std Y+1, r24", "clr r24"), "proved"),
        (("push r24", "pop r0", "clr r24", *DOWN), "undecided"),
    ],
)
def test_an_interrupt_may_change_what_was_below_the_pointer(bench, tmp_path, lines, expected):
    """A byte that was popped is not on the stack, even where the pointer moves down to it."""
    read = ("movw r30, r24", "ld r24, Z", "push r28", "push r29")
    end = ("ldd r24, Y+1", "adiw r28, 1", *OUT, "pop r29", "pop r28", "clr r25", "ret")
    code = linked(tmp_path, bench, in_assembly(*read, *lines, *end), ["f"])
    assert prove(four_states(), code, "f", "trusted", time_limit=20).status == expected


def test_without_simavr_a_call_is_refused(bench, monkeypatch):
    code, symbols = built(bench, hand.naive_integer())
    monkeypatch.setattr(simavr, "_build", lambda *_: None)
    with pytest.raises(ToolchainError, match="simavr's library is not installed"):
        Replay(code, symbols["trusted"])


def test_a_buffer_that_is_too_large_is_refused(bench):
    code, symbols = built(bench, hand.naive_integer())
    with pytest.raises(ToolchainError, match="a buffer of 5000 bytes"):
        Replay(code, symbols["trusted"]).call(bytes(5000))
