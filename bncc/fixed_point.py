"""Fixed-point costs: conversion of log-probabilities to the unsigned integers of the device."""

from dataclasses import dataclass

import numpy as np

from bncc._types import FloatArray, IntArray

MAX_BITS = 31
"""Largest width of a cost in bits; sums then provably fit 32 or 64 bits."""
MAX_FRAC_BITS = 64
"""Limit on fraction bits: a unit below 2**-64 or above 2**64 nats is meaningless."""


@dataclass(frozen=True, order=True)
class QFormat:
    """
    An unsigned fixed-point format, S3 equation 10 without the sign.

    Examples
    --------
    >>> str(QFormat(4, 2)), QFormat(4, 2).max_cost
    ('UQ4.2', 63)
    """

    int_bits: int  # B_I, bits before the binary point
    # B_F, bits after it. If negative, costs are multiples of ``2**-frac_bits`` nats.
    frac_bits: int

    def __post_init__(self) -> None:
        if not 1 <= self.bits <= MAX_BITS:
            raise ValueError(
                f"UQ{self.int_bits}.{self.frac_bits} has {self.bits} bits; "
                f"int_bits + frac_bits must be in 1 .. {MAX_BITS}"
            )
        if abs(self.frac_bits) > MAX_FRAC_BITS:
            raise ValueError(
                f"{self.frac_bits} fraction bits; -{MAX_FRAC_BITS} .. {MAX_FRAC_BITS} are supported"
            )

    @property
    def bits(self) -> int:
        """B = B_I + B_F, the width of a stored cost."""
        return self.int_bits + self.frac_bits

    @property
    def max_cost(self) -> int:
        """Largest stored cost, ``2**B - 1``."""
        return (1 << self.bits) - 1

    def __str__(self) -> str:
        return f"UQ{self.int_bits}.{self.frac_bits}"


def quantize(theta: FloatArray, fmt: QFormat) -> IntArray:
    r"""
    Round log-probabilities to unsigned fixed-point costs (S3 equation 11).

    .. math:: q = \min(\mathrm{rne}(-\theta\,2^{B_F}),\; 2^{B_I + B_F} - 1)
    """
    theta = np.asarray(theta, dtype=np.float64)
    if np.isnan(theta).any() or (theta > 0).any():
        raise ValueError("log-probabilities must be <= 0 and not NaN")
    with np.errstate(over="ignore"):  # values beyond float64 exceed every format
        scaled = -theta * 2.0**fmt.frac_bits
    return np.rint(np.minimum(scaled, float(fmt.max_cost))).astype(np.int64)


def dequantize(costs: IntArray, fmt: QFormat) -> FloatArray:
    """Return the log-probabilities that stored costs represent."""
    return -np.asarray(costs, dtype=np.float64) * 2.0**-fmt.frac_bits


def rounded(theta: FloatArray, fmt: QFormat) -> FloatArray:
    """Return log-probabilities after rounding to a format."""
    return dequantize(quantize(theta, fmt), fmt)
