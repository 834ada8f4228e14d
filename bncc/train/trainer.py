"""The training loop: Adam on minibatches with decaying steps, quantized in its later part."""

from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from bncc._types import IntArray
from bncc.errors import OptionError
from bncc.fixed_point import QFormat
from bncc.structure.graph import Structure
from bncc.train.hyperparameters import Hyperparameters
from bncc.train.layout import layout_of
from bncc.train.losses import cross_entropy, hybrid
from bncc.train.maximum_likelihood import LogTables
from bncc.train.network import Network, states_tensor

FormatChoice = Callable[[LogTables], QFormat]
Progress = Callable[[int, int, float], None]

DECAY = 1e-3
"""The step falls to this fraction over the run, geometrically per epoch (S0's code)."""


def descend(
    X: IntArray,
    y: IntArray,
    structure: Structure,
    n_states: Sequence[int],
    start: LogTables,
    hyper: Hyperparameters,
    choose_format: FormatChoice | None,
    progress: Progress | None = None,
) -> LogTables:
    """Train log-probability tables.

    Parameters
    ----------
    X : (n_samples, n_features) int
        States.
    y : (n_samples,) int
        Class indices.
    structure : Structure
        The graph.
    n_states : sequence of int
        Cardinality of each feature.
    start : tuple
        Prior and tables to begin with.
    hyper : Hyperparameters
        What steers the descent.
    choose_format : callable or None
        Called once, with the tables reached when quantization begins; its format is used from
        then on. None trains without quantization.
    progress : callable, optional
        Called after each epoch with (epochs done, epochs, mean loss).

    Returns
    -------
    log_prior : (n_classes,) float64
        Natural log-probabilities before quantization, <= 0.
    log_tables : tuple of (n_rows_i, n_classes) float64
        Likewise, one per feature.

    Raises
    ------
    OptionError
        If the device is absent.
    """
    device = _device(hyper.device)
    threads_before = torch.get_num_threads()
    torch.set_num_threads(hyper.threads)
    try:
        return _descend(X, y, structure, n_states, start, hyper, choose_format, progress, device)
    finally:
        torch.set_num_threads(threads_before)


def _descend(
    X: IntArray,
    y: IntArray,
    structure: Structure,
    n_states: Sequence[int],
    start: LogTables,
    hyper: Hyperparameters,
    choose_format: FormatChoice | None,
    progress: Progress | None,
    device: torch.device,
) -> LogTables:
    network = Network(layout_of(structure, n_states), *start, device)
    states, target = states_tensor(X, device), torch.from_numpy(y).long().to(device)
    optimizer = torch.optim.Adam(network.parameters(), lr=hyper.lr, fused=device.type == "cpu")
    generator = torch.Generator().manual_seed(hyper.seed)
    switch = int(hyper.quantize_from * hyper.epochs)
    for epoch in range(hyper.epochs):
        if epoch == switch and choose_format is not None:
            network.fmt = choose_format(network.log_tables())
        for group in optimizer.param_groups:
            group["lr"] = hyper.lr * DECAY ** (epoch / max(hyper.epochs - 1, 1))
        loss = _epoch(network, optimizer, states, target, hyper, generator)
        if progress is not None:
            progress(epoch + 1, hyper.epochs, loss)
    return network.log_tables()


def _device(name: str) -> torch.device:
    """Return a device that is there."""
    device = torch.device(name)
    n_devices = {"cuda": torch.cuda.device_count(), "mps": torch.mps.device_count()}
    if (device.index or 0) >= n_devices.get(device.type, 1):
        raise OptionError(f"torch finds no device '{name}' on this machine; choose --device cpu")
    return device


def _epoch(
    network: Network,
    optimizer: torch.optim.Optimizer,
    states: Tensor,
    target: Tensor,
    hyper: Hyperparameters,
    generator: torch.Generator,
) -> float:
    total = 0.0
    for rows in torch.split(torch.randperm(len(target), generator=generator), hyper.batch_size):
        batch = states[rows.to(states.device)]
        dropped = None
        if hyper.dropout > 0:
            dropped = torch.rand(batch.shape, generator=generator) < hyper.dropout
            dropped = dropped.to(states.device)
        log_joint = network(batch, dropped)
        y = target[rows.to(states.device)]
        if hyper.loss == "hybrid":
            loss = hybrid(log_joint, y, hyper.lambda_, hyper.gamma, hyper.eta)
        else:
            loss = cross_entropy(log_joint, y)
        optimizer.zero_grad()
        torch.autograd.backward(loss)
        optimizer.step()
        total += float(loss.detach()) * len(rows)
    return total / len(target)
