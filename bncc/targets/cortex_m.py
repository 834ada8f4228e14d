"""Arm Cortex-M targets, and their constructor."""

from collections.abc import Mapping

from bncc.targets.base import MHZ, Board, Core, Current, Part, Power, Simulated, Target, part


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
    cores: tuple[str, ...] = (),
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
        name, title, flags, runs_on, loads_anywhere=loads_anywhere, alike=alike,
        cores=cores, parts=parts or {},
    )  # fmt: skip


_STM32F030 = Power(
    core="cortex-m0",
    waits=((24 * MHZ, 0), (48 * MHZ, 1)),
    waits_from="STM32F030 reference manual RM0360, flash access control register, with prefetch",
    currents=tuple(
        Current(mhz * MHZ, 3.6, milliamperes)
        for mhz, milliamperes in ((1, 0.7), (8, 2.2), (24, 6.2), (32, 7.9), (48, 11.4))
    ),
    current_from="STM32F031x4/x6 data sheet of 2015, Table 23, a part of the same series: code "
    "from flash, peripherals off, external clock",
)
_RP2040 = Power(
    core="cortex-m0plus",
    waits=((133 * MHZ, 0),),
    waits_from="RP2040 data sheet, sections 2.6.2 and 2.6.3: code and tables are in RAM or in the "
    "cache of the external flash; a cache miss takes longer",
    current_from="RP2040 data sheet, section 5.4, states currents of whole applications only",
)
_NRF52832 = Power(
    core="cortex-m4",
    waits=((64 * MHZ, 3),),
    waits_from="nRF52832 product specification v1.4, CPU: 0 to 3 wait states with the cache",
    currents=(Current(64 * MHZ, 3.0, 3.7),),
    current_from="nRF52832 product specification v1.4, CPU, IDDFLASHCACHEDCDC: code from flash, "
    "cache and DC/DC converter on",
)

TARGETS = (
    # Unicorn simulates an M0; on QEMU its code runs on the board of an M3, which runs a superset
    # of ARMv6-M. An M0+ and an M0 run the same code.
    cortex_m(
        "M0",
        (core("M0"), mps2("mps2-an385")),
        loads_anywhere=False,
        cores=("cortex-m0", "cortex-m0plus"),
        parts={
            "nrf51822": part(16, 256, 16),
            "rp2040": part(133, None, 264, _RP2040),
            "samd21g18": part(48, 256, 32),
            "stm32f030": part(48, 16, 4, _STM32F030),
            "stm32g031": part(64, 32, 8),
            "stm32l031": part(32, 16, 8),
        },
    ),
    cortex_m(
        "M3",
        (mps2("mps2-an385"), core("M3")),
        alike="cortex-m4",
        cores=("cortex-m3",),
        parts={"stm32f103": part(72, 64, 20), "stm32l151": part(32, 128, 16)},
    ),
    cortex_m(
        "M4",
        (mps2("mps2-an386"), core("M4")),
        unit=("single-precision FPU", "fpv4-sp-d16", "vfp4d16sp"),
        cores=("cortex-m4",),
        parts={
            "nrf52832": part(64, 512, 64, _NRF52832),
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
