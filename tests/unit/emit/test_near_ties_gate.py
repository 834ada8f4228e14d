"""Bits that inputs of a model with a gate show: each of them in fact changes a decision."""

from dataclasses import replace

import numpy as np
import pytest

from bncc.emit.near_ties import Rows, Shown, near_tie_steps
from bncc.program.ir import decisions, row_of, with_tables
from bncc.program.pipeline import optimize, program_of
from tests.models import all_states, gated, products_of_sensors


@pytest.mark.parametrize("margin", [2, 6])
@pytest.mark.parametrize("tables", [1, 3])
def test_every_bit_that_is_shown_changes_the_decision(tables, margin):
    """A single bit of an entry that is read is changed, and the program decides otherwise."""
    model = gated(products_of_sensors(3, 4), tables, margin)
    program = optimize(program_of(model)).program
    rows, X = Rows(program), all_states(model)
    X = X[np.random.default_rng(0).permutation(len(X))[:40]]
    shown = Shown.none(rows).new(rows.of(X))
    assert shown[:, tables:].any()
    assert shown[:, :tables].any() == (margin == 2)
    before, n_tried = decisions(program, X), 0
    for k, t, c in np.argwhere(shown).tolist():
        table = program.tables[t]
        row = int(row_of(program, table, X[k : k + 1])[0])
        for bit in range(8):
            if not int(shown[k, t, c]) >> bit & 1:
                continue
            changed = table.costs.copy()
            changed[row, c] ^= 1 << bit
            others = list(program.tables)
            others[t] = replace(table, costs=changed)
            other = with_tables(program, others, program.prior)
            assert decisions(other, X[k : k + 1])[0] != before[k], (k, t, c, bit)
            n_tried += 1
    assert n_tried >= 5


def test_steps_have_the_answers_of_the_model():
    model = gated(products_of_sensors(3, 4), 2, 4)
    program, X = program_of(model), all_states(model)[:3]
    steps = near_tie_steps(model, program, X, 200)
    inputs = steps.inputs(X[0])
    is_input = steps.classes < 3
    assert np.array_equal(decisions(program, inputs)[is_input], steps.classes[is_input])
    assert is_input.any()
