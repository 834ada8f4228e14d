"""Removal of thresholds that no table reads, without changing a decision."""

from dataclasses import replace

import numpy as np
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from bncc.data.dataset import Column, Table
from bncc.discretize.feature import Feature, states_of
from bncc.structure.decision_tables import BranchingTable, DecisionTable, TableEnsemble
from bncc.train.fit_tables import pruned
from tests.strategies import grids
from tests.tiers import examples

READINGS = [-9.0, -1.0, 0.0, 1.0, 2.5, 7.0, 99.0]


def test_only_the_thresholds_that_are_read_stay():
    features = (Feature("a", "float32", 5, (0.0, 1.0, 2.0, 3.0)), Feature("b", "int16", 2, (8,)))
    inputs, left = pruned(
        features, TableEnsemble((DecisionTable((0,), ((1, 3),)), DecisionTable((0,), ((3,),))))
    )
    assert inputs[0] == Feature("a", "float32", 3, (1.0, 3.0))
    assert inputs[1] == Feature("b", "int16", 1)
    assert left == TableEnsemble((DecisionTable((0,), ((0, 1),)), DecisionTable((0,), ((1,),))))


def test_trees_keep_the_thresholds_that_nodes_read():
    features = (Feature("a", "float32", 5, (0.0, 1.0, 2.0, 3.0)), Feature("b", "int16", 3, (8, 9)))
    tree = BranchingTable((0, 1, 0), (1, 1, 3), (1, -1, -3), (2, -2, -4))
    inputs, left = pruned(features, TableEnsemble((tree, DecisionTable((0,), ((2,),)))))
    assert inputs[0] == Feature("a", "float32", 4, (1.0, 2.0, 3.0))
    assert inputs[1] == Feature("b", "int16", 2, (9,))
    assert left.tables[0] == replace(tree, cuts=(0, 0, 2))
    assert left.tables[1] == DecisionTable((0,), ((1,),))


def test_a_state_of_missing_readings_stays_the_last():
    features = (Feature("a", "float32", 4, (0.0, 1.0), missing_state=3),)
    inputs, left = pruned(features, TableEnsemble((DecisionTable((0,), ((0,),)),)))
    assert inputs[0] == Feature("a", "float32", 3, (0.0,), missing_state=2)
    assert left == TableEnsemble((DecisionTable((0,), ((0,),)),))


def test_categories_and_states_keep_theirs():
    features = (
        Feature("a", "category", 3, categories=("x", "y", "z"), missing_state=1),
        Feature("b", "state", 4, missing_state=2),
    )
    sums = TableEnsemble((DecisionTable((0, 1), ((1,), (0, 2))),))
    assert pruned(features, sums) == (features, sums)


@st.composite
def trees(draw, n_states):
    """Draw a tree of two cuts."""
    cut_features = [f for f, n in enumerate(n_states) if n > 1]
    read = tuple(draw(st.sampled_from(cut_features)) for _ in range(2))
    cuts = tuple(draw(st.integers(0, n_states[f] - 2)) for f in read)
    below, above = draw(st.sampled_from([((1, -1), (-3, -2)), ((-1, -2), (1, -3))]))
    return BranchingTable(read, cuts, below, above)


@given(st.data())
@settings(max_examples=examples(60), deadline=None)
def test_every_reading_stays_in_its_row(data):
    cuts = st.sets(st.integers(-2, 3).map(float), max_size=4)
    features = []
    for name in "abc":
        thresholds = tuple(sorted(data.draw(cuts)))
        has_missing = data.draw(st.booleans())
        n_known = len(thresholds) + 1
        missing_state = n_known if has_missing else data.draw(st.integers(0, n_known - 1))
        features.append(
            Feature(name, "float32", n_known + has_missing, thresholds, (), missing_state)
        )
    n_states = [feature.n_states for feature in features]
    assume(max(n_states) > 1)
    sums = data.draw(grids(n_states))
    tree = data.draw(trees(n_states))
    sums = TableEnsemble((*sums.tables, tree))
    rng = np.random.default_rng(data.draw(st.integers(0, 99)))
    columns = [
        Column(f.name, "float", rng.choice(READINGS, 30), rng.random(30) < 0.2) for f in features
    ]
    table = Table(tuple(columns))
    inputs, left = pruned(tuple(features), sums)
    X, Z = states_of(tuple(features), table), states_of(inputs, table)
    for before, after in zip(sums.tables, left.tables, strict=True):
        assert np.array_equal(before.rows(X), after.rows(Z))
