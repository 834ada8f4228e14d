"""Marginalization of missing features on a device: the walk, and the storage of sums."""

import numpy as np
import pytest

from bncc.errors import ModelError
from bncc.fixed_point import QFormat
from bncc.lower.missing.plan import plan_missing
from bncc.model import reference
from bncc.model.missing_form import n_joint
from tests.missing_oracle import drawn_model, joint_models
from tests.models import (
    class_with_parents,
    general_network,
    naive_integer,
    pseudo_tan,
    tan_float,
)


def plan(parent, n_states, int_bits=4, frac_bits=0):
    return plan_missing(drawn_model(parent, n_states, QFormat(int_bits, frac_bits)))


def test_a_chain_is_walked_from_its_end_and_holds_two_features_sums():
    found = plan([None, 0, 1, 2], [5, 3, 4, 2])
    assert found.features == (3, 2, 1, 0)
    assert found.parents == (1, 2, 3, None)
    assert found.strides == (6, 12, 9, 0)
    # x2 has 4 sums from 0 on, x1 has 3 after them, x0 5 in the place of x2's and one more
    assert found.places == (0, 0, 4, 7)
    assert found.n_sums == 12


def test_the_child_that_holds_most_comes_first():
    """Otherwise the sums of the root would be stored together with the largest of all others."""
    found = plan([None, 0, 0, 2], [2, 2, 9, 2])
    assert found.features == (3, 2, 1, 0)
    assert found.n_sums == 11


def test_places_are_given_to_others_once_they_are_free():
    n_states = [2] * 9
    found = plan([None, 0, 1, 2, 3, 4, 5, 6, 7], n_states)
    assert found.n_sums == 4
    assert set(found.places) == {0, 2}


def test_no_two_features_hold_sums_at_one_place_at_a_time():
    generator = np.random.default_rng(3)
    for _ in range(20):
        n = 12
        order = generator.permutation(n)
        parent = [None] * n
        for k in range(1, n):
            if generator.random() < 0.9:
                parent[order[k]] = int(order[generator.integers(0, k)])
        n_states = generator.integers(1, 5, n).tolist()
        found = plan(parent, n_states)
        holder = [None] * found.n_sums
        for k, up in enumerate(found.parents):
            assert up is None or up > k
            if up is not None:
                size = n_states[found.features[up]]
                taken = holder[found.places[up] : found.places[up] + size]
                assert set(taken) <= {None, up}
                holder[found.places[up] : found.places[up] + size] = [up] * size
            holder = [None if held == k else held for held in holder]
        assert not any(holder)


def test_naive_bayes_holds_one_sum_a_class():
    found = plan_missing(naive_integer())
    assert not found.has_arcs
    assert (found.n_sums, found.scratch_bytes) == (0, 3 * 2)
    assert found.starts == (0, 9)


def test_tables_are_those_of_the_model():
    model = tan_float()
    found = plan_missing(model)
    assert found.features == (2, 1, 0)
    np.testing.assert_array_equal(
        found.costs, np.concatenate([model.tables[i].ravel() for i in (2, 1, 0)])
    )
    assert found.starts == (0, 12, 24)
    assert (found.entry_bits, found.place_bits, found.number_bits) == (8, 16, 16)
    assert found.scratch_bytes == 3 * 2 + 5 * 2


def test_widths_are_those_that_numbers_need():
    tree = [None, 0], [3, 4]
    assert plan(*tree, 3, 1).entry_bits == 4
    assert plan(*tree, 3, 4).entry_bits == 8
    assert plan(*tree, 5, 8).entry_bits == 16
    assert plan(*tree, 3, 4).number_bits == 16
    assert plan(*tree, 5, 12).number_bits == 32
    assert plan([None, 0], [150, 150]).place_bits == 32


@pytest.mark.parametrize(
    ("model", "words"), [(class_with_parents(), "given features"), (pseudo_tan(), "a cycle")]
)
def test_other_models_are_refused(model, words):
    with pytest.raises(ModelError, match=words):
        plan_missing(model)


def test_arcs_are_what_reads_each_feature():
    parents = [(), (0,), (), (1, 2)]
    of_class = [False, False, False, True]
    model = drawn_model(
        None, [2, 3, 4, 2], QFormat(4, 0), parents=parents, of_class=of_class, above=(2, 1)
    )
    found = plan_missing(model)
    assert found.starts == (0, 6, 24, 36, 108)
    assert found.has_class_table
    assert [[(arc.table, arc.stride, arc.span) for arc in some] for some in found.arcs] == [
        [(0, 3, 3), (1, 9, 9)],
        [(1, 3, 6), (3, 24, 48), (4, 3, 6)],
        [(2, 3, 9), (3, 6, 18), (4, 9, 27)],
        [(3, 3, 3)],
    ]
    assert found.arcs_at == (0, 2, 5, 8, 9)
    assert found.upward == (3, 1, 2, 0)
    assert (found.n_summed, found.n_joint) == (3, 24)
    assert found.scratch_bytes == 5 * 2 + 3 * 2


def test_rows_are_where_arcs_lead():
    """For any joint state the rows are those that the reference looks up."""
    for model in joint_models().values():
        found = plan_missing(model)
        X = np.random.default_rng(1).integers(0, model.n_states, (20, model.n_features))
        rows = reference.rows(model, X)
        for t, start in enumerate(found.starts):
            places = np.full(len(X), start)
            for i, some in enumerate(found.arcs):
                places += sum(arc.stride * X[:, i] for arc in some if arc.table == t)
            np.testing.assert_array_equal(places, start + rows[:, t] * model.n_classes)
        assert found.n_joint == n_joint(model, model.structure)


def test_a_network_without_a_class_table_has_no_more_than_features():
    found = plan_missing(general_network())
    assert not found.has_class_table
    assert len(found.starts) == len(found.arcs)
