"""x86-64 with SSE2, the common baseline."""

from bncc.targets.base import Core, Target

_GCC = ("-m64", "-march=x86-64", "-mno-red-zone", "-fno-pic")

TARGETS = (
    Target(
        "x86",
        "x86-64 with SSE2",
        {
            "gcc": _GCC,
            "clang": _GCC,
            "ziglang": ("-target", "x86_64-freestanding-none", "-mno-red-zone"),
        },
        (Core("UC_ARCH_X86", ("UC_MODE_64",), None, None),),
        register_bits=64,
        address_bits=64,
        loads_anywhere=True,
        rom=0x0040_0000,
    ),
)
