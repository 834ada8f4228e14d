"""Looped kernel of cuts."""

from bncc.lower.kernels.base import Family
from bncc.lower.kernels.cut_loop.layout import CutLoopKernel, cut_loop
from bncc.lower.kernels.cut_loop.text import cut_loop_text
from bncc.lower.kernels.cut_loop.weights import WEIGHTS

FAMILIES = (
    Family(
        "cut-loop",
        cut_loop,
        CutLoopKernel,
        cut_loop_text,
        WEIGHTS,
        is_for_cuts=True,
        has_gates=True,
    ),
)
