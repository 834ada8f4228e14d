"""Inputs near ties: exactly the claimed changes show."""

from dataclasses import replace

import numpy as np
import pytest

from bncc.emit.near_ties import Rows, Shown, Walk, near_tie_steps
from bncc.fixed_point import QFormat
from bncc.model.reference import predict
from bncc.program.ir import Program, decisions, with_tables
from bncc.program.pipeline import program_of
from bncc.structure.decision_tables import DecisionTable, TableEnsemble
from tests import models as hand
from tests.agreement.large import letter_like

START = np.zeros((1, 4), np.int64)


def changed(program: Program, t: int, row: int, c: int, bit: int) -> Program:
    """Return a program with one bit of one entry changed."""
    tables = list(program.tables)
    costs = tables[t].costs.copy()
    costs[row, c] ^= 1 << bit
    tables[t] = replace(tables[t], costs=costs)
    return with_tables(program, tables, program.prior)


@pytest.mark.parametrize(
    "make",
    [hand.naive_integer, hand.tan_float, hand.general_network, hand.ties, hand.sum_of_tables],
)
def test_exactly_the_bits_that_are_said_to_show_do(make):
    """The bits of every entry of every table, one input after the other."""
    program = program_of(make())
    rows = Rows(program)
    for x in hand.all_states(make())[::5]:
        shown = Shown.none(rows)
        shown.add(rows.of(x[None]))
        before = decisions(program, x[None])[0]
        for t, table in enumerate(program.tables):
            for (row, c), _ in np.ndenumerate(table.costs):
                bits = int(shown.bits[rows.first[t] + row, c])
                for bit in range(rows.whole.bit_length()):
                    after = decisions(changed(program, t, row, c, bit), x[None])[0]
                    assert (after != before) == bool(bits >> bit & 1), (t, row, c, bit)


def test_gains_count_what_is_new():
    program = program_of(hand.tan_float())
    rows = Rows(program)
    shown, at = Shown.none(rows), rows.of(np.zeros((1, 3), np.int64))
    gain = shown.gains(at)
    shown.add(at)
    assert gain == np.bitwise_count(shown.bits).sum() > 0
    assert shown.gains(at) == 0


@pytest.mark.parametrize("name", hand.NAMED)
def test_answers_are_the_reference_s_and_all_steps_lead_to_an_input(name):
    model = hand.NAMED[name]()
    start = np.zeros((1, model.n_features), np.int64)
    steps = near_tie_steps(model, program_of(model), start, 500)
    X = steps.inputs(start[0])
    is_input = steps.classes < len(model.classes)
    assert (steps.classes[is_input] == predict(model, X[is_input])).all()
    assert is_input[-1:].all()
    assert (X < np.array(model.n_states)).all()


@pytest.mark.parametrize("most", [0, 1, 7, 50])
def test_there_are_at_most_as_many_as_one_asks_for(most):
    model = letter_like()
    steps = near_tie_steps(model, program_of(model), np.zeros((1, 16), np.int64), most)
    assert len(steps.features) == most


def test_of_fewer_steps_the_last_leads_to_an_input_too():
    model = hand.wide_states()
    steps = near_tie_steps(model, program_of(model), np.zeros((1, 2), np.int64), 500)
    for n in range(1, len(steps.classes) + 3):
        first = steps.first(n)
        assert len(first.features) <= n
        assert not len(first.classes) or first.classes[-1] < 2
    assert len(steps.first(10**6).features) == len(steps.features)


def test_a_model_of_few_inputs_shows_all_that_can_show():
    model = hand.general_network()
    program = program_of(model)
    rows = Rows(program)
    steps = near_tie_steps(model, program, START, 10**4)
    possible = Shown.none(rows)
    possible.add(rows.of(hand.all_states(model)))
    assert (steps.shown.bits == possible.bits).all()


def test_features_of_one_state_are_no_dimensions():
    """More features than numpy has dimensions, few inputs: all that can show is shown."""
    features = [hand.feature(f"f{k}", 3 if k in (5, 69) else 1) for k in range(70)]
    structure = TableEnsemble((DecisionTable((5, 69), ((0, 1), (0,))),))
    rows = [[k, 5 - k] for k in range(6)]
    model = hand.model_of(features, structure, QFormat(3, 1), [1, 0], [rows])
    program = program_of(model)
    steps = near_tie_steps(model, program, np.zeros((1, 70), np.int64), 500)
    inputs = np.zeros((9, 70), np.int64)
    inputs[:, [5, 69]] = [(a, b) for a in range(3) for b in range(3)]
    possible = Shown.none(Rows(program))
    possible.add(Rows(program).of(inputs))
    assert (steps.shown.bits == possible.bits).all()
    assert set(steps.features.tolist()) <= {5, 69}
    drawn = Walk(Rows(program), np.zeros((1, 70), np.int64))._drawn(1)
    assert drawn.tolist() == inputs.tolist()


def test_where_tables_have_maps_every_state_is_read_again_and_again():
    """An entry of a map is for one state, so the tables' rows alone are not sufficient."""
    model = hand.model_of(
        [hand.feature("a", 40), hand.feature("b", 30)],
        TableEnsemble((DecisionTable((0, 1), ((7, 20), (9, 11))), DecisionTable((0,), ((3,),)))),
        QFormat(3, 1),
        [1, 0],
        [[[k, 8 - k] for k in range(9)], [[2, 0], [0, 3]]],
    )
    program = program_of(model)
    assert any(table.maps for table in program.tables)
    steps = near_tie_steps(model, program, np.zeros((1, 2), np.int64), 2000)
    counts = np.bincount(steps.states[steps.features == 0], minlength=40)
    assert counts.min() >= 6
    assert len(near_tie_steps(model, program, np.zeros((1, 2), np.int64), 50).features) <= 50
