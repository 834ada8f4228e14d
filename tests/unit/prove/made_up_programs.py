"""Programs of made-up instructions, and their execution at every input."""

from dataclasses import replace
from itertools import product

from bncc.prove import concrete
from bncc.prove.code import Code
from bncc.prove.instructions import (
    Flags,
    Instruction,
    Jump,
    Load,
    Set,
    Store,
    UnknownInstruction,
)
from bncc.prove.machines import Machine
from bncc.prove.run import Run
from bncc.prove.specification import Input
from bncc.prove.state import read
from bncc.targets import find_target
from tests.unit.prove.brute import contains, listed, number

MACHINE = Machine(
    registers=tuple(f"r{k}" for k in range(8)),
    stack="sp",
    link="lr",
    arguments=("r0", "r1"),
    result="r0",
    kept=("r6", "r7"),
    constants={},
    stack_alignment=8,
    stack_multiple=4,
)
START, TABLE = 0x100, 0x800
INPUT, OUTPUT, TOP, BACK = 0x1000_0000, 0x1100_0000, 0x1200_0000, 0xFFFF_FF00
CONSTANTS = bytes((37 * k + 11) % 256 for k in range(64))
EQ, NE = ("flag", "eq"), ("flag", "ne")
RETURN = (Jump("lr"),)
BYTES = (Input(0, 1, ((0, 9),)), Input(1, 1, ((0, 4), (250, 255))))


class Program:
    """
    Instructions of a size of 2 from an address on, each a tuple of effects.

    Unless a program is aligned, its loads and stores may be at any address.
    """

    def __init__(self, *lines, functions=(), is_aligned=False) -> None:
        self.lines = []
        for k, line in enumerate(lines):
            condition = None
            if line and not isinstance(line[0], (Set, Load, Store, Flags, Jump)):
                condition, *line = line
            if not is_aligned:
                line = [
                    replace(effect, anywhere=True) if isinstance(effect, Load | Store) else effect
                    for effect in line
                ]
            self.lines.append(Instruction(START + 2 * k, 2, f"line {k}", tuple(line), condition))
        self.code = Code(
            find_target("cortex-m0"),
            ((TABLE, CONSTANTS),),
            {"f": START, **{f"f{at}": START + 2 * at for at in functions}},
            "",
        )

    def decode(self, address: int) -> Instruction:
        k = (address - START) // 2
        if address % 2 or not 0 <= k < len(self.lines):
            raise UnknownInstruction(f"nothing at {address:#x}")
        return self.lines[k]

    def run(self, inputs=BYTES, n_output: int = 4, alignments=None, machine=MACHINE) -> Run:
        run = Run(
            self.code, self.decode, machine, inputs, n_output, lambda total, region: (),
            alignments=alignments,
        )  # fmt: skip
        run.go(START)
        return run

    def execute(self, inputs, point):
        """Return the registers, the memory and the number of instructions of one call."""
        content = {TOP - k: 7 * k + 0xA5 & 255 for k in range(1, 65)}  # Never written
        content |= {at + k: x for at, data in self.code.sections for k, x in enumerate(data)}
        for one, x in zip(inputs, point, strict=True):
            for k in range(one.size):
                content[INPUT + one.offset + k] = x >> 8 * k & 255
        registers = {f"r{k}": 0xA5A5_0000 + k for k in range(8)}
        registers |= {"r0": INPUT, "r1": OUTPUT, "sp": TOP, "lr": BACK}
        state = concrete.State(registers, concrete.Bytes(content))
        at, n = START, 0
        while at != BACK:
            at = concrete.execute(self.decode(at), state)
            n += 1
            assert n < 10_000
        return state, n


def to(line: int, condition=None, *, is_call: bool = False) -> Jump:
    return Jump(START + 2 * line, condition, is_call)


def agrees(program: Program, inputs=BYTES, registers=("r0",), n_output: int = 4) -> Run:
    """Compare all ends with the execution at every input."""
    run = program.run(inputs, n_output)
    longest, deepest = 0, 0
    for point in product(*(listed(one.numbers) for one in inputs)):
        state, n = program.execute(inputs, point)
        longest = max(longest, n)
        (end,) = (end for end in run.ends if contains(end.region, point))
        assert end.steps >= n
        run.algebra.region = end.region
        for name in registers:
            value = read(end.registers[name], run.algebra)
            assert number(run.algebra, value, point) == state.registers[name], point
        for name in (*MACHINE.kept, "sp"):
            value = read(end.registers[name], run.algebra)
            base = "stack" if name == "sp" else f"initial {name}"
            assert (value.base, value.const, bool(value.terms)) == (base, 0, False)
        for at, cell in end.output.items():
            value = number(run.algebra, read(cell.content, run.algebra), point)
            value %= 1 << 8 * cell.size
            assert value == state.memory.read(OUTPUT + at, cell.size)
        deepest = min(deepest, end.deepest)
    assert max(end.steps for end in run.ends) == longest
    return run
