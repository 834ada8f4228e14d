"""C of the trainers' native engines, built for this host on first use."""

import numpy as np

from bncc._types import AnyArray
from bncc.toolchain.library import CParts

_PACKAGE = "bncc.native"
_SHARED = ("arithmetic.h", "loss.h", "descent.h")
DESCENT = CParts(
    _PACKAGE,
    "types.h",
    headers=(*_SHARED, "slots.h", "widths.h"),
    sources=("tables.c", "structure.c"),
)
"""Networks: tables of a given structure, and of all candidates."""
BOOSTING = CParts(
    _PACKAGE,
    "boosting.h",
    headers=("types.h", *_SHARED, "worth.h"),
    sources=("growth.c", "branches.c", "slopes.c", "sum.c"),
)
"""Boosted tables: the best cut, derivatives of losses, and an epoch of the refit."""
SCORES = CParts(_PACKAGE, "scores.h", headers=(), sources=("scores.c",))
"""Trees: margins and other scores of held-out rows."""


VECTOR = 8
"""Floats of a vector; rows are padded to whole ones."""
LINE_BYTES = 64
"""Bytes of a cache line; tables are aligned to it."""
POINTERS = {"f4": "float *", "u1": "uint8_t *", "u2": "uint16_t *", "u4": "uint32_t *"}


def aligned(shape: tuple[int, int]) -> AnyArray:
    """Return float32 zeros that begin where a line of memory does."""
    size = 4 * shape[0] * shape[1]
    memory = np.zeros(size + LINE_BYTES, dtype=np.uint8)
    begin = -memory.ctypes.data % LINE_BYTES
    zeroed: AnyArray = memory[begin : begin + size].view(np.float32).reshape(shape)
    return zeroed
