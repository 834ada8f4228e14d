"""Arm Cortex-M targets, and their constructor."""

from collections.abc import Mapping

from bncc.targets.base import Board, Core, Part, Simulated, Target, part


def thumb_length(code: bytes, at: int) -> int:
    """Return the bytes of a Thumb instruction."""
    return 4 if code[at + 1] >> 3 in (0b11101, 0b11110, 0b11111) else 2


def core(model: str) -> Core:
    """Return a Cortex-M of unicorn by its model, such as M4."""
    mode = ("UC_MODE_THUMB", "UC_MODE_MCLASS")
    return Core("UC_ARCH_ARM", mode, f"UC_CPU_ARM_CORTEX_{model}", thumb_length, 1)


def mps2(board: str) -> Board:
    """Return one of Arm's MPS2 boards."""
    # A 25 MHz timer counts 25.6 ticks in 1024 ns: rounding to whole instructions is exact.
    return Board("qemu-system-arm", ("-M", board), 10, 25.6)


def cortex_m(
    model: str,
    runs_on: tuple[Simulated, ...],
    *,
    unit: tuple[str, str, str] | None = None,
    alike: str | None = None,
    loads_anywhere: bool = True,
    parts: Mapping[str, Part] | None = None,
) -> Target:
    """Return a Cortex-M; `unit` is its floating-point unit, for display, gcc and LLVM."""
    name, title = f"cortex-{model.lower()}", f"Arm Cortex-{model}"
    gcc: tuple[str, ...] = ("-mthumb", f"-mcpu={name}")
    zig, abi = name.replace("-", "_"), "eabi"
    if unit is not None:
        title, abi = f"{title} with {unit[0]}", "eabihf"
        gcc += (f"-mfpu={unit[1]}", "-mfloat-abi=hard")
        zig += f"+{unit[2]}"
    flags = {
        "arm-none-eabi-gcc": gcc,
        "ziglang": ("-target", f"thumb-freestanding-{abi}", f"-mcpu={zig}"),
    }
    return Target(
        name, title, flags, runs_on, loads_anywhere=loads_anywhere, alike=alike, parts=parts or {}
    )


TARGETS = (
    # Unicorn simulates an M0; on QEMU its code runs on the board of an M3, which runs a superset
    # of ARMv6-M. An M0+ and an M0 run the same code.
    cortex_m(
        "M0",
        (core("M0"), mps2("mps2-an385")),
        loads_anywhere=False,
        parts={
            "nrf51822": part(16, 256, 16),
            "rp2040": part(133, None, 264),
            "samd21g18": part(48, 256, 32),
            "stm32f030": part(48, 16, 4),
            "stm32g031": part(64, 32, 8),
            "stm32l031": part(32, 16, 8),
        },
    ),
    cortex_m(
        "M3",
        (mps2("mps2-an385"), core("M3")),
        alike="cortex-m4",
        parts={"stm32f103": part(72, 64, 20), "stm32l151": part(32, 128, 16)},
    ),
    cortex_m(
        "M4",
        (mps2("mps2-an386"), core("M4")),
        unit=("single-precision FPU", "fpv4-sp-d16", "vfp4d16sp"),
        parts={
            "nrf52832": part(64, 512, 64),
            "nrf52840": part(64, 1024, 256),
            "stm32f401": part(84, 256, 64),
            "stm32f411": part(100, 512, 128),
            "stm32l476": part(80, 1024, 128),
        },
    ),
    cortex_m(
        "M7",
        (mps2("mps2-an500"), core("M7")),
        unit=("double-precision FPU", "fpv5-d16", "fp_armv8d16"),
        alike="cortex-m4",
        parts={
            "imxrt1062": part(600, None, 1024),
            "stm32f746": part(216, 1024, 320),
            "stm32h743": part(480, 2048, 1024),
        },
    ),
)
