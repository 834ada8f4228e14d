"""Which module prints which kernel."""

from collections.abc import Callable, Mapping
from typing import Any

from bncc.lower.kernels.base import Kernel
from bncc.lower.kernels.bit_slice.layout import BitSliceKernel
from bncc.lower.kernels.bit_slice.text import bit_slice_text
from bncc.lower.kernels.cut_loop.layout import CutLoopKernel
from bncc.lower.kernels.cut_loop.text import cut_loop_text
from bncc.lower.kernels.cut_packed.layout import CutPackedKernel
from bncc.lower.kernels.cut_packed.text import cut_packed_text
from bncc.lower.kernels.cuts.layout import CutKernel
from bncc.lower.kernels.cuts.text import cuts_text
from bncc.lower.kernels.lanes.layout import LaneKernel
from bncc.lower.kernels.lanes.text import lanes_text
from bncc.lower.kernels.looped.layout import LoopedKernel
from bncc.lower.kernels.looped.text import looped_text
from bncc.lower.kernels.packed.layout import PackedKernel
from bncc.lower.kernels.packed.text import packed_text
from bncc.lower.kernels.plain.layout import PlainKernel
from bncc.lower.kernels.plain.text import plain_text
from bncc.lower.kernels.planes.layout import PlaneKernel
from bncc.lower.kernels.planes.text import planes_text
from bncc.lower.kernels.text import KernelText
from bncc.program.ir import Program

_PRINTERS: Mapping[type, Callable[[Program, Any, str, int], KernelText]] = {
    PlainKernel: plain_text,
    BitSliceKernel: bit_slice_text,
    CutKernel: cuts_text,
    CutLoopKernel: cut_loop_text,
    CutPackedKernel: cut_packed_text,
    LaneKernel: lanes_text,
    LoopedKernel: looped_text,
    PlaneKernel: planes_text,
    PackedKernel: packed_text,
}


def kernel_text(program: Program, kernel: Kernel, name: str, state_bits: int) -> KernelText:
    """Print a kernel."""
    return _PRINTERS[type(kernel)](program, kernel, name, state_bits)
