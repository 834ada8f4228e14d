"""States as the numbers that a network takes."""

from dataclasses import dataclass

import numpy as np

from bncc._types import FloatArray, IntArray

LEVELS = 127
"""Largest magnitude of an input that is a number, as the device has it: a signed byte."""
STEP = 1 / 32
"""What one unit of that byte stands for, in standard deviations: beyond 4 of them it saturates."""


@dataclass(frozen=True, eq=False)
class InputCodes:
    """The byte that every state of every feature becomes."""

    # (n_entries,) int64: -127 .. 127 in units of `STEP` standard deviations, the states of feature
    # 0 first.
    codes: IntArray
    starts: IntArray  # (n_features,) int64: Where the states of each feature begin

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
    """Return where each feature's states begin when those of all stand in a row."""
    return np.concatenate([[0], np.cumsum(n_states)[:-1]]).astype(np.int64)


def one_hot(X: IntArray, n_states: tuple[int, ...]) -> IntArray:
    """
    Return a bit per state.

    Shapes: `X` (n, n_features) int; returns (n, n_entries) int64, zeros and one 1 per feature.
    """
    bits = np.zeros((len(X), sum(n_states)), dtype=np.int64)
    np.put_along_axis(bits, X + starts_of(n_states), 1, axis=1)
    return bits
