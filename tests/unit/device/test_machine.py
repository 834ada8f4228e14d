"""Rows of readings in memory."""

import numpy as np

from bncc.device.machine import pack, row_dtype
from bncc.discretize.feature import Feature

COLOR = Feature("color", "category", 4, categories=("red", "green", "blue"), missing_state=3)
LEVEL = Feature("level", "int16", 3, thresholds=(-5, 100), missing_state=1)
WEIGHT = Feature("weight", "float32", 3, thresholds=(0.5, 2.0), missing_state=0)


def test_a_row_has_the_padding_of_a_c_struct():
    """A byte before a float is padded, except on a machine that aligns nothing."""
    assert row_dtype((COLOR, WEIGHT)).itemsize == 8
    assert row_dtype((COLOR, WEIGHT), packed=True).itemsize == 5
    assert row_dtype((LEVEL, LEVEL)).itemsize == 4


def test_packing_respects_the_byte_order():
    """The most significant byte comes first on a big-endian machine."""
    rows = pack(np.array([[258.0]]), row_dtype((LEVEL,), byte_order=">"))
    assert rows.tobytes() == b"\x01\x02"
