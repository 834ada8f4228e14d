"""A gate in a program: its costs, its rules, its text, and the passes that keep the first sum."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from bncc.errors import IrError
from bncc.model import reference
from bncc.model.gate import Gate, margins
from bncc.program.ir import costs, decisions, row_of
from bncc.program.pipeline import FLOWS, optimize, optimize_each, program_of
from bncc.program.text import print_program
from bncc.program.verifier import verify
from bncc.structure.decision_tables import TableEnsemble
from tests.models import all_states, gated, products_of_sensors, sum_of_tables
from tests.strategies import models, states

MODEL = gated(products_of_sensors(3, 6), 2, 5)


def first_sum(program, X):
    """Add up the tables before the gate."""
    total = np.tile(program.prior, (len(X), 1))
    for table in program.tables[: program.gate.tables]:
        total = total + table.costs[row_of(program, table, X)]
    return total


def test_a_program_has_the_gate_and_the_costs_of_its_model():
    X = all_states(MODEL)
    program = program_of(MODEL)
    assert program.gate == MODEL.gate
    assert np.array_equal(costs(program, X), reference.costs(MODEL, X))
    assert not np.array_equal(costs(replace(program, gate=None), X), costs(program, X))


@pytest.mark.parametrize("flow", FLOWS)
def test_passes_keep_both_sums(flow):
    X = all_states(MODEL)
    program = program_of(MODEL)
    optimized = optimize(program, flow).program
    assert optimized.gate == program.gate
    assert len(optimized.tables) == len(program.tables)
    before, after = first_sum(program, X), first_sum(optimized, X)
    assert np.array_equal(margins(before), margins(after))
    wanted = reference.scores(MODEL, X)
    found = costs(optimized, X)
    assert np.array_equal(found - found.min(axis=1, keepdims=True), wanted)


def test_some_flows_move_costs_across_the_gate_unless_they_know_of_it():
    """The passes that are left out would change the first sum."""
    X = all_states(MODEL)
    program = program_of(MODEL)
    plain = optimize(replace(program, gate=None), "default").program
    assert np.array_equal(decisions(plain, X), decisions(replace(program, gate=None), X))
    forced = replace(plain, gate=MODEL.gate)
    assert not np.array_equal(margins(first_sum(forced, X)), margins(first_sum(program, X))) or len(
        forced.tables
    ) != len(program.tables)


def test_flows_that_are_equal_with_a_gate_count_once():
    program = program_of(MODEL)
    fast = optimize_each(program, ("default", "speed-16", "speed", "speed-256"))
    assert len(fast) == 1
    small = optimize_each(program, ("default", "size"))
    assert len(small) == 1, "no pass of size finds anything"
    assert [step.name for step in small[0].passes] == ["normalize-rows", "shrink-width"]
    assert len(optimize_each(program, ("none", "default"))) == 2


@settings(suppress_health_check=[HealthCheck.filter_too_much])
@given(st.data(), models(max_bits=5), st.integers(1, 20), st.sampled_from(["default", "size"]))
def test_any_model_keeps_its_decisions(data, model, margin, flow):
    assume(isinstance(model.structure, TableEnsemble) and len(model.tables) > 1)
    model = gated(model, len(model.tables) - 1, margin)
    X = data.draw(states(model))
    assert np.array_equal(
        decisions(optimize(program_of(model), flow).program, X), reference.predict(model, X)
    )


@pytest.mark.parametrize("gate", [Gate(0, 5), Gate(6, 5), Gate(2, 0)])
def test_an_unsound_gate_is_refused(gate):
    with pytest.raises(IrError, match="a gate has tables before it and behind it"):
        verify(replace(program_of(MODEL), gate=gate))


def test_the_text_has_the_gate():
    text = print_program(program_of(gated(sum_of_tables(), 2, 5)))
    assert "\ngate: tables 0 .. 1 decide with a margin of 5\nsums: " in text
    assert "gate" not in print_program(program_of(sum_of_tables()))
