"""RISC-V with 32 bits, multiplication and compressed instructions."""

from bncc.targets.base import Board, Core, Target, part


def _length(code: bytes, at: int) -> int:
    return 4 if code[at] & 3 == 3 else 2


TARGETS = (
    Target(
        "rv32",
        "RISC-V RV32IMC",
        {
            "riscv64-unknown-elf-gcc": ("-march=rv32imc", "-mabi=ilp32"),
            "ziglang": ("-target", "riscv32-freestanding-none", "-mcpu=generic_rv32+m+c"),
        },
        (
            Board("qemu-system-riscv32", ("-M", "virt", "-bios", "none"), 0, 1.0),
            Core("UC_ARCH_RISCV", ("UC_MODE_RISCV32",), None, _length),
        ),
        rom=0x8000_0000,
        ram=0x8100_0000,
        cores=("ibex", "picorv32"),
        parts={
            "ch32v203": part(144, 64, 20),
            "esp32c3": part(160, None, 400),
            "esp32c6": part(160, None, 512),
            "gd32vf103": part(108, 128, 32),
        },
    ),
)
