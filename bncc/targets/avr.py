"""AVR: the largest part with a 16-bit program counter, as in the ATmega328P."""

from bncc.targets.base import Mcu, Target, part

_MCU = Mcu("atmega1284p")

TARGETS = (
    Target(
        "avr",
        "ATmega1284P (AVR, cycles as on an ATmega328P)",
        {"avr-gcc": (f"-mmcu={_MCU.name}",)},
        (_MCU,),
        unit="cycles",
        loop_cost=4,
        packed=True,
        register_bits=8,
        address_bits=16,
        brings_runtime=True,
        parts={
            "atmega328p": part(20, 32, 2),
            "atmega32u4": part(16, 32, 2.5),
            "atmega1284p": part(20, 128, 16),
        },
    ),
)
