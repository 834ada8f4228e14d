"""The network sums the rows of its tables, and learns through them."""

import numpy as np
import pytest
import torch

from bncc.structure.graph import forest
from bncc.train.gradient.layout import LEAST_LOG, layout_of
from bncc.train.gradient.network import Network, states_tensor
from bncc.train.maximum_likelihood import ml_log_tables

CPU = torch.device("cpu")
N_STATES = [3, 2, 4]
STRUCTURE = forest([1, None, 0])
GENERATOR = np.random.default_rng(0)
X = np.stack([GENERATOR.integers(0, r, 60) for r in N_STATES], axis=1)
Y = GENERATOR.integers(0, 3, 60)
TABLES = ml_log_tables(X, Y, STRUCTURE, N_STATES, 3)


def network(tables=TABLES):
    return Network(layout_of(STRUCTURE, N_STATES), *tables, CPU)


def log_joint(log_prior, tables, dropped=None):
    total = np.tile(log_prior, (len(X), 1))
    for i, parent in enumerate((1, None, 0)):
        rows = X[:, i] if parent is None else X[:, parent] * N_STATES[i] + X[:, i]
        kept = 1.0 if dropped is None else ~dropped[:, i : i + 1]
        total += tables[i][rows] * kept
    return total


def test_it_begins_with_the_given_tables():
    log_prior, tables = network().log_tables()
    assert log_prior == pytest.approx(TABLES[0], abs=1e-6)
    for ours, given in zip(tables, TABLES[1], strict=True):
        assert np.abs(ours - given).max() < 1e-6


def test_forward_is_the_log_joint_probability():
    ours = network()(states_tensor(X, CPU)).detach().numpy()
    assert np.abs(ours - log_joint(*TABLES)).max() < 1e-5


def test_dropped_features_are_left_out_of_their_samples_sum():
    dropped = GENERATOR.random(X.shape) < 0.5
    ours = network()(states_tensor(X, CPU), torch.from_numpy(dropped)).detach().numpy()
    assert np.abs(ours - log_joint(*TABLES, dropped)).max() < 1e-5


def test_the_gradient_of_the_gathered_sum_is_right():
    """Against autograd through plain indexing, in which no code of ours runs."""
    net = network()
    weight = torch.randn(60, 3)
    torch.autograd.backward((net(states_tensor(X, CPU)) * weight).sum())
    ours = net.rho.grad
    assert ours is not None
    ours, net.rho.grad = ours.clone(), None
    _, tables = net.thetas()
    plain = tables[net.rows(states_tensor(X, CPU))].sum(dim=1)
    torch.autograd.backward((plain * weight).sum())
    assert torch.allclose(ours, net.rho.grad, atol=1e-5)


def test_impossible_classes_begin_at_a_finite_log():
    log_prior, _ = network((np.array([0.0, -np.inf, -np.inf]), TABLES[1])).log_tables()
    assert log_prior == pytest.approx([0.0, LEAST_LOG, LEAST_LOG])


@pytest.mark.parametrize(
    ("largest", "kind"), [(255, torch.uint8), (256, torch.int16), (32768, torch.int32)]
)
def test_states_are_held_in_the_smallest_type(largest, kind):
    tensor = states_tensor(np.array([[0, largest]]), CPU)
    assert tensor.dtype == kind
    assert tensor.tolist() == [[0, largest]]
