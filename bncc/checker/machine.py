"""State of a function on one path over a box of inputs, and the memory that it reads and writes."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any, TypeAlias

import numpy as np

from bncc.checker.boxes import Box, Ints
from bncc.checker.values import UNKNOWN, Algebra, Value, require, signed

Memory: TypeAlias = dict[tuple[str | None, int], tuple[Value, int]]
"""Bytes by region and offset: a value, and which of its bytes."""


class SplitError(Exception):
    """A step differs between inputs: its arguments say how the states on each side differ."""


@dataclass(frozen=True, eq=False)
class State:
    """Knowledge about one path before an instruction, which changes a copy of it."""

    machine: Any  # It has the instruction set, the program and the regions of memory
    algebra: Algebra
    at: int
    registers: dict[str, Value]  # What flags are of is in registers of other names
    memory: Memory
    box: Box
    margins: Ints  # By two classes, how much less the first one costs at least
    steps: int = 0
    deepest: int = 0

    def is_met(self, condition: Value) -> bool:
        """Return whether a condition is 1, if it is the same for all inputs of the box."""
        ((number, _), *others) = cases = self.algebra.cases(condition)
        if others:
            raise SplitError(*({"box": box} for _, box in cases))
        return bool(number)

    def load(self, address: Value, size: int, multiple: int, *, is_signed: bool = False) -> Value:
        """Return what memory has at an address that is a multiple of a number."""
        base = address.base
        if base is None:
            read = self.machine.program.read
            numbers = np.vectorize(lambda at: read(at, size, multiple), otypes=[np.int64])
            found = self.algebra.pointwise(numbers, address)
        else:
            offset = self._offset(address, multiple)
            is_own = base == "stack" and offset + size <= 0
            is_readable = is_own or all((base, offset + k) in self.memory for k in range(size))
            require(is_readable, f"a read at {offset} of the region {base}")
            found = self.loaded(base, offset, size)
        extended = self.algebra.sext if is_signed else self.algebra.low
        return found if size == 4 else extended(found, 8 * size)

    def loaded(self, base: str, offset: int, size: int) -> Value:
        """Return a value with the lowest bytes that a region has, as far as they are known."""
        content = [(k, *self.memory.get((base, offset + k), (UNKNOWN, k))) for k in range(size)]
        runs = groupby(content, key=lambda one: (id(one[1]), one[2] - one[0]))
        parts = [(*next(run), 1 + len([*run])) for _, run in runs]
        found = Value(0)
        for k, x, first, n in parts:
            if first == 0 and n == size:
                return x
            part = self.algebra.field(x, 8 * first, 8 * n)
            found = self.algebra.add(found, self.algebra.scaled(part, 1 << 8 * k))
        return found

    def store(self, address: Value, size: int, multiple: int, content: Value) -> None:
        """Write the lowest bytes of a value into the own stack or the output."""
        base, offset = address.base, self._offset(address, multiple)
        _, first, end = self.machine.regions[base]
        require(first <= offset <= end - size, f"a write at {offset} of the region {base}")
        self.memory.update({(base, offset + k): (content, k) for k in range(size)})

    def _offset(self, address: Value, multiple: int) -> int:
        """Return where in a region an address is, for all inputs."""
        ((offset, _), *others) = self.algebra.cases(Value(address.const, address.terms))
        require(not others, "an address within a buffer depends on the input")
        require(address.base in self.machine.regions, f"an access to the region {address.base}")
        is_aligned = offset % multiple == self.machine.regions[address.base][0] % multiple == 0
        require(is_aligned, f"an access at {offset} of the region {address.base} is not aligned")
        return int(signed(offset))

    def moved(self, to: int) -> "State":
        """Return the state before the next instruction."""
        pointer = self.registers[self.machine.isa.stack]
        depth = signed(pointer.const)
        is_right = pointer.base == "stack" and not pointer.terms and depth % 4 == 0 and depth <= 0
        require(is_right, "the stack pointer is not known, or above the caller's")
        deepest = min([self.deepest, depth, *(at for base, at in self.memory if base == "stack")])
        # Interrupts may write below the stack pointer.
        kept = {key: x for key, x in self.memory.items() if key[0] != "stack" or key[1] >= depth}
        return replace(self, at=to, memory=kept, steps=self.steps + 1, deepest=deepest)


@dataclass(frozen=True)
class Instruction:
    """A decoded instruction; its action may return where it jumps."""

    size: int
    text: str
    action: Callable[[State], Value | None]
    at: int | None = None  # Its own address if only the instruction before it leads to it
    then: int | None = None  # The address of such an instruction that follows
