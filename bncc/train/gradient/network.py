"""The classifier as a torch module: one tensor of tables, gathered and summed."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn

from bncc._types import FloatArray, IntArray
from bncc.fixed_point import QFormat
from bncc.train.gradient.layout import LEAST_LOG, TableLayout


def normalize(rho: Tensor, groups: tuple[tuple[int, int], ...]) -> Tensor:
    r"""
    Convert free parameters to log-probabilities (S3 equation 9).

    .. math:: \theta_{x \mid pa, c} = \rho_{x \mid pa, c} - \ln \sum_{x'} \exp \rho_{x' \mid pa, c}

    Shapes: `rho` (n_rows, n_classes) float; returns (n_rows, n_classes) float, natural
    log-probabilities, <= 0 up to rounding.
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
    Convert free parameters to table entries, <= 0.

    Probabilities are normalized over the states. Free tables are only shifted, so that the best
    class of a row has cost 0:

    .. math:: \theta_{x \mid pa, c} = \rho_{x \mid pa, c} - \max_{c'} \rho_{x \mid pa, c'}

    The shift changes no decision and no loss that is used with free tables, so gradients pass it.

    Shapes: `rho` (n_rows, n_classes) float; returns (n_rows, n_classes) float, natural logarithms.
    """
    if are_free:
        return rho - rho.detach().amax(dim=1, keepdim=True)
    return normalize(rho, groups).clamp(max=0.0)


def log_prior_of(rho: Tensor, are_free: bool) -> Tensor:
    """
    Convert free parameters to the prior, <= 0; see `log_tables_of`.

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
        # torch.round rounds halves to even, as numpy.rint and the frozen integers do; scaling by a
        # power of two is exact, so both agree to the bit.
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


class _GatherSum(torch.autograd.Function):
    """Sum table rows per sample; two to three times as fast as indexing under autograd."""

    @staticmethod
    def forward(ctx: Any, table: Tensor, rows: Tensor) -> Tensor:
        ctx.save_for_backward(rows)
        ctx.n_rows = len(table)
        return nn.functional.embedding_bag(rows, table, mode="sum")

    @staticmethod
    def backward(ctx: Any, *grad_outputs: Tensor) -> tuple[Tensor, None]:
        (rows,) = ctx.saved_tensors
        grad = grad_outputs[0]
        total = grad.new_zeros(ctx.n_rows, grad.shape[1])
        total.index_add_(0, rows.reshape(-1), grad.repeat_interleave(rows.shape[1], dim=0))
        return total, None


_gather_sum: Callable[[Tensor, Tensor], Tensor] = _GatherSum.apply


class Network(nn.Module):
    """
    log p(x, c) of a Bayesian network classifier, as S3 trains it.

    Shapes: `log_prior` (n_classes,) float64.
    """

    def __init__(
        self,
        layout: TableLayout,
        log_prior: FloatArray,
        log_tables: tuple[FloatArray, ...],
        device: torch.device,
        are_free: bool = False,
    ) -> None:
        super().__init__()
        self.layout = layout
        self.are_free = are_free
        self.fmt: QFormat | None = None
        self.rho = nn.Parameter(_parameter(layout.stack(log_tables), device))
        self.rho_prior = nn.Parameter(_parameter(log_prior, device))
        self.offset = torch.from_numpy(layout.offset).to(device)
        self.parents = [
            (torch.from_numpy(parent.copy()).to(device), torch.from_numpy(stride.copy()).to(device))
            for parent, stride in zip(layout.parent.T, layout.stride.T, strict=True)
        ]

    def thetas(self) -> tuple[Tensor, Tensor]:
        """Return prior and tables before quantization, <= 0."""
        prior = log_prior_of(self.rho_prior, self.are_free)
        return prior, log_tables_of(self.rho, self.layout.groups, self.are_free)

    def rows(self, states: Tensor) -> Tensor:
        """
        Return the tensor row that each feature reads.

        Shapes: `states` (n_samples, n_features) int; returns (n_samples, n_tables) int64, rows.
        """
        x = states.long()
        rows = x[:, : len(self.offset)] + self.offset
        for parent, stride in self.parents:
            rows += x[:, parent] * stride
        return rows

    def forward(self, states: Tensor, dropped: Tensor | None = None) -> Tensor:
        """
        Return log p(x, c) with quantized tables and prior.

        Shapes: `states` (n_samples, n_features) int; `dropped` (n_samples, n_features) bool;
        returns (n_samples, n_classes) float32, log joint probability; not normalized once
        quantized.
        """
        prior, tables = self.thetas()
        prior, tables = quantize(prior, self.fmt), quantize(tables, self.fmt)
        rows = self.rows(states)
        if dropped is not None:
            tables = nn.functional.pad(tables, (0, 0, 0, 1))
            rows = rows.masked_fill(dropped[:, : rows.shape[1]], len(tables) - 1)
        return _gather_sum(tables, rows) + prior

    def log_tables(self) -> tuple[FloatArray, tuple[FloatArray, ...]]:
        """
        Return prior and tables before quantization, exact in float64.

        Shapes: returns log_prior (n_classes,) float64, natural log-probabilities, <= 0.
        """
        with torch.no_grad():
            prior, tables = self.thetas()
        return (
            prior.cpu().double().numpy(),
            self.layout.unstack(tables.cpu().double().numpy()),
        )


def _parameter(logs: FloatArray, device: torch.device) -> Tensor:
    return torch.from_numpy(logs).clamp(min=LEAST_LOG).float().to(device)


def states_tensor(X: IntArray, device: torch.device) -> Tensor:
    """
    Return states in the smallest integer type that can represent them.

    Shapes: `X` (n_samples, n_features) int; returns (n_samples, n_features) uint8, int16 or int32,
    the same states.
    """
    largest = int(X.max(initial=0))
    kind = "uint8" if largest < 2**8 else "int16" if largest < 2**15 else "int32"
    return torch.from_numpy(X.astype(kind)).to(device)
