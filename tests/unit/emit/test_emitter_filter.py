"""The C of a filter agrees with Python step by step, alone and behind a front end."""

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from bncc.device.inputs.samples import Part
from bncc.device.sample_agreement import verify_samples
from bncc.device.samples import host_stream
from bncc.emit.emitter import Emission, EmitOptions, emit_c
from bncc.errors import IrError, ModelError, OptionError
from bncc.lower.filter import plan_filter
from bncc.model.filter import Filter
from bncc.model.model import Model
from bncc.model.reference import predict_filtered_samples, predict_samples
from bncc.model.rules import EXTRAS, with_stand_ins
from bncc.on_device import decision_sources, hostile_samples, verify
from bncc.resources import Bounds, Counts
from bncc.toolchain.tools import SANITIZERS, run
from bncc.train.settings import TrainSettings
from bncc.train.train_model import train_model
from tests import models as hand
from tests.dwelling import dataset, with_transitions
from tests.front_ends import front_end
from tests.unit.emit.test_emitter_samples import trained
from tests.unit.emit.test_selftest_samples import wrong_on_host

FILTERED = EmitOptions("m", entries=frozenset({"filter"}))


def with_filter(model: Model, switch: int) -> tuple[Model, Emission]:
    """Return a model with a filter, and its C."""
    model = replace(model, filter=Filter(switch))
    return model, emit_c(model, FILTERED)


def trained_on_sequences() -> Model:
    """Return a small trained model."""
    settings = TrainSettings(structure="naive", parameters="ml", discretize="quantile")
    return train_model(dataset(), settings).model


def changed(emission: Emission, old: str, new: str) -> Emission:
    """Return an emission with another statement in its C."""
    before, title, text = emission.files["m.c"].partition("/* Filter over decisions in time */")
    assert text.count(old) == 1
    text = before + title + text.replace(old, new)
    return replace(emission, files={**emission.files, "m.c": text})


@pytest.mark.parametrize("switch", [0, 1, 9, 255, 256, 70000])
def test_the_c_agrees(switch: int) -> None:
    model, emission = with_filter(trained_on_sequences(), switch)
    found = verify(model, emission=emission, n_random=500)
    assert found.agree, found.first_mismatch
    assert found.strength.endswith("2,900 steps of the filter")


@pytest.mark.parametrize(("switch", "hold"), [(0, 2), (9, 3), (300, 2), (1, 200)])
def test_the_c_agrees_where_a_switch_needs_several_decisions(switch: int, hold: int) -> None:
    model = replace(trained_on_sequences(), filter=Filter(switch, hold))
    emission = emit_c(model, FILTERED)
    found = verify(model, emission=emission, n_random=500, sanitize=True)
    assert found.agree, found.first_mismatch
    header = " ".join(emission.files["m.h"].replace("*", " ").split())
    assert f"for {hold} readings in a row" in header
    plan = emission.layout.filter
    assert plan is not None
    assert f"A m_filter_t needs {6 * plan.held_bits // 8} bytes" in header


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("f->run == 3U", "f->run == 2U"),
        ("best == f->waiting", "best != f->waiting"),
        ("f->run = 1U;", "f->run++;"),
        ("if (f->shown == M_N_CLASSES) {", "if (f->shown > M_N_CLASSES) {"),
        ("    f->shown = M_N_CLASSES;", "    f->shown = f->shown;"),
        ("    f->waiting = best;", "    f->waiting = f->shown;"),
        ("if (best != f->shown) {", "if (best != f->waiting) {"),
    ],
)
def test_a_wrong_switch_is_found(old: str, new: str) -> None:
    model = replace(trained_on_sequences(), filter=Filter(0, 3))
    found = verify(model, emission=changed(emit_c(model, FILTERED), old, new))
    assert not found.agree
    assert str(found.first_mismatch).startswith("filter_next of step ")


@pytest.mark.parametrize(("largest", "hold"), [(1, 1), (9, 1), (255, 3), (256, 1), (70000, 1)])
def test_the_c_agrees_with_a_price_of_each_transition(largest: int, hold: int) -> None:
    model = with_transitions(trained_on_sequences(), largest, hold)
    emission = emit_c(model, FILTERED)
    found = verify(model, emission=emission, n_random=500, sanitize=True)
    assert found.agree, found.first_mismatch
    header = " ".join(emission.files["m.h"].replace("*", " ").split())
    assert f"each transition between classes has a price of up to {largest}, learned" in header
    assert "leave the decision as it was" not in header
    assert f"#define M_SWITCH {largest}U / largest price of a transition" in header


@pytest.mark.parametrize(
    ("n_classes", "at_type"), [(2, "uint8_t"), (15, "uint8_t"), (16, "uint16_t")]
)
def test_transitions_of_many_classes_agree(n_classes: int, at_type: str) -> None:
    rows = dataset()
    labels = tuple(f"c{k}" for k in range(n_classes))
    rows = replace(rows, y=np.arange(rows.n_rows) // 7 % n_classes, classes=labels)
    settings = TrainSettings(structure="naive", parameters="ml", discretize="quantile")
    model = with_transitions(train_model(rows, settings).model, 300)
    emission = emit_c(model, FILTERED)
    assert verify(model, emission=emission, sanitize=True).agree
    assert f"_path_to(const m_filter_t *f, {at_type} at)" in emission.files["m.c"]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("least + m_rom_uint8(price)", "least + m_rom_uint8(&price[1])"),
        ("kept + m_rom_uint8(&price[from])", "kept + m_rom_uint8(price)"),
        ("(path < least)", "(path <= (least + 1U))"),
        ("(cost[c] < least)", "(cost[c] <= least)"),
        ("(at + M_N_CLASSES)", "(at + 1U)"),
        ("(cost[c] - least)", "(cost[c])"),
        ("f->cost[c] = (uint8_t)M_SWITCH;", "f->cost[c] = (uint8_t)above;"),
        ("(uint16_t)(m_path_to(f, at) + s[c])", "(uint8_t)(m_path_to(f, at) + s[c])"),
    ],
    ids=["first", "price", "least", "tie", "column", "above", "cap", "width"],
)
def test_a_wrong_transition_is_found(old: str, new: str) -> None:
    model = with_transitions(trained_on_sequences(), 200)
    found = verify(model, emission=changed(emit_c(model, FILTERED), old, new))
    assert not found.agree
    assert str(found.first_mismatch).startswith("filter_next of step ")


@pytest.mark.parametrize(
    "rule",
    [
        Filter(1, lag=1), Filter(9, lag=2), Filter(255, lag=3), Filter(256, 3, lag=4),
        Filter(70000, lag=100), Filter(9, 2, lag=85), Filter(300, lag=86),
    ],
)  # fmt: skip
def test_the_c_agrees_with_a_lag(rule: Filter) -> None:
    model = replace(trained_on_sequences(), filter=rule)
    emission = emit_c(model, FILTERED)
    found = verify(model, emission=emission, n_random=500, sanitize=True)
    assert found.agree, found.first_mismatch
    assert f"#define M_LAG {rule.lag}U" in emission.files["m.h"]
    assert "#define M_NO_DECISION (-128)" in emission.files["m.h"]


@pytest.mark.parametrize(("largest", "hold", "lag"), [(1, 1, 1), (9, 3, 2), (255, 1, 4)])
def test_the_c_agrees_with_a_lag_and_a_price_of_each_transition(
    largest: int, hold: int, lag: int
) -> None:
    model = with_transitions(trained_on_sequences(), largest, hold, lag)
    found = verify(model, emission=emit_c(model, FILTERED), n_random=500, sanitize=True)
    assert found.agree, found.first_mismatch


LAGGED = [
    ("place = M_LAG * M_N_CLASSES;", "place = M_N_CLASSES;"),
    ("k < M_LAG;", "(k + 1U) < M_LAG;"),
    ("c = f->origin[place + c];", "c = f->origin[place];"),
    ("(place - M_N_CLASSES)", "(place - 1U)"),
    ("(f->place == (M_LAG * M_N_CLASSES))", "(f->place >= ((M_LAG - 1U) * M_N_CLASSES))"),
    ("f->lacking = M_LAG;", "f->lacking = M_LAG - 1U;"),
    ("    f->lacking = M_LAG;\n", ""),
    ("m_class_before(f, best)", "m_class_before(f, (uint8_t)(best & 1U))"),
    ("(f->place + M_N_CLASSES)", "(f->place + 0U)"),
]
"""Wrong statements in each filter with a lag."""
PRICED = [
    ("f->origin[f->place + c] = c;", "f->origin[f->place + c] = best;"),
    ("f->origin[f->place + c] = best;", "f->origin[f->place + c] = c;"),
    ("(above <= M_SWITCH)", "(above < M_SWITCH)"),
]
"""Wrong statements in one with a price of every switch, ..."""
OF_TRANSITIONS = [
    ("uint8_t origin = to;", "uint8_t origin = 0U;"),
    ("origin = from;", "origin = 0U;"),
    ("f->origin[f->place + to] = origin;", "f->origin[f->place] = origin;"),
    ("f->cost[to];", "(uint8_t)(f->cost[to] + 1U);"),
    ("(path < least)", "(path <= least)"),
    ("(above <= M_SWITCH)", "(above < (M_SWITCH - 1U))"),
    ("(M_SWITCH + 1UL);", "M_SWITCH;"),
]
"""... and of each transition."""


@pytest.mark.parametrize(("old", "new"), [*LAGGED, *PRICED])
def test_a_wrong_statement_of_a_lag_is_found(old: str, new: str) -> None:
    model = replace(trained_on_sequences(), filter=Filter(9, lag=3))
    found = verify(model, emission=changed(emit_c(model, FILTERED), old, new))
    assert not found.agree
    assert str(found.first_mismatch).startswith("filter_next of step ")


@pytest.mark.parametrize(("old", "new"), [*LAGGED, *OF_TRANSITIONS])
def test_a_wrong_statement_of_a_lag_with_transitions_is_found(old: str, new: str) -> None:
    model = with_transitions(trained_on_sequences(), 9, lag=3)
    found = verify(model, emission=changed(emit_c(model, FILTERED), old, new))
    assert not found.agree
    assert str(found.first_mismatch).startswith("filter_next of step ")


def test_windows_are_decided_later() -> None:
    """The next window, of which a device learns the class, is another than that decided on."""
    tested = front_end("int16", 32, 16, "sum,range", "x,y")
    plain = replace(trained(tested, 300, structure="naive"), front_end=tested)
    model = with_stand_ins(replace(plain, filter=Filter(9, lag=3)), EXTRAS)
    for names in (("filter",), ("filter", "adapt"), EXTRAS):
        entries = EmitOptions("m", entries=frozenset(names))
        emission = emit_c(model, entries)
        built = decision_sources(tested, emission)
        found = verify_samples(model, built, "host", hostile_samples(model), sanitize=True)
        assert found.agree, found.first_mismatch
        wrong = changed(emission, "f->lacking = M_LAG;", "f->lacking = M_LAG - 1U;")
        built = decision_sources(tested, wrong)
        assert not verify_samples(model, built, "host", hostile_samples(model)).agree


@pytest.mark.cc
@pytest.mark.parametrize("rule", [Filter(9, lag=3), Filter(9, 2, lag=90), Filter(300, lag=4)])
def test_the_self_test_waits_for_a_lag(
    rule: Filter, tmp_path: Path, require_tool: Callable[[str], str]
) -> None:
    require_tool("gcc")
    tested = front_end("int16", 16, 8, "sum,range", "x,y")
    plain = replace(trained(tested, 30, structure="naive", parameters="ml"), front_end=tested)
    files = dict(emit_c(replace(plain, filter=rule), FILTERED).files)
    assert wrong_on_host(tmp_path, files) == 0
    text = files["m.c"].replace("f->lacking = M_LAG;", "f->lacking = M_LAG - 1U;")
    assert wrong_on_host(tmp_path, {**files, "m.c": text}) > 0


@pytest.mark.cc
@pytest.mark.parametrize("lag", [0, 1, 84, 85, 86])
@pytest.mark.parametrize("switch", [9, 300, 70000])
def test_the_header_has_the_bytes_with_alignment(
    switch: int, lag: int, tmp_path: Path, require_tool: Callable[[str], str]
) -> None:
    gcc = require_tool("gcc")
    tested = front_end("int16", 16, 16, "sum,range", "x,y")
    plain = replace(trained(tested, 30, structure="naive", parameters="ml"), front_end=tested)
    model = replace(plain, filter=Filter(switch, 2, lag=lag))
    files = emit_c(model, FILTERED).files
    text = " ".join(files["m.h"].replace("*", " ").split())
    check = '#include "m.h"\n'
    for kind in ("filter", "stream"):
        words = text.split(f"A m_{kind}_t needs ")[1]
        n_bytes = re.match(r"\d+ bytes(?:, (\d+) with alignment)?\.", words)
        assert n_bytes is not None
        aligned = n_bytes[1] or n_bytes[0].split()[0]
        check += f"typedef char {kind}[(sizeof(m_{kind}_t) == {aligned}U) ? 1 : -1];\n"
    for file, content in {"m.h": files["m.h"], "t.c": check}.items():
        (tmp_path / file).write_text(content, encoding="utf-8")
    run((gcc, "-std=c99", "-c", "t.c"), tmp_path)


def test_windows_are_filtered_with_transitions() -> None:
    tested = front_end("int16", 32, 16, "sum,range", "x,y")
    plain = replace(trained(tested, 300, structure="naive"), front_end=tested)
    model = with_transitions(plain, 60)
    built = decision_sources(tested, emit_c(model, FILTERED))
    assert verify_samples(model, built, "host", hostile_samples(model), sanitize=True).agree


def test_windows_are_held() -> None:
    tested = front_end("int16", 32, 16, "sum,range", "x,y")
    model = replace(trained(tested, 300, structure="naive"), front_end=tested, filter=Filter(9, 2))
    built = decision_sources(tested, emit_c(model, FILTERED))
    assert verify_samples(model, built, "host", hostile_samples(model), sanitize=True).agree


@pytest.mark.parametrize("name", ["sum_of_tables", "one_state_feature", "ties"])
def test_the_c_of_other_models_agrees(name: str) -> None:
    model, emission = with_filter(hand.NAMED[name](), 5)
    assert verify(model, emission=emission, sanitize=True).agree


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("(cost < least)", "(cost <= least)"),
        ("f->cost[c] = (uint8_t)M_SWITCH;", "f->cost[c] = (uint8_t)above;"),
        ("(above < M_SWITCH)", "(above < (M_SWITCH + 1U))"),
        ("        f->cost[c] = 0U;", "        f->cost[c] = f->cost[c];"),
        ("(m_path_cost(f, s, c) - least)", "(m_path_cost(f, s, c))"),
        ("(score + f->cost[c])", "(score + (f->cost[c] & 1U))"),
    ],
    ids=["tie", "cap", "cap by one", "begin", "least", "past"],
)
def test_a_wrong_statement_is_found(old: str, new: str) -> None:
    model, emission = with_filter(trained_on_sequences(), 9)
    wrong = changed(emission, old, new)
    is_equal = new == "(above < (M_SWITCH + 1U))"  # A price kept as itself is the same
    found = verify(model, emission=wrong)
    assert found.agree == is_equal
    assert is_equal or str(found.first_mismatch).startswith("filter_next of step ")


def test_widths_hold_the_largest_sums() -> None:
    def widths(switch: int, largest: int, bits: int) -> tuple[int, int, int]:
        plan = plan_filter(Filter(switch), largest, bits, 3)
        return plan.held_bits, plan.sum_bits, plan.n_bytes

    assert widths(0, 255, 8) == (8, 8, 3)
    assert widths(1, 255, 8) == (8, 16, 3)
    assert widths(255, 0, 8) == (8, 8, 3)
    assert widths(256, 0, 8) == (16, 16, 6)
    assert widths(2**31 - 1, 2**31, 32) == (32, 32, 12)
    assert widths(5, 10, 16) == (8, 16, 3)
    with pytest.raises(IrError, match="exceed 32 bits; train with fewer bits"):
        plan_filter(Filter(2**31), 2**31, 32, 3)


def test_widths_hold_the_largest_sums_of_transitions() -> None:
    def widths(largest_price: int, largest: int, bits: int) -> tuple[int, int, int]:
        rule = Filter(largest_price, 1, ((0, largest_price), (1, 0)))
        plan = plan_filter(rule, largest, bits, 2)
        assert plan.largest_sum == max(largest + largest_price, 2 * largest_price)
        return plan.held_bits, plan.sum_bits, sum(each.n_bytes for each in plan.arrays)

    assert widths(127, 128, 8) == (8, 8, 4)
    assert widths(128, 1, 8) == (8, 16, 4)
    assert widths(32767, 9, 8) == (16, 16, 8)
    assert widths(32768, 9, 8) == (16, 32, 8)
    assert widths(2**31 - 1, 2**31, 32) == (32, 32, 16)
    with pytest.raises(IrError, match="exceed 32 bits; train with fewer bits"):
        widths(2**31, 1, 32)
    rule = Filter(9, 2, ((0, 9), (1, 0)))
    plan = plan_filter(rule, 9, 8, 2)
    assert plan.arrays[0].lines == ("0U, 1U, 9U, 0U,",)
    # 4 on paths, 2 of scores, 2 above the least, 2 of indices, 1 of the run; 2 on paths, 1 of
    # costs, 2 caps, 4
    assert (plan.additions, plan.comparisons) == (11, 9)
    # With a lag 2 paths more, and 2 places, 1 of the next step, 2 for each reading; 2 on paths
    # more, 2 of the lag, 1 for each reading
    later = plan_filter(replace(rule, lag=3), 9, 8, 2)
    assert (later.additions, later.comparisons) == (22, 16)
    assert (later.n_bytes, later.aligned_bytes) == (13, 13)


def test_widths_hold_one_more_than_the_largest_price_with_a_lag() -> None:
    def widths(price: int, lag: int, *, has_transitions: bool = True) -> tuple[int, int, int]:
        rows = ((0, price), (1, 0)) if has_transitions else None
        plan = plan_filter(Filter(price, 1, rows, lag), 1, 8, 2)
        return plan.held_bits, plan.sum_bits, plan.place_bits

    assert widths(127, 127) == (8, 8, 8)
    assert widths(127, 128) == (8, 8, 16)
    assert widths(128, 1) == (8, 16, 8)
    assert widths(255, 1) == (16, 16, 8)
    assert widths(255, 1, has_transitions=False) == (8, 16, 8)
    assert widths(32767, 1) == (16, 16, 8)
    assert widths(2**31 - 1, 1) == (32, 32, 8)


def test_scores_are_emitted_with_it_and_it_is_not_without() -> None:
    model, emission = with_filter(hand.naive_integer(), 3)
    assert "int16_t m_scores(" in emission.files["m.h"]
    assert "filter_next" not in emit_c(model, EmitOptions("m")).files["m.h"]


def test_what_has_no_filter_is_refused() -> None:
    with pytest.raises(ModelError, match="the model has no filter; train it with --filter auto"):
        emit_c(hand.naive_integer(), FILTERED)
    model = replace(hand.naive_integer(), filter=Filter(3))
    with pytest.raises(OptionError, match="'filter' compares costs by branches"):
        emit_c(model, replace(FILTERED, constant_time=True))


@pytest.mark.parametrize("shared", [False, True], ids=["straight", "shared"])
def test_push_returns_filtered_decisions(*, shared: bool) -> None:
    signals, features = ("x,y,z", None) if shared else ("x,y", "sum,range")
    tested = front_end("int16", 16, 8 if shared else 16, features, signals)
    plain = replace(trained(tested, 30, structure="naive", parameters="ml"), front_end=tested)
    model, emission = with_filter(plain, 100)
    assert ("m_channel_stream_t" in emission.files["m.h"]) == shared
    rng = np.random.default_rng(0)
    walk = np.cumsum(rng.integers(-1, 2, (4000, 3)), axis=0) % 7 - 3
    noise = Part("noise", walk * np.repeat(rng.choice([30, 60, 90], 250), 16)[:, None])
    # Many segments, at the start of which the filter of the one before must be forgotten
    pieces = [Part("piece", noise.samples[k : k + 200]) for k in range(0, 4000, 200)]
    parts = [*hostile_samples(model)[:4], noise, *pieces]
    alone = predict_samples(model, noise.samples)
    assert (predict_filtered_samples(model, noise.samples) != alone).any()
    built = decision_sources(tested, emission)
    found = verify_samples(model, built, "host", parts, sanitize=True)
    assert found.agree, found.first_mismatch
    assert not verify_samples(model, replace(built, is_filtered=False), "host", parts).agree
    forgets = changed(emission, "    m_filter_begin(&s->filter);\n", "")
    assert not verify_samples(model, decision_sources(tested, forgets), "host", parts).agree


def test_the_header_has_the_bytes_of_the_state() -> None:
    tested = front_end("int16", 16, 16, "sum,range", "x,y")
    plain = replace(trained(tested, 30, structure="naive", parameters="ml"), front_end=tested)
    model, emission = with_filter(plain, 300)
    for sources in (decision_sources(tested, emission),):
        with host_stream(sources, ("-O1", *SANITIZERS)) as program:
            assert len(program.results([np.zeros((32, 3), np.int64)])) == 32
    text = " ".join(emission.files["m.h"].replace("*", " ").split())
    alone = emit_c(replace(model, filter=None), EmitOptions("m")).files["m.h"]
    n_alone = int(" ".join(alone.split()).split("A m_stream_t needs ")[1].split()[0])
    assert f"A m_stream_t needs {n_alone + 2 * model.n_classes} bytes" in text
    assert f"A m_filter_t needs {2 * model.n_classes} bytes." in text


def test_the_header_has_the_work_of_a_step() -> None:
    def card(switch: int) -> str:
        text = with_filter(trained_on_sequences(), switch)[1].files["m.h"]
        return " ".join(text.replace("*", " ").split())

    steps = "for every input (counted, not measured)"
    assert f"filter_next: 9 additions of 8 bits, 5 comparisons {steps}" in card(9)
    assert f"filter_next: 3 additions of 8 bits, 2 comparisons {steps}" in card(0)
    assert f"filter_next: 9 additions of 32 bits, 5 comparisons {steps}" in card(70000)
    held = replace(trained_on_sequences(), filter=Filter(9, 3))
    text = " ".join(emit_c(held, FILTERED).files["m.h"].replace("*", " ").split())
    assert "9 comparisons at most (counted, not measured)" in text
    assert "branches on 2 comparisons of sums, on states, on readings; of filter_next" in card(9)
    assert "M_SWITCH" in card(9)
    assert "M_SWITCH" not in card(0)


def test_the_header_has_the_measured_time_of_a_step() -> None:
    model = replace(trained_on_sequences(), filter=Filter(9))
    counts = (("predict", Counts(10, 20)), ("filter_next", Counts(55, 66)))
    bounds = Bounds("gcc", "qemu", "instructions", (), counts, 100, is_exact=False, n_steps=2440)
    text = " ".join(emit_c(model, replace(FILTERED, bounds=bounds)).files["m.h"].split())
    assert "predict: 10 .. 20 instructions observed over 100 inputs; not a bound." in text
    assert (
        "filter_next: 55 .. 66 instructions observed over 2440 hostile steps; not a bound." in text
    )
