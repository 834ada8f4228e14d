"""Meanings of instructions in the checker, compared with those that the simulator confirms."""

from random import Random
from types import SimpleNamespace

import numpy as np
import pytest

from bncc.prove import concrete
from bncc.prove.code import Code
from bncc.prove.instructions import Flags, Load, Store, UnknownInstruction
from bncc.targets import find_target

pytest.importorskip("capstone", reason="capstone is not installed")

from bncc.checker.machine import State
from bncc.checker.model import Program
from bncc.checker.riscv import Riscv
from bncc.checker.thumb import CONDITIONS, Thumb, compare, holds
from bncc.checker.values import RejectedError, Term, Value
from bncc.prove.riscv import Decoder as RiscvDecoder
from bncc.prove.thumb import Decoder as ThumbDecoder

AT = 0x1000
NUMBERS = (0, 1, 2, 31, 32, 33, 127, 128, 255, 0x7FFF_FFFF, 1 << 31, 0xFFFF_FFFF)
WIDE = (
    "02eb0311", "5142", "40f1380b", "b1eb031f", "11f1050f", "c1f23421", "11f0004f", "22ea0301",
    "6ff00301", "5ffa92f1", "42fa83f1", "c2f3c301", "6ff3c601", "02fb0341", "42f24531", "0eeb8101",
    "62eb0301", "d2f10001", "82ea2321", "91fa81f1", "91fa91f1", "62f3c711", "02fb1341", "1f3a0100",
)  # fmt: skip
"""Instructions of four bytes of Cortex-M4."""


def programs():
    rng = Random(0)
    narrow = [rng.randrange(0, 0xE000).to_bytes(2, "little") for _ in range(700)]
    for data in [*narrow, *(bytes.fromhex(text) for text in WIDE)]:
        yield data, "cortex-m4", Thumb, ThumbDecoder
    for _ in range(700):
        word = rng.getrandbits(32)
        opcode = rng.choice((0x13, 0x33, 0x37, 0x17, 0x63, 0x6F))
        funct7 = rng.choice((0, 0, 0x20, 1)) << 25
        word = word & ~0x7F | opcode
        word = word & ~(0x7F << 25) | funct7 if opcode in (0x13, 0x33) else word
        yield word.to_bytes(4, "little"), "rv32", Riscv, RiscvDecoder
    for _ in range(700):
        yield (
            (rng.getrandbits(16) & ~3 | rng.choice((0, 1, 2))).to_bytes(2, "little"),
            "rv32",
            Riscv,
            RiscvDecoder,
        )


def random_registers(isa, rng):
    names = [name for name in isa.registers if name != isa.stack]
    return {
        name: rng.choice((rng.choice(NUMBERS), rng.getrandbits(32), rng.getrandbits(5)))
        for name in names
    }


def state_of(isa, program, registers, *, memory=(), alignments=None, points=()):
    """Return a state whose regions of memory cannot be written, but for the stack."""
    starts = {"stack": isa.stack_alignment, "input": 1} | (alignments or {})
    regions = {base: (start, 64 * (base == "input")) for base, start in starts.items()}
    machine = SimpleNamespace(isa=isa, program=program, regions=regions, claims={"stack": 1 << 16})
    box = tuple(np.ones(len(one), dtype=bool) for one in points)
    margins = np.zeros((1, 1))
    return State(points, box, machine, {"orders": {}}, AT, registers, dict(memory), margins)


def program_of(data):
    """Return a program of constants alone."""
    program = object.__new__(Program)
    program.sections = [(AT, data)]
    return program


def test_a_block_in_an_it_block_is_refused():
    """The code is it eq, it eq, mov r0, r1."""
    with pytest.raises(RejectedError, match="in an IT block"):
        Thumb(program_of(bytes.fromhex("08bf08bf0846")), "cortex-m4").decode(AT)


def action_of(isa):
    """Return the meaning of the instruction, and the address after it."""
    if isinstance(isa, Riscv):
        _, after, action = isa.decode(AT)
        return action, after
    return isa.decode(AT).action, AT + isa.decode(AT).size


def path_of(isa, data, numbers, flags):
    program = program_of(data)
    registers = {name: Value(x) for name, x in numbers.items()} | {isa.stack: Value(0, (), "stack")}
    path = state_of(isa(program), program, registers)
    compare(path, "sub", *map(Value, flags))
    return path


@pytest.mark.no_cover
def test_registers_flags_and_jumps_are_those_of_the_simulated_meaning():
    rng = Random(1)
    n_compared = n_flags = 0
    for data, target, isa, decoder in programs():
        code = Code(find_target(target), ((AT, data),), {}, "")
        try:
            wanted = decoder(code).decode(AT)
        except UnknownInstruction:
            continue
        uses_memory = any(isinstance(e, Load | Store) for e in wanted.effects)
        text = f"{wanted} {data.hex()}"
        if uses_memory or f"'{isa.stack}'" in text or wanted.condition is not None:
            continue
        for _ in range(3):
            numbers = random_registers(isa, rng)
            flags = rng.choice(NUMBERS), rng.choice(NUMBERS)
            state = concrete.State(numbers, concrete.Bytes())
            concrete._set_flags(Flags("sub", *flags), state)
            to = concrete.execute(wanted, state)
            path = path_of(isa, data, numbers, flags)
            try:
                action, after = action_of(path.machine.isa)
                found = action(path)
            except RejectedError:
                continue
            for name in numbers:
                x = path.registers[name]
                is_equal = x.base is None and x.const % (1 << 32) == state.registers[name]
                assert x.base == "?" or is_equal, text
                n_compared += 1
            here = after if found is None else found.const % (1 << 32)
            assert here & ~1 == to & ~1, text
            if target != "rv32":
                for name in CONDITIONS:
                    n_flags += check_flag(path, name, state, text)
    assert n_compared > 20_000
    assert n_flags > 7_000


def check_flag(path, name, state, text) -> bool:
    """Compare a condition, if the checker knows it; return whether it does."""
    try:
        found = holds(path, name)
    except RejectedError:
        return False
    if found.base is None:
        assert found.const == concrete.evaluate(("flag", name), state), f"{name}: {text}"
    return found.base is None


WORDS, HALVES, BYTES = {0, 4}, {0, 2, 4, 6}, set(range(8))
THUMB = {
    "0868": (WORDS, BYTES),  # ldr r0, [r1]
    "51f8040b": (WORDS, BYTES),  # ldr r0, [r1], #4
    "0888": (HALVES, BYTES),  # ldrh r0, [r1]
    "8a5e": (HALVES, BYTES),  # ldrsh r2, [r1, r2]
    "0878": (BYTES, BYTES),  # ldrb r0, [r1]
    "0860": (WORDS, BYTES),  # str r0, [r1]
    "0880": (HALVES, BYTES),  # strh r0, [r1]
    "0870": (BYTES, BYTES),  # strb r0, [r1]
    "d1f800f0": (WORDS, WORDS),  # ldr.w pc, [r1]
    "0cc9": (WORDS, WORDS),  # ldm r1!, {r2, r3}
    "0cc1": (WORDS, WORDS),  # stm r1!, {r2, r3}
    "11e90c00": (WORDS, WORDS),  # ldmdb r1, {r2, r3}
    "21e90c00": (WORDS, WORDS),  # stmdb r1!, {r2, r3}
    "d1e90023": (WORDS, WORDS),  # ldrd r2, r3, [r1]
    "c1e90023": (WORDS, WORDS),  # strd r2, r3, [r1]
    "0cb4": (WORDS, WORDS),  # push {r2, r3}
    "0cbc": (WORDS, WORDS),  # pop {r2, r3}
    "00bd": (WORDS, WORDS),  # pop {pc}
    "d1ed000a": (WORDS, WORDS),  # vldr s1, [r1]
    "c1ed000a": (WORDS, WORDS),  # vstr s1, [r1]
    "2ded028a": (WORDS, WORDS),  # vpush {s16, s17}
    "bdec028a": (WORDS, WORDS),  # vpop {s16, s17}
}
"""Loads and stores with the offsets from a multiple of 8 at which v6-M and v7-M do not fault."""
RISCV = {
    "03a50500": WORDS,  # lw a0, 0(a1)
    "03950500": HALVES,  # lh a0, 0(a1)
    "03d50500": HALVES,  # lhu a0, 0(a1)
    "03850500": BYTES,  # lb a0, 0(a1)
    "23a0a500": WORDS,  # sw a0, 0(a1)
    "2390a500": HALVES,  # sh a0, 0(a1)
    "2380a500": BYTES,  # sb a0, 0(a1)
    "8841": WORDS,  # c.lw a0, 0(a1)
    "88c1": WORDS,  # c.sw a0, 0(a1)
    "0245": WORDS,  # c.lwsp a0, 0(sp)
    "2ac0": WORDS,  # c.swsp a0, 0(sp)
}
PROGRAMS = [
    *(("cortex-m0", code, found[0]) for code, found in THUMB.items() if len(code) == 4),
    *(
        (f"cortex-m{k}", code, found[1])
        for k in (3, 4, 7)
        for code, found in THUMB.items()
        if k != 3 or code[2:4] not in ("ec", "ed")  # It has no registers of floats
    ),
    *(("rv32", code, found) for code, found in RISCV.items()),
]


def access(target, code, address, **more) -> None:
    """Execute a load or store at an address, which is that of the stack pointer too."""
    data = bytes.fromhex(code) + bytes(range(64))
    program = program_of(data)
    isa = Riscv(program) if target == "rv32" else Thumb(program, target)
    zeros = dict.fromkeys(isa.registers, Value(0))
    registers = zeros | {name: address for name in ("r1", "r9", "a1", "sp") if name in zeros}
    action, _ = action_of(isa)
    action(state_of(isa, program, registers, **more))


def faults(target, code, address, **more) -> bool:
    """Return whether an access is rejected since it is not aligned."""
    why = "is not aligned"
    try:
        access(target, code, address, **more)
    except RejectedError as error:
        assert why in str(error)  # noqa: PT017
        return True
    return False


@pytest.mark.parametrize(("target", "code", "wanted"), PROGRAMS)
def test_an_access_is_rejected_where_its_processor_may_fault(target, code, wanted):
    """In the stack, whose start is a multiple of 8, or of 16 on RISC-V."""
    found = {
        k for k in range(8) if not faults(target, code, Value((1 << 32) - 64 + k, (), "stack"))
    }
    assert found == wanted


@pytest.mark.parametrize("code", [*WIDE[:1], "51f8040b", "08b1", "08b9", "08bf0120"])
def test_v6m_has_few_wide_instructions_and_no_it_block(code):
    """An image for Cortex-M4 is no program of a Cortex-M0."""
    program = program_of(bytes.fromhex(code + "00bf00bf"))
    with pytest.raises(RejectedError, match="v6-M has no"):
        Thumb(program, "cortex-m0").decode(AT)
    Thumb(program, "cortex-m4").decode(AT)
    Thumb(program_of(bytes.fromhex("fff7feff")), "cortex-m0").decode(AT)


@pytest.mark.parametrize("code", ["02eb0381", "c2f3e301", "c2f7c301", "5ffad2f1", "7147"])
def test_bits_that_must_be_zero_are(code):
    """In add.w, ubfx (two of them), uxtb.w and bx."""
    with pytest.raises(RejectedError, match=r"no meaning is known|no instruction"):
        Thumb(program_of(bytes.fromhex(code)), "cortex-m4").decode(AT)


@pytest.mark.parametrize("code", ["51f8041b", "59f8049b"])
def test_a_load_of_its_own_updated_address_is_rejected(code):
    """Register r1 is written as it is, and r9 as sb."""
    with pytest.raises(RejectedError, match="unpredictable"):
        access("cortex-m4", code, Value((1 << 32) - 64, (), "stack"))


@pytest.mark.parametrize(("target", "code"), [("cortex-m0", "0868"), ("rv32", "03a50500")])
def test_an_address_is_aligned_for_every_input(target, code):
    """A word of constants at four times an input, and at twice an input."""
    levels = np.arange(4).repeat(2)
    for step, is_aligned in ((4, True), (2, False)):
        address = Value(AT + 16, (Term({0: levels}, step * np.arange(4)),))
        found = faults(target, code, address, points=[np.arange(4).repeat(2)])
        assert found is not is_aligned
    assert not faults(target, code, Value(AT + 16))
    assert faults(target, code, Value(AT + 18))


@pytest.mark.parametrize(("target", "code"), [("cortex-m0", "0868"), ("rv32", "03a50500")])
def test_a_buffer_is_as_aligned_as_its_widest_number(target, code):
    """A word at the start of an array of int16 may be at no multiple of 4."""
    memory = {("input", k): (Value(5), k) for k in range(4)}
    address = Value(0, (), "input")
    for alignment in (1, 2, 4, 8):
        found = faults(target, code, address, memory=memory, alignments={"input": alignment})
        assert found == (alignment < 4)
    assert faults(target, code, address, memory=memory)
    assert not faults("cortex-m4", "0868", address, memory=memory)
