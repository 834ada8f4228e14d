"""From free parameters to what a device adds up: S3 equations 9 to 11 for torch."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from bncc.fixed_point import QFormat


def normalize(rho: Tensor, groups: tuple[tuple[int, int], ...]) -> Tensor:
    r"""
    Turn free parameters into log-probabilities (S3 equation 9).

    .. math:: \theta_{x \mid pa, c} = \rho_{x \mid pa, c} - \ln \sum_{x'} \exp \rho_{x' \mid pa, c}

    Shapes: `rho` (n_rows, n_classes) float; returns (n_rows, n_classes) float, natural
    log-probabilities, <= 0 but for rounding.
    """
    blocks = torch.split(rho, [q * r for q, r in groups])
    return torch.cat(
        [
            block.view(q, r, -1).log_softmax(dim=1).view(q * r, -1)
            for block, (q, r) in zip(blocks, groups, strict=True)
        ]
    )


def log_tables_of(rho: Tensor, groups: tuple[tuple[int, int], ...], are_free: bool) -> Tensor:
    r"""
    Turn free parameters into what the tables say, <= 0.

    Probabilities are normalized over the states. Free tables are only shifted, so that the best
    class of a row costs nothing:

    .. math:: \theta_{x \mid pa, c} = \rho_{x \mid pa, c} - \max_{c'} \rho_{x \mid pa, c'}

    No decision and no loss that is asked of them sees the shift, so it passes gradients on.

    Shapes: `rho` (n_rows, n_classes) float; returns (n_rows, n_classes) float, natural logarithms.
    """
    if are_free:
        return rho - rho.detach().amax(dim=1, keepdim=True)
    return normalize(rho, groups).clamp(max=0.0)


def log_prior_of(rho: Tensor, are_free: bool) -> Tensor:
    """
    Turn free parameters into what the prior says, <= 0; see `log_tables_of`.

    Shapes: `rho` (n_classes,) float; returns (n_classes,) float, natural logarithms.
    """
    if are_free:
        return rho - rho.detach().amax()
    return rho.log_softmax(dim=0).clamp(max=0.0)


class _StraightThrough(torch.autograd.Function):
    """Round and clip forward; the derivative of the identity backward."""

    @staticmethod
    def forward(
        ctx: Any, theta: Tensor, frac_bits: int, bound: float, most: Tensor | None
    ) -> Tensor:
        # torch.round takes halves to even, as numpy.rint and the frozen integers do; scaling by
        # a power of two is exact, so both agree to the bit.
        logs = torch.clamp(torch.round(theta * 2.0**frac_bits), -bound, 0.0)
        if most is not None:
            logs = torch.maximum(logs, logs.amax(dim=-1, keepdim=True) - most)
        return logs * 2.0**-frac_bits

    @staticmethod
    def backward(ctx: Any, *grad_outputs: Tensor) -> tuple[Tensor, None, None, None]:
        return grad_outputs[0], None, None, None


_straight_through: Callable[[Tensor, int, float, Tensor | None], Tensor] = _StraightThrough.apply


def quantize(theta: Tensor, fmt: QFormat | None, most: Tensor | None = None) -> Tensor:
    r"""
    Quantize log-probabilities, passing gradients through (S3 equation 11).

    .. math::
       q_{BN}(\theta) = \mathrm{clip}(\mathrm{round}(\theta\,2^{B_F})\,2^{-B_F},\; -U,\; 0),
       \quad U = 2^{B_I} - 2^{-B_F}

    Shapes: `most` (..., 1) int64.
    """
    if fmt is None:
        return theta
    return _straight_through(theta, fmt.frac_bits, float(fmt.max_cost), most)
