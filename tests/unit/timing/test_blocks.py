"""Cycles of single instructions and of blocks, against the vendors' tables."""

from dataclasses import replace

import pytest

from bncc.prove.code import Code
from bncc.prove.instructions import Instruction
from bncc.targets import find_target
from bncc.targets.timing import CORES, KINDS, REQUIRED, Timing
from bncc.timing.blocks import (
    Block,
    Flash,
    UnknownTimeError,
    block_of,
    edge_cycles,
    kind_of,
)

pytest.importorskip("capstone", reason="capstone is not installed")

from bncc.prove import riscv, thumb

AT = 0x1000


def decoded(core: str, text: str, at: int = AT) -> list[Instruction]:
    """Return the instructions of code in hexadecimal digits."""
    name = core.replace("cortex-m0plus", "cortex-m0")
    data = bytes.fromhex(text)
    target = find_target(name if name.startswith("cortex") else "rv32")
    code = Code(target, ((at, data),), {}, "")
    decoder = thumb.Decoder(code) if name.startswith("cortex") else riscv.Decoder(code)
    found, where = [], at
    while where < at + len(data):
        found.append(decoder.decode(where))
        where += found[-1].size
    return found


def block(core: str, text: str, at: int = AT) -> Block:
    return block_of(decoded(core, text, at), CORES[core])


# Encoding, kind, and fewest and most cycles in the tables of Cortex-M0 and M0+
V6 = {
    "movs r0, #1": ("0120", "plain", (1, 1), (1, 1)),
    "adds r1, r2, r3": ("d118", "plain", (1, 1), (1, 1)),
    "lsls r0, r1, #3": ("c800", "shift", (1, 1), (1, 1)),
    "muls r0, r1, r0": ("4843", "multiply", (1, 32), (1, 32)),
    "ldr r0, [r1]": ("0868", "load", (2, 2), (2, 2)),
    "ldrb r0, [r1]": ("0878", "load", (2, 2), (2, 2)),
    "str r0, [r1]": ("0860", "store", (2, 2), (2, 2)),
    "ldm r0!, {r1, r2, r3}": ("0ec8", "loads", (4, 4), (4, 4)),
    "stm r0!, {r1, r2, r3}": ("0ec0", "stores", (4, 4), (4, 4)),
    "push {r4, lr}": ("10b5", "stores", (3, 3), (3, 3)),
    "pop {r4}": ("10bc", "loads", (2, 2), (2, 2)),
    "nop": ("00bf", "plain", (1, 1), (1, 1)),
    "uxtb r0, r1": ("c8b2", "plain", (1, 1), (1, 1)),
}
JUMPS_V6 = {
    "b": ("fee7", "jump", (3, 3), (2, 2)),
    "bne": ("fed1", "jump-if", (3, 3), (2, 2)),
    "bl": ("00f000f8", "call", (4, 4), (3, 3)),
    "bx lr": ("7047", "jump-register", (3, 3), (2, 2)),
    "blx r3": ("9847", "call-register", (3, 3), (2, 2)),
    "pop {r4, pc}": ("10bd", "loads-and-jump", (6, 6), (5, 5)),
}


@pytest.mark.parametrize("name", V6)
def test_arm_v6_instructions_take_the_cycles_of_the_tables(name: str) -> None:
    text, kind, *expected = V6[name]
    for core, cycles in zip(("cortex-m0", "cortex-m0plus"), expected, strict=True):
        (instruction,) = decoded(core, text)
        assert kind_of(instruction)[0] == kind
        assert block(core, text).body == cycles


@pytest.mark.parametrize("name", JUMPS_V6)
def test_arm_v6_jumps_take_the_cycles_of_the_tables(name: str) -> None:
    text, kind, *expected = JUMPS_V6[name]
    for core, cycles in zip(("cortex-m0", "cortex-m0plus"), expected, strict=True):
        (instruction,) = decoded(core, text)
        assert kind_of(instruction)[0] == kind
        found = block(core, text)
        assert (found.body, found.taken, found.not_taken) == ((0, 0), cycles, (1, 1))


# The tables of Cortex-M3 and M4 differ in products only
V7 = {
    "mla r1, r2, r3, r4": ("02fb0341", "multiply-add", (2, 2), (1, 1)),
    "umull r0, r1, r2, r3": ("a2fb0301", "multiply-high", (3, 5), (1, 1)),
    "udiv r0, r0, r1": ("b0fbf1f0", "divide", (2, 12), (2, 12)),
    "ldr r0, [r1]": ("0868", "load", (2, 3), (2, 3)),
    "str r0, [r1]": ("0860", "store", (1, 3), (1, 3)),
    "push {r4, lr}": ("10b5", "stores", (3, 4), (3, 4)),
    "ldrd r0, r1, [r2]": ("d2e90001", "loads", (3, 4), (3, 4)),
}


@pytest.mark.parametrize("name", V7)
def test_arm_v7_instructions_take_the_cycles_of_the_tables(name: str) -> None:
    text, kind, *expected = V7[name]
    for core, cycles in zip(("cortex-m3", "cortex-m4"), expected, strict=True):
        assert kind_of(decoded(core, text)[0])[0] == kind
        assert block(core, text).body == cycles


def test_arm_v7_jumps_refill_the_pipeline_in_one_to_three_cycles() -> None:
    for core in ("cortex-m3", "cortex-m4"):
        for text in ("fee7", "fed1", "00f000f8", "7047", "08b1"):  # b, bne, bl, bx, cbz
            assert block(core, text).taken == (2, 4)
            assert block(core, text).not_taken == (1, 1)
        assert block(core, "10bd").taken == (4, 7)  # pop {r4, pc}
        assert block(core, "51f804fb").taken == (3, 6)  # ldr pc, [r1], #4


def test_a_float_takes_a_cycle_more_if_its_result_is_used_at_once() -> None:
    assert block("cortex-m4", "b4ee600a").body == (1, 2)  # vcmp.f32 s0, s1


def test_loads_in_a_row_overlap_on_a_cortex_m4_alone() -> None:
    """The examples of the manual: two loads take three cycles, three take four."""
    two, three = "08684968", "086849688a68"
    assert block("cortex-m4", two).body == (3, 6)
    assert block("cortex-m4", three).body == (4, 9)
    assert block("cortex-m4", "0868" + "0120" + "4968").body == (5, 7)  # movs between them
    assert block("cortex-m0", two).body == (4, 4)


def test_a_skipped_instruction_takes_one_cycle() -> None:
    """And ``it`` none, if it is folded."""
    assert block("cortex-m4", "08bf" + "0120").body == (1, 2)  # it eq; moveq r0, #1
    assert block("cortex-m4", "08bf" + "0868").body == (1, 4)  # it eq; ldreq r0, [r1]


RISCV = {
    "addi a0, a0, 1": ("13051500", "plain", (1, 1), (3, 3)),
    "lw a0, 0(a1)": ("03a50500", "load", (2, 2), (5, 5)),
    "sw a0, 0(a1)": ("23a0a500", "store", (2, 2), (5, 5)),
    "mul a0, a0, a1": ("3305b502", "multiply", (3, 3), (40, 40)),
    "mulhu a0, a0, a1": ("3335b502", "multiply-high", (4, 4), (72, 72)),
    "divu a0, a0, a1": ("3355b502", "divide", (2, 37), (40, 40)),
    "slli a0, a0, 3": ("13153500", "shift", (1, 1), (7, 7)),
    "c.slli a0, 3": ("0e05", "shift", (1, 1), (7, 7)),
    "c.srai a0, 31": ("7d85", "shift", (1, 1), (14, 14)),
    "srli a0, a0, 8": ("13558500", "shift", (1, 1), (6, 6)),
    "slli zero, zero, 31, which has no effect": ("1310f001", "shift", (1, 1), (4, 14)),
    "sll a0, a0, a1, without its steps": ("3315b500", "shift", (1, 1), (4, 4)),
    "c.li a0, 1": ("0545", "plain", (1, 1), (3, 3)),
}
RISCV_JUMPS = {
    "beq a0, a1, 8": ("6304b500", "jump-if", (3, 3), (5, 5)),
    "jal zero, 8": ("6f008000", "jump", (2, 2), (3, 3)),
    "jal ra, 8": ("ef008000", "call", (2, 2), (3, 3)),
    "ret": ("8280", "jump-register", (2, 2), (6, 6)),
    "jalr a0": ("e7000500", "call-register", (2, 2), (6, 6)),
}


@pytest.mark.parametrize("name", RISCV)
def test_riscv_instructions_take_the_cycles_of_the_tables(name: str) -> None:
    text, kind, *expected = RISCV[name]
    for core, cycles in zip(("ibex", "picorv32"), expected, strict=True):
        assert kind_of(decoded(core, text)[0])[0] == kind
        assert block(core, text).body == cycles


@pytest.mark.parametrize("name", RISCV_JUMPS)
def test_riscv_jumps_take_the_cycles_of_the_tables(name: str) -> None:
    text, kind, *expected = RISCV_JUMPS[name]
    for core, cycles in zip(("ibex", "picorv32"), expected, strict=True):
        assert kind_of(decoded(core, text)[0])[0] == kind
        assert block(core, text).taken == cycles
    assert block("ibex", text).not_taken == (1, 1)
    assert block("picorv32", text).not_taken == (3, 3)


def test_an_instruction_in_two_words_takes_a_picorv32_a_cycle_more() -> None:
    """Wherever it is in a block, whatever leads to it."""
    short, long = "0100", "13000000"  # nop, in two bytes and in four
    assert block("picorv32", long).body == (3, 3)
    assert block("picorv32", long, AT + 2).body == (4, 4)
    assert block("picorv32", short, AT + 2).body == (3, 3)
    assert block("picorv32", short + long + long + short).body == (14, 14)
    assert block("cortex-m4", "0120" + "00f10100").body == (2, 2)  # movs; add.w


def test_an_ibex_takes_a_cycle_more_where_it_jumps_to_an_instruction_in_two_words() -> None:
    jump, none = block("ibex", "01a0"), Flash()  # c.j
    long, short = block("ibex", "13000000", AT + 2), block("ibex", "0100", AT + 2)
    assert (long.body, short.body) == ((1, 1), (1, 1))
    assert edge(jump, long, "ibex", none, is_taken=True) == (4, 4)
    assert edge(jump, short, "ibex", none, is_taken=True) == (3, 3)
    assert edge(jump, block("ibex", "13000000"), "ibex", none, is_taken=True) == (3, 3)
    assert edge(short, long, "ibex", none, is_taken=False) == (1, 1)


def test_a_picorv32_fetches_what_is_behind_a_branch_before_it_jumps() -> None:
    branch, jump, timing = "01c1", "01a0", CORES["picorv32"]  # c.beqz a0, c.j
    for code, at, size, taken in (
        (branch, AT, 4, 6), (branch, AT, 2, 5), (branch, AT, 0, 5), (branch, AT + 2, 4, 5),
        (jump, AT, 4, 3),
    ):  # fmt: skip
        found = block_of(decoded("picorv32", code, at), timing, behind=size)
        assert (found.taken, found.not_taken) == ((taken, taken), (3, 3))


def test_what_a_table_does_not_have_has_no_time() -> None:
    with pytest.raises(UnknownTimeError, match=r"Arm Cortex-M0 has no entry for dmb sy \(barrier"):
        block("cortex-m0", "bff35f8f")
    with pytest.raises(UnknownTimeError, match="no entry for udiv"):
        block_of(decoded("cortex-m4", V7["udiv r0, r0, r1"][0]), CORES["cortex-m0"])
    without = {kind: n for kind, n in CORES["cortex-m0"].cycles.items() if kind != "register"}
    with pytest.raises(UnknownTimeError, match="push"):
        block_of(decoded("cortex-m0", "10b5"), replace(CORES["cortex-m0"], cycles=without))


def edge(
    before: Block | None, after: Block, core: str, flash: Flash, *, is_taken: bool
) -> tuple[int, int]:
    return edge_cycles(before, after, is_taken=is_taken, timing=CORES[core], flash=flash)


def test_the_jump_before_a_block_counts_with_it() -> None:
    loop, after = block("cortex-m0", "0138" + "fdd1"), block("cortex-m0", "0120")
    none = Flash()
    assert edge(None, loop, "cortex-m0", none, is_taken=True) == (1, 1)
    assert edge(loop, loop, "cortex-m0", none, is_taken=True) == (4, 4)
    assert edge(loop, after, "cortex-m0", none, is_taken=False) == (2, 2)
    assert edge(after, after, "cortex-m0", none, is_taken=False) == (1, 1)


def test_loads_overlap_where_a_block_continues_the_one_before() -> None:
    load, other = block("cortex-m4", "0868"), block("cortex-m4", "0120")
    jump = block("cortex-m4", "0868" + "fee7")
    none = Flash()
    assert edge(load, load, "cortex-m4", none, is_taken=False) == (1, 3)
    assert edge(other, load, "cortex-m4", none, is_taken=False) == (2, 3)
    assert edge(jump, load, "cortex-m4", none, is_taken=True) == (4, 7)
    m0 = block("cortex-m0", "0868")
    assert edge(m0, m0, "cortex-m0", none, is_taken=False) == (2, 2)


def test_wait_states_count_for_words_of_code_and_loaded_words() -> None:
    """A buffer hides all at best; without one every word that is new waits."""
    code = "0868" + "0ec8" + "0120"  # a load, a load of three, a move: two words from AT
    found = block("cortex-m0", code)
    assert (found.n_words, found.n_loads) == (2, 4)
    assert block("cortex-m0", code, AT + 2).n_words == 2
    assert block("cortex-m0", "0120", AT + 2).n_words == 1
    assert block("cortex-m0", "10bd").n_loads == 2  # with the program counter
    assert Flash(2).cycles(found, is_target=False) == (0, 2 * (2 + 4))
    assert Flash(2).cycles(found, is_target=True) == (0, 2 * (2 + 4 + 2))
    assert Flash(2, has_prefetch=False).cycles(found, is_target=False) == (2, 2 * 6)
    assert Flash(2, has_prefetch=False).cycles(found, is_target=True) == (4, 2 * 8)
    low, high = found.body
    assert edge(None, found, "cortex-m0", Flash(1), is_taken=True) == (low, high + 8)


@pytest.mark.parametrize("core", CORES)
def test_a_broken_table_is_refused(core: str) -> None:
    """A kind that is lacking, misspelled, negative, or from more to less."""
    good = CORES[core]
    for kind in REQUIRED:
        lacking = {name: n for name, n in good.cycles.items() if name != kind}
        with pytest.raises(ValueError, match=kind):
            replace(good, cycles=lacking)
    for wrong in ({"misspelled": (1, 1)}, {"plain": (2, 1)}, {"load": (-1, 1)}):
        with pytest.raises(ValueError, match=next(iter(wrong))):
            replace(good, cycles={**good.cycles, **wrong})
    assert set(good.cycles) <= set(KINDS)


def test_a_core_is_exact_if_only_products_and_quotients_have_a_range() -> None:
    exact = {core for core, timing in CORES.items() if timing.is_exact}
    assert exact == {"cortex-m0", "cortex-m0plus", "ibex", "picorv32"}
    assert not replace(CORES["picorv32"], shifts_in_steps=False).is_exact
    assert not Timing("", "", "", {**CORES["cortex-m0"].cycles, "load": (1, 2)}).is_exact
