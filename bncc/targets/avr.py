"""AVR: the largest part with a 16-bit program counter, as in the ATmega328P."""

from bncc.targets.base import MHZ, Current, Mcu, Power, Target, part

_MCU = Mcu("atmega1284p")

_ATMEGA328P = Power(
    core="avr",
    waits=((20 * MHZ, 0),),
    waits_from="ATmega328P data sheet 8271H, section 7.7: one cycle per instruction word",
    currents=(Current(MHZ, 2, 0.3), Current(4 * MHZ, 3, 1.7), Current(8 * MHZ, 5, 5.2)),
    current_from="ATmega328P data sheet 8271H, Table 29-12: active, all modules off",
)

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
        cores=("avr",),
        parts={
            "atmega328p": part(20, 32, 2, _ATMEGA328P),
            "atmega32u4": part(16, 32, 2.5),
            "atmega1284p": part(20, 128, 16),
        },
    ),
)
