"""Meanings of instructions in the checker, compared with those that the simulator confirms."""

from random import Random

import pytest

from bncc.prove import concrete
from bncc.prove.code import Code
from bncc.prove.instructions import Flags, Load, Store, UnknownInstruction
from bncc.targets import find_target

pytest.importorskip("capstone", reason="capstone is not installed")

from bncc.checker.machine import Machine, Path, State
from bncc.checker.model import Program
from bncc.checker.riscv import Riscv
from bncc.checker.thumb import CONDITIONS, Thumb, compare, holds
from bncc.checker.values import Algebra, RejectedError, Value
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


def path_of(isa, data, numbers, flags):
    program = Program(((AT, data),), {})
    machine = Machine(isa(program), program, None, Algebra([], []), 0)
    registers = {name: Value(x) for name, x in numbers.items()} | {isa.stack: Value(0, (), "stack")}
    path = Path(machine, State(AT, registers, {}, ()))
    compare(path, "sub", *map(Value, flags))
    return path


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
                instruction = path.machine.isa.decode(AT)
                found = instruction.action(path)
            except RejectedError:
                continue
            for name in numbers:
                x = path.registers[name]
                assert x.base == "?" or (x.base, x.const) == (None, state.registers[name]), text
                n_compared += 1
            here = AT + instruction.size if found is None else found.const
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
