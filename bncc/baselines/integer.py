"""Integer inference of a quantized network: the reference for its C."""

from dataclasses import dataclass

import numpy as np

from bncc._types import IntArray
from bncc.baselines.plan import POOL, WIDTH, InputCodes, Layer, NetworkPlan, one_hot

LARGEST_ACTIVATION = 255
"""Largest value of a rectified activation, an unsigned byte. A sign is 1 or -1."""
FACTOR_BITS = 15
"""Bits of both factors of a rescaling: their product fits 32 bits."""


@dataclass(frozen=True, eq=False)
class Rescaling:
    """
    Mapping from the sums of a layer to its rectified activations.

    ``clip((((sum >> drop) * factor) + offset) >> shift, 0, 255)``, with arithmetic shifts.
    """

    # Low bits of a sum that are dropped, so that the rest has at most 16 bits including the sign
    drop: int
    factors: IntArray  # (n_out,) int64: 0 .. 2**15 - 1.
    offsets: IntArray  # (n_out,) int64: Below 2**30 in magnitude, including half a unit to round
    shift: int  # 0 .. 30.

    def of(self, sums: IntArray) -> IntArray:
        """Return the activations of sums ``(..., n_out)``."""
        scaled = ((sums >> self.drop) * self.factors + self.offsets) >> self.shift
        return np.asarray(np.clip(scaled, 0, LARGEST_ACTIVATION), dtype=np.int64)


@dataclass(frozen=True, eq=False)
class IntegerLayer:
    """One affine transformation in integers, with its activation."""

    layer: Layer  # Its shape
    # (n_out, ...) int64: Weight codes 0 .. 2**B - 1, inputs in the order of a row or of a filter
    # (channel, row, column).
    codes: IntArray
    rescaling: Rescaling | None = None  # Rectification of its sums
    # (n_out,) int64 or None: Smallest sum with sign 1. The last layer has neither.
    thresholds: IntArray | None = None

    def activations(self, sums: IntArray) -> IntArray:
        """Return the input of the next layer from sums ``(..., n_out)``."""
        if self.rescaling is not None:
            return self.rescaling.of(sums)
        assert self.thresholds is not None
        return np.where(sums >= self.thresholds, 1, -1)


@dataclass(frozen=True, eq=False)
class IntegerNetwork:
    """A network with integer-only inference."""

    plan: NetworkPlan  # Its architecture
    n_states: tuple[int, ...]  # Cardinality of each feature
    inputs: InputCodes | None  # Bytes of states; None where inputs are one-hot
    layers: tuple[IntegerLayer, ...]  # From the inputs to the classes
    bias: IntArray  # (n_classes,) int64: In units of the last layer's sums over ``2**bias_shift``
    bias_shift: int = 0  # Left shift of those sums before the bias is added, 0 .. 8.

    def hidden(self, X: IntArray, n_layers: int) -> IntArray:
        """
        Return the input of layer `n_layers`.

        Shapes: `X` (n, n_features) int; returns (n, n_in) or (n, side, side, channels) int64, input
        codes or bits, or activations.
        """
        values = one_hot(X, self.n_states) if self.inputs is None else self.inputs.of(X)
        if self.plan.layers[0].is_convolution:
            side = self.plan.layers[0].side
            values = values.reshape(-1, side, side, 1)
        for layer in self.layers[:n_layers]:
            values = layer.activations(sums_of(layer, values, self.plan.bits))
            if layer.layer.is_convolution:
                values = pooled(values)
        return values

    def outputs(self, X: IntArray) -> IntArray:
        """Return the output of every class, ``(n, n_classes)`` int64."""
        last = self.layers[-1]
        values = self.hidden(X, len(self.layers) - 1)
        return (sums_of(last, values, self.plan.bits) << self.bias_shift) + self.bias

    def predict(self, X: IntArray) -> IntArray:
        """Return the class of each row, the smallest on ties, ``(n,)`` int64."""
        return np.asarray(self.outputs(X).argmax(axis=1), dtype=np.int64)


def sums_of(layer: IntegerLayer, values: IntArray, bits: int) -> IntArray:
    """
    Return the sums of a layer over its inputs.

    Shapes: `values` (n, n_in) or (n, side, side, channels) int64; returns (n, n_out) or (n, side,
    side, n_out) int64, exact.
    """
    weights = 2 * layer.codes - (2**bits - 1)
    if not layer.layer.is_convolution:
        # Inputs of a layer after convolutions: channel by channel, as torch flattens them.
        flat = np.moveaxis(values, -1, 1).reshape(len(values), -1)
        return _exact(flat, weights.T)
    reach = WIDTH // 2
    padded = np.pad(values, ((0, 0), (reach, reach), (reach, reach), (0, 0)))
    windows = np.lib.stride_tricks.sliding_window_view(padded, (WIDTH, WIDTH), axis=(1, 2))
    n, rows, columns = windows.shape[:3]
    # A window and a filter are both in the order channel, row, column.
    flat = windows.reshape(n * rows * columns, -1)
    return _exact(flat, weights.reshape(len(weights), -1).T).reshape(n, rows, columns, -1)


def pooled(values: IntArray) -> IntArray:
    """
    Max-pool an image, dropping incomplete blocks at its edges.

    Shapes: `values` (n, side, side, channels) int64; returns (n, side // 2, side // 2, channels)
    int64, their largest.
    """
    n, side, _, channels = values.shape
    kept = side // POOL * POOL
    blocks = values[:, :kept, :kept].reshape(n, kept // POOL, POOL, kept // POOL, POOL, channels)
    return np.asarray(blocks.max(axis=(2, 4)))


def _exact(values: IntArray, weights: IntArray) -> IntArray:
    # float64 is exact for integers up to 2**53, and its products are many times as fast.
    return (values.astype(np.float64) @ weights.astype(np.float64)).astype(np.int64)
