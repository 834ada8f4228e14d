"""Row finding: the form of the walk, its arrays, and orders that need fewer of them."""

import numpy as np
import pytest

from bncc.lower.kernels.packed.layout import orders, walk_of
from bncc.program.ir import costs
from tests.unit.lower.by_hand import inputs, program, table

N_STATES = (2, 3, 2)


def some_program(*features):
    """Return a program whose tables read these features."""
    rng = np.random.default_rng(0)
    tables = [
        table(reads, rng.integers(0, 9, (int(np.prod([N_STATES[f] for f in reads])), 2)))
        for reads in features
    ]
    return program(N_STATES, [0, 0], tables)


def arrays(walk):
    """Return the arrays of a walk as lists."""
    found = (walk.own, walk.parents, walk.reads, walk.arities)
    return tuple(None if array is None else array.tolist() for array in found)


def test_a_table_per_feature_in_their_order_needs_no_array():
    walk = walk_of(some_program([0], [1], [2]))
    assert walk.form == "own"
    assert arrays(walk) == (None, None, None, None)
    assert walk.n_bytes(3) == 0


@pytest.mark.parametrize("features", [([0], [2]), ([1], [0], [2])])
def test_tables_of_one_feature_say_which(features):
    walk = walk_of(some_program(*features))
    assert walk.form == "own"
    assert arrays(walk) == ([f for (f,) in features], None, None, None)
    assert walk.n_bytes(3) == len(features)


def test_a_root_is_its_own_parent():
    walk = walk_of(some_program([0], [0, 1], [1, 2]))
    assert walk.form == "parent"
    assert arrays(walk) == (None, [0, 0, 1], None, None)
    assert walk.n_bytes(3) == 3
    assert arrays(walk_of(some_program([1, 2]))) == ([2], [1], None, None)


@pytest.mark.parametrize("features", [([0], [0, 1, 2]), ([], [1])])
def test_any_other_number_of_features_is_listed(features):
    walk = walk_of(some_program(*features))
    assert walk.form == "parents"
    reads = [f for reads in features for f in reads]
    assert arrays(walk) == (None, None, reads, [len(reads) for reads in features])
    assert walk.arity_bits == 8
    assert walk.n_bytes(3) == len(reads) + 2
    assert walk.n_bytes(257) == 2 * len(reads) + 2


def test_tables_in_the_order_of_their_own_features_come_second():
    first, second = orders(some_program([1], [2, 0]))
    assert [t.features for t in first.tables] == [(1,), (2, 0)]
    assert [t.features for t in second.tables] == [(2, 0), (1,), (2,)]
    assert not second.tables[2].costs.any()
    assert walk_of(second).own is None
    X = inputs(N_STATES)
    assert (costs(first, X) == costs(second, X)).all()


@pytest.mark.parametrize(
    "features", [([0], [1], [2]), ([0, 1], [2, 1], [2]), ([], [1]), ([0], [2, 0, 1])]
)
def test_there_is_no_other_order_where_it_would_not_help(features):
    """In order already; two tables with one own feature; none; any number of features."""
    assert len(list(orders(some_program(*features)))) == 1
