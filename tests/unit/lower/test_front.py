"""The front as C: its text, its price, and what cannot have one."""

from dataclasses import replace

import pytest

from bncc.emit.emitter import EmitOptions, emit_c
from bncc.emit.textbook import misfit
from bncc.errors import OptionError
from bncc.model.front import FRONT
from tests.models import behind_front, products_of_sensors, trees_of_sensors

ENTRIES = frozenset({"raw", "scores", "trusted"})


def emitted(model, **options):
    return emit_c(model, EmitOptions("m", **{"entries": ENTRIES, **options}))


@pytest.mark.parametrize("made", [trees_of_sensors, products_of_sensors])
def test_every_entry_point_asks_the_front_first(made):
    text = emitted(behind_front(made(3, 3))).files["m.c"]
    for entry, call in (
        ("predict(", "m_front(x)"),
        ("predict_trusted(", "m_front(x)"),
        ("predict_raw(", "m_front_of_readings(x)"),
        ("scores(", "m_front(x)"),
    ):
        body = text.split(f"int16_t m_{entry}")[1].split("\n}")[0]
        assert call in body, entry
    assert text.count("return M_GO_ON;") >= 2


def test_without_readings_the_front_compares_states_alone():
    model = behind_front(trees_of_sensors(3, 2, kinds=("state",) * 4))
    emission = emitted(model, entries=frozenset())
    assert emission.layout.front_text.readings is None
    assert "m_front(x)" in emission.files["m.c"]
    assert "front_of_readings" not in emission.files["m.c"]


def test_a_model_without_a_front_has_none():
    emission = emitted(trees_of_sensors(3, 3))
    assert emission.layout.front is None
    assert "GO_ON" not in emission.files["m.c"]
    assert "front" not in emission.files["m.h"]


@pytest.mark.parametrize("share", [0.0, 0.25, 0.99])
def test_the_mean_is_that_of_the_share_that_goes_on(share):
    plain = trees_of_sensors(3, 5)
    model = replace(behind_front(plain), training={FRONT: {"answers": share}})
    before, after = emitted(plain).resources, emitted(model).resources
    for entry in ("predict-raw", "trusted"):
        usual, spans = before.spans[entry].mean, after.spans[entry]
        assert spans.mean - spans.min == pytest.approx((1 - share) * usual, rel=0.02, abs=1)
        assert spans.max > usual
    assert after.spans["scores"].min == after.spans["scores"].max > before.spans["scores"].max
    assert after.flash > before.flash


@pytest.mark.parametrize("record", [{}, {FRONT: None}, {FRONT: {"answers": "all"}}])
def test_without_a_record_the_worst_case_is_the_estimate(record):
    model = replace(behind_front(trees_of_sensors(3, 5)), training=record)
    spans = emitted(model).resources.spans["predict-raw"]
    assert spans.min == spans.mean == spans.max


def test_the_card_has_its_leaves_and_its_share():
    record = {FRONT: {"answers": 0.875}}
    model = replace(behind_front(trees_of_sensors(3, 2), n_leaves=6), training=record)
    card = " ".join(emitted(model).files["m.h"].replace(" *", " ").split())
    layout = emitted(model).layout.front
    assert f"a decision tree of {layout.n_leaves} leaves, {layout.n_sure} of which decide" in card
    assert "for 87.5 % of training rows" in card
    deepest = layout.kernel.most_comparisons
    assert f"at most {deepest} comparisons more" in card


def test_costs_are_wide_enough_for_the_row_of_the_front():
    """Three tables of costs up to 15 and a prior sum up to 60 in 8 bits, 121 with the front."""
    plain = trees_of_sensors(3, 16)
    assert emitted(plain, entries=frozenset()).layout.kernel.sum_bits == 8
    model = behind_front(plain)
    assert emitted(model, entries=frozenset()).layout.kernel.sum_bits == 8
    assert emitted(model).layout.kernel.sum_bits == 16
    most = emitted(model).layout.front.front.most
    for entries in (frozenset(), ENTRIES):
        emission = emitted(model, entries=entries)
        largest = emission.layout.kernel.largest_sum + most * ("scores" in entries)
        head = emission.files["m.c"].replace("\n *", "").split("#include")[0]
        assert f"No sum exceeds {largest}, so the accumulators cannot overflow" in head
        assert f"at most {largest}" in emission.files["m.h"]


def test_a_cost_beyond_the_textbook_names_the_front():
    assert misfit(behind_front(trees_of_sensors(3, 2))) is None
    assert "--structure-option front=0" in misfit(behind_front(trees_of_sensors(3, 20)))


def test_what_needs_all_tables_is_refused_with_the_remedy():
    model = behind_front(products_of_sensors(3, 3))
    with pytest.raises(OptionError, match="train with --structure-option front=0, or do not"):
        emitted(model, constant_time=True)
    with pytest.raises(OptionError, match="front=0, or leave out the entry point 'stream'"):
        emitted(model, entries=frozenset({"stream"}))
    with pytest.raises(OptionError, match="leaves=0"):
        emitted(trees_of_sensors(3, 3), constant_time=True)


def test_the_kernel_is_one_of_the_tables_behind_it():
    products, trees = behind_front(products_of_sensors(3, 3)), behind_front(trees_of_sensors(3, 3))
    assert emitted(products, kernel="cuts").kernel == "cuts"
    assert emitted(trees, kernel="branches").kernel == "branches"
    with pytest.raises(OptionError, match="no layout for tables that are found by decision trees"):
        emitted(trees, kernel="cuts")
    with pytest.raises(OptionError, match="'branches' has no safe layout"):
        emitted(products, kernel="branches")
