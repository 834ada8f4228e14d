"""Looped kernel: rows found in a loop, costs in lanes."""

from bncc.lower.kernels.base import Family
from bncc.lower.kernels.looped.layout import LoopedKernel, looped
from bncc.lower.kernels.looped.text import looped_text
from bncc.lower.kernels.looped.weights import WEIGHTS

FAMILIES = (
    Family(
        "looped",
        looped,
        LoopedKernel,
        looped_text,
        WEIGHTS,
        no_branches="one loop over all tables, in runs of a fixed length; straight-line code "
        "within",
    ),
)
