"""Kernel of cuts with packed lanes."""

from bncc.lower.kernels.base import Family
from bncc.lower.kernels.cuts.layout import CutKernel, cuts
from bncc.lower.kernels.cuts.text import cuts_text
from bncc.lower.kernels.cuts.weights import WEIGHTS

FAMILIES = (Family("cuts", cuts, CutKernel, cuts_text, WEIGHTS, is_for_cuts=True),)
