"""A machine that runs the steps of a sum in planes of bits, one word per variable."""

import numpy as np

from bncc.lower.kernels.bit_slice.carry_save import Constant, RowWord, UpperHalf


def run(steps, rows, word_bits, half_bits=0):
    """
    Return all variables after the last step, for one input or many at once.

    `rows` has, per table, an array of words with the words of a row on its last axis. Words must
    fit their width.
    """
    values = {}

    def read(operand):
        if isinstance(operand, Constant):
            return operand.value
        if isinstance(operand, RowWord):
            return np.asarray(rows[operand.table])[..., operand.word]
        if isinstance(operand, UpperHalf):
            return values[f"sum{operand.level}"] >> half_bits
        return values[operand]

    for step in steps:
        words = [read(operand) for operand in step.operands]
        assert all(np.min(word) >= 0 and np.max(word) < 1 << word_bits for word in words)
        if step.into is None:
            (values[step.target],) = words
            continue
        old, (a, b) = values[step.into], (*words, 0)[:2]
        values[step.into] = old ^ a ^ b
        if step.into != step.target:
            values[step.target] = (old & a) | (old & b) | (a & b)
    return values


def totals(values, n_levels, n_classes):
    """Return the sum of every class from its planes, classes on the last axis."""
    planes = [np.asarray(values[f"sum{k}"])[..., None] for k in range(n_levels)]
    return sum((plane >> np.arange(n_classes) & 1) << k for k, plane in enumerate(planes))
