"""The losses by hand and against plain formulas."""

import pytest
import torch

from bncc.train.losses import cross_entropy, hybrid


def plain_hybrid(log_joint, y, lambda_, gamma, eta):
    total = 0.0
    for row, label in zip(log_joint, y, strict=True):
        wrong = torch.cat([row[:label], row[label + 1 :]])
        beta = row[label] - torch.logsumexp(eta * wrong, 0) / eta
        total = total - row[label] + lambda_ * torch.clamp(gamma - beta, min=0.0)
    return total / len(y)


@pytest.mark.parametrize("scale", [1.0, 30.0])
def test_hybrid_is_the_papers_formula_and_has_its_gradient(scale):
    log_joint = (torch.randn(20, 5, dtype=torch.float64) * scale).requires_grad_()
    y = torch.randint(0, 5, (20,))
    values = [f(log_joint, y, 3.0, 5.0, 10.0) for f in (hybrid, plain_hybrid)]
    gradients = [torch.autograd.grad(value, log_joint)[0] for value in values]
    assert torch.allclose(*values)
    assert torch.allclose(*gradients)


def test_beyond_the_margin_only_the_likelihood_counts():
    log_joint = torch.tensor([[-1.0, -20.0]])
    assert hybrid(log_joint, torch.tensor([0]), 7.0, 3.0, 10.0).item() == pytest.approx(1.0)


def test_a_missing_margin_costs_lambda_per_nat():
    """With two classes the soft maximum is exact: margin -2, gamma 3: five nats missing."""
    log_joint = torch.tensor([[-3.0, -1.0]])
    assert hybrid(log_joint, torch.tensor([0]), 7.0, 3.0, 10.0).item() == pytest.approx(3 + 7 * 5)


def test_cross_entropy_of_equal_classes_is_the_log_of_their_number():
    assert cross_entropy(torch.zeros(2, 4), torch.tensor([0, 3])).item() == pytest.approx(1.3862944)
