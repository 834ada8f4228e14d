"""Few-bit weights and activations of networks, for torch: S3 equations 12 to 14."""

from typing import Any

import torch
from torch import Tensor


def quantized_weights(w: Tensor, bits: int) -> Tensor:
    r"""
    Round weights to B bits, odd multiples of 1 / (2^B - 1) (S3 equations 12 and 13).

    .. math:: q(w) = \frac{2}{2^B - 1}
       \mathrm{round}\left((2^B - 1) \frac{\mathrm{clip}(w, -1, 1) + 1}{2}\right) - 1
    """
    steps = 2**bits - 1
    rounded = torch.round((w.clamp(-1, 1) + 1) / 2 * steps) / steps * 2 - 1
    straight_through: Tensor = w + (rounded - w).detach()
    return straight_through


def weight_codes(w: Tensor, bits: int) -> Tensor:
    """Return what is stored of weights."""
    steps = 2**bits - 1
    return torch.round((w.detach().clamp(-1, 1) + 1) / 2 * steps).to(torch.int64)


class _Sign(torch.autograd.Function):
    """The sign, drawn at random in training, with the derivative of tanh (S3 equation 14)."""

    @staticmethod
    def forward(ctx: Any, a: Tensor, is_training: bool) -> Tensor:
        ctx.save_for_backward(a)
        threshold = torch.rand_like(a) * 2 - 1 if is_training else torch.zeros_like(a)
        return torch.where(a >= threshold, 1.0, -1.0)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None]:
        (a,) = ctx.saved_tensors
        return gradient * (1 - torch.tanh(a) ** 2), None


def sign(a: Tensor, *, is_training: bool) -> Tensor:
    r"""
    Return the sign of activations, 1 for 0; in training a random one (S3 equation 14).

    .. math:: P(\mathrm{sign}(a) = 1) = \mathrm{clip}((1 + a) / 2, 0, 1)
    """
    drawn: Tensor = _Sign.apply(a, is_training)  # type: ignore[no-untyped-call]
    return drawn
