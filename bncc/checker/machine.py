"""State of a function on one path over a box of inputs, and the memory that it reads and writes."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np

from bncc.checker.values import EXACT, UNKNOWN, Algebra, Ints, SplitError, Value, require, signed

Memory: TypeAlias = dict[tuple[str | None, int], tuple[Value, int]]
"""Bytes by region and offset: a value, and which of its bytes."""


@dataclass(frozen=True, eq=False)
class State(Algebra):
    """Knowledge about one path before an instruction, which changes a copy of it."""

    machine: Any  # It has the instruction set, the program, the model and the regions of memory
    at: int
    registers: dict[str, Value]  # What flags are of is in registers of other names
    memory: Memory
    margins: Ints  # By two classes, how much less the first one costs at least
    orders: Mapping[str, Any]  # By address, which costs are compared there
    steps: int = 0
    deepest: int = 0

    # Memory

    def load(self, address: Value, size: int, multiple: int, *, is_signed: bool = False) -> Value:
        """Return what memory has at an address that is a multiple of a number."""
        if address.base is None:
            read = self.machine.program.read
            numbers = np.vectorize(lambda at: read(at, size, multiple), otypes=[np.int64])
            found = self.pointwise(numbers, address)
        else:
            offset = self._offset(address, size, multiple)
            found = self.loaded(address.base, offset, size)
            are_known = all((address.base, offset + k) in self.memory for k in range(size))
            is_readable = are_known or address.base == "stack"
            require(is_readable, f"a read at {offset} of the region {address.base}")
        if size == 4 or found.base:
            return found if size == 4 else UNKNOWN
        return self.sext(found, 8 * size) if is_signed else self.field(found, 0, 8 * size)

    def loaded(self, base: str, offset: int, size: int) -> Value:
        """Return a value with the lowest bytes that a region has, as far as they are known."""
        content = [self.memory.get((base, offset + k), (UNKNOWN, k)) for k in range(size)]
        if all(x is content[0][0] and byte == k for k, (x, byte) in enumerate(content)):
            return content[0][0]
        if any(x.base for x, _ in content):
            return UNKNOWN
        found = Value(0)
        for k, (x, byte) in enumerate(content):
            found = self.add(found, self.times(self.field(x, 8 * byte, 8), 1 << 8 * k))
        return found

    def store(self, address: Value, size: int, multiple: int, content: Value) -> None:
        """Write the lowest bytes of a value into the own stack or the output."""
        offset = self._offset(address, size, multiple)
        require(address.base != "input", "a write into the input")
        self.memory.update({(address.base, offset + k): (content, k) for k in range(size)})

    def _offset(self, address: Value, size: int, multiple: int) -> int:
        """Return where in a region an address is, for all inputs."""
        region = address.base
        require(region in self.machine.regions, f"an access to the region {region}")
        alignment, first, end = self.machine.regions[region]
        offset = int(signed(self.number(Value(address.const, address.terms))))
        require(first <= offset <= end - size, f"an access at {offset} of the region {region}")
        is_aligned = offset % multiple == alignment % multiple == 0
        require(is_aligned, f"an access at {offset} of the region {region} is not aligned")
        return offset

    # Order of costs

    def order(self, total: Value) -> bool | None:
        """
        Return whether a sum is negative, by the costs of the model that it compares.

        Without its lowest n bits it is 2^k times the difference of two costs, or less by one.
        """
        for first, second, strict, n, k in self.orders.get(str(self.at), ()):
            least = int(bool(strict))
            wanted = self.times(self.machine.model.difference(first, second), -1 << k)
            rest = self.add(self.add(self.split(total, n)[1], Value(1 - least)), wanted)
            if self.vanishes(rest, EXACT):
                sides = {True: (first, second, least), False: (second, first, 1 - least)}
                for is_negative, fact in sides.items():
                    if self.holds(*fact):
                        return is_negative
                raise SplitError(*({"margins": self.closed(*fact)} for fact in sides.values()))
        return None

    def holds(self, first: int, second: int, least: int) -> bool:
        """Return whether a margin of costs is known, or follows from their bounds in the box."""
        difference = self.machine.model.difference(second, first)
        return max(int(self.margins[first, second]), self.bounds(difference)[0]) >= least

    def closed(self, first: int, second: int, least: int) -> Ints:
        """Return the margins with another one and what follows from it."""
        through = self.margins[:, [first]] + least + self.margins[[second]]
        return np.maximum(self.margins, through)

    # Steps

    def is_met(self, condition: Value) -> bool:
        """Return whether a condition is 1, if it is the same for all inputs of the box."""
        return self.number(condition) == 1

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
