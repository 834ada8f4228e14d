"""Big-endian MIPS32."""

import sys

from bncc.targets.base import Core, Target


def _length(code: bytes, at: int) -> int:
    return 4


# When counting it translates 290 instructions at once or fewer. From about 370 in a straight line,
# as in a kernel without a loop, its buffer overflows and the whole process crashes
# (github.com/unicorn-engine/unicorn/issues/2240).
_COUNTED = sys.maxsize

TARGETS = (
    Target(
        "big-endian",
        "MIPS32 with floating-point unit, big-endian",
        {
            # Its library compares floats in registers of a floating-point unit.
            "mips-linux-gnu-gcc": (
                "-march=mips32", "-mabi=32", "-EB", "-mhard-float", "-mno-abicalls", "-fno-pic",
                "-G0",
            ),
            "ziglang": (
                "-target", "mips-freestanding-eabihf", "-mcpu=mips32", "-mno-abicalls",
                "-fno-pic", "-G0",
            ),
        },
        (Core("UC_ARCH_MIPS", ("UC_MODE_MIPS32", "UC_MODE_BIG_ENDIAN"), None, _length,
              most=_COUNTED),),
        byte_order=">",
        alike="rv32",
        rom=0x0040_0000,
        ram=0x1000_0000,
        code_align=16,
    ),
)  # fmt: skip
