"""Models from networks, and networks from models."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings

from bncc.discretize.feature import Feature
from bncc.errors import NetworkError
from bncc.fixed_point import QFormat
from bncc.model.from_network import model_of
from bncc.model.reference import costs, log_proba, predict
from bncc.model.to_network import network_of_model
from bncc.network.network import Network, Variable
from bncc.structure.graph import Structure, forest
from tests import models as hand
from tests.strategies import models
from tests.tiers import examples
from tests.unit.network.networks import drawn
from tests.unit.network.test_blanket import drawn_graph, joint


def log_posterior(network, target, names, X):
    """Return ln p(class | features) of rows over some variables, all others marginalized."""
    at = [network.names.index(name) for name in names]
    gone = tuple(i for i in range(network.n_variables) if i not in (*at, target))
    left = [i for i in range(network.n_variables) if i not in gone]
    axes = [left.index(i) for i in (*at, target)]
    table = joint(network).sum(axis=gone).transpose(axes)[tuple(X.T)]
    return np.log(table / table.sum(axis=1, keepdims=True))


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("keep_all", [False, True])
def test_a_model_of_many_bits_is_the_network(seed, keep_all):
    network = drawn_graph(seed, n=6)
    for target in np.flatnonzero(np.array(network.n_states) > 1):
        if not keep_all and not (network.parents[target] or network.children[target]):
            continue
        made = model_of(network, int(target), 24, keep_all=keep_all)
        names = [feature.name for feature in made.model.features]
        assert made.n_removed == network.n_variables - 1 - len(names)
        X = hand.all_states(made.model)
        expected = log_posterior(network, int(target), names, X)
        np.testing.assert_allclose(log_proba(made.model, X), expected, atol=1e-4)


def test_the_binary_point_leaves_room_for_the_least_probability():
    table = np.array([[0.999, 0.001], [1.0, 0.0]])
    variables = (Variable("c", ("n", "y")), Variable("x", ("a b", "*/")))
    network = Network(variables, ((), (0,)), (np.array([[0.5, 0.5]]), table))
    made = model_of(network, 0, 6)
    # -ln 0.001 = 6.9 nats takes 3 bits before the point; the veto 55 + 6 + 1 takes no more
    assert made.model.q_format == QFormat(3, 3)
    assert made.model.tables[0].tolist() == [[0, 0], [55, 62]]
    assert (made.n_zeros, made.n_clipped, made.bits) == (1, 0, 6)
    assert made.model.features[0].categories == ("a b", "*/")
    assert made.model.classes == ("n", "y")
    tiny = np.array([[0.5, 0.5], [1.0, 1e-300]])
    network = Network(variables, ((), (0,)), (network.tables[0], tiny))
    assert model_of(network, 0).n_clipped == 1


@pytest.mark.parametrize(
    ("network", "target", "words"),
    [
        (drawn([(), (0,)], [1, 2]), 0, "'v0' has 1 states, and a class needs 2 to 255"),
        (drawn([(), (0,)], [256, 2]), 0, "'v0' has 256 states"),
        (drawn([(), ()], [2, 2]), 0, "'v0' is independent of all other variables"),
        (drawn([(), (0,)], [250, 300]), 0, "tables take 75250 bytes, more than 65536; raise"),
    ],
)
def test_a_class_that_makes_no_model_is_refused(network, target, words):
    with pytest.raises(NetworkError, match=words):
        model_of(network, target, 8, max_table_bytes=65536)


def test_large_tables_without_the_class_are_left_out():
    """Features 1 and 2 are above 3, which the class 0 is above too; 2 is below 1."""
    network = drawn([(), (), (1,), (0, 1, 2)], [2, 4, 5, 2])
    whole = model_of(network, 0)
    assert whole.model.structure.given == ()
    assert sum(table.size for table in whole.model.tables) == 128
    cut = model_of(network, 0, max_table_bytes=129)
    assert cut.model.structure == Structure(((), (), (0, 1)), (False, False, True), (), (1,))
    X = hand.all_states(cut.model)
    np.testing.assert_array_equal(predict(cut.model, X), predict(whole.model, X))
    with pytest.raises(NetworkError, match="take 100 bytes, more than 99; raise --max-table-bytes"):
        model_of(network, 0, max_table_bytes=99)
    assert model_of(network, 0, 9, max_table_bytes=200).model.structure == cut.model.structure


def test_entries_that_a_veto_makes_wider_are_counted():
    """As bytes they would be 100, as the veto takes 2 they are 200."""
    network = drawn([(), (), (1,), (0, 1, 2)], [2, 4, 5, 2], zeros=0.5)
    assert model_of(network, 0, 8, max_table_bytes=260).model.structure.given == ()
    assert model_of(network, 0, 8, max_table_bytes=259).model.structure.given == (1,)
    with pytest.raises(NetworkError, match="take 200 bytes"):
        model_of(network, 0, 8, max_table_bytes=199)
    # of a class without a zero in a table that reads it the same fits
    assert model_of(drawn([(), (), (1,), (0, 1, 2)], [2, 4, 5, 2]), 0, 8, max_table_bytes=199)


def test_a_network_from_a_model_has_its_posterior_where_tables_are_distributions():
    network = drawn([(), (0,), (0, 1), (2,)], [2, 3, 2, 4])
    for target in range(4):
        model = model_of(network, target, 16, keep_all=True).model
        made = network_of_model(model)
        assert made.n_changed == 0
        assert made.network.names[-1] == f"v{target}"
        X = hand.all_states(model)
        names = [feature.name for feature in model.features]
        expected = log_posterior(made.network, 3, names, X)
        np.testing.assert_allclose(log_proba(model, X), expected, atol=5e-3)


@given(models())
@settings(max_examples=examples(40))
def test_every_network_becomes_one_whatever_its_tables(model):
    if isinstance(model.structure, Structure) and not model.structure.cycles.closing:
        assert network_of_model(model).network.n_variables == model.n_features + 1
    else:
        with pytest.raises(NetworkError):
            network_of_model(model)


def test_rows_that_are_no_distributions_are_counted():
    made = network_of_model(hand.class_with_parents())
    # of six rows of "below" four, and of four rows of the class three
    assert made.n_changed == 7
    np.testing.assert_allclose(made.network.tables[1], 1 / 3)
    assert made.network.parents == ((), (), (1, 4), (), (3, 0))


def test_states_are_named_by_what_they_stand_for():
    features = (
        Feature("n", "int16", 3, thresholds=(-5, 100)),
        Feature("m", "float32", 3, thresholds=(2.5,), missing_state=2),
        Feature("c", "category", 3, categories=("red", "missing"), missing_state=2),
        Feature("s", "state", 2),
        Feature("class", "int16", 1),
    )
    model = hand.model_of(
        features, forest([None] * 5), QFormat(3, 0), [0, 1],
        [[[1, 1]] * feature.n_states for feature in features],
    )  # fmt: skip
    variables = network_of_model(model).network.variables
    assert [v.states for v in variables[:5]] == [
        ("<=-5", ">-5<=100", ">100"),
        ("<=2.5", ">2.5", "missing"),
        ("red", "missing", "missing_"),
        ("0", "1"),
        ("any",),
    ]
    assert variables[5].name == "class_"
    named = replace(model, training={"class_name": "kind"})
    assert network_of_model(named).network.names[-1] == "kind"


@pytest.mark.parametrize("make", [hand.sum_of_tables, hand.pseudo_tan])
def test_what_is_no_network_is_not_exported(make):
    with pytest.raises(NetworkError, match=r"train with .*--structure"):
        network_of_model(make())


def test_ties_of_equal_classes_go_to_the_first():
    network = Network(
        (Variable("c", ("n", "y")), Variable("x", ("a", "b"))),
        ((), (0,)),
        (np.array([[0.5, 0.5]]), np.array([[0.5, 0.5], [0.5, 0.5]])),
    )
    model = model_of(network, 0).model
    assert (costs(model, np.array([[0], [1]])).std(axis=1) == 0).all()
    assert predict(model, np.array([[0], [1]])).tolist() == [0, 0]


def test_tables_lie_in_memory_as_those_of_a_file():
    """The class is the outermost parent of a feature, as it is not in a table of costs."""
    model = model_of(drawn([(), (0, 2), ()], [2, 3, 4]), 0).model
    assert all(table.flags.c_contiguous for table in model.tables)
