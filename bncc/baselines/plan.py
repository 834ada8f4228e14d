"""Plans of small quantized networks: architecture, inputs, size, and sizing to a budget."""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from math import floor, isqrt
from typing import Literal

import numpy as np
from scipy.optimize import brentq

from bncc._types import FloatArray, IntArray
from bncc.errors import OptionError

Activation = Literal["relu", "sign"]

WIDTH = 3
"""Rows and columns of a convolution's filter. S3 does not specify its own; the image is
zero-padded, so that a convolution preserves its size."""
POOL = 2
"""Rows and columns of a max-pooling block after each convolution."""
NORM_BITS = 64
"""Bits that batch normalization adds per unit or channel: two 32-bit numbers (S3, section V-C)."""
BIAS_BITS = 32
"""Bits of a bias; only outputs have one (S3, section V-C)."""


@dataclass(frozen=True)
class Layer:
    """One affine transformation, with its activation."""

    n_in: int  # n_in and n_out: Numbers of inputs and outputs; of channels for a convolution
    n_out: int
    side: int = 0  # Rows and columns of the image that is convolved; 0 for a fully connected layer

    @property
    def is_convolution(self) -> bool:
        """True for a convolution."""
        return self.side > 0

    @property
    def n_weights(self) -> int:
        """Number of weights."""
        return self.n_in * self.n_out * (WIDTH**2 if self.is_convolution else 1)

    @property
    def n_units(self) -> int:
        """Number of outputs before max-pooling."""
        return self.n_out * max(1, self.side**2)

    @property
    def n_products(self) -> int:
        """Multiply-accumulates per decision, including those with padding zeros."""
        return self.n_weights * max(1, self.side**2)


@dataclass(frozen=True)
class NetworkPlan:
    """A fully connected or a convolutional network, before its weights are known."""

    layers: tuple[Layer, ...]  # From the inputs to the classes
    # Number of features; each is one input, or several bits when `is_one_hot`
    n_features: int
    bits: int  # B, bits of a weight, 1 to 8
    activation: Activation  # Activation of all layers but the last
    has_norm: bool  # True if hidden layers are batch-normalized
    # True for one input bit per state, of which there are `n_states`; False for numeric inputs
    is_one_hot: bool = False

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return self.layers[-1].n_out

    @property
    def family(self) -> str:
        """Kind in comparisons: ``cnn``, ``dnn`` or ``dnn-one-hot``."""
        if self.layers[0].is_convolution:
            return "cnn"
        return "dnn-one-hot" if self.is_one_hot else "dnn"

    @property
    def n_weights(self) -> int:
        """Number of all weights."""
        return sum(layer.n_weights for layer in self.layers)

    @property
    def parameter_bits(self) -> int:
        """Bits of all parameters, as S3 counts them."""
        hidden = sum(layer.n_out for layer in self.layers[:-1])
        norm = NORM_BITS * hidden if self.has_norm else 0
        return self.bits * self.n_weights + norm + BIAS_BITS * self.n_classes

    @property
    def operations(self) -> int:
        """
        Operations per decision, as S3 counts them.

        A multiply-accumulate counts as one, and so does normalizing a unit or adding its bias. Only
        the set bits of one-hot inputs are added; S3 does not specify how it counts them.
        """
        first, *others = self.layers
        products = self.n_features * first.n_out if self.is_one_hot else first.n_products
        products += sum(layer.n_products for layer in others)
        norm = sum(layer.n_units for layer in self.layers[:-1]) if self.has_norm else 0
        return products + norm + self.n_classes


LEVELS = 127
"""Largest magnitude of a numeric input on the device: a signed byte."""
STEP = 1 / 32
"""Unit of that byte in standard deviations: inputs beyond 4 of them saturate."""


@dataclass(frozen=True, eq=False)
class InputCodes:
    """Byte code of every state of every feature."""

    # (n_entries,) int64: -127 .. 127 in units of `STEP` standard deviations, the states of feature
    # 0 first.
    codes: IntArray
    starts: IntArray  # (n_features,) int64: Index of each feature's first state

    def of(self, X: IntArray) -> IntArray:
        """
        Return the bytes of rows.

        Shapes: `X` (n, n_features) int; returns (n, n_features) int64, codes.
        """
        return np.asarray(self.codes[X + self.starts], dtype=np.int64)


def input_codes(X: IntArray, n_states: tuple[int, ...]) -> InputCodes:
    """
    Normalize states to mean 0 and variance 1 over the training rows, as bytes.

    Shapes: `X` (n, n_features) int.
    """
    mean, deviation = X.mean(axis=0), X.std(axis=0)
    deviation[deviation == 0] = np.inf
    values: list[FloatArray] = [
        (np.arange(n) - mean[i]) / deviation[i] for i, n in enumerate(n_states)
    ]
    codes = np.rint(np.concatenate(values) / STEP).clip(-LEVELS, LEVELS).astype(np.int64)
    return InputCodes(codes, starts_of(n_states))


def starts_of(n_states: tuple[int, ...]) -> IntArray:
    """Return the index of each feature's first state among the concatenated states."""
    return np.concatenate([[0], np.cumsum(n_states)[:-1]]).astype(np.int64)


def one_hot(X: IntArray, n_states: tuple[int, ...]) -> IntArray:
    """
    Return the one-hot encoding of rows.

    Shapes: `X` (n, n_features) int; returns (n, n_entries) int64, zeros and one 1 per feature.
    """
    bits = np.zeros((len(X), sum(n_states)), dtype=np.int64)
    np.put_along_axis(bits, X + starts_of(n_states), 1, axis=1)
    return bits


Budget = Callable[[NetworkPlan], int]
"""Size of a plan that a budget limits: `NetworkPlan.parameter_bits` or `NetworkPlan.operations`."""

MOST_UNITS = 4096
"""Largest number of hidden units, or channels, for any budget."""


@dataclass(frozen=True)
class Task:
    """Input and output dimensions of a network."""

    n_states: tuple[int, ...]  # Cardinality of each feature
    n_classes: int  # Number of classes

    @property
    def n_features(self) -> int:
        """Number of features."""
        return len(self.n_states)

    @property
    def side(self) -> int:
        """Side length, if the features may be the pixels of a square image; otherwise 0."""
        side = isqrt(self.n_features)
        return side if side**2 == self.n_features else 0


@dataclass(frozen=True)
class Form:
    """All of a plan except its size."""

    depth: int  # Fully connected: L, 2 to 5 layers. Convolutional: 1 or 2 convolutions.
    bits: int  # Bits of a weight, 1 to 8
    activation: Activation  # Activation of hidden layers
    has_norm: bool  # True if hidden layers are batch-normalized
    # is_convolutional and is_one_hot: True for convolutions on images; True for one-hot states.
    # Not both.
    is_convolutional: bool = False
    is_one_hot: bool = False


def plan_of(task: Task, form: Form, width: float) -> NetworkPlan:
    """Return a network with the given number of hidden units per layer, or channels."""
    layers = (
        _convolutions(task, form, width) if form.is_convolutional else _dense(task, form, width)
    )
    return NetworkPlan(
        layers, task.n_features, form.bits, form.activation, form.has_norm, form.is_one_hot
    )


def plan_within(task: Task, form: Form, budget: Budget, limit: int) -> NetworkPlan:
    """
    Return the network closest to a budget.

    The real number of units that would meet the budget exactly is rounded, as in S3, so the budget
    may be exceeded by half a unit's share.
    """

    def beyond(width: float) -> float:
        # Linear interpolation between integer widths yields the exact one.
        low = floor(width)
        at = [budget(plan_of(task, form, w)) for w in (max(1, low), low + 1)]
        return at[0] + (width - low) * (at[1] - at[0]) - limit

    if beyond(1) >= 0:
        return plan_of(task, form, 1)
    if beyond(MOST_UNITS) <= 0:
        return plan_of(task, form, MOST_UNITS)
    return plan_of(task, form, brentq(beyond, 1, MOST_UNITS))


def _units(width: float) -> int:
    return max(1, floor(width + 0.5))


def _dense(task: Task, form: Form, width: float) -> tuple[Layer, ...]:
    n_inputs = sum(task.n_states) if form.is_one_hot else task.n_features
    sizes = [n_inputs, *[_units(width)] * (form.depth - 1), task.n_classes]
    return tuple(Layer(n, m) for n, m in pairwise(sizes))


def _convolutions(task: Task, form: Form, width: float) -> tuple[Layer, ...]:
    side = task.side
    if side < POOL**form.depth:
        raise OptionError(
            f"{task.n_features} features do not form a square image large enough for "
            f"{form.depth} convolutions and poolings; use a fully connected network"
        )
    layers, n_in = [], 1
    for k in range(form.depth):
        layers.append(Layer(n_in, _units(width * 2**k), side))
        n_in = layers[-1].n_out
        side //= POOL
    return (*layers, Layer(n_in * side**2, task.n_classes))
