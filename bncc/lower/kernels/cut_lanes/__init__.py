"""Kernel of cuts in lanes."""

from bncc.lower.kernels.base import Family
from bncc.lower.kernels.cut_lanes.layout import CutLanesKernel, cut_lanes
from bncc.lower.kernels.cut_lanes.text import cut_lanes_text
from bncc.lower.kernels.cut_lanes.weights import WEIGHTS

FAMILIES = (
    Family("cut-lanes", cut_lanes, CutLanesKernel, cut_lanes_text, WEIGHTS, is_for_cuts=True),
)
