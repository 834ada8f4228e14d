"""What the native engine of networks is built from."""

from bncc.toolchain.library import CParts

COMMON = "bncc.train.native"
"""Whose headers other engines of trainers share."""
DESCENT = CParts(
    COMMON,
    "types.h",
    headers=("arithmetic.h", "loss.h", "descent.h", "slots.h", "widths.h"),
    sources=("tables.c", "structure.c"),
)
"""Of networks: tables of a given structure, and of all candidates."""
