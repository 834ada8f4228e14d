"""Names of parts that ``--target`` accepts: the target, clock and memory of each."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

KIB = 1024
MHZ = 1_000_000


@dataclass(frozen=True)
class Part:
    """A microcontroller by its name, an alias of a target."""

    target: str  # What ``--target`` takes it for
    clock: int  # Highest clock of its data sheet, in Hz
    flash: int | None  # Bytes of flash on the chip; None where the flash is another chip
    ram: int  # Bytes of RAM


def _part(target: str, mhz: int, flash: int | None, ram: float) -> Part:
    return Part(target, mhz * MHZ, None if flash is None else flash * KIB, int(ram * KIB))


PARTS: Mapping[str, Part] = {
    "atmega328p": _part("avr", 20, 32, 2),
    "atmega32u4": _part("avr", 16, 32, 2.5),
    "atmega1284p": _part("avr", 20, 128, 16),
    "nrf51822": _part("cortex-m0", 16, 256, 16),
    "rp2040": _part("cortex-m0", 133, None, 264),
    "samd21g18": _part("cortex-m0", 48, 256, 32),
    "stm32f030": _part("cortex-m0", 48, 16, 4),
    "stm32g031": _part("cortex-m0", 64, 32, 8),
    "stm32l031": _part("cortex-m0", 32, 16, 8),
    "stm32f103": _part("cortex-m3", 72, 64, 20),
    "stm32l151": _part("cortex-m3", 32, 128, 16),
    "nrf52832": _part("cortex-m4", 64, 512, 64),
    "nrf52840": _part("cortex-m4", 64, 1024, 256),
    "stm32f401": _part("cortex-m4", 84, 256, 64),
    "stm32f411": _part("cortex-m4", 100, 512, 128),
    "stm32l476": _part("cortex-m4", 80, 1024, 128),
    "imxrt1062": _part("cortex-m7", 600, None, 1024),
    "stm32f746": _part("cortex-m7", 216, 1024, 320),
    "stm32h743": _part("cortex-m7", 480, 2048, 1024),
    "ch32v203": _part("rv32", 144, 64, 20),
    "esp32c3": _part("rv32", 160, None, 400),
    "esp32c6": _part("rv32", 160, None, 512),
    "gd32vf103": _part("rv32", 108, 128, 32),
}
"""By the name in lower case, grouped by target. A name that several sizes share has the memory of a
common one of them. An M0+ and an M0 run the same code."""


def size_of(text: str) -> int | None:
    """Return the bytes of a size such as ``900``, ``4k`` or ``1.5k``; None where it is none."""
    match = re.fullmatch(r"(?:(\d{1,12})|(\d{1,9}(?:\.\d{1,6})?)[kK])", text)
    if match is None:
        return None
    return int(match[1]) if match[1] else int(Fraction(match[2]) * KIB)


def target_of(name: str) -> str:
    """Return the target that a part is an alias of; any other name as it is."""
    part = PARTS.get(name.lower())
    return name if part is None else part.target
