"""Few-bit weights and random signs, against S3's equations."""

import pytest
import torch

from bncc.baselines.trainer import quantized_weights, sign, weight_codes


def test_one_bit_is_the_sign():
    w = torch.tensor([-3.0, -0.2, 0.2, 3.0])
    assert quantized_weights(w, 1).tolist() == [-1.0, -1.0, 1.0, 1.0]
    assert weight_codes(w, 1).tolist() == [0, 0, 1, 1]


@pytest.mark.parametrize("bits", range(1, 9))
def test_values_are_odd_multiples_of_the_step(bits):
    """2^B values from -1 to 1, symmetric, none of them 0."""
    steps = 2**bits - 1
    w = torch.linspace(-1.5, 1.5, 2001)
    found = quantized_weights(w, bits)
    values = sorted(set((found * steps).round().int().tolist()))
    assert values == list(range(-steps, steps + 1, 2))
    assert torch.allclose((2 * weight_codes(w, bits) - steps) / steps, found, atol=1e-6)
    assert (found - w.clamp(-1, 1)).abs().max() <= 1 / steps + 1e-6


def test_gradients_pass_the_rounding():
    w = torch.tensor([0.3, -2.0], requires_grad=True)
    (quantized_weights(w, 2) * torch.tensor([2.0, 5.0])).sum().backward()
    assert w.grad.tolist() == [2.0, 5.0]


def test_the_sign_of_zero_is_one():
    assert sign(torch.tensor([-0.1, 0.0, 0.1]), is_training=False).tolist() == [-1.0, 1.0, 1.0]


def test_in_training_the_sign_is_drawn():
    """P(1) = (1 + a) / 2, and certain beyond 1."""
    with torch.random.fork_rng():
        torch.manual_seed(0)
        a = torch.tensor([-1.5, -0.5, 0.0, 0.8, 1.5]).repeat(20000, 1)
        share = (sign(a, is_training=True) > 0).float().mean(dim=0)
    assert torch.allclose(share, torch.tensor([0.0, 0.25, 0.5, 0.9, 1.0]), atol=0.015)


def test_the_gradient_of_the_sign_is_that_of_tanh():
    a = torch.tensor([-0.7, 0.2], requires_grad=True)
    sign(a, is_training=False).sum().backward()
    b = a.detach().clone().requires_grad_()
    torch.tanh(b).sum().backward()
    assert torch.allclose(a.grad, b.grad)
