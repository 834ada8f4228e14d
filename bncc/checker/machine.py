"""State of a function on one path, and the execution of its instructions over a box of inputs."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np

from bncc.checker.model import Model, Program
from bncc.checker.values import EXACT, UNKNOWN, WORD, Algebra, Box, RejectedError, Value, require

Memory: TypeAlias = dict[tuple[str, int], tuple[Value, int]]
"""Bytes by region and offset: a value, and which of its bytes."""
Fact: TypeAlias = tuple[int, int, bool]
"""The first class costs less than the second, or at most as much if the last is false."""


@dataclass(frozen=True)
class Instruction:
    """A decoded instruction; its action may return where it jumps."""

    size: int
    text: str
    action: Callable[["Path"], Value | None]


@dataclass(frozen=True, eq=False)
class State:
    """Knowledge about one path before an instruction."""

    at: int
    registers: Mapping[str, Value]  # What flags are of is in registers of other names
    memory: Memory
    box: Box
    facts: frozenset[Fact] = frozenset()
    steps: int = 0
    deepest: int = 0


class SplitError(Exception):
    """A step differs between inputs: it must be taken from each of several states."""

    def __init__(self, sides: Sequence[State]) -> None:
        self.sides = sides


class Path:
    """One instruction's work on a state."""

    def __init__(self, machine: "Machine", state: State) -> None:
        self.machine, self.algebra, self.old = machine, machine.algebra, state
        self.registers, self.memory = dict(state.registers), dict(state.memory)

    def is_met(self, condition: Value) -> bool:
        """Return whether a condition is 1, if it is the same for all inputs of the box."""
        ((number, _), *others) = cases = self.algebra.cases(condition)
        if others:
            raise SplitError([replace(self.old, box=box) for _, box in cases])
        return bool(number)

    def load(self, address: Value, size: int, multiple: int, *, is_signed: bool = False) -> Value:
        """Return what memory has at an address that is a multiple of a number."""
        if address.base is None:
            read = self.machine.program.read
            numbers = np.vectorize(lambda at: read(int(at), size, multiple), otypes=[np.int64])
            found = self.algebra.pointwise(numbers, address)
        else:
            offset = self._offset(address, multiple)
            found = loaded(self.algebra, self.memory, address.base, offset, size)
        if size == 4 or found.base:
            return found if size == 4 else UNKNOWN
        extended = self.algebra.sext if is_signed else self.algebra.low
        return extended(found, 8 * size)

    def store(self, address: Value, size: int, multiple: int, content: Value) -> None:
        """Write the lowest bytes of a value into the own stack or the output."""
        base, offset = str(address.base), self._offset(address, multiple)
        first, end = {"stack": (-WORD, 0), "output": (0, self.machine.n_output)}.get(base, (0, 0))
        require(first <= offset <= end - size, f"a write at {offset} of the region {base}")
        self.memory |= {(base, offset + k): (content, k) for k in range(size)}

    def _offset(self, address: Value, multiple: int) -> int:
        ((offset, _), *others) = self.algebra.cases(Value(address.const, address.terms))
        require(not others, "an address within a buffer depends on the input")
        known = self.machine.alignments.get(str(address.base), 1)
        is_aligned = offset % multiple == known % multiple == 0
        require(is_aligned, f"an access at {offset} of the region {address.base} is not aligned")
        return signed(offset)

    def finished(self, to: int) -> State:
        """Return the state before the next instruction."""
        pointer, old = self.registers[self.machine.isa.stack], self.old
        depth = signed(pointer.const)
        is_right = pointer.base == "stack" and not pointer.terms and depth % 4 == 0 and depth <= 0
        require(is_right, "the stack pointer is not known, or above the caller's")
        # Interrupts may write below the stack pointer.
        below = [key for key in self.memory if key[0] == "stack" and key[1] < depth]
        is_kept = all(self.memory.pop(key) == old.memory.get(key) for key in below)
        require(is_kept, "a write below the stack pointer")
        deepest = min(old.deepest, depth)
        return State(to, self.registers, self.memory, old.box, old.facts, old.steps + 1, deepest)


def loaded(algebra: Algebra, memory: Memory, base: str, offset: int, size: int) -> Value:
    """Return a value with the lowest bytes that a region has; unknown if the own stack has none."""
    content = [memory.get((base, offset + k), (UNKNOWN, 0)) for k in range(size)]
    if any(x is UNKNOWN for x, _ in content):
        require(base == "stack" and offset + size <= 0, f"a read at {offset} of the region {base}")
        return UNKNOWN
    found, k = Value(0), 0
    while k < size:
        x, first = content[k]
        n = 1
        while content[k : k + n + 1] == [(x, first + j) for j in range(n + 1)]:
            n += 1
        if n == size and first == 0:
            return x
        if x.base:
            return UNKNOWN
        part = algebra.field(x, 8 * first, 8 * n)
        found, k = algebra.add(found, algebra.scaled(part, 1 << 8 * k)), k + n
    return found


class Machine:
    """Executes a function over boxes of inputs."""

    def __init__(
        self, isa: Any, program: Program, model: Model, algebra: Algebra, n_output: int
    ) -> None:
        self.isa, self.program, self.model, self.algebra = isa, program, model, algebra
        self.n_output, self.work, self.most = n_output, 0, 0
        self.alignments = {"stack": isa.stack_alignment}  # By region, of its start
        self.orders: Mapping[str, Sequence[Sequence[int]]] = {}

    def holds(self, fact: Fact, facts: frozenset[Fact]) -> bool:
        """Return whether an order of costs is known, or follows from their bounds in the box."""
        a, b, is_strict = fact
        is_known = (a, b, True) in facts or fact in facts
        return is_known or self.algebra.bounds(self.model.difference(b, a))[0] >= is_strict

    def _order(self, state: State, total: Value) -> bool | None:
        """
        Return whether a sum is negative, by the costs of the model that it compares.

        Without its lowest n bits it is 2^k times the difference of two costs, or less by one.
        """
        algebra = self.algebra
        for first, second, is_strict, n, k in self.orders.get(str(state.at), ()):
            upper = algebra.split(total, n)[1] if n else total
            wanted = algebra.times(self.model.difference(first, second), -1 << k)
            distance = algebra.plus(algebra.plus(upper, Value(int(not is_strict))), wanted)
            if algebra.vanishes(distance, EXACT):
                sides = (first, second, bool(is_strict)), (second, first, not is_strict)
                for is_negative, fact in zip((True, False), sides, strict=True):
                    if self.holds(fact, state.facts):
                        return is_negative
                raise SplitError([replace(state, facts=closed(state.facts, one)) for one in sides])
        return None

    def count(self) -> None:
        """Count the execution of an instruction or a comparison of states."""
        self.work += 1
        require(self.work <= self.most, f"the check takes more than the {self.most} steps claimed")

    def step(self, state: State) -> list[State]:
        """Execute one instruction; a state without an address has returned."""
        self.count()
        self.algebra.box = state.box
        self.algebra.order = lambda total: self._order(state, total)
        instruction = self.isa.decode(state.at)
        path = Path(self, state)
        try:
            to = instruction.action(path)
        except SplitError as split:
            return [one for side in split.sides for one in self.step(side)]
        except RejectedError as error:
            raise RejectedError(f"{error} at {state.at:#x}, {instruction.text}") from None
        if to is None:
            return [path.finished(state.at + instruction.size)]
        is_return = to.base == "return" and to.const == 0
        require(not to.terms and (is_return or not to.base), "a jump that depends on the input")
        return [path.finished(-1 if is_return else to.const)]


def closed(facts: frozenset[Fact], fact: Fact) -> frozenset[Fact]:
    """Return facts with another one and those that follow by transitivity."""
    a, b, is_strict = fact
    below = [(a, is_strict), *((x, s or is_strict) for x, y, s in facts if y == a)]
    above = [(b, False), *((y, s) for x, y, s in facts if x == b)]
    found = {(x, y, s or t) for x, s in below for y, t in above if x != y}
    return facts | found | {(x, y, False) for x, y, _ in found}


def signed(x: int) -> int:
    """Return a word as a signed number."""
    return (x + WORD // 2) % WORD - WORD // 2
