"""Lanes kernel: sums packed into lanes of words (SWAR)."""

from functools import partial

from bncc.lower.kernels.base import Family
from bncc.lower.kernels.lanes.layout import LaneKernel, lanes
from bncc.lower.kernels.lanes.text import lanes_text
from bncc.lower.kernels.lanes.weights import WEIGHTS

FAMILIES = (
    Family(
        "bytes",
        partial(lanes, word_bits=8),
        LaneKernel,
        lanes_text,
        WEIGHTS,
        is_for_avr=True,
        no_branches="straight-line code of look-ups and additions",
    ),
    Family(
        "lanes",
        lanes,
        LaneKernel,
        lanes_text,
        WEIGHTS,
        wider=lanes,
        no_branches="straight-line code of look-ups, additions, shifts and masks",
    ),
)
