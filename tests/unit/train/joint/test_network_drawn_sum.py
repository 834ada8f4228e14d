"""The gradient of every indicator, against autograd through a dense sum over all candidates."""

import numpy as np
import pytest
import torch

from bncc.structure.candidates import subset
from bncc.structure.orders import earlier
from bncc.train.gradient.torch_engine import loss_of
from bncc.train.hyperparameters import hyperparameters_of
from bncc.train.joint import network as module
from bncc.train.joint.candidate_layout import candidate_layout, counted_start
from bncc.train.joint.network import StructureNetwork
from bncc.train.settings import TrainSettings

HYPER = hyperparameters_of(TrainSettings(lambda_=10.0, gamma=2.0, eta=5.0), 100)
GENERATOR = np.random.default_rng(3)
N_STATES = [3, 2, 4, 2, 1, 3]
X = np.stack([GENERATOR.integers(0, r, 50) for r in N_STATES], axis=1)
Y = GENERATOR.integers(0, 3, 50)
CANDIDATES = subset(earlier(np.array([2, 5, 0, 1, 4, 3])), 3, GENERATOR)
LAYOUT = candidate_layout(CANDIDATES, N_STATES)
STATES = torch.from_numpy(np.ascontiguousarray(X.T))
TARGET = torch.from_numpy(Y)
DROPPED = torch.from_numpy(GENERATOR.random(STATES.shape) < 0.3)


def network():
    start = counted_start(X, Y, LAYOUT, 3)
    return StructureNetwork(LAYOUT, *start, torch.device("cpu"), torch.float64)


def dense_log_joint(net, theta, indicator, dropped):
    """Sum indicator times table over all slots, as S0 equation 10 is written."""
    total = net.rho_prior.log_softmax(dim=0).expand(len(X), -1)
    for i, slot in zip(*np.nonzero(LAYOUT.n_table_rows), strict=True):
        rows = X[:, LAYOUT.parent[i, slot]] * LAYOUT.stride[i, slot] + X[:, i]
        kept = 1.0 if dropped is None else (~dropped[i]).double()[:, None]
        table = theta[LAYOUT.offset[i, slot] + torch.from_numpy(rows)]
        total = total + indicator[i, slot] * table * kept
    return total


def normalized(rho):
    parts = []
    for i, slot in zip(*np.nonzero(LAYOUT.n_table_rows), strict=True):
        start = LAYOUT.offset[i, slot]
        block = rho[start : start + LAYOUT.n_table_rows[i, slot]]
        parts.append(block.view(-1, N_STATES[i], 3).log_softmax(dim=1).view(-1, 3))
    return torch.cat(parts)


@pytest.mark.parametrize("dropped", [None, DROPPED])
@pytest.mark.parametrize("block_entries", [1, 400, 2**18])
def test_values_and_gradients_are_those_of_the_dense_sum(monkeypatch, dropped, block_entries):
    monkeypatch.setattr(module, "BLOCK_ENTRIES", block_entries)
    net = network()
    with torch.no_grad():
        net.phi += torch.from_numpy(GENERATOR.normal(size=net.phi.shape))
    gumbel = torch.from_numpy(GENERATOR.gumbel(size=net.phi.shape))

    choice, indicator = net.draw(gumbel, tau=0.7)
    drawn = LAYOUT.draw(choice)
    ours, rho = net.log_joint(STATES, drawn, choice, indicator, dropped)
    torch.autograd.backward(loss_of(ours, TARGET, HYPER))
    assert net.phi.grad is not None
    assert net.rho_prior.grad is not None
    of_phi, of_prior = net.phi.grad.clone(), net.rho_prior.grad.clone()
    net.phi.grad = net.rho_prior.grad = None

    every = net.rho.clone().requires_grad_()
    _, indicator = net.draw(gumbel, tau=0.7)
    dense = dense_log_joint(net, normalized(every), indicator, dropped)
    torch.autograd.backward(loss_of(dense, TARGET, HYPER))
    assert torch.allclose(ours, dense, rtol=1e-12)
    assert of_phi.abs().max() > 1e-3
    assert torch.allclose(of_phi, net.phi.grad, rtol=1e-9, atol=1e-12)
    assert torch.allclose(of_prior, net.rho_prior.grad, rtol=1e-9, atol=1e-12)
    of_every = torch.zeros_like(every)
    assert rho.grad is not None
    of_every[torch.from_numpy(drawn.rows)] = rho.grad
    assert torch.allclose(of_every, every.grad, rtol=1e-9, atol=1e-12)
