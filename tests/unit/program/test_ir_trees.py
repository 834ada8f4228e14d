"""Programs of decision trees: passes, bounds, text and levels."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings

from bncc.errors import IrError
from bncc.program.ir import costs, decisions, leveled
from bncc.program.pipeline import FLOWS, optimize, program_of
from bncc.program.ranges import cost_bounds
from bncc.program.text import print_program
from bncc.program.verifier import verify
from bncc.structure.decision_tables import BranchingTable
from tests.models import trees_of_sensors
from tests.tiers import examples
from tests.tree_programs import tree_program, tree_programs
from tests.unit.lower.by_hand import program, table


def drawn(some, n=50):
    return np.random.default_rng(0).integers(0, some.n_states, (n, len(some.n_states)))


@pytest.mark.parametrize("flow", FLOWS)
@given(some=tree_programs())
@settings(max_examples=10, deadline=None)
def test_passes_keep_margins(flow, some):
    after, _ = optimize(some, flow)
    X = drawn(some)
    before, now = costs(some, X), costs(after, X)
    assert np.array_equal(before - before.min(1)[:, None], now - now.min(1)[:, None])


@given(some=tree_programs())
@settings(max_examples=examples(20), deadline=None)
def test_bounds_hold_and_levels_are_the_same_sum(some):
    X = drawn(some)
    low, high = cost_bounds(some)
    found = costs(some, X)
    assert (low <= found).all()
    assert (found <= high).all()
    plain = leveled(some)
    assert not any(table.maps or table.tree for table in plain.program.tables)
    assert np.array_equal(decisions(plain.program, plain.states(X)), decisions(some, X))


def test_the_bound_of_one_tree_is_reached():
    some = tree_program(3, 4, 3, 1, 8)
    low, high = cost_bounds(some)
    (only,) = some.tables
    assert np.array_equal(low, some.prior + only.costs.min(axis=0))
    assert np.array_equal(high, some.prior + only.costs.max(axis=0))


TREE = BranchingTable((0, 1), (0, 1), (-1, -2), (1, -3))
ROWS = [[0, 1], [2, 3], [4, 5]]


def broken(**changes):
    whole = replace(table([0, 1], ROWS), tree=TREE)
    return program([2, 3], [0, 0], [replace(whole, **changes)])


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"features": (0,)}, "reads the features of its decision tree"),
        ({"maps": {0: (0, 1)}}, "by states alone"),
        ({"costs": np.array(ROWS[:2])}, "one row per"),
        ({"tree": replace(TREE, cuts=(1, 1))}, "has nothing on one side"),
        ({"tree": replace(TREE, below=(-2, -1))}, "leaves of its tree in order"),
    ],
)
def test_the_verifier_checks_the_tree(changes, words):
    verify(broken())
    with pytest.raises(IrError, match=words):
        verify(broken(**changes))


def test_a_tree_is_printed_as_conditions():
    text = print_program(broken())
    assert '"x0,x1"[x0 > 0 ? (x1 > 1 ? (2) : (1)) : (0)] u32, 3 rows, costs 0 .. 5' in text


def test_a_model_and_its_program_cost_the_same():
    from bncc.model.reference import costs as of_model

    model = trees_of_sensors(4, 3)
    some = program_of(model)
    X = drawn(some)
    assert np.array_equal(costs(some, X), of_model(model, X))
