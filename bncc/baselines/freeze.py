"""Conversion of trained networks to integers: byte activations, exact sums, rescaling per layer."""

from dataclasses import dataclass
from math import floor, log2

import numpy as np
import torch
from torch import nn

from bncc._types import FloatArray, IntArray
from bncc.baselines.integer import (
    FACTOR_BITS,
    LARGEST_ACTIVATION,
    IntegerLayer,
    IntegerNetwork,
    Rescaling,
    sums_of,
)
from bncc.baselines.plan import LEVELS, STEP, Layer
from bncc.baselines.trainer import TrainedNetwork, weight_codes

CALIBRATION_ROWS = 2000
"""Training rows from which the range of a layer's activations is determined."""
KEPT = 0.9995
"""Fraction of these activations that does not saturate."""
MOST_SHIFT = 30
MOST_BIAS_SHIFT = 8


@dataclass(frozen=True, eq=False)
class _Affine:
    """Effect of batch normalization on a sum in real units: ``scale * sum + offset``."""

    scale: FloatArray
    offset: FloatArray


def freeze_network(trained: TrainedNetwork, X: IntArray) -> IntegerNetwork:
    """
    Convert a trained network to integers.

    Weights are exactly the few-bit codes of training. Rectified activations become bytes, with a
    unit determined from training rows; this is the only rounding, and S3 does not specify it.

    Shapes: `X` (n, n_features) int.
    """
    network = trained.network
    plan, steps = network.plan, 2**network.plan.bits - 1
    rows = X[:: max(1, len(X) // CALIBRATION_ROWS)]
    unit = 1.0 if plan.is_one_hot else STEP
    largest = 1 if plan.is_one_hot else LEVELS
    codes = None if plan.is_one_hot else trained.codes
    done: tuple[IntegerLayer, ...] = ()
    frozen = IntegerNetwork(plan, trained.n_states, codes, done, np.zeros(0, np.int64))
    for k, layer in enumerate(plan.layers):
        weights = weight_codes(network.weights[k], plan.bits).numpy()
        unit /= steps
        if k == len(plan.layers) - 1:
            bias = network.bias.detach().numpy().astype(np.float64)
            shift = _bias_shift(bias / unit, _largest_sum(layer, steps, largest))
            bias = np.rint(bias / unit * 2**shift).astype(np.int64)
            done = (*done, IntegerLayer(layer, weights))
            return IntegerNetwork(plan, trained.n_states, codes, done, bias, shift)
        affine = _affine(network.norms[k] if plan.has_norm else None, layer)
        weights, affine = _upright(weights, affine, steps)
        if plan.activation == "sign":
            thresholds = np.ceil(-affine.offset / affine.scale / unit).astype(np.int64)
            done = (*done, IntegerLayer(layer, weights, thresholds=thresholds))
            unit, largest = 1.0, 1
        else:
            values = frozen.hidden(rows, k)
            sums = sums_of(IntegerLayer(layer, weights), values, plan.bits)
            real = np.maximum(sums * unit * affine.scale + affine.offset, 0)
            to = max(float(np.quantile(real, KEPT)), 1e-6) / LARGEST_ACTIVATION
            bound = _largest_sum(layer, steps, largest)
            done = (*done, IntegerLayer(layer, weights, _rescaling(affine, unit, to, bound)))
            unit, largest = to, LARGEST_ACTIVATION
        frozen = IntegerNetwork(plan, trained.n_states, codes, done, np.zeros(0, np.int64))
    raise AssertionError("a network has a last layer")


def _affine(norm: nn.Module | None, layer: Layer) -> _Affine:
    if norm is None:
        return _Affine(np.ones(layer.n_out), np.zeros(layer.n_out))
    assert isinstance(norm, nn.BatchNorm1d | nn.BatchNorm2d)
    mean, variance = norm.running_mean, norm.running_var
    assert mean is not None
    assert variance is not None
    with torch.no_grad():
        scale = norm.weight.double() / torch.sqrt(variance.double() + norm.eps)
        offset = norm.bias.double() - mean.double() * scale
    return _Affine(scale.numpy(), offset.numpy())


def _upright(weights: IntArray, affine: _Affine, steps: int) -> tuple[IntArray, _Affine]:
    """
    Negate the weights of units with a negative scale, so that no scale is negative.

    The code of the weight -w is ``steps - code``: nothing is rounded. Activations then increase
    with sums, so pooling can take the largest sum.
    """
    down = affine.scale < 0
    turned = np.where(down.reshape(-1, *[1] * (weights.ndim - 1)), steps - weights, weights)
    # With a scale of 0 the sum has no effect; the smallest scale preserves the sign of the offset.
    scale = np.maximum(np.abs(affine.scale), 1e-9)
    return turned, _Affine(scale, affine.offset)


def _largest_sum(layer: Layer, steps: int, largest: int) -> int:
    """Return a bound on the magnitude of a layer's sums: all weights and inputs at maximum."""
    return layer.n_weights // layer.n_out * steps * largest


def _bias_shift(bias: FloatArray, bound: int) -> int:
    """Return the number of fraction bits of biases such that outputs fit 32 bits."""
    largest = bound + float(np.abs(bias).max()) + 1
    return max(0, min(MOST_BIAS_SHIFT, floor(log2((2**31 - 1) / largest))))


def _rescaling(affine: _Affine, unit: float, to: float, bound: int) -> Rescaling:
    """Return the 32-bit rescaling closest to the real one."""
    drop = max(0, bound.bit_length() - FACTOR_BITS)
    real = affine.scale * unit * 2**drop / to
    offset = affine.offset / to
    # As many fraction bits as both factor and offset allow.
    room = min(
        log2((2**FACTOR_BITS - 1) / max(float(real.max()), 1e-12)),
        log2((2**MOST_SHIFT - 1) / max(float(np.abs(offset).max()) + 1, 1e-12)),
        MOST_SHIFT,
    )
    shift = max(0, floor(room))
    factors = np.rint(real * 2**shift).astype(np.int64).clip(0, 2**FACTOR_BITS - 1)
    half = 1 << (shift - 1) if shift else 0
    offsets = np.rint(offset * 2**shift).astype(np.int64) + half
    limit = 2**MOST_SHIFT - 1
    return Rescaling(drop, factors, offsets.clip(-limit, limit), shift)
