"""Sums of the rows of drawn tables, with a gradient for every candidate that was not drawn."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from torch import Tensor, autograd, nn

BLOCK_ENTRIES = 2**18
"""Entries that are gathered at once for the gradient of the indicators: a megabyte, so that they
stay in the cache of a core."""


@dataclass(frozen=True, eq=False)
class Candidacy:
    """Every present slot of every feature, one after the other."""

    # (n_present,) int64: feature, parent, stride, offset: As in `CandidateLayout`, of the present
    # slots
    feature: Tensor
    parent: Tensor
    stride: Tensor
    offset: Tensor
    slot: Tensor  # (n_present,) int64: Where the slot stands among n_features * n_slots

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
    Sum the rows of the drawn tables; every indicator has a gradient, drawn or not.

    With :math:`\ln p(x, c) = \ln p(c) + \sum_i \sum_k s_{ik} \theta_{ik}(x, c)` (S0 equation 10)
    the derivative by :math:`s_{ik}` is :math:`\theta_{ik}`, summed over samples and classes with
    what comes from above. Forward reads only where s is 1.
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
