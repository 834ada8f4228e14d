"""Structure and tables in training by torch: the reference by autograd, on any device."""

from collections.abc import Mapping

import numpy as np
import torch
from torch import Tensor

from bncc._types import AnyArray, FloatArray, IntArray
from bncc.fixed_point import QFormat
from bncc.train.gradient.engine import Chance, Learned, Passed, StructureProblem
from bncc.train.gradient.network import states_tensor
from bncc.train.gradient.torch_engine import (
    device_of,
    loss_of,
    n_wrong,
    optimizer_state,
    put_back,
    restore_optimizer,
    taken_down,
)
from bncc.train.hyperparameters import Hyperparameters
from bncc.train.joint.candidate_layout import counted_start
from bncc.train.joint.network import StructureNetwork

BETAS = (0.9, 0.999)
EPSILON = 1e-8


class LazyAdam:
    """
    Adam that updates the moments of a row only when it is read.

    Among all candidate tables, a structure reads one per feature. Dense Adam would update all of
    them in every step, and move unread tables by their remaining momentum; here each row counts its
    own steps.

    Shapes: `value` (n_rows, n_columns) float.
    """

    def __init__(self, value: Tensor) -> None:
        self.value = value
        self._mean = torch.zeros_like(value)
        self._square = torch.zeros_like(value)
        self._count = value.new_zeros(len(value), 1)

    def state(self) -> dict[str, Tensor]:
        """Return the tensors that steps change, except `value`."""
        return {"mean": self._mean, "square": self._square, "count": self._count}

    def step(self, rows: Tensor, grad: Tensor, lr: float) -> None:
        """
        Take a step.

        Shapes: `rows` (n_read,) int64; `grad` (n_read, n_columns) float.
        """
        count = self._count[rows] + 1
        mean = self._mean[rows].lerp_(grad, 1 - BETAS[0])
        square = self._square[rows].lerp_(grad.square(), 1 - BETAS[1])
        self._count[rows], self._mean[rows], self._square[rows] = count, mean, square
        unbiased = square.div_(1 - BETAS[1] ** count).sqrt_().add_(EPSILON)
        self.value[rows] -= lr / (1 - BETAS[0] ** count) * mean / unbiased


LARGEST_STEP = 1e37
"""Largest gradient for Adam: ten times it, since its first step divides by 1 - 0.9, is a float."""


class TorchStructureEngine:
    """See `bncc.train.gradient.engine.StructureEngine`."""

    kind = "torch"

    def __init__(self, problem: StructureProblem, hyper: Hyperparameters) -> None:
        self._hyper, layout = hyper, problem.layout
        self._device = device_of(hyper.device)
        start = counted_start(problem.X, problem.y, layout, problem.n_classes, problem.weights)
        self._network = StructureNetwork(
            layout, *start, self._device, are_free=hyper.terms.are_free
        )
        self._states = states_tensor(np.ascontiguousarray(problem.X.T), self._device)
        self._target = torch.from_numpy(problem.y).long().to(self._device)
        self._tables = LazyAdam(self._network.rho)
        self._prior = torch.optim.Adam([self._network.rho_prior], lr=hyper.lr)
        self._phi = torch.optim.Adam([self._network.phi], lr=problem.step)

    @property
    def _tensors(self) -> dict[str, Tensor]:
        """State that steps change, except the moments of the prior and of phi."""
        network = self._network
        # theta follows from rho, but normalizing again may round otherwise.
        own = {"rho": network.rho, "theta": network.theta}
        return own | {"rho_prior": network.rho_prior, "phi": network.phi} | self._tables.state()

    def epoch(self, chance: Chance, lr: float, tau: float, prices: FloatArray) -> Passed:
        """Take one step for each batch; see `StructureEngine`."""
        threads_before = torch.get_num_threads()
        torch.set_num_threads(self._hyper.threads)
        for group in self._prior.param_groups:
            group["lr"] = min(lr, LARGEST_STEP)
        try:
            return self._epoch(chance, lr, tau, prices)
        finally:
            torch.set_num_threads(threads_before)

    def _epoch(self, chance: Chance, lr: float, tau: float, prices: FloatArray) -> Passed:
        of_slots = torch.from_numpy(prices).to(self._network.phi) if prices.any() else None
        order = torch.from_numpy(chance.order).to(self._device)
        total, wrong, size = 0.0, 0, self._hyper.batch_size
        for batch, gumbel in enumerate(chance.gumbel):
            part = slice(batch * size, (batch + 1) * size)
            dropped = None
            if self._hyper.dropped_below:
                left_out = chance.noise[part].T < self._hyper.dropped_below
                dropped = torch.from_numpy(np.ascontiguousarray(left_out)).to(self._device)
            noise = torch.from_numpy(gumbel).to(self._network.phi)
            loss, more = self._step(order[part], dropped, noise, lr, tau, of_slots)
            total, wrong = total + loss * len(order[part]), wrong + more
        return Passed(total / len(order), wrong / len(order))

    def _step(
        self,
        rows: Tensor,
        dropped: Tensor | None,
        gumbel: Tensor,
        lr: float,
        tau: float,
        prices: Tensor | None,
    ) -> tuple[float, int]:
        """Return the mean loss of a batch, and its number of wrong decisions."""
        network = self._network
        choice, indicator = network.draw(gumbel, tau)
        drawn = network.layout.draw(choice)
        states = self._states[:, rows].long()
        log_joint, rho = network.log_joint(states, drawn, choice, indicator, dropped)
        loss = loss_of(log_joint, self._target[rows], self._hyper)
        if prices is not None:
            loss = loss + network.expected_price(prices)
        for optimizer in (self._prior, self._phi):
            optimizer.zero_grad()
        torch.autograd.backward(loss)
        for optimizer in (self._prior, self._phi):
            optimizer.step()
        assert rho.grad is not None
        self._tables.step(torch.from_numpy(drawn.rows).to(self._device), rho.grad, lr)
        network.refresh(drawn)
        return float(loss.detach()), n_wrong(log_joint.detach(), self._target[rows])

    def see(self, X: IntArray) -> None:
        """Use other states of the same samples from now on."""
        self._states = states_tensor(np.ascontiguousarray(X.T), self._device)

    def quantize(self, fmt: QFormat) -> None:
        """Compute with quantized prior and tables from now on."""
        network = self._network
        network.set_format(fmt)
        moments = [t for t in self._phi.state[network.phi].values() if t.shape == network.phi.shape]
        for of_slots in (network.phi.detach(), *moments):
            network.layout.spread(of_slots)

    def costs(self) -> IntArray:
        """Return all quantized tables; see `StructureEngine`."""
        return self._network.costs()

    def learned(self) -> Learned:
        """Return the most probable structure and its tables; see `StructureEngine`."""
        return self._network.learned()

    def widths(self) -> tuple[int, ...]:
        """Return the bits of the most probable slots; see `StructureEngine`."""
        return self._network.layout.widths_of(self._network.most_probable())

    def state(self) -> dict[str, AnyArray]:
        """Return copies of all numbers that steps change; see `Resumable`."""
        return (
            taken_down(self._tensors)
            | optimizer_state("prior", self._prior)
            | optimizer_state("phi", self._phi)
        )

    def restore(self, state: Mapping[str, AnyArray]) -> None:
        """Restore the numbers of `state`; see `Resumable`."""
        put_back(self._tensors, state)
        restore_optimizer("prior", self._prior, state)
        restore_optimizer("phi", self._phi, state)
