"""Training of small quantized networks in torch, as in S3, sections V-A and V-B."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from bncc._types import IntArray
from bncc.baselines.plan import (
    POOL,
    STEP,
    WIDTH,
    InputCodes,
    Layer,
    NetworkPlan,
    input_codes,
    one_hot,
)


def quantized_weights(w: Tensor, bits: int) -> Tensor:
    r"""
    Round weights to B bits, odd multiples of 1 / (2^B - 1) (S3 equations 12 and 13).

    .. math:: q(w) = \frac{2}{2^B - 1}
       \mathrm{round}\left((2^B - 1) \frac{\mathrm{clip}(w, -1, 1) + 1}{2}\right) - 1
    """
    steps = 2**bits - 1
    rounded = torch.round((w.clamp(-1, 1) + 1) / 2 * steps) / steps * 2 - 1
    straight_through: Tensor = w + (rounded - w).detach()
    return straight_through


def weight_codes(w: Tensor, bits: int) -> Tensor:
    """Return the stored codes of weights."""
    steps = 2**bits - 1
    return torch.round((w.detach().clamp(-1, 1) + 1) / 2 * steps).to(torch.int64)


class _Sign(torch.autograd.Function):
    """The sign, randomized in training, with the derivative of tanh (S3 equation 14)."""

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
    r"""
    Return the sign of activations, 1 for 0; random in training (S3 equation 14).

    .. math:: P(\mathrm{sign}(a) = 1) = \mathrm{clip}((1 + a) / 2, 0, 1)
    """
    drawn: Tensor = _Sign.apply(a, is_training)  # type: ignore[no-untyped-call]
    return drawn


NORM_EPSILON = 1e-5
"""Constant added to a variance before the square root."""


class Network(nn.Module):
    """Torch module of a plan: weights, batch normalization and the outputs' biases."""

    def __init__(self, plan: NetworkPlan, generator: torch.Generator) -> None:
        super().__init__()
        self.plan = plan
        self.weights = nn.ParameterList(_first_weights(layer, generator) for layer in plan.layers)
        hidden = plan.layers[:-1] if plan.has_norm else ()
        self.norms = nn.ModuleList(_norm(layer) for layer in hidden)
        self.bias = nn.Parameter(torch.zeros(plan.n_classes))

    def forward(self, x: Tensor) -> Tensor:
        """
        Return the outputs of a batch, before the softmax.

        Shapes: `x` (n, n_inputs) float; returns (n, n_classes) float, one number per class.
        """
        side = self.plan.layers[0].side
        if side:
            x = x.view(-1, 1, side, side)
        for k, layer in enumerate(self.plan.layers[:-1]):
            x = self._affine(x, k)
            if self.plan.has_norm:
                x = self.norms[k](x)
            x = self._activation(x)
            if layer.is_convolution:
                x = functional.max_pool2d(x, POOL)
        return self._affine(x.flatten(1), len(self.plan.layers) - 1) + self.bias

    @torch.no_grad()
    def keep_in_range(self) -> None:
        """Clip weights to the representable range; one far outside would take long to return."""
        for w in self.weights:
            w.clamp_(-1, 1)

    def _affine(self, x: Tensor, k: int) -> Tensor:
        w = quantized_weights(self.weights[k], self.plan.bits)
        if self.plan.layers[k].is_convolution:
            return functional.conv2d(x, w, padding=WIDTH // 2)
        return functional.linear(x, w)

    def _activation(self, a: Tensor) -> Tensor:
        if self.plan.activation == "relu":
            return functional.relu(a)
        return sign(a, is_training=self.training)


def _first_weights(layer: Layer, generator: torch.Generator) -> nn.Parameter:
    field = WIDTH**2 if layer.is_convolution else 1
    shape = (layer.n_out, layer.n_in, *(WIDTH, WIDTH)[: 2 * layer.is_convolution])
    limit = (6 / (field * (layer.n_in + layer.n_out))) ** 0.5
    return nn.Parameter((torch.rand(shape, generator=generator) * 2 - 1) * limit)


def _norm(layer: Layer) -> nn.Module:
    if layer.is_convolution:
        return nn.BatchNorm2d(layer.n_out, eps=NORM_EPSILON)
    return nn.BatchNorm1d(layer.n_out, eps=NORM_EPSILON)


DECAY = 1e-3
"""Final learning rate relative to the first one; it decays by the same factor each epoch."""
LEARNING_RATES = (3e-3, 3e-2)
"""Learning rates of S3, which reports the better of two trainings."""


@dataclass(frozen=True)
class NetworkSettings:
    """Settings of network training."""

    epochs: int = 500  # Passes over the rows, 500 in S3
    batch_size: int = 100  # Rows per step
    lr: float = 3e-3  # Initial learning rate
    seed: int = 0  # Random seed of initial weights, row order and signs


@dataclass(frozen=True, eq=False)
class TrainedNetwork:
    """A network after training, still in floating point."""

    network: Network  # In evaluation mode
    codes: InputCodes  # Byte codes of its inputs, unless they are one-hot
    n_states: tuple[int, ...]  # Cardinality of each feature

    def inputs(self, X: IntArray) -> Tensor:
        """
        Return rows in the network's input format.

        Shapes: `X` (n, n_features) int; returns (n, n_inputs) float32, the device's integer inputs
        in real units: bytes times their unit, or bits.
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
    """Limit torch to one thread in this process: a search runs one training per core."""
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
        torch.manual_seed(settings.seed)  # for random signs
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
