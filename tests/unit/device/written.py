"""Classifiers written for the meter: their cost is known from reading them."""

from collections.abc import Mapping
from typing import TypeVar

import numpy as np

from bncc.device.cross import Toolchain
from bncc.device.meter import Cost, Inputs, Meter
from bncc.device.sources import sources
from tests import models as hand

T = TypeVar("T")

HEADER = """\
#ifndef T_H
#define T_H
#include <stdint.h>
int16_t t_predict(const uint8_t x[1]);
#endif
"""

MODEL = hand.model_of(
    [hand.feature("n", 200)], hand.forest([None]), hand.QFormat(1, 0), [0, 0], [[[0, 1]] * 200]
)
"""One feature of 200 states, and class 0 in all of them."""

NOTHING = {
    "avr": "ret",
    "cortex": "bx lr",
    "rv32": "ret",
    "big-endian": ".set push; .set noreorder; jr $31; nop; .set pop",
    "x86": "ret",
}
"""Returns, and nothing else."""

ROUNDS = {
    "avr": "movw r30, r24; ld r24, Z; 1: nop; nop; dec r24; brne 1b; clr r25; ret",
    "cortex": "ldrb r0, [r0]; 1: nop; nop; subs r0, r0, #1; bne 1b; bx lr",
    "rv32": "lbu a0, 0(a0); 1: nop; nop; addi a0, a0, -1; bnez a0, 1b; ret",
    "big-endian": ".set push; .set noreorder; lbu $2, 0($4); 1: nop; addiu $2, $2, -1; "
    "bnez $2, 1b; nop; jr $31; nop; .set pop",
    "x86": "movzbl (%rdi), %eax; 1: nop; nop; decl %eax; jnz 1b; ret",
}
"""Loop with as many iterations as its state, of four instructions, or five cycles on an AVR."""

FRAME = {
    "avr": "push r0; push r0; push r0; pop r0; pop r0; pop r0; clr r24; clr r25; ret",
    "cortex": "sub sp, #256; movs r0, #0; str r0, [sp]; add sp, #256; bx lr",
    "rv32": "addi sp, sp, -256; sw zero, 0(sp); addi sp, sp, 256; li a0, 0; ret",
    "big-endian": "addiu $29, $29, -256; sw $0, 0($29); addiu $29, $29, 256; li $2, 0; jr $31",
    "x86": "sub $256, %rsp; movl $0, (%rsp); add $256, %rsp; xorl %eax, %eax; ret",
}
"""Has a frame of 256 bytes and writes the deepest; on an AVR one of 3."""


def of(table: Mapping[str, T], target: str) -> T:
    """Return the entry of a table above for a target."""
    return table["cortex" if target.startswith("cortex") else target]


def in_c(body: str, before: str = "") -> dict[str, str]:
    """Return a classifier with this body, a function of ``x``; other code may precede it."""
    source = f'#include "t.h"\n{before}\nint16_t t_predict(const uint8_t x[1])\n{{\n{body}\n}}\n'
    return {"t.h": HEADER, "t.c": source}


def in_assembly(code: str) -> dict[str, str]:
    """Return a classifier in assembly, ``;`` between its lines."""
    lines = "".join(f'    "{line.strip()}\\n"\n' for line in code.split(";"))
    frame = '    ".text\\n.globl t_predict\\n{}t_predict:\\n"\n'
    thumb = "#if defined(__thumb__)\n" + frame.format(".syntax unified\\n.thumb_func\\n")
    head = thumb + "#else\n" + frame.format("") + "#endif\n"
    return {"t.h": HEADER, "t.c": f'#include "t.h"\n__asm__(\n{head}{lines});\n'}


def states(*values: int) -> Inputs:
    """Return one input per state."""
    return Inputs(np.array(values, dtype=np.int64)[:, None])


def meter(bench: Toolchain, files: Mapping[str, str], level: str = "-O2") -> Meter:
    """Build such a classifier for the meter."""
    return Meter(sources(MODEL, files), bench, level)


def cost(bench: Toolchain, files: Mapping[str, str], inputs: Inputs) -> Cost:
    """Return the cost of its decisions."""
    with meter(bench, files) as measured:
        return measured.costs(inputs)["predict"]
