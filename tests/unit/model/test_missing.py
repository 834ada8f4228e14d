"""Decisions with missing features: the definition, float64, and what is refused."""

import re
from dataclasses import replace

import numpy as np
import pytest

from bncc.errors import DataError, ModelError
from bncc.fixed_point import QFormat
from bncc.model import marginal, missing, missing_form, reference
from bncc.model.missing_form import LogAdd
from bncc.model.to_network import network_of_model
from bncc.network.inference import log_posterior
from bncc.structure.graph import Structure
from tests.missing_oracle import Oracle, drawn_model, gaps_of
from tests.models import (
    category_with_missing,
    class_with_parents,
    general_network,
    naive_integer,
    one_state_feature,
    pseudo_tan,
    sum_of_tables,
)

FOREST = ([None, 0, 1, 1, 0, None], [2, 3, 4, 2, 1, 3])
SHAPES = {
    "naive": drawn_model([None] * 4, [2, 3, 4, 1], QFormat(4, 0)),
    "tree": drawn_model(*FOREST, QFormat(3, 1)),
    "many fraction bits": drawn_model(*FOREST, QFormat(3, 11), seed=1),
    "eight fraction bits": drawn_model(*FOREST, QFormat(3, 8), seed=2),
    "few bits": drawn_model(*FOREST, QFormat(4, -3), seed=3),
    "class at some": drawn_model(
        *FOREST, QFormat(4, 2), seed=4, of_class=[False, True, False, True, True, False]
    ),
    "network": general_network(),
    "two parents": drawn_model(None, [2, 3, 2, 3], QFormat(4, 2), parents=[(), (), (0, 1), (2, 0)]),
    "class with parents": drawn_model(
        None, [2, 3, 2, 3, 2], QFormat(4, 2), parents=[(), (0,), (), (1, 2), (3,)],
        of_class=[False, False, False, True, True], above=(2, 1), seed=6,
    ),
    "class with parents alone": drawn_model(
        [None, None], [3, 2], QFormat(4, 1), of_class=[False, False], above=(0, 1), seed=7
    ),
    "one feature": one_state_feature(),
}  # fmt: skip


def with_given():
    """Return two features of which one has no distribution."""
    return replace(naive_integer(), structure=Structure(((), ()), (True, False), given=(1,)))


@pytest.mark.parametrize("name", SHAPES)
def test_costs_are_those_of_the_definition(name):
    model = SHAPES[name]
    generator = np.random.default_rng(5)
    X, is_missing, rows = gaps_of(model, 60, generator)
    is_missing[0], is_missing[1] = True, False
    rows[0], rows[1] = [None] * model.n_features, X[1].tolist()
    oracle = Oracle(model)
    expected = np.array([oracle.costs(row) for row in rows])
    X[is_missing] = 10**6  # the values are ignored
    found = missing.costs(model, X, is_missing)
    np.testing.assert_array_equal(found, expected)
    np.testing.assert_array_equal(missing.predict(model, X, is_missing), expected.argmin(axis=1))
    least = expected.min(axis=1, keepdims=True)
    np.testing.assert_array_equal(missing.scores(model, X, is_missing), expected - least)


@pytest.mark.parametrize("name", SHAPES)
def test_with_nothing_missing_costs_are_those_of_the_model_shifted(name):
    model = SHAPES[name]
    X = np.random.default_rng(2).integers(0, model.n_states, (30, model.n_features))
    found = missing.costs(model, X, np.zeros(X.shape, dtype=bool))
    shift = missing_form.missing_form_of(model).log_add.extra_bits
    np.testing.assert_array_equal(found, reference.costs(model, X) << shift)


@pytest.mark.parametrize(
    "name", [name for name in SHAPES if not SHAPES[name].structure.class_parents]
)
def test_with_all_missing_the_prior_decides(name):
    model = SHAPES[name]
    X = np.zeros((1, model.n_features), dtype=int)
    found = missing.costs(model, X, np.ones(X.shape, dtype=bool))
    shift = missing_form.missing_form_of(model).log_add.extra_bits
    np.testing.assert_array_equal(found[0], model.prior << shift)


def test_a_missing_feature_of_naive_bayes_drops_its_table():
    model = naive_integer()
    costs = missing.costs(model, np.array([[1, 0], [2, 1]]), np.array([[0, 1], [1, 0]], dtype=bool))
    np.testing.assert_array_equal(costs, [[6, 3, 9], [5, 4, 3]])


def test_costs_are_near_those_of_float64():
    for frac_bits in (1, 3, 6):
        model = drawn_model(*FOREST, QFormat(8 - frac_bits, frac_bits), seed=9)
        X, is_missing, _ = gaps_of(model, 500, np.random.default_rng(1))
        unit = 2.0**-frac_bits
        exact = marginal.log_joint(
            model.structure,
            model.n_states,
            (-model.prior * unit, [-table * unit for table in model.tables]),
            X,
            is_missing,
        )
        used = missing.predict(model, X, is_missing)
        shift = missing_form.missing_form_of(model).log_add.extra_bits
        found = -missing.costs(model, X, is_missing) * unit * 2.0**-shift
        # skipping omits tables that sum to 1 up to rounding, which float64 does not
        assert (used == exact.argmax(axis=1)).mean() > 0.9
        assert np.median(np.abs(found - exact)) < unit


@pytest.mark.parametrize("name", ["two parents", "class with parents", "class with parents alone"])
def test_networks_are_near_exact_inference(name):
    """Posteriors of the network that the tables represent, by variable elimination."""
    coarse = SHAPES[name]
    model = drawn_model(
        None, coarse.n_states, QFormat(5, 12), seed=8, parents=coarse.structure.parents,
        of_class=coarse.structure.class_is_parent, above=coarse.structure.class_parents,
    )  # fmt: skip
    X, is_missing, _ = gaps_of(model, 300, np.random.default_rng(3))
    network = network_of_model(model).network
    with_class = np.column_stack([X, np.zeros(len(X), dtype=int)])
    gaps = np.column_stack([is_missing, np.ones(len(X), dtype=bool)])
    exact = log_posterior(network, model.n_features, with_class, gaps)
    found = missing.log_proba(model, X, is_missing)
    # entries of the correction table are 1/32 nat apart: an addition is off by at most 1/128
    most = 2 * missing_form.n_joint(model, model.structure) / 128
    np.testing.assert_allclose(found, exact, atol=most)
    assert (found.argmax(axis=1) == exact.argmax(axis=1)).mean() > 0.98


def test_rows_are_looked_at_in_parts(monkeypatch):
    model = SHAPES["tree"]
    X, is_missing, _ = gaps_of(model, 50, np.random.default_rng(4))
    whole = missing.costs(model, X, is_missing)
    monkeypatch.setattr(missing, "PART", 100)
    np.testing.assert_array_equal(missing.costs(model, X, is_missing), whole)


def test_rows_are_summed_in_step_whatever_their_gaps_are(monkeypatch):
    model, calls = SHAPES["class with parents"], []
    fold = LogAdd.fold

    def counted(self, terms):
        calls.append(self)
        return fold(self, terms)

    monkeypatch.setattr(LogAdd, "fold", counted)
    is_missing = np.array(list(np.ndindex(*[2] * 5)), dtype=bool)
    missing.costs(model, np.zeros((32, 5), dtype=int), is_missing)
    assert len(calls) <= 9  # 1, 2, 3, 4, 6, 9, 12, 18 or 36 joint states


def test_no_rows_have_no_costs():
    for model in (SHAPES["tree"], SHAPES["network"]):
        X = np.empty((0, model.n_features), dtype=int)
        assert missing.costs(model, X, X == 0).shape == (0, 3)


@pytest.mark.parametrize(
    ("model", "words"),
    [
        (sum_of_tables(), "a sum of tables"),
        (pseudo_tan(), "arcs form a cycle"),
        (replace(naive_integer(), training={"parameters": "free"}), "free tables"),
        (with_given(), "given features"),
        (
            class_with_parents(),
            "given features.*import it with --keep all if its .*, or train with rows",
        ),
        (
            drawn_model([None] * 2, [65, 64], QFormat(4, 0), of_class=[False] * 2, above=(0, 1)),
            "4160 joint states",
        ),
        (
            drawn_model(None, [65, 64, 2], QFormat(4, 0), parents=[(), (), (0, 1)]),
            "4160 joint states",
        ),
        (drawn_model([None, 0], [2, 2], QFormat(-3, 31)), "32 bits; train or import it with fewer"),
    ],
    ids=["sum", "cycle", "free", "given", "class and given", "joint of class", "joint", "bits"],
)
def test_what_cannot_be_summed_out_is_refused(model, words):
    assert re.search(words, missing.why_not(model))
    X = np.zeros((1, model.n_features), dtype=int)
    with pytest.raises(ModelError, match=words):
        missing.costs(model, X, X == 0)


def test_a_model_that_can_has_nothing_against_it():
    assert missing.why_not(category_with_missing()) is None
    # 4096 joint states: the last feature has no children
    model = drawn_model(None, [64, 64, 3], QFormat(4, 0), parents=[(), (), (0, 1)])
    assert missing.why_not(model) is None


def test_states_that_do_not_fit_are_refused():
    model = SHAPES["tree"]
    X = np.zeros((2, 6), dtype=int)
    with pytest.raises(DataError, match="one column for each"):
        missing.costs(model, X, np.zeros((2, 5), dtype=bool))
    with pytest.raises(DataError, match="one column for each"):
        missing.costs(model, X[0], X[0] == 0)
    for state in (-1, 4):
        X[1, 2] = state
        with pytest.raises(DataError, match="out of range"):
            missing.costs(model, X, np.zeros(X.shape, dtype=bool))
        gap = np.zeros(X.shape, dtype=bool)
        gap[1, 2] = True
        missing.costs(model, X, gap)
