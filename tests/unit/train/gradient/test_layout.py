"""Layout of the rows of all tables in one tensor."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bncc.structure.counts import family_rows
from bncc.structure.graph import Structure, forest
from bncc.train.gradient.layout import layout_of
from tests.strategies import structures


@st.composite
def problems(draw):
    n_states = draw(st.lists(st.integers(1, 4), min_size=1, max_size=5))
    structure = draw(structures(len(n_states)))
    return Structure(structure.parents, (True,) * len(n_states)), n_states


@given(problems(), st.integers(0, 2**32))
def test_a_feature_reads_its_own_tables_row(problem, seed):
    """Stacked tables at offset + strides . parents + state hold what the model's table holds."""
    structure, n_states = problem
    layout = layout_of(structure, n_states)
    generator = np.random.default_rng(seed)
    tables = [generator.random((rows, 2)) for rows in layout.n_table_rows]
    stacked = layout.stack(tables)
    assert stacked.shape == (layout.n_rows, 2)
    for ours, given_ in zip(layout.unstack(stacked), tables, strict=True):
        assert np.array_equal(ours, given_)
    X = np.stack([generator.integers(0, r, 20) for r in n_states], axis=1)
    rows = (
        layout.offset
        + X
        + sum(
            X[:, parent] * stride
            for parent, stride in zip(layout.parent.T, layout.stride.T, strict=True)
        )
    )
    for i, table in enumerate(tables):
        assert np.array_equal(stacked[rows[:, i]], table[family_rows(X, structure, n_states, i)])


@given(problems())
def test_groups_cover_all_rows_and_keep_a_distribution_together(problem):
    structure, n_states = problem
    layout = layout_of(structure, n_states)
    assert sum(q * r for q, r in layout.groups) == layout.n_rows
    starts = {0}
    end = 0
    for q, r in layout.groups:
        starts |= {end + k * r for k in range(q)}
        end += q * r
    for i, r in enumerate(n_states):
        first = int(layout.offset[i])
        assert starts >= set(range(first, first + int(layout.n_table_rows[i]), r))


def test_equal_cardinalities_are_one_group():
    assert layout_of(forest([None, 0, 1]), [2, 3, 2]).groups == ((4, 2), (2, 3))


@pytest.mark.parametrize("flags", [(False, False), (False, True)])
def test_features_without_the_class_come_last(flags):
    with pytest.raises(ValueError, match="features with the class, and before the others"):
        layout_of(Structure(((), ()), flags), [2, 2])


def test_features_without_the_class_are_read_and_have_no_table():
    layout = layout_of(Structure(((1,), ()), (True, False)), [2, 3])
    assert (layout.n_rows, layout.parent.tolist(), layout.stride.tolist()) == (6, [[1]], [[2]])


def test_the_first_parent_is_outermost():
    """Three states under parents of 5 and 2: one step of the first is worth 2 x 3 rows."""
    layout = layout_of(Structure(((), (), (0, 1)), (True,) * 3), [5, 2, 3])
    assert layout.stride.tolist() == [[0, 0], [0, 0], [6, 3]]
    assert layout.n_table_rows.tolist() == [5, 2, 30]
