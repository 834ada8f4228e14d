"""Sources of each native library."""

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
    headers=("types.h", *_SHARED),
    sources=("growth.c", "slopes.c", "sum.c"),
)
"""Boosted tables: the best cut, derivatives of losses, and an epoch of the refit."""
