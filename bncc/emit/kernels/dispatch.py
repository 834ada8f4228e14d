"""Which module prints which kernel."""

from collections.abc import Callable, Mapping
from typing import Any

from bncc.compiler.ir import Program
from bncc.compiler.kernels.base import Kernel
from bncc.compiler.kernels.bit_slice import BitSliceKernel
from bncc.compiler.kernels.cut_loop import CutLoopKernel
from bncc.compiler.kernels.cut_packed import CutPackedKernel
from bncc.compiler.kernels.cuts import CutKernel
from bncc.compiler.kernels.lanes import LaneKernel
from bncc.compiler.kernels.looped import LoopedKernel
from bncc.compiler.kernels.packed import PackedKernel
from bncc.compiler.kernels.plain import PlainKernel
from bncc.compiler.kernels.planes import PlaneKernel
from bncc.emit.kernels.bit_slice import bit_slice_text
from bncc.emit.kernels.cut_loop import cut_loop_text
from bncc.emit.kernels.cut_packed import cut_packed_text
from bncc.emit.kernels.cuts import cuts_text
from bncc.emit.kernels.lanes import lanes_text
from bncc.emit.kernels.looped import looped_text
from bncc.emit.kernels.packed import packed_text
from bncc.emit.kernels.plain import plain_text
from bncc.emit.kernels.planes import planes_text
from bncc.emit.kernels.text import KernelText

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
