"""Packed kernel: costs in planes of words; states are multiplied by shifts and additions."""

from bncc.lower.kernels.base import Family
from bncc.lower.kernels.packed.layout import PackedKernel, packed
from bncc.lower.kernels.packed.text import packed_text
from bncc.lower.kernels.packed.weights import WEIGHTS

FAMILIES = (Family("packed", packed, PackedKernel, packed_text, WEIGHTS),)
