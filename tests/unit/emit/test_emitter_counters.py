"""The C of counters agrees with Python, alone and behind a front end, and when one is full."""

from dataclasses import replace

import pytest

from bncc.device.sample_agreement import verify_samples
from bncc.emit.emitter import Emission, EmitOptions, emit_c
from bncc.errors import ModelError, OptionError
from bncc.model.confidence import Confidence
from bncc.model.counters import Counters, Counts
from bncc.model.filter import Filter
from bncc.model.model import Model
from bncc.model.unknown import Unknown
from bncc.on_device import decision_sources, hostile_samples, verify
from tests import models as hand
from tests.counters import COUNTED, counting
from tests.front_ends import front_end
from tests.unit.emit.test_emitter_samples import trained

pytestmark = pytest.mark.cc


def options(model: Model) -> EmitOptions:
    """Return options for counters, of unknown readings too if the model has a rule for them."""
    also = ("unknown",) if model.unknown is not None else ()
    return EmitOptions("m", entries=frozenset({"counters", *also}))


def changed(emission: Emission, old: str, new: str) -> Emission:
    """Return an emission with another statement in its counters."""
    before, title, text = emission.files["m.c"].partition("/* Counters of decisions */")
    assert old in text
    return replace(
        emission, files={**emission.files, "m.c": before + title + text.replace(old, new)}
    )


@pytest.mark.parametrize("name", COUNTED)
def test_the_c_of_trained_models_agrees(name: str) -> None:
    model = COUNTED[name]()
    found = verify(model, emission=emit_c(model, options(model)), n_random=20, sanitize=True)
    assert found.agree, found.first_mismatch
    assert found.strength.endswith("720 counted decisions")


@pytest.mark.parametrize("name", ["products_behind_a_front", "products_with_a_gate", "tan_float"])
def test_the_c_of_other_models_agrees(name: str) -> None:
    plain = {**hand.NAMED, **hand.FRONTS, **hand.GATES}[name]()
    counts = Counts((2,) * plain.n_classes, (2 * plain.n_classes, 0))
    model = replace(plain, counters=Counters((0, 2), counts))
    assert verify(model, emission=emit_c(model, options(model)), n_random=20).agree


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("*counter + 1U", "*counter + 2U"),
        ("sum == 65535U", "sum == 65534U"),
        ("(margin >= ", "(margin > "),
        ("add_one(&c->classes[best])", "add_one(&c->classes[0])"),
        ("add_one(&c->margins[bin])", "add_one(&c->margins[7U - bin])"),
        ("m_known_class(x, s) < 0", "m_known_class(x, s) <= 0"),
        ("c->last == best", "c->last != best"),
        ("c->last < M_N_CLASSES", "c->last <= M_N_CLASSES"),
        ("    c->last = best;\n", ""),
        ("    c->last = M_N_CLASSES;\n", "    c->last = 0U;\n"),
        ("c->classes[k] >> 1", "c->classes[k] >> 2"),
        ("(c->margins[k] >> 1)", "(c->margins[k])"),
        ("(c->unknown >> 1)", "(c->unknown)"),
        ("(c->stays >> 1)", "(c->stays)"),
        ("(c->switches >> 1)", "(c->switches)"),
        ("    if (is_full != 0U) {", "    if (is_full == 2U) {"),
        ("is_full = (uint8_t)(is_full + m_add_one(&c->margins", "(void)(m_add_one(&c->margins"),
    ],
)
def test_a_wrong_statement_is_found(old: str, new: str) -> None:
    model = counting("naive", unknown=0.1)
    emission = emit_c(model, options(model))
    found = verify(model, emission=changed(emission, old, new), n_random=10)
    assert not found.agree
    assert str(found.first_mismatch).startswith("counters of operation")


def test_members_are_those_that_training_has_something_for() -> None:
    in_time, mixed = counting("naive"), counting("tables", "int16", "int16")
    header = emit_c(in_time, options(in_time)).files["m.h"]
    assert "A m_counters_t needs 28 bytes" in " ".join(header.replace("*", " ").split())
    assert "void m_counters_begin(m_counters_t *c);" in header
    assert "uint16_t unknown" not in header
    header = emit_c(mixed, options(mixed)).files["m.h"]
    assert "A m_counters_t needs 22 bytes" in " ".join(header.replace("*", " ").split())
    assert "m_counters_begin" not in header
    assert "switches" not in header
    both = counting("naive", unknown=0.1)
    header = emit_c(both, options(both)).files["m.h"]
    assert "uint16_t unknown; /* readings of no known class */" in header
    assert header.count("m_cost_t m_margin(") == 1
    # Without the entry point of the rule, unknown readings are not counted.
    alone = emit_c(both, EmitOptions("m", entries=frozenset({"counters"})))
    assert "uint16_t unknown" not in alone.files["m.h"]
    assert verify(both, emission=alone, n_random=10).agree
    assert "m_count" not in emit_c(both, EmitOptions("m")).files["m.h"]
    assert "counters    8 bins of margins" in alone.files["m.h"]


def test_what_has_no_counters_is_refused() -> None:
    with pytest.raises(ModelError, match="has no counters; train it with --counters"):
        emit_c(hand.naive_integer(), EmitOptions("m", entries=frozenset({"counters"})))
    model = counting("naive")
    with pytest.raises(OptionError, match="'counters' compares margins by branches"):
        emit_c(model, replace(options(model), constant_time=True))


@pytest.mark.parametrize(
    "entries",
    [("counters",), ("counters", "confidence", "filter", "unknown")],
    ids=len,
)
@pytest.mark.parametrize(
    ("shared", "in_time"), [(False, True), (True, True), (True, False)], ids=str
)
@pytest.mark.no_cover
def test_push_counts_windows(entries: tuple[str, ...], *, shared: bool, in_time: bool) -> None:
    signals, features = ("x,y,z", None) if shared else ("x,y", "sum,range")
    tested = front_end("int16", 16, 8 if shared else 16, features, signals)
    plain = replace(trained(tested, 30, structure="naive", parameters="ml"), front_end=tested)
    ranges = {each.name: ((0, 90),) * plain.n_classes for each in plain.inputs}
    steps = (5, 3) if in_time else (None, None)
    counts = Counts((4, 4, 4), (6, 6), 2, *steps)
    model = replace(
        plain,
        confidence=Confidence((0, 5, 20), (40, 80, 99), 10),
        filter=Filter(100),
        unknown=Unknown(ranges, 20, 30),
        counters=Counters((0, 8), counts),
    )
    emission = emit_c(model, EmitOptions("m", entries=frozenset(entries)))
    parts = hostile_samples(model)
    found = verify_samples(model, decision_sources(tested, emission), "host", parts, sanitize=True)
    assert found.agree, found.first_mismatch
    wrong = decision_sources(tested, changed(emission, "margins[bin]", "margins[1U - bin]"))
    assert "counters" in str(verify_samples(model, wrong, "host", parts).first_mismatch)
    begins = "    m_counters_begin(&s->counters);\n"
    assert (begins in emission.files["m.c"]) == in_time
    if in_time:
        wrong = decision_sources(tested, changed(emission, begins, ""))
        assert not verify_samples(model, wrong, "host", parts).agree
    sizes = []
    for each in (entries, tuple({*entries} - {"counters"})):
        text = emit_c(model, EmitOptions("m", entries=frozenset(each))).files["m.h"]
        text = " ".join(text.replace("*", " ").split())
        sizes.append(int(text.split("A m_stream_t needs ")[1].split()[0]))
    n = 3 + 2 + ("unknown" in entries) + 3 * in_time
    assert sizes[0] == sizes[1] + 2 * n


@pytest.mark.parametrize(("switch", "shared"), [(9, False), (9, True), (300, False), (70000, True)])
def test_the_header_has_the_size_of_a_stream(switch: int, *, shared: bool) -> None:
    """Costs of a filter, counters and bytes have padding between them, or none."""
    signals, features = ("x,y,z", None) if shared else ("x,y", "sum,range")
    tested = front_end("int16", 16, 8 if shared else 16, features, signals)
    plain = replace(trained(tested, 30, structure="naive", parameters="ml"), front_end=tested)
    counters = Counters((0,), Counts((4, 4, 4), (12,)))
    model = replace(plain, filter=Filter(switch), counters=counters)
    model = replace(model, confidence=Confidence((0,), (9,)))
    entries = frozenset({"counters", "filter", "confidence"})
    emission = emit_c(model, EmitOptions("m", entries=entries))
    text = " ".join(emission.files["m.h"].replace("*", " ").split())
    size = text.split("A m_stream_t needs ")[1].partition(". Pushing")[0].split()
    aligned = size[2] if "with" in size else size[0]
    check = f"typedef char m_size_t[(sizeof(m_stream_t) == {aligned}U) ? 1 : -1];\n"
    source = emission.files["m.c"].replace("/* Flash access */", check + "/* Flash access */")
    whole = replace(emission, files={**emission.files, "m.c": source})
    sources = decision_sources(tested, whole)
    assert verify_samples(model, sources, "host", hostile_samples(model)).agree
