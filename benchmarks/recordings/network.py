"""
A small one-dimensional convolutional network on samples, as one would deploy it in int8.

The architecture, the optimizer and early stopping were fixed before any result, the same for all
sets: three convolutions of five samples, a mean over four quarters of the window, one dense layer.
Decisions are those of float weights; quantization to int8 could only change them.
"""

from copy import deepcopy
from dataclasses import dataclass

import numpy as np
import torch
from torch import nn

from bncc._types import BoolArray, FloatArray, IntArray

WIDTHS = (16, 32, 32)
KERNEL = 5
N_PLACES = 4
"""Parts of the window that the dense layer distinguishes."""
LONG = 256
"""Windows above this length are reduced by 4 instead of 2 after each convolution but the last."""
BATCH = 64
N_EPOCHS = 100
PATIENCE = 10
"""Epochs without a lower validation loss."""


@dataclass(frozen=True, eq=False)
class Network:
    """A trained network with the normalization of its samples."""

    layers: nn.Sequential
    mean: FloatArray  # (n_channels, 1)
    scale: FloatArray  # (n_channels, 1)
    n_weights: int
    n_products: int  # Multiplications of a window

    def decisions(self, samples: IntArray) -> IntArray:
        """Return the label of each window, (n,) int64; `samples` is (n, length, n_channels)."""
        self.layers.eval()
        inputs = torch.from_numpy(_normalized(samples, self.mean, self.scale))
        with torch.no_grad():
            said = [self.layers(part).argmax(1) for part in inputs.split(1024)]
        return np.asarray(torch.cat(said).numpy(), dtype=np.int64)


def trained(
    samples: IntArray, y: IntArray, validated: BoolArray, n_labels: int, seed: int
) -> Network:
    """
    Train until the loss of the validation windows is lowest.

    Shapes: `samples` (n, length, n_channels) int, `y` (n,) int, `validated` (n,) bool.
    """
    torch.manual_seed(seed)
    fitted = samples[~validated]
    mean, scale = fitted.mean(axis=(0, 1)), fitted.std(axis=(0, 1))
    mean, scale = mean[:, None], np.maximum(scale, 1e-9)[:, None]
    inputs, labels = torch.from_numpy(_normalized(samples, mean, scale)), torch.from_numpy(y)
    held = torch.from_numpy(validated)
    layers = _layers(samples.shape[2], samples.shape[1], n_labels)
    _descend(layers, (inputs[~held], labels[~held]), (inputs[held], labels[held]))
    n_weights, n_products = _size(layers, inputs[:1])
    return Network(layers, mean, scale, n_weights, n_products)


def _normalized(samples: IntArray, mean: FloatArray, scale: FloatArray) -> FloatArray:
    return np.asarray((samples.transpose(0, 2, 1) - mean) / scale, dtype=np.float32)


def _layers(n_channels: int, length: int, n_labels: int) -> nn.Sequential:
    layers: list[nn.Module] = []
    for k, width in enumerate(WIDTHS):
        layers += [nn.Conv1d(n_channels, width, KERNEL, padding=KERNEL // 2)]
        layers += [nn.BatchNorm1d(width), nn.ReLU()]
        if k < len(WIDTHS) - 1:
            layers.append(nn.MaxPool1d(4 if length > LONG else 2))
        n_channels = width
    layers += [nn.AdaptiveAvgPool1d(N_PLACES), nn.Flatten(), nn.Dropout(0.2)]
    return nn.Sequential(*layers, nn.Linear(n_channels * N_PLACES, n_labels))


Rows = tuple[torch.Tensor, torch.Tensor]


def _descend(layers: nn.Sequential, fitted: Rows, held: Rows) -> None:
    """Train in place, and leave the weights of the epoch with the lowest validation loss."""
    optimizer, loss = torch.optim.Adam(layers.parameters(), lr=1e-3), nn.CrossEntropyLoss()
    best, least, waited = deepcopy(layers.state_dict()), float("inf"), 0
    for _ in range(N_EPOCHS):
        layers.train()
        for rows in torch.randperm(len(fitted[1])).split(BATCH):
            optimizer.zero_grad()
            loss(layers(fitted[0][rows]), fitted[1][rows]).backward()
            optimizer.step()
        layers.eval()
        with torch.no_grad():
            scores = torch.cat([layers(part) for part in held[0].split(1024)])
        found = float(loss(scores, held[1]))
        waited += 1
        if found < least:
            best, least, waited = deepcopy(layers.state_dict()), found, 0
        if waited == PATIENCE:
            break
    layers.load_state_dict(best)


def _size(layers: nn.Sequential, window: torch.Tensor) -> tuple[int, int]:
    """Return the weights, normalization folded into them, and the multiplications of a window."""
    layers.eval()
    n_weights = n_products = 0
    with torch.no_grad():
        for layer in layers:
            window = layer(window)
            if isinstance(layer, nn.Conv1d | nn.Linear):
                assert layer.bias is not None
                n_weights += layer.weight.numel() + layer.bias.numel()
                n_places = window.shape[-1] if isinstance(layer, nn.Conv1d) else 1
                n_products += layer.weight.numel() * n_places
    return n_weights, n_products
