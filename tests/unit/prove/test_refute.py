"""Refutation: bad programs and the inputs that show it, and what stays undecided."""

import math
from dataclasses import replace
from itertools import pairwise
from time import monotonic

import numpy as np
import pytest

from bncc.device.machine import pack, row_dtype
from bncc.discretize.feature import Feature
from bncc.emit.emitter import EmitOptions, emit_c
from bncc.errors import ToolchainError
from bncc.fixed_point import QFormat
from bncc.model.reference import costs, predict
from bncc.prove import prove as proving
from bncc.prove import refute as refuting
from bncc.prove.algebra import Algebra
from bncc.prove.build import ENTRIES, build
from bncc.prove.points import Points
from bncc.prove.prove import prove
from bncc.prove.replay import Replay, patched
from bncc.prove.specification import reading_sets, specification
from bncc.prove.values import Term
from bncc.structure.graph import forest
from tests import models as hand


@pytest.fixture
def bench(require_bench):
    return require_bench("cortex-m0", simulator="unicorn")


def ties():
    """Return naive Bayes over two sensors whose classes tie where their states differ."""
    return hand.model_of(
        [Feature("left", "int16", 2, thresholds=(0,)), Feature("top", "int16", 2, thresholds=(7,))],
        forest([None, None]),
        QFormat(2, 2),
        [0, 0],
        [[[0, 1], [1, 0]], [[0, 1], [1, 0]]],
    )


def wide(n_features=14, n_states=6, n_classes=4):
    """Return naive Bayes with random costs and too many joint states to try."""
    rng = np.random.default_rng(3)
    return hand.model_of(
        [Feature(f"x{i}", "int16", n_states, thresholds=tuple(range(n_states - 1)))
         for i in range(n_features)],
        forest([None] * n_features),
        QFormat(4, 0),
        [0] * n_classes,
        rng.integers(0, 16, (n_features, n_states, n_classes)).tolist(),
    )  # fmt: skip


def built(bench, model, *edits):
    """Return the program of a model whose C has been edited, and its symbols."""
    entries = frozenset({"raw", "trusted", "scores", "scores-raw"})
    options = EmitOptions("m", entries, target=bench.target.name, optimize="size")
    emission = emit_c(model, options)
    text = emission.files["m.c"]
    for old, new in edits:
        assert old in text, text
        text = text.replace(old, new)
    emission = replace(emission, files={**emission.files, "m.c": text})
    return build(model, emission, bench, "-Os", ENTRIES)


def verdict_of(bench, model, entry, *edits, **more):
    code, symbols = built(bench, model, *edits)
    return prove(model, code, symbols[entry], entry, **more)


@pytest.mark.firmware
@pytest.mark.parametrize("entry", ["trusted", "predict", "predict-raw", "scores"])
def test_a_wrong_table_entry_is_refuted(bench, entry):
    """The least cost of a row grows; the input is one where the decision changes."""
    model = hand.naive_integer()
    found = verdict_of(bench, model, entry, ("0x00F00C00L", "0x00F00C05L"))
    assert (found.status, found.reason) == ("refuted", "wrong-answer")
    assert set(found.input) == {"pressure", "light"}
    if entry == "predict-raw":
        X = np.array([[sum(found.input["pressure"] > t for t in (-5, 100)),
                       int(found.input["light"] > 0)]])  # fmt: skip
    else:
        X = np.array([[found.input["pressure"], found.input["light"]]])
    if entry == "scores":
        assert found.expected != found.actual
    else:
        assert found.expected == predict(model, X)[0] != found.actual
    assert "DOES NOT decide" in found.sentence


@pytest.mark.firmware
@pytest.mark.parametrize("entry", ["predict", "scores"])
def test_a_dropped_error_check_is_refuted(bench, entry):
    """For one state beyond the last, and for nearly all of them."""
    for old, new in (("x[0] > 2U", "x[0] > 3U"), ("x[1] > 1U", "x[1] > 254U")):
        found = verdict_of(bench, hand.naive_integer(), entry, (f"if ({old})", f"if ({new})"))
        assert found.status == "refuted"
        assert found.input["pressure"] == 3 or found.input["light"] > 1
        assert found.reason == "memory" or found.expected == -1


@pytest.mark.firmware
def test_scores_that_remain_after_an_error_are_refuted(bench):
    model = hand.naive_integer()
    found = verdict_of(bench, model, "scores", ("        s[c] = 0U;", "        s[c] = (c == 2U);"))
    assert (found.status, found.expected, found.actual) == (
        "refuted", "scores 0, 0, 0", "scores 0, 0, 1",
    )  # fmt: skip
    found = verdict_of(bench, model, "scores", ("s[c] - least)", "s[c] - least + (c == 0U))"))
    assert found.status == "refuted"
    assert found.expected.startswith("scores ")


@pytest.mark.no_cover
@pytest.mark.firmware
def test_a_difference_that_no_decision_shows_stays_undecided(bench):
    """The cost of a class that never is the least, as it is above the mean of the others."""
    model = wide(n_classes=3)
    tables = [table % 13 for table in model.tables]
    for table in tables:
        table[:, 2] = (table[:, 0] + table[:, 1] + 1) // 2 + 1
    model = replace(model, tables=tuple(tables))
    tables[4] = tables[4].copy()
    tables[4][1][2] -= 1
    code, symbols = built(bench, replace(model, tables=tuple(tables)))
    found = prove(model, code, symbols["trusted"], "trusted")
    assert (found.status, found.reason, found.input) == ("undecided", "sums-differ", None)
    found = prove(model, code, symbols["scores"], "scores")
    assert (found.status, found.input["x4"]) == ("refuted", 1)


@pytest.mark.no_cover
@pytest.mark.firmware
@pytest.mark.parametrize("entry", ["trusted", "predict-raw"])
@pytest.mark.parametrize(("t", "row", "c", "change"), [(0, 0, 1, 1), (5, 3, 2, -1), (13, 5, 3, 1)])
def test_one_wrong_unit_among_many_tables_is_found(bench, entry, t, row, c, change):
    """By the sum that differs: random inputs seldom tie in the cell that shows it."""
    model = wide()
    tables = [table.copy() for table in model.tables]
    change = change if 0 <= tables[t][row][c] + change <= 15 else -change
    tables[t][row][c] += change
    wrong = replace(model, tables=tuple(tables))
    code, symbols = built(bench, wrong)
    found = prove(model, code, symbols[entry], entry)
    assert (found.status, found.reason) == ("refuted", "wrong-answer")


@pytest.mark.no_cover
@pytest.mark.firmware
def test_violations_are_refuted(bench):
    """A loop without end, a register that is not restored, and a read outside everything."""
    model = hand.naive_integer()
    code, symbols = built(bench, model)
    at = code.entry(symbols["trusted"])
    for text, reason, told in (
        ("fee7", "time", "does not return"),  # b .
        ("0027 7047", "registers", "r7"),  # movs r7, #0; bx lr
        ("0020 0068 7047", "memory", "read"),  # movs r0, #0; ldr r0, [r0]; bx lr
        ("407b 7047", "memory", "read of 1 byte at"),  # ldrb r0, [r0, #13]; bx lr
    ):
        wrong = patched(code, at, bytes.fromhex(text))
        found = prove(model, wrong, symbols["trusted"], "trusted", time_limit=5)
        if reason == "memory" and found.reason == "wrong-answer":
            continue  # The vectors of the program are at 0, so this read is one of a constant
        assert (found.status, found.reason) == ("refuted", reason)
        assert told in found.detail
        assert set(found.input) == {"pressure", "light"}
        assert found.expected is found.actual is None
        assert found.detail in found.sentence


UNALIGNED = {
    "00887047": ("cortex-m0", "read of 2"),  # ldrh r0, [r0], of an array of bytes
    "00a3023318687047": ("cortex-m0", "read of 4"),  # adr r3; adds r3, #2; ldr r0, [r3]
    "00a3023301cb7047": ("cortex-m0", "read of 4"),  # the same, ldm r3!, {r0}
    # sub sp, #8; mov r1, sp; adds r1, #2; str r0, [r1]; add sp, #8
    "82b069460231086002b07047": ("cortex-m0", "write of 4"),
    "00a30233d3e900017047": ("cortex-m4", "read of 4"),  # adr r3; adds r3, #2; ldrd r0, r1, [r3]
    "00a3023393e803007047": ("cortex-m4", "read of 4"),  # the same, ldm r3, {r0, r1}
    "00a30233d3ed000a7047": ("cortex-m4", "read of 4"),  # the same, vldr s1, [r3]
    # sub sp, #16; mov r1, sp; adds r1, #1; strd r0, r2, [r1]; add sp, #16
    "84b069460131c1e9000204b07047": ("cortex-m4", "write of 4"),
    "0355050082800000": ("rv32", "read of 2"),  # lhu a0, 0(a0), of an array of bytes
    "9706000003a516008280": ("rv32", "read of 4"),  # auipc a3, 0; lw a0, 1(a3)
    "4111a320a10041018280": ("rv32", "write of 4"),  # addi sp, sp, -16; sw a0, 1(sp)
}
"""Functions of an array of states of one byte, and the access that faults for some input."""


@pytest.mark.firmware
@pytest.mark.parametrize("text", UNALIGNED)
def test_an_access_that_is_not_aligned_is_refuted(require_bench, text):
    """By buffers at the least alignment that the calling convention ensures."""
    target, told = UNALIGNED[text]
    model = hand.naive_integer()
    bench = require_bench(target, simulator="unicorn")
    code, symbols = built(bench, model)
    wrong = patched(code, code.entry(symbols["trusted"]), bytes.fromhex(text))
    found = prove(model, wrong, symbols["trusted"], "trusted", time_limit=20)
    assert (found.status, found.reason) == ("refuted", "memory")
    assert told in found.detail
    assert "no multiple of" in found.detail
    assert set(found.input) == {"pressure", "light"}


@pytest.mark.firmware
def test_a_word_of_cortex_m4_may_be_at_any_address(require_bench):
    """Then the answer counts: adr r3; adds r3, #1; ldr r0, [r3], and a store into the stack."""
    model = hand.naive_integer()
    code, symbols = built(require_bench("cortex-m4", simulator="unicorn"), model)
    for text in ("00a3013318687047", "82b069460131086002b000207047"):
        wrong = patched(code, code.entry(symbols["trusted"]), bytes.fromhex(text))
        found = prove(model, wrong, symbols["trusted"], "trusted", time_limit=20)
        assert (found.status, found.reason) == ("refuted", "wrong-answer")
    # A double is two words: sub sp, #16; vldr d0, [sp, #4]; add sp, #16; bx lr
    wrong = patched(code, code.entry(symbols["trusted"]), bytes.fromhex("84b09ded010b04b07047"))
    call = Replay(wrong, symbols["trusted"], alignments={"input": 1, "output": 1}).call(b"\0\0")
    assert (call.ended, call.violation) == (True, None)


@pytest.mark.firmware
def test_an_alignment_that_no_input_breaks_stays_undecided(bench, monkeypatch):
    """Without a simulator the reason is left; the second is a halfword of a table by a state."""
    model = hand.naive_integer()
    code, symbols = built(bench, model)
    monkeypatch.setattr(proving, "refute", lambda *_, **__: None)
    # The stack pointer, which the processor would round: mov r3, sp; subs r3, #6; mov sp, r3
    for text in ("00887047", "00a30278985a7047", "6b46063b9d4606339d467047"):
        wrong = patched(code, code.entry(symbols["trusted"]), bytes.fromhex(text))
        found = prove(model, wrong, symbols["trusted"], "trusted")
        assert (found.status, found.reason) == ("undecided", "alignment")


@pytest.mark.firmware
def test_what_is_proved_is_not_replayed(bench, monkeypatch):
    def fail(*_, **__):
        raise AssertionError

    monkeypatch.setattr(proving, "refute", fail)
    assert verdict_of(bench, hand.naive_integer(), "predict-raw").status == "proved"


@pytest.mark.firmware
def test_without_a_simulator_or_time_it_stays_undecided(bench, monkeypatch):
    model = ties()
    code, symbols = built(bench, model, ("cost < least", "cost <= least"))
    proof = proving.Proof(model, code, symbols["trusted"], "trusted")
    assert proof.verdict()[0] == "undecided"
    arguments = model, code, symbols["trusted"], "trusted", proof.costs
    assert refuting.refute(*arguments) is not None
    assert refuting.refute(*arguments, deadline=monotonic() - 1) is None

    def missing(*_, **__):
        raise ToolchainError("unicorn is missing")

    monkeypatch.setattr(refuting, "Replay", missing)
    assert prove(model, code, symbols["trusted"], "trusted").status == "undecided"


@pytest.mark.firmware
def test_a_search_makes_so_many_calls(bench):
    """No input refutes a correct program, for every entry point."""
    model = hand.tan_float()
    code, symbols = built(bench, model)
    for entry in ENTRIES:
        points = Points(model, entry, specification(model, entry, score_size=1))
        search = refuting.Search(Replay(code, symbols[entry]), points)
        for n, groups in ((300, points.borders()), (700, points.cells())):
            assert search.refuting(groups, n) is None
            assert search.n_calls <= n
        assert search.n_calls == 700


# Points

MODELS = ("naive_integer", "tan_float", "bytes_and_others", "category_with_missing")


def points_of(model, entry):
    return Points(model, entry, specification(model, entry, score_size=1))


@pytest.mark.parametrize("name", MODELS)
def test_numbers_are_in_the_cell_of_their_state(name):
    """Two rules agree: the sets of the specification, and the states of readings."""
    model = hand.NAMED[name]()
    points = points_of(model, "predict-raw")
    for group in (*points.borders(), points.mixed(500)):
        X, valid = points.states(group)
        assert valid.all()
        for axis, feature in enumerate(model.features):
            sets = reading_sets(feature, points.of.inputs[axis].size)
            for x, state in zip(group[:, axis].tolist(), X[:, axis].tolist(), strict=True):
                assert any(low <= x <= high for low, high in sets[state])


@pytest.mark.parametrize("name", MODELS)
def test_the_memory_is_that_of_the_c(name):
    """As the harness packs rows; bytes between the fields may be any."""
    model = hand.NAMED[name]()
    points = points_of(model, "predict-raw")
    group = points.mixed(200)
    layout = row_dtype(model.features)
    found = np.frombuffer(b"".join(points.buffers(group)), dtype=layout)
    with np.errstate(invalid="ignore"):
        wanted = pack(points.readings(group), layout)
    for field in layout.names:
        assert np.array_equal(found[field], wanted[field], equal_nan=True) or (
            layout[field].kind != "f" and found[field].tolist() == wanted[field].tolist()
        )


@pytest.mark.parametrize("entry", ["predict", "trusted"])
def test_borders_have_every_state_and_invalid_ones_where_they_count(entry):
    model = hand.naive_integer()
    group = np.concatenate([*points_of(model, entry).borders()])
    numbers = [set(group[:, axis].tolist()) for axis in range(2)]
    invalid = {"predict": {3, 127, 128, 255}, "trusted": set()}[entry]
    assert numbers[0] >= {0, 1, 2} | invalid
    assert entry == "predict" or max(map(max, numbers)) == 2


def test_readings_at_borders_are_tried():
    group = np.concatenate([*points_of(hand.tan_float(), "predict-raw").borders()])
    tried = group[:, 1].astype(np.uint32).view(np.float32)
    for t in (-1.25, 3.0):
        edge = np.float32(t)
        assert {np.nextafter(edge, np.float32(-9)), edge, np.nextafter(edge, np.float32(9))} <= set(
            tried.tolist()
        )
    assert np.isnan(tried).any()
    assert {math.inf, -math.inf} <= set(tried.tolist())
    group = np.concatenate([*points_of(hand.naive_integer(), "predict-raw").borders()])
    assert set(group[:, 0].tolist()) >= {65530, 65531, 65532, 100, 101, 32767, 32768, 0, 65535}


def test_walks_end_at_ties():
    """Most often two classes of 14 tables do; random inputs hardly ever do."""
    model = wide()
    points = points_of(model, "trusted")
    margins = []
    for group in (points.random(400), next(points.cells())):
        X, _ = points.states(group)
        best, second = np.sort(costs(model, X), axis=1)[:, :2].T
        margins.append((second - best <= 2).mean())
    assert margins[0] < 0.4 < 0.7 < margins[1]


@pytest.mark.parametrize("n", [3, 5, 32])
def test_extremes_have_the_largest_and_least_low_bits(n):
    """They are sums of terms of one input each, and no random input reaches them."""
    model, algebra = wide(), Algebra(())
    points = points_of(model, "trusted")
    rng = np.random.default_rng(n)
    values = rng.integers(0, 1 << 20, (14, 6))
    partitions = [algebra.partitions.of_axis(t, [((s, s),) for s in range(6)]) for t in range(14)]
    total = algebra.value(0, map(Term, partitions, values))
    for sign, most in ((1, np.max), (-1, np.min)):
        found = points.extreme(total, n, sign)
        sums = (values % (1 << n))[range(14), found].sum(axis=1)
        assert most(sums) == most(values % (1 << n), axis=1).sum()
        assert (points.states(found)[1]).all()


def test_points_are_those_of_the_seed():
    model = hand.tan_float()
    first, second = (next(points_of(model, "predict-raw").cells()) for _ in range(2))
    assert first.tolist() == second.tolist()


def test_an_input_is_described_as_users_write_it():
    """Floats, signed numbers, labels of known categories and numbers of others."""
    points = points_of(hand.bytes_and_others(), "predict-raw")
    bits = np.float32(0.25).view(np.uint32)
    point = np.array([0x9C, 200, 0xFE70, 3, 0xFFFF_FFFF, bits, 1])
    assert points.described(point) == {
        "signed": -100, "dark": 200, "wide": -400, "bright": 3, "long": -1, "real": 0.25,
        "mode": "b",
    }  # fmt: skip
    point[5:] = 0x7FC0_0000, 7
    found = points.described(point)
    assert math.isnan(found["real"])
    assert found["mode"] == 7
    assert points_of(hand.bytes_and_others(), "predict").described(np.arange(7))["mode"] == 6


def test_each_border_of_an_axis_is_between_two_states():
    """The smallest and the largest reading of each state occur."""
    model = hand.naive_integer()
    points = points_of(model, "predict-raw")
    tried = set(np.concatenate([*points.borders()])[:, 0].tolist())
    for allowed in reading_sets(model.features[0], 2):
        assert all({low, high} <= tried for low, high in allowed)
    assert all(a <= b for a, b in pairwise(sorted(tried)))
