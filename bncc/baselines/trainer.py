"""Training of small quantized networks: Adam on the cross-entropy, as in S3, section V-B."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from bncc._types import IntArray
from bncc.baselines.inputs import STEP, InputCodes, input_codes, one_hot
from bncc.baselines.network import Network
from bncc.baselines.plan import NetworkPlan

DECAY = 1e-3
"""The learning rate falls to this part of itself over a training, by the same factor each epoch."""
LEARNING_RATES = (3e-3, 3e-2)
"""Those of S3, which reports the better of two trainings."""


@dataclass(frozen=True)
class NetworkSettings:
    """How a network is trained."""

    epochs: int = 500  # Passes over the rows, 500 in S3
    batch_size: int = 100  # Rows per step
    lr: float = 3e-3  # First learning rate
    seed: int = 0  # Of first weights, order of rows and random signs


@dataclass(frozen=True, eq=False)
class TrainedNetwork:
    """A network after training, still in floating point."""

    network: Network  # In evaluation mode
    codes: InputCodes  # What its inputs are, unless they are one-hot
    n_states: tuple[int, ...]  # Cardinality of each feature

    def inputs(self, X: IntArray) -> Tensor:
        """
        Return rows as the network takes them.

        Shapes: `X` (n, n_features) int; returns (n, n_inputs) float32, what the device has as
        integers: bytes times their unit, or bits.
        """
        if self.network.plan.is_one_hot:
            return torch.from_numpy(one_hot(X, self.n_states)).float()
        return torch.from_numpy(self.codes.of(X)).float() * STEP

    @torch.no_grad()
    def predict(self, X: IntArray) -> IntArray:
        """
        Return the class of each row, in floating point.

        Shapes: `X` (n, n_features) int; returns (n,) int64, classes, the smallest on ties.
        """
        outputs = self.network(self.inputs(X))
        return np.asarray(outputs.argmax(dim=1).numpy(), dtype=np.int64)


def use_one_thread() -> None:
    """Keep torch to one thread in this process: a search runs one training per core."""
    torch.set_num_threads(1)


def train_network(
    plan: NetworkPlan,
    X: IntArray,
    y: IntArray,
    n_states: tuple[int, ...],
    settings: NetworkSettings,
    told: Callable[[int], None] | None = None,
) -> TrainedNetwork:
    """
    Train a network of a plan.

    Shapes: `X` (n, n_features) int; `y` (n,) int.
    """
    generator = torch.Generator().manual_seed(settings.seed)
    with torch.random.fork_rng():
        torch.manual_seed(settings.seed)  # random signs draw from here
        trained = TrainedNetwork(Network(plan, generator), input_codes(X, n_states), n_states)
        network, inputs = trained.network, trained.inputs(X)
        labels = torch.from_numpy(y).long()
        adam = torch.optim.Adam(network.parameters(), lr=settings.lr)
        fall = torch.optim.lr_scheduler.ExponentialLR(
            adam, DECAY ** (1 / max(1, settings.epochs - 1))
        )
        for epoch in range(settings.epochs):
            network.train()
            order = torch.randperm(len(labels), generator=generator)
            for rows in torch.split(order, settings.batch_size):
                if plan.has_norm and len(rows) == 1:
                    continue  # one row has no variance
                adam.zero_grad(set_to_none=True)
                loss = functional.cross_entropy(network(inputs[rows]), labels[rows])
                loss.backward()  # type: ignore[no-untyped-call]
                adam.step()
                network.keep_in_range()
            fall.step()
            if told is not None:
                told(epoch + 1)
    network.eval()
    return trained
