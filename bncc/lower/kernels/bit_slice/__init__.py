"""Bit-slice kernel: rows of bits, added by carry-save adders."""

from bncc.lower.kernels.base import Family
from bncc.lower.kernels.bit_slice.layout import BitSliceKernel, bit_slice
from bncc.lower.kernels.bit_slice.text import bit_slice_text
from bncc.lower.kernels.bit_slice.weights import WEIGHTS

FAMILIES = (
    Family(
        "bit-slice",
        bit_slice,
        BitSliceKernel,
        bit_slice_text,
        WEIGHTS,
        # Proofs leave its scores undecided, and some programs of clang.
        is_provable=False,
        no_branches="straight-line code of look-ups, and, or and exclusive or",
    ),
)
