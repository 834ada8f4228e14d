"""Tables in training by torch: the reference by autograd, on any device."""

from collections.abc import Mapping

import torch
from torch import Tensor, nn

from bncc._types import AnyArray, IntArray
from bncc.errors import OptionError
from bncc.fixed_point import QFormat
from bncc.train.gradient.engine import Passed, Problem
from bncc.train.gradient.layout import layout_of
from bncc.train.gradient.network import Network, states_tensor
from bncc.train.hyperparameters import Hyperparameters
from bncc.train.maximum_likelihood import LogTables

MOMENTS = ("exp_avg", "exp_avg_sq")
STEP = "step"


def taken_down(tensors: Mapping[str, Tensor]) -> dict[str, AnyArray]:
    """Return copies of tensors as arrays."""
    return {name: tensor.detach().cpu().numpy().copy() for name, tensor in tensors.items()}


def put_back(tensors: Mapping[str, Tensor], arrays: Mapping[str, AnyArray]) -> None:
    """Restore tensors from the return value of `taken_down`."""
    with torch.no_grad():
        for name, tensor in tensors.items():
            tensor.copy_(torch.from_numpy(arrays[name]))


def optimizer_state(name: str, optimizer: torch.optim.Adam) -> dict[str, AnyArray]:
    """Return copies of the moments and steps of Adam, of zeros before its first step."""
    tensors: dict[str, Tensor] = {}
    for index, parameter in enumerate(optimizer.param_groups[0]["params"]):
        blank = dict.fromkeys(MOMENTS, torch.zeros_like(parameter)) | {STEP: torch.tensor(0.0)}
        moments = optimizer.state.get(parameter) or blank
        tensors |= {f"{name}.{index}.{part}": moments[part] for part in (*MOMENTS, STEP)}
    return taken_down(tensors)


def restore_optimizer(
    name: str, optimizer: torch.optim.Adam, arrays: Mapping[str, AnyArray]
) -> None:
    """Restore the moments and steps of Adam."""
    saved = optimizer.state_dict()
    saved["state"] = {
        index: {
            part: torch.from_numpy(arrays[f"{name}.{index}.{part}"]).clone()
            for part in (*MOMENTS, STEP)
        }
        for index in range(len(optimizer.param_groups[0]["params"]))
    }
    optimizer.load_state_dict(saved)


NEGLIGIBLE_LOG = -80.0
"""Terms below exp of this vanish next to 1; underflow would make each ten times as slow."""


def loss_of(log_joint: Tensor, y: Tensor, hyper: Hyperparameters) -> Tensor:
    r"""
    Return the chosen loss, as a mean over the minibatch.

    .. math::
       L_{hybrid} &= \frac1B \sum_n
           \bigl[ -\ln p(x_n, c_n) + \lambda \max(0, \gamma - \beta_n) \bigr] \\
       L_{entropy} &= \frac1B \sum_n -\ln p(c_n \mid x_n) \\
       L_{free} &= \frac1B \sum_n
           \bigl[ -\ln p(c_n \mid x_n) + \lambda \max(0, \gamma - \beta_n) \bigr]

    Tables that need not be probabilities have no joint likelihood: only their effect on the
    classes counts.

    Shapes: `log_joint` (n_samples, n_classes) float; `y` (n_samples,) int64.

    References
    ----------
    S0, equations 5 to 8; the mean over the minibatch is the authors' code.
    """
    if hyper.terms.is_conditional:
        likelihood = nn.functional.cross_entropy(log_joint, y)
    else:
        likelihood = -log_joint.gather(1, y[:, None]).mean()
    if not hyper.terms.has_margin:
        return likelihood
    return likelihood + hyper.lambda_ * hinge(log_joint, y, hyper.gamma, hyper.eta)


def n_wrong(log_joint: Tensor, y: Tensor) -> int:
    """
    Return the number of samples with wrong decisions; the first class wins a tie.

    Shapes: `log_joint` (n_samples, n_classes) float; `y` (n_samples,) int64.
    """
    true = log_joint.gather(1, y[:, None])
    classes = torch.arange(log_joint.shape[1], device=y.device)
    is_before = (log_joint == true) & (classes < y[:, None])
    return int(((log_joint > true) | is_before).any(dim=1).sum())


def hinge(log_joint: Tensor, y: Tensor, gamma: float, eta: float) -> Tensor:
    r"""
    Return the deficit of the margin, as a mean over the minibatch.

    .. math::
       \max(0, \gamma - \beta_n),
       \quad \beta_n = \ln p(x_n, c_n) - \frac1\eta \ln \sum_{c \ne c_n} p(x_n, c)^\eta

    Shapes: `log_joint` (n_samples, n_classes) float; `y` (n_samples,) int64.
    """
    true = log_joint.gather(1, y[:, None])
    scaled = (eta * (log_joint - true)).scatter(1, y[:, None], -torch.inf)
    top = scaled.detach().amax(dim=1, keepdim=True)
    total = (scaled - top).clamp(min=NEGLIGIBLE_LOG).exp().sum(dim=1)
    margin = -(top.squeeze(1) + total.log()) / eta
    return torch.relu(gamma - margin).mean()


class TorchEngine:
    """A model in training, see `bncc.train.gradient.engine.Engine`."""

    kind = "torch"

    def __init__(self, problem: Problem, hyper: Hyperparameters) -> None:
        self._hyper = hyper
        self._device = device_of(hyper.device)
        layout = layout_of(problem.structure, problem.n_states)
        self._network = Network(layout, *problem.start, self._device, hyper.terms.are_free)
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
        """Use other states of the same samples from now on."""
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
        """Restore the numbers of `state`; see `Resumable`."""
        put_back(self._network.state_dict(), state)
        restore_optimizer("adam", self._optimizer, state)


def device_of(name: str) -> torch.device:
    """Return a device that is available."""
    device = torch.device(name)
    n_devices = {"cuda": torch.cuda.device_count(), "mps": torch.mps.device_count()}
    if (device.index or 0) >= n_devices.get(device.type, 1):
        raise OptionError(f"torch has no device '{name}' on this computer; choose --device cpu")
    return device
