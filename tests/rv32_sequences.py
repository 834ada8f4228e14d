"""
Short sequences of RV32 instructions, and the cycles of each core's RTL for them.

`python -m benchmarks.code.rtl_cycles --sequences` prints the cycles again. Each sequence begins in
the first of eight bytes, and its cycles are those beyond a return alone. a0 is an address of RAM,
and a5 is 0.
"""

from collections.abc import Mapping

_LONG = ".option push; .option norvc; {}; .option pop"
_NOP = _LONG.format("nop")

CORES = ("picorv32", "ibex")
"""Cores in the order of the cycles."""
SEQUENCES: Mapping[str, tuple[str, int, int]] = {
    "nothing": ("", 0, 0),
    "short instructions": ("nop; nop; nop", 9, 3),
    "a long instruction in one word": (f"{_NOP}; nop", 6, 2),
    "a long instruction in two words": (f"nop; {_NOP}; nop", 10, 3),
    "two long instructions in three words": (f"nop; {_NOP}; {_NOP}; nop", 14, 4),
    "a jump": ("j 2f; nop; 2:", 3, 2),
    "a jump into the second half of a word": ("j 2f; nop; nop; 2: nop", 6, 3),
    "a jump to an instruction in two words": (f"j 2f; nop; nop; 2: {_NOP}; nop", 10, 5),
    "a jump to a word": (f"j 2f; nop; 2: {_NOP}; nop; nop", 12, 5),
    "a branch that is not taken": ("bnez x0, 2f; nop; 2: nop", 9, 3),
    "a short branch that is taken": ("beqz a5, 2f; nop; 2: nop", 8, 4),
    "a long branch that is taken": ("beq x0, x0, 2f; nop; 2: nop", 8, 4),
    "a branch over an instruction in two words": (f"beqz a5, 2f; {_NOP}; 2: nop", 9, 4),
    "a branch that is not taken before one in two words": (
        f"bnez a5, 2f; {_NOP}; nop; 2: nop",
        13,
        4,
    ),
    "a branch to an instruction in two words": (f"beqz a5, 2f; nop; nop; 2: {_NOP}; nop", 12, 6),
    "a branch from one in two words to one in two words": (
        f"nop; beq x0, x0, 2f; {_NOP}; 2: {_NOP}; nop",
        17,
        7,
    ),
    "a loop of three rounds": ("li a4, 3; 2: addi a4, a4, -1; bnez a4, 2b; nop", 28, 12),
    "a loop of three rounds from an instruction in two words": (
        f"li a3, 3; nop; nop; 2: {_LONG.format('addi a3, a3, -1')}; bnez a3, 2b; nop",
        37,
        16,
    ),
    "a call and a return": ("mv a4, ra; jal 2f; mv ra, a4; j 3f; 2: ret; nop; 3: nop", 22, 9),
    "a long call": (
        f"mv a4, ra; {_LONG.format('jal ra, 2f')}; mv ra, a4; j 3f; 2: ret; 3: nop",
        22,
        9,
    ),
    "a call by a register": (
        "mv a4, ra; la a3, 2f; jalr a3; mv ra, a4; j 3f; 2: ret; nop; 3: nop",
        32,
        11,
    ),
    "a jump by a register": ("la a3, 2f; jr a3; nop; 2: nop", 15, 5),
    "a jump by a register to one in two words": (
        f"la a3, 2f; jr a3; nop; nop; 2: {_NOP}; nop",
        19,
        7,
    ),
    "a load": ("lw a1, 0(sp)", 5, 2),
    "a load whose result is used": ("lw a1, 0(sp); addi a1, a1, 1", 8, 3),
    "loads of bytes and half words": (
        "lbu a1, 0(a0); lb a1, 0(a0); lhu a1, 0(sp); lh a1, 2(sp)",
        20,
        8,
    ),
    "loads before and behind an instruction in two words": (
        f"lw a1, 0(sp); {_NOP}; lw a2, 0(sp)",
        14,
        5,
    ),
    "loads in two words": ("nop; lbu a1, 0(a0); lbu a2, 0(a0); nop", 18, 6),
    "a load whose result is an address": (
        "mv a1, sp; sw a1, -16(sp); lw a2, -16(sp); lw a3, 0(a2)",
        20,
        7,
    ),
    "a store": ("sw a1, -16(sp)", 5, 2),
    "stores of a byte and a half word": ("sb a1, -16(sp); sh a1, -14(sp)", 10, 4),
    "a store and a load": ("sw a1, -16(sp); lw a2, -16(sp); nop", 13, 5),
    "a jump behind a load": ("lw a1, 0(sp); j 2f; nop; 2: nop", 11, 5),
    "a branch by a result that was loaded": (
        "sw x0, -16(sp); lw a5, -16(sp); beqz a5, 2f; nop; 2: nop",
        18,
        8,
    ),
    "a shift by 0 in a register": ("sll a1, a1, x0", 4, 1),
    "a shift by 1": ("srli a1, a1, 1", 5, 1),
    "a shift by 4": ("slli a1, a1, 4", 5, 1),
    "a shift by 31": ("srai a1, a1, 31", 14, 1),
    "a shift by 31 to another register": ("slli a2, a1, 31", 14, 1),
    "a shift by 13 in a register": ("li a2, 13; srl a1, a1, a2", 12, 2),
    "a shift by 45 in a register, which is 13": ("li a2, 45; sra a1, a1, a2", 11, 2),
    "a shift before an instruction in two words": (f"slli a1, a1, 7; {_NOP}; nop", 15, 3),
    "shifts in a loop by 3, 2 and 1": (
        "li a4, 3; 2: sll a1, a1, a4; addi a4, a4, -1; bnez a4, 2b",
        46,
        16,
    ),
    "a product": ("mul a1, a1, a2", 40, 3),
    "a product before an instruction in two words": (f"nop; mul a1, a1, a2; {_NOP}; nop", 51, 6),
    "upper halves of products": ("mulh a1, a1, a2; mulhu a1, a1, a2; mulhsu a1, a1, a2", 216, 12),
    "a quotient": ("li a1, 100; li a2, 7; divu a3, a1, a2", 47, 39),
    "a signed remainder": ("li a1, -100; li a2, 7; rem a3, a1, a2", 47, 39),
    "a quotient by 0": ("li a1, 100; divu a3, a1, x0", 43, 3),
    "upper constants": ("lui a1, 0x12345; auipc a2, 1; lui a3, 1", 9, 3),
    "comparisons": ("slt a1, a2, a3; sltu a1, a2, a3; sltiu a1, a2, 3", 9, 3),
}
"""By name: code, and cycles of each core."""


def code_of_all() -> str:
    """Return a function of a state, the number of the sequence that it executes."""
    table = ["lbu a5, 0(a0)", "slli a5, a5, 2", "la a4, 9f", "add a4, a4, a5", "lw a4, 0(a4)"]
    table += ["li a5, 0", "jr a4", ".balign 4", "9:"]
    table += [f".word t_sequence{k}" for k in range(len(SEQUENCES))]
    for k, (code, *_) in enumerate(SEQUENCES.values()):
        table += [".balign 8", f"t_sequence{k}:", *filter(None, code.split("; ")), "ret"]
    return "; ".join(table)
