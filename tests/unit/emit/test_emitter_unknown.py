"""The C of a rule for unknown readings agrees with Python, alone and behind a front end."""

from dataclasses import replace

import pytest

from bncc.device.sample_agreement import verify_samples
from bncc.emit.emitter import Emission, EmitOptions, emit_c
from bncc.errors import ModelError, OptionError
from bncc.model.confidence import Confidence
from bncc.model.filter import Filter
from bncc.model.model import Model
from bncc.model.unknown import Unknown
from bncc.model.used import with_used_inputs
from bncc.on_device import decision_sources, hostile_samples, verify
from tests import models as hand
from tests.front_ends import front_end
from tests.unit.emit.test_emitter_samples import trained
from tests.unknown import MIXED, RULED, readings, ruled, with_rule

RULE = EmitOptions("m", entries=frozenset({"unknown"}))


def changed(emission: Emission, old: str, new: str, n: int = 1) -> Emission:
    """Return an emission with another statement in its C."""
    before, title, text = emission.files["m.c"].partition("/* Unknown readings */")
    assert text.count(old) == n
    text = before + title + text.replace(old, new)
    return replace(emission, files={**emission.files, "m.c": text})


@pytest.mark.parametrize("name", RULED)
def test_the_c_of_trained_models_agrees(name: str) -> None:
    model = RULED[name]()
    assert model.unknown is not None
    found = verify(model, emission=emit_c(model, RULE), n_random=500, sanitize=True)
    assert found.agree, found.first_mismatch
    assert "2,600 readings next to the ends of ranges" in found.strength


@pytest.mark.parametrize("structure", ["naive", "tables", "trees"])
def test_rows_of_the_table_agree(structure: str) -> None:
    model = ruled(structure, *MIXED, gaps=0.1)
    table = readings(MIXED, seed=1, gaps=0.1).table
    assert verify(model, table=table, emission=emit_c(model, RULE), n_random=50).agree
    smaller = with_used_inputs(model)
    assert verify(smaller, table=table, emission=emit_c(smaller, RULE), n_random=50).agree


def ranged_by_hand(model: Model, every: int = 1) -> Model:
    """Return a model with ranges at the ends of types, of every one or some of its inputs."""
    ends = {
        "float32": (-(2.0**100), 0.0),
        "uint8": (0, 254),
        "int8": (-127, 5),
        "int16": (-9, 32767),
    }
    ranges = {
        each.name: ((ends.get(each.kind, (-(2**31) + 1, 7))), None, *[ends.get(each.kind, (0, 1))])
        for k, each in enumerate(model.inputs)
        if each.is_numeric and k % every == 0
    }
    ranges = {name: tuple(of[c % 3] for c in range(model.n_classes)) for name, of in ranges.items()}
    return replace(model, unknown=Unknown(ranges, 3, 4))


@pytest.mark.parametrize("every", [1, 2], ids=["all", "some"])
@pytest.mark.parametrize(
    "name",
    [
        "naive_integer", "tan_float", "int32_thresholds", "int8_readings", "uint8_readings",
        "bytes_and_others", "category_with_missing", "hostile_names", "differences_in_a_struct",
        "differences_of_words", "products_behind_a_front", "products_with_a_gate",
    ],
)  # fmt: skip
def test_the_c_of_other_models_agrees(name: str, every: int) -> None:
    named = {**hand.NAMED, **hand.DIFFERENCES, **hand.FRONTS, **hand.GATES}
    model = ranged_by_hand(named[name](), every)
    more = frozenset({"confidence", "filter"})
    assert verify(model, emission=emit_c(model, RULE), n_random=200, sanitize=True).agree
    model = replace(model, confidence=Confidence((0,), (9,)), filter=Filter(3))
    options = replace(RULE, entries=RULE.entries | more)
    assert verify(model, emission=emit_c(model, options), n_random=20).agree


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("(value < ", "(value <= "),
        ("(value > ", "(value >= "),
        ("(key < m_rom", "(key <= m_rom"),
        ("(key > m_rom", "(key >= m_rom"),
        ("if ((key > ", "if ((key >= "),
        ("value == INT16_MIN", "value == INT16_MAX"),
        ("+ M_N_CLASSES);", "+ 2U);"),
        ("    k = first;", "    k = 0U;"),
        ("(margin >= m_rom", "(margin > m_rom"),
        ("(x, best) >= n)", "(x, best) > n)"),
        ("if (n == 0U)", "if (n == 1U)"),
        ("m_outside(x, best)", "m_outside(x, 0U)"),
    ],
)
def test_a_wrong_statement_is_found(old: str, new: str) -> None:
    model = with_rule(ruled("naive", *MIXED, "int16", gaps=0.1), limit=-3)
    emission = emit_c(model, RULE)
    text = emission.files["m.c"].partition("/* Unknown readings */")[2]
    found = verify(model, emission=changed(emission, old, new, max(1, text.count(old))))
    assert not found.agree
    assert str(found.first_mismatch).startswith("outside or known_class of class, scores and")


def test_a_margin_that_makes_up_for_every_reading_is_found() -> None:
    model = with_rule(ruled("naive", "int16", "int16"), weight=2, limit=-3)
    emission = emit_c(model, RULE)
    assert verify(model, emission=emission).agree
    assert not verify(model, emission=changed(emission, "if (n > 2U)", "if (n > 1U)")).agree


def test_a_wrong_constant_is_found_and_summed() -> None:
    model = ruled("tables", "int16", "int16")
    emission = emit_c(model, RULE)
    names = [each.name for each in emission.layout.arrays]
    assert {"low_int16", "high_int16"} <= {*names}
    plain = emit_c(model, EmitOptions("m", entries=frozenset({"raw", "scores"})))
    n_bytes = 2 * 2 * 2 * model.n_classes
    n_bytes += next(each.n_bytes for each in emission.layout.arrays if each.name == "least_margin")
    assert emission.layout.rom_bytes == plain.layout.rom_bytes + n_bytes
    assert "m_low_int16" in emission.files["m.c"].partition("SELFTEST_CRC")[2]
    assert model.unknown is not None
    ranges = {
        name: ((of[0][0] + 1, of[0][1]), *of[1:])  # type: ignore[index]
        for name, of in model.unknown.ranges.items()
    }
    assert not verify(with_rule(model, ranges=ranges), emission=emission).agree


def test_inputs_without_a_range_are_passed_over() -> None:
    model = ranged_by_hand(hand.naive_integer(), 2)
    emission = emit_c(model, RULE)
    assert "m_rated[1]" in emission.files["m.c"]
    assert "m_rated[" not in emit_c(ranged_by_hand(hand.naive_integer()), RULE).files["m.c"]


def test_scores_and_readings_are_emitted_with_it_and_it_is_not_without() -> None:
    model = ruled("naive", "int16", "int16")
    header = emit_c(model, RULE).files["m.h"]
    for function in ("int16_t m_scores(", "void m_states(", "m_cost_t m_margin("):
        assert header.count(function) == 1
    assert "#define M_ERR_UNKNOWN (-8)" in header
    rated = replace(model, confidence=Confidence((0, 3), (50, 60)))
    both = emit_c(rated, EmitOptions("m", entries=frozenset({"unknown", "confidence"})))
    assert both.files["m.h"].count("m_cost_t m_margin(") == 1
    assert "m_known_class" not in emit_c(model, EmitOptions("m")).files["m.h"]


def test_what_has_no_rule_is_refused() -> None:
    with pytest.raises(ModelError, match="the model knows no unknown readings"):
        emit_c(hand.naive_integer(), RULE)
    with pytest.raises(OptionError, match="'unknown' compares readings by branches"):
        emit_c(ruled("naive", "int16", "int16"), replace(RULE, constant_time=True))


@pytest.mark.parametrize(
    "entries",
    [("unknown",), ("confidence", "unknown"), ("confidence", "filter", "unknown")],
    ids=len,
)
@pytest.mark.parametrize("shared", [False, True], ids=["straight", "shared"])
def test_push_tells_unknown_windows(entries: tuple[str, ...], *, shared: bool) -> None:
    signals, features = ("x,y,z", None) if shared else ("x,y", "sum,range")
    tested = front_end("int16", 16, 8 if shared else 16, features, signals)
    plain = replace(trained(tested, 30, structure="naive", parameters="ml"), front_end=tested)
    ranges = {each.name: ((0, 90),) * plain.n_classes for each in plain.inputs}
    model = replace(
        plain,
        confidence=Confidence((0, 5, 20), (40, 80, 99), 10),
        filter=Filter(100),
        unknown=Unknown(ranges, 20, 30),
    )
    emission = emit_c(model, replace(RULE, entries=frozenset(entries)))
    parts = hostile_samples(model)
    found = verify_samples(model, decision_sources(tested, emission), "host", parts, sanitize=True)
    assert found.agree, found.first_mismatch
    wrong = decision_sources(tested, changed(emission, "(x, score) >= 0", "(x, score) > 0"))
    assert "known 1" in str(verify_samples(model, wrong, "host", parts).first_mismatch)
    text = " ".join(emission.files["m.h"].replace("*", " ").split())
    assert "s->is_known" in text
    alone = emit_c(model, replace(RULE, entries=frozenset(entries) - {"unknown"}))
    sizes = [
        int(
            " ".join(each.files["m.h"].replace("*", " ").split())
            .split("A m_stream_t needs ")[1]
            .split()[0]
        )
        for each in (emission, alone)
    ]
    assert sizes[0] == sizes[1] + 1
