"""The front of a program decides as the whole sum does wherever it decides."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from bncc.model.front import UNSURE, front_of
from bncc.program.front import split_front
from bncc.program.ir import costs, decisions
from bncc.program.pipeline import program_of
from bncc.program.ranges import largest_cost
from bncc.program.verifier import verify
from tests.models import behind_front, trees_of_sensors
from tests.tiers import examples


def split(model):
    front = front_of(model)
    assert front is not None
    return split_front(program_of(model), front)


@settings(max_examples=examples(20), deadline=None)
@given(
    n_classes=st.integers(2, 9), n_tables=st.integers(1, 4), n_leaves=st.integers(2, 20),
    seed=st.integers(0, 2**16),
)  # fmt: skip
def test_front_then_sum_is_the_sum_of_all(n_classes, n_tables, n_leaves, seed):
    model = behind_front(trees_of_sensors(n_classes, n_tables), n_leaves, seed)
    front, rest = split(model)
    rng = np.random.default_rng(seed)
    X = np.column_stack([rng.integers(0, n, 300) for n in model.n_states])
    leaf = front.table.tree.rows(X)
    answer = np.array(front.classes)[leaf]
    in_turn = np.where(answer == UNSURE, decisions(rest, X), answer)
    assert in_turn.tolist() == decisions(program_of(model), X).tolist()
    row = front.table.costs[leaf]
    assert (costs(rest, X) + row).tolist() == costs(program_of(model), X).tolist()


def test_both_parts_are_programs_of_their_own():
    front, rest = split(behind_front(trees_of_sensors(4, 3)))
    verify(front.program)
    verify(rest)
    assert len(rest.tables) == 3
    assert front.most > largest_cost(rest)
    assert not front.program.prior.any()
    assert rest.cost_bits == 8
