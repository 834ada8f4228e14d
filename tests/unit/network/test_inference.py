"""Exact posteriors, compared with the sum over all states and with another program."""

import json
from pathlib import Path

import numpy as np
import pytest

from bncc.errors import NetworkError
from bncc.model.marginal import log_joint as forest_log_joint
from bncc.network import inference
from bncc.network.bif import read_bif
from bncc.network.inference import log_joint, log_posterior
from bncc.network.network import Network, Variable
from bncc.structure.graph import Structure
from tests.unit.network.networks import drawn
from tests.unit.network.test_blanket import drawn_graph, joint

FIXTURES = Path(__file__).parents[2] / "fixtures"


def by_sum(network, target, x, gap):
    """Return p(c, known) of a row by adding up the joint distribution."""
    table = joint(network)
    at = tuple(
        slice(None) if gap[i] or i == target else int(x[i]) for i in range(network.n_variables)
    )
    left = [i for i in range(network.n_variables) if gap[i] or i == target]
    gone = tuple(k for k, i in enumerate(left) if i != target)
    return table[at].sum(axis=gone)


@pytest.mark.parametrize("seed", range(12))
def test_sums_over_all_states_are_met(seed):
    network = drawn_graph(seed, n=6, zeros=0.3 * (seed % 2))
    rng = np.random.default_rng(seed)
    X = np.stack([rng.integers(0, r, 25) for r in network.n_states], axis=1)
    gaps = rng.random(X.shape) < 0.4
    for target in range(6):
        found = np.exp(log_joint(network, target, X, gaps))
        expected = [by_sum(network, target, x, gap) for x, gap in zip(X, gaps, strict=True)]
        np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-300)


def test_with_all_known_the_tables_add_up():
    network = drawn([(), (0,)], [2, 3])
    X = np.array([[0, 2], [1, 1]])
    expected = np.log(network.tables[0]) + np.log(network.tables[1][:, [2, 1]].T)
    np.testing.assert_allclose(log_joint(network, 0, X), expected)
    posterior = log_posterior(network, 0, X)
    np.testing.assert_allclose(np.exp(posterior).sum(axis=1), 1)
    assert log_joint(network, 0, X[:0]).shape == (0, 2)


def test_the_impossible_has_no_posterior():
    variables = (Variable("a", ("n", "y")), Variable("b", ("n", "y")))
    network = Network(variables, ((), (0,)), (np.array([[0.5, 0.5]]), np.array([[1.0, 0.0]] * 2)))
    X = np.array([[0, 1]])
    assert np.isneginf(log_joint(network, 0, X)).all()
    assert np.isnan(log_posterior(network, 0, X)).all()


def test_long_chains_do_not_leave_float64():
    n = 3000
    network = drawn([(), *((i,) for i in range(n - 1))], [2] * n)
    X = np.zeros((2, n), dtype=int)
    gaps = np.zeros((2, n), dtype=bool)
    gaps[1, ::2] = True
    found = log_joint(network, 0, X, gaps)
    expected = np.log(network.tables[0][0]) + np.log(network.tables[1][:, 0])
    expected += sum(float(np.log(table[0, 0])) for table in network.tables[2:])
    np.testing.assert_allclose(found[0], expected)
    assert np.isfinite(found).all()
    assert (found[1] < -700).all()


def test_rows_in_parts_give_the_same(monkeypatch):
    network = drawn_graph(3)
    rng = np.random.default_rng(0)
    X = np.stack([rng.integers(0, r, 40) for r in network.n_states], axis=1)
    gaps = rng.random(X.shape) < 0.5
    whole = log_joint(network, 2, X, gaps)
    monkeypatch.setattr(inference, "MAX_FACTOR", 100)
    np.testing.assert_array_equal(log_joint(network, 2, X, gaps), whole)


def test_a_factor_beyond_the_limit_is_refused(monkeypatch):
    network = drawn([(), (), (), (0, 1, 2)], [4, 4, 4, 2])
    monkeypatch.setattr(inference, "MAX_FACTOR", 60)
    gaps = np.array([[True, True, True, False]])
    with pytest.raises(NetworkError, match="3 unknown variables a factor would hold 64 numbers"):
        log_joint(network, 0, np.zeros((1, 4), int), gaps)


def saved(name):
    """
    Return 200 rows, -1 where unknown, and posteriors of pyAgrum 3.3.1's LazyPropagation.

    30 % are unknown. posteriors_etan is ETAN by BDeu of every sixtieth row of the bundled
    robot_wall_following_24, posteriors_drawn a random network; both hold their tables, and were
    made with posteriors_by_pyagrum.py.
    """
    record = json.loads((FIXTURES / f"posteriors_{name}.json").read_text("utf-8"))
    return record, np.array(record["states"]), np.array(record["posteriors"])


def saved_network(record):
    variables = tuple(
        Variable(str(i), tuple(map(str, range(r)))) for i, r in enumerate(record["n_states"])
    )
    return Network(
        variables, tuple(map(tuple, record["parents"])), tuple(map(np.array, record["tables"]))
    )


@pytest.mark.parametrize("name", ["drawn", "etan"])
def test_posteriors_of_lazy_propagation_are_met(name):
    record, X, expected = saved(name)
    network = saved_network(record)
    assert X.shape == (200, network.n_variables)
    found = np.exp(log_posterior(network, record["target"], np.maximum(X, 0), X < 0))
    assert np.abs(found - expected).max() < 1e-9


@pytest.mark.shared
@pytest.mark.parametrize("name", ["asia", "child"])
def test_posteriors_of_known_networks_are_those_of_lazy_propagation(shared_data, name):
    record, X, expected = saved(name)
    network = read_bif(shared_data / "networks" / f"{name}.bif.gz")
    found = np.exp(log_posterior(network, record["target"], np.maximum(X, 0), X < 0))
    assert np.abs(found - expected).max() < 1e-9


def test_messages_over_an_etan_meet_lazy_propagation_too():
    """`bncc.model.marginal` against the same answers."""
    record, X, expected = saved("etan")
    network, target = saved_network(record), record["target"]
    features = range(target)
    flags = tuple(target in network.parents[i] for i in features)
    assert 0 < sum(flags) < len(flags)
    structure = Structure(
        tuple(network.parents[i][: len(network.parents[i]) - flags[i]] for i in features), flags
    )
    tables = []
    for i in features:
        shape = [network.n_states[j] for j in (*network.parents[i], i)]
        table = network.tables[i].reshape(shape)
        table = np.moveaxis(table, -2, -1) if flags[i] else np.repeat(table[..., None], 4, axis=-1)
        tables.append(np.log(table).reshape(-1, 4))
    prior = np.log(network.tables[target][0])
    states, gaps = np.maximum(X, 0)[:, :target], X[:, :target] < 0
    joint = forest_log_joint(structure, network.n_states[:target], (prior, tables), states, gaps)
    found = np.exp(joint - np.logaddexp.reduce(joint, axis=1, keepdims=True))
    assert np.abs(found - expected).max() < 1e-9
