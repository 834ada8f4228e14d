"""A small quantized network in torch, to be trained."""

import torch
from torch import Tensor, nn
from torch.nn import functional

from bncc.baselines.plan import POOL, WIDTH, Layer, NetworkPlan
from bncc.baselines.quantizers import quantized_weights, sign

NORM_EPSILON = 1e-5
"""Added to a variance before its root is taken."""


class Network(nn.Module):
    """The torch form of a plan: weights, batch normalization and the outputs' biases."""

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
        """Clip weights to what can be stored; one far outside would take long to come back."""
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
