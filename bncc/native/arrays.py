"""Arrays as C of native engines reads them."""

import numpy as np

from bncc._types import AnyArray

VECTOR = 8
"""Floats of a vector; rows are padded to whole ones."""
LINE_BYTES = 64
"""Of memory; tables begin where one does."""
POINTERS = {"f4": "float *", "u1": "uint8_t *", "u2": "uint16_t *", "u4": "uint32_t *"}


def aligned(shape: tuple[int, int]) -> AnyArray:
    """Return float32 zeros that begin where a line of memory does."""
    size = 4 * shape[0] * shape[1]
    memory = np.zeros(size + LINE_BYTES, dtype=np.uint8)
    begin = -memory.ctypes.data % LINE_BYTES
    zeroed: AnyArray = memory[begin : begin + size].view(np.float32).reshape(shape)
    return zeroed
