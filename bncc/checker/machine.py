"""State of a function on one path over a box of inputs, and the memory that it reads and writes."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from bncc.checker.values import EXACT, UNKNOWN, Algebra, Ints, SplitError, Value, require, signed


@dataclass(frozen=True, eq=False)
class State(Algebra):
    """Knowledge about one path before an instruction, which changes a copy of it."""

    machine: Any  # It has the instruction set, the program, the model and the regions of memory
    claims: dict[str, Any]  # What the certificate has of the state where the path begins
    at: int
    registers: dict[str, Value]  # What flags are of is in registers of other names
    memory: dict[tuple[str | None, int], tuple[Value, int]]  # A value, and which of its bytes
    margins: Ints  # By two classes, how much less the first one costs at least
    steps: int = 0
    deepest: int = 0
    gate: int = 0  # -1 if the tables before the gate are known to decide, 1 if not to

    # Memory

    def load(self, address: Value, size: int, multiple: int, *, is_signed: bool = False) -> Value:
        """Return what memory has at an address that is a multiple of a number."""
        base, read = address.base, self.machine.program.read
        if base is None:
            numbers = np.vectorize(lambda at: int.from_bytes(read(at, size, multiple), "little"))
            found = self.pointwise(numbers, address)
        else:
            offset = self._offset(address, size, multiple)
            is_known = all((base, offset + k) in self.memory for k in range(size))
            require(is_known or base == "stack", f"a read at {offset} of the region {base}")
            found = self.loaded(base, offset, size)
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
        return self.gathered((x, 8 * byte, 8, 8 * k) for k, (x, byte) in enumerate(content))

    def store(self, address: Value, size: int, multiple: int, content: Value) -> None:
        """Write the lowest bytes of a value into the own stack or the output."""
        offset = self._offset(address, size, multiple)
        require(address.base != "input", "a write into the input")
        self.memory.update({(address.base, offset + k): (content, k) for k in range(size)})

    def _offset(self, address: Value, size: int, multiple: int) -> int:
        """Return where in a region an address is, for all inputs."""
        alignment, end = self.machine.regions.get(address.base, (0, -1 << 32))
        offset = int(signed(self.number(Value(address.const, address.terms))))
        start = -self.machine.claims["stack"] * (address.base == "stack")
        is_right = start <= offset <= end - size and offset % multiple == alignment % multiple == 0
        require(is_right, f"an access at {offset} of {address.base}: outside, or is not aligned")
        return offset

    # Order of costs

    def order(self, total: Value) -> Value | None:
        """
        Return -1 if a sum is negative, else 0, by the costs of the model that it compares.

        Without its lowest n bits it is 2^k times their difference and a margin, less 1 to 2^k.
        """
        for first, second, least, less, n, k in self.claims["orders"].get(str(self.at), ()):
            costs = self.add(self.machine.model.difference(first, second), Value(least))
            plain = Algebra(self.points, self.box)  # Which asks for no order
            rest = self.sub(plain.split(total, n)[1], self.times(costs, 1 << k))
            if 0 < less <= 1 << k and self.vanishes(self.add(rest, Value(less)), EXACT):
                sides = (second, first, 1 - least), (first, second, least)
                for is_negative, (one, other, margin) in enumerate(sides):
                    if self.margins[one, other] >= margin:
                        return Value(-is_negative)
                # An order that the bounds of costs imply becomes known as well.
                open_ones = (one for k, one in enumerate(sides) if not self.holds(*sides[1 - k]))
                raise SplitError(*({"margins": self.closed(*one)} for one in open_ones))
        return None

    def holds(self, first: int, second: int, least: int) -> bool:
        """Return whether a margin of costs is known, or follows from their bounds in the box."""
        difference = self.machine.model.difference(second, first)
        bound = max(int(self.margins[first, second]), self.bounds(difference)[0])
        if bound < least:
            bound = difference.const
            for parts, own in self.machine.model.tables:
                # A table has the costs of one of the rows that inputs in the box have.
                grids = [Value(0, (t,)).at(self.common((t,))[1]) for t in parts]
                rows = np.unique(np.concatenate(grids, axis=None))
                bound += int((own[:, second] - own[:, first])[rows[rows >= 0]].min())
        return bound >= least

    def gated(self) -> int:
        """Return -1 if a class is ahead of all others before the gate, 1 if none, 0 if unknown."""
        n, least = len(self.margins) // 2, self.machine.model.margin
        first = self.margins[n:, n:]  # Each class is near itself
        is_open = ((first >= 1 - least).sum(axis=0) > 1).all()
        return self.gate or int(is_open) - bool(((first >= least).sum(axis=1) >= n - 1).any())

    def closed(self, first: int, second: int, least: int) -> Ints:
        """Return the margins with another one and what follows from it."""
        return self.margins.clip(self.margins[:, [first]] + least + self.margins[[second]])

    # Steps

    def moved(self, to: int) -> "State":
        """Return the state before the next instruction."""
        pointer = self.registers[self.machine.isa.stack]
        require(pointer.base == "stack", "the stack pointer is not known")
        depth = self._offset(pointer, 0, 4)
        deepest = min([self.deepest, depth, *(at for base, at in self.memory if base == "stack")])
        # Interrupts may write below the stack pointer.
        kept = {key: x for key, x in self.memory.items() if key[0] != "stack" or key[1] >= depth}
        return replace(self, at=to, memory=kept, steps=self.steps + 1, deepest=deepest)
