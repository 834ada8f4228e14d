"""The gate as C: its text, its price, and what cannot have one."""

from dataclasses import replace

import numpy as np
import pytest

from bncc.emit.emitter import EmitOptions, emit_c
from bncc.emit.textbook import misfit
from bncc.errors import OptionError
from bncc.lower.kernels.families import FAMILIES, FOR_GATES
from bncc.lower.kernels.shared.cut_places import gate_close
from bncc.model.gate import GATE
from bncc.on_device import batch_of
from bncc.program.pipeline import program_of
from tests.models import gated, products_of_sensors

ENTRIES = frozenset({"raw", "scores", "trusted"})
PLAIN = products_of_sensors(3, 6)
MODEL = gated(PLAIN, 2, 5)


def emitted(model=MODEL, **options):
    return emit_c(model, EmitOptions("m", **{"entries": ENTRIES, **options}))


def test_two_kernels_have_gates():
    assert sorted(FOR_GATES) == ["cut-loop", "cut-packed"]
    assert emitted().kernel in FOR_GATES


@pytest.mark.parametrize("kernel", FOR_GATES)
@pytest.mark.parametrize("compare", ["states", "readings"])
def test_both_sums_ask_the_gate(kernel, compare):
    text = emitted(kernel=kernel, compare=compare).files["m.c"]
    calls = 2 if compare == "readings" else 1
    assert text.count("m_goes_on(cost) != 0U") == calls
    assert "#define M_GATE_CLOSE 4U" in text
    assert "goes_on" not in emitted(PLAIN, kernel=kernel).files["m.c"]


@pytest.mark.parametrize("family", sorted(FAMILIES.keys() - FOR_GATES))
def test_other_kernels_are_refused_by_name(family):
    with pytest.raises(OptionError, match="no layout for a model with a gate; use --kernel cut-"):
        emitted(kernel=family)
    assert not [*FAMILIES[family](program_of(MODEL))]


@pytest.mark.parametrize("target", ["x86", "cortex-m4"])
@pytest.mark.parametrize("optimize", ["balanced", "size", "speed"])
def test_wide_registers_do_not_lose_the_gate(target, optimize):
    assert emitted(target=target, optimize=optimize).kernel in FOR_GATES


def test_what_needs_all_tables_is_refused_with_the_remedy():
    with pytest.raises(OptionError, match="gate=0, or do not request constant time"):
        emitted(constant_time=True)
    with pytest.raises(OptionError, match="gate=0, or leave out the entry point 'stream'"):
        emitted(entries=frozenset({"stream"}))
    with pytest.raises(OptionError, match="batches do not have; train with"):
        batch_of(MODEL)
    assert misfit(MODEL) == misfit(PLAIN) is not None


@pytest.mark.parametrize("share", [0.0, 0.25, 1.0])
def test_the_mean_is_that_of_the_share_that_goes_on(share):
    model = replace(MODEL, training={GATE: {"answers": share}})
    for span in emitted(model, kernel="cut-packed").resources.spans.values():
        assert span.mean == pytest.approx(share * span.min + (1 - share) * span.max)
        assert span.min < span.max


@pytest.mark.parametrize("target", ["cortex-m0", "avr"])
def test_the_gate_has_a_price(target):
    gate, plain = (emitted(model, kernel="cut-packed", target=target) for model in (MODEL, PLAIN))
    assert gate.estimate.flash > plain.estimate.flash
    assert gate.estimate.instructions > plain.estimate.instructions
    plan = gate.layout.gate
    assert plan.test(10, target) - plan.test(9, target) == (18 if target == "avr" else 7)
    assert plan.before == pytest.approx(2 / 6, abs=0.05)


def test_without_a_record_the_worst_case_is_the_estimate():
    for span in emitted().resources.spans.values():
        assert span.min < span.mean == span.max


def test_the_card_has_its_place_and_its_share():
    model = replace(MODEL, training={GATE: {"answers": 0.875}})
    card = " ".join(emitted(model).files["m.h"].replace(" *", " ").split())
    assert "the first 2 of 6 tables decide if the second smallest cost exceeds" in card
    assert "by at least 5, for 87.5 % of held-out rows; the others are added otherwise" in card
    assert "up to" in card.split("from states:")[1][:10]
    assert "on the margin of a gate" in card
    assert "with --constant-time" not in card
    assert "GATE" not in emitted(PLAIN).files["m.h"]


def test_no_constant_exceeds_the_sums():
    """A margin that no two sums have does not overflow the constant."""
    assert gate_close(program_of(gated(PLAIN, 2, 10**6)), 200) == 200
    assert gate_close(program_of(MODEL), 200) == 4
    assert gate_close(program_of(PLAIN), 200) == 0


def test_rows_lose_what_a_column_shares_before_the_gate_alone():
    """Costs that move from a table behind the gate to the prior would reach the first sum."""
    shared = tuple(table + np.array([3, 1, 2]) for table in PLAIN.tables)
    model = gated(replace(PLAIN, tables=shared, q_format=replace(PLAIN.q_format, int_bits=4)), 2)
    kernels = [*FAMILIES["cut-packed"](program_of(model))]
    lifted = [kernel.program for kernel in kernels if kernel.program.tables[0].costs.min() == 0]
    assert lifted
    for program in lifted:
        assert all(table.costs.min(axis=0).tolist() == [0, 0, 0] for table in program.tables[:2])
        assert all(table.costs.min(axis=0).all() for table in program.tables[2:])
