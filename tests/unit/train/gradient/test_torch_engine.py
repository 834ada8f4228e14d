"""The losses by hand and against plain formulas."""

import pytest
import torch

from bncc.train.gradient.torch_engine import loss_of
from bncc.train.hyperparameters import hyperparameters_of
from bncc.train.settings import TrainSettings


def hyper(parameters, lambda_=7.0, gamma=3.0):
    settings = TrainSettings(parameters=parameters, lambda_=lambda_, gamma=gamma, eta=10.0)
    return hyperparameters_of(settings, 100)


def plain(log_joint, y, parameters, lambda_, gamma, eta):
    total = torch.zeros(())
    for row, label in zip(log_joint, y, strict=True):
        wrong = torch.cat([row[:label], row[label + 1 :]])
        beta = row[label] - torch.logsumexp(eta * wrong, 0) / eta
        everything = torch.logsumexp(row, 0) if parameters != "hybrid" else 0.0
        missing = torch.clamp(gamma - beta, min=0.0) if parameters != "cross-entropy" else 0.0
        total = total + everything - row[label] + lambda_ * missing
    return total / len(y)


@pytest.mark.parametrize("scale", [1.0, 30.0])
@pytest.mark.parametrize("parameters", ["hybrid", "cross-entropy", "free"])
def test_each_loss_is_its_formula_and_has_its_gradient(parameters, scale):
    log_joint = (torch.randn(20, 5, dtype=torch.float64) * scale).requires_grad_()
    y = torch.randint(0, 5, (20,))
    ours = loss_of(log_joint, y, hyper(parameters, 3.0, 5.0))
    values = [ours, plain(log_joint, y, parameters, 3.0, 5.0, 10.0)]
    gradients = [torch.autograd.grad(value, log_joint)[0] for value in values]
    assert torch.allclose(*values)
    assert torch.allclose(*gradients)


def test_beyond_the_margin_only_the_likelihood_counts():
    log_joint = torch.tensor([[-1.0, -20.0]])
    assert loss_of(log_joint, torch.tensor([0]), hyper("hybrid")).item() == pytest.approx(1.0)


def test_a_missing_margin_costs_lambda_per_nat():
    """With two classes the soft maximum is exact: margin -2, gamma 3: five nats missing."""
    log_joint = torch.tensor([[-3.0, -1.0]])
    assert loss_of(log_joint, torch.tensor([0]), hyper("hybrid")).item() == pytest.approx(3 + 7 * 5)


def test_cross_entropy_of_equal_classes_is_the_log_of_their_number():
    assert loss_of(
        torch.zeros(2, 4), torch.tensor([0, 3]), hyper("cross-entropy")
    ).item() == pytest.approx(1.3862944)
