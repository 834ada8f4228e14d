"""The form of a small quantized network, and what S3 says it costs: bits and operations."""

from dataclasses import dataclass
from typing import Literal

Activation = Literal["relu", "sign"]

WIDTH = 3
"""Rows and columns of a convolution's filter. S3 does not say its own; the image is padded with
zeros, so that a convolution leaves its size alone."""
POOL = 2
"""Rows and columns that max-pooling joins after each convolution."""
NORM_BITS = 64
"""Bits that batch normalization adds per unit or channel: two numbers of 32 (S3, section V-C)."""
BIAS_BITS = 32
"""Bits of a bias; only outputs have one (S3, section V-C)."""


@dataclass(frozen=True)
class Layer:
    """One affine transformation, with what follows it."""

    n_in: int  # n_in and n_out: Inputs and outputs; channels, where it is a convolution
    n_out: int
    side: int = 0  # Rows and columns of the image that is convolved; 0 for a fully connected layer

    @property
    def is_convolution(self) -> bool:
        """Whether it slides over an image."""
        return self.side > 0

    @property
    def n_weights(self) -> int:
        """Number of weights."""
        return self.n_in * self.n_out * (WIDTH**2 if self.is_convolution else 1)

    @property
    def n_units(self) -> int:
        """Numbers that it computes, before max-pooling."""
        return self.n_out * max(1, self.side**2)

    @property
    def n_products(self) -> int:
        """Multiply-accumulates per decision; those with the zeros of the padding count too."""
        return self.n_weights * max(1, self.side**2)


@dataclass(frozen=True)
class NetworkPlan:
    """A fully connected or a convolutional network, before any weight is known."""

    layers: tuple[Layer, ...]  # From the inputs to the classes
    # Features of a row; each is one input, or one of several bits when `is_one_hot`
    n_features: int
    bits: int  # B, bits of a weight, 1 to 8
    activation: Activation  # Of all layers but the last
    has_norm: bool  # Whether hidden layers are batch-normalized
    # Whether an input is the state itself, one of `n_states` bits, and not a number
    is_one_hot: bool = False

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return self.layers[-1].n_out

    @property
    def family(self) -> str:
        """What it is compared as: ``cnn``, ``dnn`` or ``dnn-one-hot``."""
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

        A multiply-accumulate is one, and so is normalizing a unit or adding its bias. Of one-hot
        inputs only those that are set are added; S3 does not say how it would count them.
        """
        first, *others = self.layers
        products = self.n_features * first.n_out if self.is_one_hot else first.n_products
        products += sum(layer.n_products for layer in others)
        norm = sum(layer.n_units for layer in self.layers[:-1]) if self.has_norm else 0
        return products + norm + self.n_classes
