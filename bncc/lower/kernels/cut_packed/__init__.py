"""Packed kernel of cuts."""

from bncc.lower.kernels.base import Family
from bncc.lower.kernels.cut_packed.layout import CutPackedKernel, cut_packed
from bncc.lower.kernels.cut_packed.text import cut_packed_text
from bncc.lower.kernels.cut_packed.weights import WEIGHTS

FAMILIES = (
    Family(
        "cut-packed",
        cut_packed,
        CutPackedKernel,
        cut_packed_text,
        WEIGHTS,
        is_for_cuts=True,
        has_gates=True,
    ),
)
