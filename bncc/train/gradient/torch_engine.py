"""Tables in training by torch: autograd says what is meant, on any device."""

from collections.abc import Mapping

import torch
from torch import Tensor

from bncc._types import AnyArray, IntArray
from bncc.errors import OptionError
from bncc.fixed_point import QFormat
from bncc.train.checkpoint.torch_state import (
    optimizer_state,
    put_back,
    restore_optimizer,
    taken_down,
)
from bncc.train.gradient.engine import Passed, Problem
from bncc.train.gradient.layout import layout_of
from bncc.train.gradient.losses import loss_of, n_wrong
from bncc.train.gradient.network import Network, states_tensor
from bncc.train.hyperparameters import Hyperparameters
from bncc.train.maximum_likelihood import LogTables


class TorchEngine:
    """A model in training, see `bncc.train.gradient.engine.Engine`."""

    kind = "torch"

    def __init__(self, problem: Problem, hyper: Hyperparameters) -> None:
        self._hyper = hyper
        self._device = device_of(hyper.device)
        layout = layout_of(problem.structure, problem.n_states)
        self._network = Network(layout, *problem.start, self._device, hyper.are_free)
        self._states = states_tensor(problem.X, self._device)
        self._target = torch.from_numpy(problem.y).long().to(self._device)
        self._optimizer = torch.optim.Adam(
            self._network.parameters(), lr=hyper.lr, fused=self._device.type == "cpu"
        )

    def epoch(self, order: IntArray, noise: AnyArray, lr: float) -> Passed:
        """Take one step of Adam for each batch; see `Engine`."""
        threads_before = torch.get_num_threads()
        torch.set_num_threads(self._hyper.threads)
        for group in self._optimizer.param_groups:
            group["lr"] = lr
        rows = torch.from_numpy(order).long().to(self._device)
        dropped = None
        if self._hyper.dropped_below:
            dropped = torch.from_numpy(noise < self._hyper.dropped_below).to(self._device)
        try:
            return self._epoch(rows, dropped)
        finally:
            torch.set_num_threads(threads_before)

    def _epoch(self, rows: Tensor, dropped: Tensor | None) -> Passed:
        total, wrong, size = 0.0, 0, self._hyper.batch_size
        for begin in range(0, len(rows), size):
            batch = rows[begin : begin + size]
            left_out = None if dropped is None else dropped[begin : begin + size]
            log_joint, y = self._network(self._states[batch], left_out), self._target[batch]
            loss = loss_of(log_joint, y, self._hyper)
            self._optimizer.zero_grad()
            torch.autograd.backward(loss)
            self._optimizer.step()
            total += float(loss.detach()) * len(batch)
            wrong += n_wrong(log_joint.detach(), y)
        return Passed(total / len(rows), wrong / len(rows))

    def see(self, X: IntArray) -> None:
        """Learn from other states of the same samples from now on."""
        self._states = states_tensor(X, self._device)

    def quantize(self, fmt: QFormat) -> None:
        """Compute with quantized prior and tables from now on."""
        self._network.fmt = fmt

    def log_tables(self) -> LogTables:
        """Return prior and tables before quantization; see `Engine`."""
        return self._network.log_tables()

    def state(self) -> dict[str, AnyArray]:
        """Return copies of all numbers that steps change; see `Resumable`."""
        return taken_down(self._network.state_dict()) | optimizer_state("adam", self._optimizer)

    def restore(self, state: Mapping[str, AnyArray]) -> None:
        """Take the numbers of `state` up again; see `Resumable`."""
        put_back(self._network.state_dict(), state)
        restore_optimizer("adam", self._optimizer, state)


def device_of(name: str) -> torch.device:
    """Return a device that is there."""
    device = torch.device(name)
    n_devices = {"cuda": torch.cuda.device_count(), "mps": torch.mps.device_count()}
    if (device.index or 0) >= n_devices.get(device.type, 1):
        raise OptionError(f"torch finds no device '{name}' on this machine; choose --device cpu")
    return device
