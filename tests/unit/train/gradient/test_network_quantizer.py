"""Normalization and the straight-through gradient."""

import torch

from bncc.fixed_point import QFormat
from bncc.train.gradient.network import log_prior_of, log_tables_of, normalize, quantize

GROUPS = ((2, 3), (1, 2), (3, 1))


def test_each_distribution_sums_to_one():
    theta = normalize(torch.randn(11, 4), GROUPS)
    sums = [
        block.exp().view(q, r, 4).sum(dim=1)
        for block, (q, r) in zip(torch.split(theta, [6, 2, 3]), GROUPS, strict=True)
    ]
    for total in sums:
        assert torch.allclose(total, torch.ones_like(total))


def test_normalization_is_the_identity_on_log_probabilities():
    theta = normalize(torch.randn(11, 4).double(), GROUPS)
    assert torch.allclose(normalize(theta, GROUPS), theta)


def test_the_gradient_of_normalization_is_right():
    rho = torch.randn(11, 2, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(lambda rho: normalize(rho, GROUPS), rho)


def test_free_tables_are_shifted_to_their_best_class_and_pass_gradients_on():
    rho = torch.tensor([[3.0, 1.0], [-2.0, 0.5]], requires_grad=True)
    theta = log_tables_of(rho, ((1, 2),), are_free=True)
    assert theta.tolist() == [[0.0, -2.0], [-2.5, 0.0]]
    assert log_prior_of(rho.detach()[1], are_free=True).tolist() == [-2.5, 0.0]
    weight = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
    torch.autograd.backward((theta * weight).sum())
    assert rho.grad is not None
    assert torch.equal(rho.grad, weight)


def test_gradients_pass_straight_through_rounding_and_clipping():
    theta = torch.tensor([-0.3, -7.9, -100.0, 0.0], requires_grad=True)
    out = quantize(theta, QFormat(2, 1))
    assert out.tolist() == [-0.5, -3.5, -3.5, 0.0]
    weight = torch.tensor([1.0, 2.0, 3.0, 4.0])
    torch.autograd.backward((out * weight).sum())
    assert theta.grad is not None
    assert torch.equal(theta.grad, weight)


def test_negative_fraction_bits_give_multiples_of_powers_of_two():
    """UQ4.-2 has 0, 4, 8 and 12; 6 is between 4 and 8 and is rounded to the even multiple."""
    out = quantize(torch.tensor([-1.9, -6.0, -2.0, -9.0, -50.0]), QFormat(4, -2))
    assert (-out).tolist() == [0.0, 8.0, 0.0, 8.0, 12.0]


def test_no_format_leaves_the_floats_alone():
    theta = torch.randn(3)
    assert quantize(theta, None) is theta
