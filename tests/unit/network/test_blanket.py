"""The Markov blanket, and removing all else without changing what is left."""

import numpy as np
import pytest

from bncc.network.blanket import blanket_of, markov_blanket
from bncc.network.network import Network
from tests.unit.network.networks import assert_equal, drawn


def joint(network):
    """Return the probability of every joint state, an axis per variable."""
    n = network.n_variables
    total = np.ones(network.n_states)
    for i, table in enumerate(network.tables):
        axes = (*network.parents[i], i)
        shaped = table.reshape([network.n_states[j] for j in axes])
        total = np.einsum(total, range(n), shaped, axes, range(n))
    return total


def drawn_graph(seed, n=7, zeros=0.0):
    rng = np.random.default_rng(seed)
    order = rng.permutation(n)
    parents = [()] * n
    for k, i in enumerate(order):
        some = order[:k][rng.random(k) < 0.4]
        parents[i] = tuple(int(j) for j in some[:3])
    return drawn(parents, rng.integers(1, 4, n).tolist(), seed, zeros=zeros)


def test_the_blanket_is_parents_children_and_spouses():
    #  0 -> 1 -> 2 <- 3 <- 4, 2 -> 5
    network = drawn([(), (0,), (1, 3), (4,), (), (2,)], [2] * 6)
    assert markov_blanket(network, 1) == (0, 2, 3)
    assert markov_blanket(network, 5) == (2,)
    assert markov_blanket(drawn([(), ()], [2, 2]), 0) == ()


@pytest.mark.parametrize("seed", range(30))
def test_what_is_left_keeps_its_joint_distribution(seed):
    network = drawn_graph(seed, zeros=0.3 * (seed % 2))
    for target in range(network.n_variables):
        found = blanket_of(network, target)
        kept = sorted({target, *markov_blanket(network, target)})
        gone = tuple(i for i in range(network.n_variables) if i not in kept)
        assert found.network.names == tuple(network.names[i] for i in kept)
        assert (found.target, found.n_removed) == (kept.index(target), len(gone))
        assert found.given == ()
        np.testing.assert_allclose(joint(found.network), joint(network).sum(axis=gone), atol=1e-12)


@pytest.mark.parametrize("seed", range(30))
def test_given_features_leave_the_posterior_with_all_known(seed):
    network = drawn_graph(seed)
    for target in range(network.n_variables):
        found = blanket_of(network, target, 1)
        kept = sorted({target, *markov_blanket(network, target)})
        gone = tuple(i for i in range(network.n_variables) if i not in kept)
        exact, ours = joint(network).sum(axis=gone), joint(found.network)
        axis = found.target
        np.testing.assert_allclose(
            ours / ours.sum(axis=axis, keepdims=True), exact / exact.sum(axis=axis, keepdims=True)
        )
        for i in found.given:
            assert found.network.parents[i] == ()
            assert target != kept[i]


def test_a_removal_that_makes_too_much_gives_its_children():
    """Variable 0 is above 1 and 2, both above the class 3: without it, 2 is below 1."""
    network = drawn([(), (0,), (0,), (1, 2)], [2, 3, 4, 2])
    exact, cut = blanket_of(network, 3, 12), blanket_of(network, 3, 11)
    assert (exact.given, exact.network.parents) == ((), ((), (0,), (0, 1)))
    assert (cut.given, cut.network.parents) == ((0, 1), ((), (), (0, 1)))


def test_a_network_of_its_blanket_stays_as_it_is():
    network = drawn([(), (0,), (0, 1)], [2, 3, 2])
    assert_equal(blanket_of(network, 0).network, network)


def test_a_class_that_stands_alone_is_all_that_is_left():
    found = blanket_of(drawn([(), (), (1,)], [2, 2, 2]), 0)
    assert (found.network.names, found.n_removed) == (("v0",), 2)
    assert isinstance(found.network, Network)
