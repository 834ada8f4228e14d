"""Integers that order like floats."""

import numpy as np

from bncc.discretize.float_order import float_bits, float_key, float_keys, floats_of_keys

VALUES = np.array([-np.inf, -1.5, -1e-45, -0.0, 0.0, 1e-45, 0.1, 3.4e38, np.inf])


def test_integers_order_like_floats():
    keys = float_keys(VALUES)
    assert (np.diff(keys) > 0).all()
    assert keys.tolist() == [float_key(value) for value in VALUES]
    assert float_key(0.0) == 0
    assert float_key(-0.0) == -1


def test_floats_are_recovered_bit_by_bit():
    found = floats_of_keys(float_keys(VALUES))
    assert [float_bits(x) for x in found] == [float_bits(x) for x in VALUES]
