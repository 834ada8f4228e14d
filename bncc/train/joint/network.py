"""The classifier with all candidate parents as a torch module: S0's distribution of structures."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor, autograd, nn

from bncc._types import BoolArray, FloatArray, IntArray
from bncc.fixed_point import QFormat
from bncc.structure.graph import Structure
from bncc.train.gradient.layout import LEAST_LOG
from bncc.train.gradient.network import log_prior_of, log_tables_of, quantize
from bncc.train.joint.candidate_layout import CandidateLayout, Drawn
from bncc.train.maximum_likelihood import LogTables

BLOCK_ENTRIES = 2**18
"""Entries gathered at once for the gradient of the indicators: a megabyte, which fits the cache of
a core."""


@dataclass(frozen=True, eq=False)
class Candidacy:
    """Every present slot of every feature, concatenated."""

    # (n_present,) int64: feature, parent, stride, offset: As in `CandidateLayout`, for present
    # slots
    feature: Tensor
    parent: Tensor
    stride: Tensor
    offset: Tensor
    slot: Tensor  # (n_present,) int64: Index of the slot among n_features * n_slots

    def rows(self, states: Tensor, part: slice) -> Tensor:
        """
        Return the row that each slot of a part reads for each sample.

        Shapes: `states` (n_features, n_samples) int64; returns (n_part, n_samples) int64, rows of
        the tensor of all tables.
        """
        rows = states[self.parent[part]] * self.stride[part, None]
        return rows.add_(states[self.feature[part]]).add_(self.offset[part, None])


class _DrawnSum(autograd.Function):
    r"""
    Sum the rows of the sampled tables; every indicator has a gradient, sampled or not.

    With :math:`\ln p(x, c) = \ln p(c) + \sum_i \sum_k s_{ik} \theta_{ik}(x, c)` (S0 equation 10)
    the derivative by :math:`s_{ik}` is :math:`\theta_{ik}`, summed over samples and classes with
    the incoming gradient. The forward pass reads only tables with s = 1.
    """

    @staticmethod
    def forward(
        ctx: Any,
        drawn: Tensor,
        indicator: Tensor,
        rows: Tensor,
        everything: Tensor,
        candidacy: Candidacy,
        states: Tensor,
        dropped: Tensor | None,
    ) -> Tensor:
        ctx.save_for_backward(rows, everything, states, dropped)
        ctx.candidacy, ctx.n_rows, ctx.shape = candidacy, len(drawn), indicator.shape
        return nn.functional.embedding_bag(rows, drawn, mode="sum")

    @staticmethod
    def backward(ctx: Any, *grad_outputs: Tensor) -> tuple[Tensor | None, ...]:
        rows, everything, states, dropped = ctx.saved_tensors
        grad = grad_outputs[0].contiguous()
        of_drawn = grad.new_zeros(ctx.n_rows, grad.shape[1])
        of_drawn.index_add_(0, rows.reshape(-1), grad.repeat_interleave(rows.shape[1], dim=0))
        candidacy, flat = ctx.candidacy, grad.reshape(-1)
        of_indicator = grad.new_zeros(ctx.shape).view(-1)
        size = max(1, BLOCK_ENTRIES // max(1, len(flat)))
        for start in range(0, len(candidacy.slot), size):
            part = slice(start, start + size)
            read = candidacy.rows(states, part)
            if dropped is not None:
                read.masked_fill_(dropped[candidacy.feature[part]], len(everything) - 1)
            theta = everything.index_select(0, read.view(-1)).view(len(read), -1)
            of_indicator[candidacy.slot[part]] = theta @ flat
        return of_drawn, of_indicator.view(ctx.shape), None, None, None, None, None


drawn_sum: Callable[..., Tensor] = _DrawnSum.apply
"""``drawn_sum(drawn, indicator, rows, everything, candidacy, states, dropped)``."""


class StructureNetwork:
    """
    log p(x, c) under structures sampled from a distribution (S0).

    Shapes: `log_prior` (n_classes,) float64; `log_table` (n_rows, n_classes) float64.
    """

    def __init__(
        self,
        layout: CandidateLayout,
        log_prior: FloatArray,
        log_table: FloatArray,
        device: torch.device,
        dtype: torch.dtype = torch.float32,
        are_free: bool = False,
    ) -> None:
        self.layout = layout
        self.are_free = are_free
        self.fmt: QFormat | None = None
        self.rho = _initial(log_table, device, dtype)
        self.rho_prior = _initial(log_prior, device, dtype).requires_grad_()
        self.phi = self.rho.new_zeros(layout.offset.shape).requires_grad_()
        # All tables as read: normalized and quantized, in one width after the other. The row of
        # zeros at the end is read by a feature that is dropped from a sample's sum.
        n_read = layout.n_planes * len(self.rho)
        self.theta = self.rho.new_zeros(n_read + 1, self.rho.shape[1])
        self.set_format(None)

    def set_format(self, fmt: QFormat | None) -> None:
        """Choose the number format of all tables from now on."""
        self.fmt = fmt
        is_present = self.layout.is_present(has_widths=fmt is not None)
        self.is_absent = _tensor(~is_present, self.rho.device)
        self.candidacy = _candidacy(self.layout, is_present, self.rho.device)
        every = np.ones(len(self.layout.offset), dtype=np.int64)
        for slot in range(self.layout.n_choices):
            is_there = self.layout.n_table_rows[:, slot] > 0
            self.refresh(self.layout.draw(np.where(is_there, slot * every, 0)))

    def refresh(self, drawn: Drawn) -> None:
        """Normalize and quantize the tables whose parameters have changed."""
        rows = _tensor(drawn.rows, self.rho.device)
        every_most = self.layout.most if self.layout.widths else [None]
        with torch.no_grad():
            logs = self._logs(self.rho[rows], drawn)
            for plane, most in enumerate(every_most):
                bound = None if most is None else _tensor(most, logs.device)
                self.theta[rows + plane * len(self.rho)] = quantize(logs, self.fmt, bound)

    def logits(self) -> Tensor:
        """Return the log-probabilities of the slots: (n_features, n_slots), -inf where absent."""
        return self.phi.masked_fill(self.is_absent, -torch.inf).log_softmax(dim=1)

    def most_probable(self) -> IntArray:
        """Return the most probable slot of each feature, the smallest on ties."""
        return np.asarray(self.logits().detach().cpu().numpy().argmax(axis=1))

    def draw(self, gumbel: Tensor, tau: float) -> tuple[IntArray, Tensor]:
        r"""
        Sample a structure by the Gumbel-max trick, with a relaxed gradient.

        .. math::
           s_i = \mathrm{onehot}\,\mathrm{argmax}_k (\ln p_{ik} + \epsilon_{ik}), \quad
           \partial s_i = \partial\,\mathrm{softmax}_k \bigl((\ln p_{ik} + \epsilon_{ik})/\tau\bigr)

        Shapes: `gumbel` (n_features, n_slots) float; returns choice (n_features,) int64, the
        sampled slot; returns indicator (n_features, n_slots) float, 1 for it and 0 elsewhere.
        """
        noisy = self.logits() + gumbel
        choice = noisy.detach().argmax(dim=1)
        soft = (noisy / tau).softmax(dim=1)
        hard = nn.functional.one_hot(choice, soft.shape[1]).to(soft.dtype)
        return choice.cpu().numpy(), hard + soft - soft.detach()

    def log_joint(
        self,
        states: Tensor,
        drawn: Drawn,
        choice: IntArray,
        indicator: Tensor,
        dropped: Tensor | None = None,
    ) -> tuple[Tensor, Tensor]:
        """
        Return log p(x, c) under a sampled structure.

        Shapes: `states` (n_features, n_samples) int64; `choice` (n_features,) int64; `indicator`
        (n_features, n_slots) float; `dropped` (n_features, n_samples) bool; returns log_joint
        (n_samples, n_classes) float, log joint probability; not normalized once quantized; returns
        rho (n_drawn_rows, n_classes) float, the parameters of the drawn tables, a leaf that
        collects their gradient.
        """
        device = self.rho.device
        features = np.arange(len(choice))
        first, parent, stride = (
            _tensor(values, device)
            for values in (
                drawn.first,
                self.layout.parent[features, choice],
                self.layout.stride[features, choice],
            )
        )
        rho = self.rho[_tensor(drawn.rows, device)].requires_grad_()
        most = None if drawn.most is None else _tensor(drawn.most, device)
        tables = quantize(self._logs(rho, drawn), self.fmt, most)
        rows = states[parent] * stride[:, None] + states + first[:, None]
        if dropped is not None:
            rows = rows.masked_fill(dropped, len(tables))
            tables = nn.functional.pad(tables, (0, 0, 0, 1))
        total = drawn_sum(
            tables, indicator, rows.T.contiguous(), self.theta, self.candidacy, states, dropped
        )
        prior = log_prior_of(self.rho_prior, self.are_free)
        return total + quantize(prior, self.fmt), rho

    def expected_price(self, prices: Tensor) -> Tensor:
        r"""
        Return the expected penalty of the tables (S3 equation 18), exact.

        .. math:: \sum_i \sum_k \mathrm{softmax}(\phi_i)_k\,\pi_{ik}

        Shapes: `prices` (n_features, n_slots) float.
        """
        return (self.logits().exp() * prices).sum()

    def costs(self) -> IntArray:
        """
        Return the quantized tables of the largest width.

        Shapes: returns (n_rows, n_classes) int64, costs in units of the format; there must be one.
        """
        assert self.fmt is not None
        widest = self.theta[-1 - len(self.rho) : -1].cpu().double().numpy()
        return np.rint(widest * -(2.0**self.fmt.frac_bits)).astype(np.int64)

    def learned(self) -> tuple[Structure, LogTables]:
        """Return the most probable structure, and its tables before quantization."""
        choice = self.most_probable()
        drawn = self.layout.draw(choice)
        with torch.no_grad():
            prior = log_prior_of(self.rho_prior, self.are_free).cpu().double().numpy()
            rho = self.rho[_tensor(drawn.rows, self.rho.device)]
            stacked = self._logs(rho, drawn).cpu().double().numpy()
        sizes = self.layout.n_table_rows[np.arange(len(choice)), choice]
        tables = tuple(
            stacked[start : start + n] for start, n in zip(drawn.first, sizes, strict=True)
        )
        return self.layout.choose(choice), (prior, tables)

    def _logs(self, rho: Tensor, drawn: Drawn) -> Tensor:
        return log_tables_of(rho, drawn.groups, self.are_free)


def _candidacy(layout: CandidateLayout, is_present: BoolArray, device: torch.device) -> Candidacy:
    slots = np.flatnonzero(is_present)
    feature = slots // layout.offset.shape[1]
    parts = (layout.parent, layout.stride, layout.read_offset)
    columns = (part.flat[slots] for part in parts)
    return Candidacy(*(_tensor(values, device) for values in (feature, *columns, slots)))


def _initial(logs: FloatArray, device: torch.device, dtype: torch.dtype) -> Tensor:
    return _tensor(logs, device).clamp(min=LEAST_LOG).to(dtype)


def _tensor(values: Any, device: torch.device) -> Tensor:
    return torch.from_numpy(np.ascontiguousarray(values)).to(device)
