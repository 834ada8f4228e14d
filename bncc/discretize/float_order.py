"""Integers that order like floats: the bits of a float32, mirrored for negative values."""

import struct

import numpy as np

from bncc._types import AnyArray, FloatArray, IntArray

MIRRORED = 0x7FFFFFFF
"""Bits that differ between a negative float and its integer."""


def float_bits(value: float) -> int:
    """Return the bits of a float32, read as an int32."""
    bits: int = struct.unpack("<i", struct.pack("<f", value))[0]
    return bits


def float_key(value: float) -> int:
    """Return the integer that orders like a float32."""
    bits = float_bits(value)
    return bits if bits >= 0 else bits ^ MIRRORED


def float_keys(values: AnyArray) -> IntArray:
    """
    Return the integers that order like some values of float32.

    Shapes: `values` (n,) float64; returns (n,) int64.
    """
    bits = values.astype(np.float32).view(np.int32).astype(np.int64)
    return np.where(bits >= 0, bits, bits ^ MIRRORED)


def floats_of_keys(keys: IntArray) -> FloatArray:
    """
    Return the floats that some integers order like.

    Shapes: `keys` (n,) int64; returns (n,) float64, values of float32.
    """
    bits = np.where(keys >= 0, keys, keys ^ MIRRORED)
    return bits.astype(np.int32).view(np.float32).astype(np.float64)
