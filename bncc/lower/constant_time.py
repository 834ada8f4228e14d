"""C without branches on its input: in which type sums are compared, and what else that takes."""

from dataclasses import dataclass

from bncc.lower.c.c99 import unsigned
from bncc.lower.kernels.base import Kernel
from bncc.lower.raw import RawPlan


@dataclass(frozen=True)
class LeastText:
    """How the class of least cost is found."""

    # Whether the highest bit of a difference tells which sum is less: the largest sum does not
    # reach that bit, so it is set if and only if the difference borrows
    by_borrow: bool
    type: str  # C type in which sums are compared
    highest: int  # The highest bit of that type


@dataclass(frozen=True)
class ConstantTime:
    """What the templates need to print C without branches on its input."""

    least: LeastText  # How the class of least cost is found
    needs_less: bool  # Whether numbers that fill 32 bits are compared
    opaque_types: tuple[str, ...]  # C types of values that compilers must not know anything of


def plan_constant_time(kernel: Kernel, raw: RawPlan | None, state_bits: int) -> ConstantTime:
    """Choose the type in which sums are compared."""
    bits = next(
        (b for b in (8, 16, 32) if b >= kernel.sum_bits and kernel.largest_sum < 1 << (b - 1)), 0
    )
    least = LeastText(bits > 0, unsigned(bits or 32), (bits or 32) - 1)
    kinds = set(raw.kinds) if raw else set[str]()
    needs_less = not least.by_borrow or not kinds.isdisjoint({"int32", "float32"})
    widths = {2 * state_bits, least.highest + 1}
    if needs_less or kinds:
        widths.add(32)
    return ConstantTime(least, needs_less, tuple(unsigned(bits) for bits in sorted(widths)))
