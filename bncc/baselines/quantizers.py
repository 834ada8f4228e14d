"""Few-bit weights and activations of networks, for torch: S3 equations 12 to 14."""

from typing import Any

import torch
from torch import Tensor


def quantized_weights(w: Tensor, bits: int) -> Tensor:
    r"""Round weights to B bits, odd multiples of 1 / (2^B - 1) (S3 equations 12 and 13).

    .. math:: q(w) = \frac{2}{2^B - 1}
       \mathrm{round}\left((2^B - 1) \frac{\mathrm{clip}(w, -1, 1) + 1}{2}\right) - 1

    Parameters
    ----------
    w : Tensor of float
        Any shape.
    bits : int
        B, 1 to 8.

    Returns
    -------
    Tensor of float
        In [-1, 1]. Gradients pass as if nothing were rounded or clipped.
    """
    steps = 2**bits - 1
    rounded = torch.round((w.clamp(-1, 1) + 1) / 2 * steps) / steps * 2 - 1
    straight_through: Tensor = w + (rounded - w).detach()
    return straight_through


def weight_codes(w: Tensor, bits: int) -> Tensor:
    """Return what is stored of weights.

    Parameters
    ----------
    w : Tensor of float
        As `quantized_weights` takes them.
    bits : int
        B, 1 to 8.

    Returns
    -------
    Tensor of int64
        0 .. 2**B - 1; a code q stands for ``(2 q - (2**B - 1)) / (2**B - 1)``.
    """
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
    r"""Return the sign of activations, 1 for 0; in training a random one (S3 equation 14).

    .. math:: P(\mathrm{sign}(a) = 1) = \mathrm{clip}((1 + a) / 2, 0, 1)

    Parameters
    ----------
    a : Tensor of float
        Any shape.
    is_training : bool
        Whether it is drawn.

    Returns
    -------
    Tensor of float
        1 or -1. Its gradient is that of tanh.
    """
    drawn: Tensor = _Sign.apply(a, is_training)  # type: ignore[no-untyped-call]
    return drawn
