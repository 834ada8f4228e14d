"""State of a function on one path, and the execution of its instructions over a box of inputs."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

import numpy as np

from bncc.checker.model import Program, Specification
from bncc.checker.terms import (
    UNKNOWN,
    WORD,
    Box,
    RejectedError,
    SplitError,
    Term,
    UnknownError,
    Value,
)
from bncc.checker.values import Algebra

Record = tuple[str, tuple[Value, ...]]
Fact = tuple[int, int, bool]
"""The first class costs less than the second, or at most as much if the last is false."""


@dataclass(frozen=True)
class Instruction:
    """A decoded instruction: its action, taken where the condition is 1, may return a target."""

    size: int
    text: str
    action: Callable[["Path"], Value | None]
    condition: Callable[["Path"], Value] | None = None


class Isa(Protocol):
    """An instruction set and its calling convention."""

    registers: tuple[str, ...]
    arguments: tuple[str, str]
    stack: str
    link: str
    kept: tuple[str, ...]

    def decode(self, address: int) -> Instruction:
        """Return the instruction at an address."""


@dataclass(frozen=True, eq=False)
class State:
    """Knowledge about one path before an instruction."""

    at: int
    registers: Mapping[str, Value]
    box: Box
    flags: Mapping[str, Record] = field(default_factory=dict)
    stack: Mapping[int, tuple[int, Value]] = field(default_factory=dict)
    output: Mapping[int, tuple[int, Value]] = field(default_factory=dict)
    facts: frozenset[Fact] = frozenset()
    steps: int = 0
    deepest: int = 0


class Path:
    """One instruction's work on a state."""

    def __init__(self, machine: "Machine", state: State) -> None:
        self.machine, self.algebra, self.old = machine, machine.algebra, state
        self.registers, self.flags = dict(state.registers), dict(state.flags)
        self.stack, self.output = dict(state.stack), dict(state.output)
        self.lowest = 0

    def load(self, address: Value, size: int, *, is_signed: bool = False) -> Value:
        """Return what memory has at an address."""
        algebra, offset = self.algebra, _signed(address.const)
        if address.base is None:
            read = self.machine.program.read
            found = algebra.mapped(lambda at: read(at, size), address)
        elif address.terms:
            raise RejectedError("an address within a buffer depends on the input")
        elif address.base == "input":
            found = self._input(offset, size)
        elif address.base in ("stack", "output"):
            found = self._cell(self.stack if address.base == "stack" else self.output, offset, size)
        else:
            raise RejectedError(f"a read at an unknown address ({address.base})")
        return algebra.sext(found, 8 * size) if is_signed and size < 4 else found

    def _input(self, offset: int, size: int) -> Value:
        found, k = Value(0), 0
        spec, algebra = self.machine.spec, self.algebra
        while k < size:
            if offset + k not in spec.offsets:
                raise RejectedError(f"a read at offset {offset + k} of the input, outside it")
            axis, byte = spec.offsets[offset + k]
            n = min(size - k, spec.sizes[axis] - byte)
            one = np.ones(len(algebra.starts[axis]), dtype=np.int64)
            part = algebra.value(0, [Term((axis,), 0 * one, one)])
            part = algebra.field(part, 8 * byte, 8 * n)
            found, k = algebra.add(found, algebra.scaled(part, 1 << 8 * k)), k + n
        return found

    def _cell(self, memory: Mapping[int, tuple[int, Value]], offset: int, size: int) -> Value:
        found, k = Value(0), 0
        while k < size:
            at = next((o for o in range(offset + k, offset + k - 4, -1) if o in memory), None)
            if at is None or at + memory[at][0] <= offset + k:
                if memory is self.stack and offset + size <= 0:
                    return UNKNOWN
                raise RejectedError(f"a read at offset {offset + k} of the stack or the output")
            width, content = memory[at]
            n = min(size - k, width - (offset + k - at))
            if n == size == width and (size == 4 or content.base == "?"):
                return content
            part = self.algebra.field(content, 8 * (offset + k - at), 8 * n)
            found, k = self.algebra.add(found, self.algebra.scaled(part, 1 << 8 * k)), k + n
        return found

    def store(self, address: Value, size: int, content: Value) -> None:
        """Write the lowest bytes of a value."""
        offset = _signed(address.const)
        if address.base not in ("stack", "output") or address.terms:
            raise RejectedError(f"a write outside of the own stack ({address.base or 'constant'})")
        memory, end = self.output, self.machine.n_output
        if address.base == "stack":
            memory, end = self.stack, 0
            self.lowest = min(self.lowest, offset)
        if offset + size > end or (end and offset < 0) or (memory is self.output and not end):
            raise RejectedError(f"a write at {offset} of the {address.base}, outside it")
        for at in range(offset - 3, offset + size):
            if at in memory and at + memory[at][0] > offset:
                width, old = memory.pop(at)
                for k in range(width):
                    if not offset <= at + k < offset + size and not old.base:
                        memory[at + k] = 1, self.algebra.field(old, 8 * k, 8)
        memory[offset] = size, content

    def finished(self, to: int) -> State:
        """Return the state before the next instruction, with the depth of the stack."""
        pointer = self.registers[self.machine.isa.stack]
        depth = _signed(pointer.const)
        if pointer.base != "stack" or pointer.terms or depth % 4 or depth > 0:
            raise RejectedError("the stack pointer is not known, or above the caller's")
        if self.lowest < depth:
            raise RejectedError("a write below the stack pointer")
        old = self.old
        return State(
            to, self.registers, old.box, self.flags, self.stack, self.output, old.facts,
            old.steps + 1, min(old.deepest, depth),
        )  # fmt: skip


class Machine:
    """Executes a function over boxes of inputs."""

    def __init__(
        self, isa: Isa, program: Program, spec: Specification, algebra: Algebra, n_output: int
    ) -> None:
        self.isa, self.program, self.spec, self.algebra = isa, program, spec, algebra
        self.n_output = n_output
        self.hints: Mapping[int, list[Fact]] = {}
        self._known: dict[tuple[int, Any], Value] = {}
        tables = [(t, costs) for t, costs in spec.tables]
        self._costs = [
            Value(int(spec.prior[c]), tuple(_mapped(t, costs[:, c]) for t, costs in tables))
            for c in range(len(spec.prior))
        ]

    def difference(self, first: int, second: int) -> Value:
        """Return the cost of a class less that of another, in the current box."""
        return self.algebra.exact_sum(0, (self._costs[first], 1), (self._costs[second], -1))

    def holds(self, fact: Fact, facts: frozenset[Fact]) -> bool:
        """Return whether an order of costs is known, or follows from their bounds in the box."""
        a, b, is_strict = fact
        if (a, b, True) in facts or (not is_strict and (a, b, False) in facts):
            return True
        return self.algebra.bounds(self.difference(b, a))[0] >= is_strict

    def _order(self, state: State, total: Value) -> bool | None:
        """Return whether a sum is negative, by the costs of the model that it compares."""
        for first, second, is_strict in self.hints.get(state.at, ()):
            wanted = self.difference(first, second)
            if self._is_order(total, wanted, not is_strict):
                if self.holds((first, second, is_strict), state.facts):
                    return True
                if self.holds((second, first, not is_strict), state.facts):
                    return False
                raise SplitError((first, second, is_strict))
        return None

    def _is_order(self, total: Value, wanted: Value, tie: int) -> bool:
        """Return whether a sum is negative exactly where a difference of costs is below a tie."""
        algebra = self.algebra
        for n in (0, 8, 16, 24):
            upper = total
            if n:
                if any(t.s is not None for t in total.terms):
                    return False
                parts = [algebra.part(t, n, True) for t in total.terms]
                lows = Value(total.const % (1 << n), tuple(low for low, _ in parts))
                least, most = algebra.bounds(lows)
                if least >> n != most >> n:
                    continue
                const = (total.const >> n) + (least >> n)
                upper = algebra.value(const, (high for _, high in parts), exact=True)
            upper = algebra.exact_sum(tie, (upper, 1))
            if algebra.is_multiple(upper, wanted):
                return True
        return False

    def step(self, state: State) -> list[State]:
        """Execute one instruction; a state without an address has returned."""
        self.algebra.box = state.box
        self.algebra.order = lambda total: self._order(state, total)
        instruction = self.isa.decode(state.at)
        try:
            path = Path(self, state)
            following = state.at + instruction.size
            if instruction.condition is not None:
                condition = instruction.condition(path)
                if condition.terms:
                    raise SplitError(condition)
                if not condition.const:
                    return [path.finished(following)]
            to = instruction.action(path)
            if to is None:
                return [path.finished(following)]
            if to.base == "return" and not to.terms and not to.const:
                return [path.finished(-1)]
            if to.base or to.terms:
                raise UnknownError("a jump to an address that depends on the input")
            return [path.finished(to.const)]
        except SplitError as split:
            if isinstance(split.by, Value):
                boxes = list(self.algebra.boxes_of(split.by))
                return [one for box in boxes for one in self.step(replace(state, box=box))]
            first, second, is_strict = split.by
            sides = ((first, second, is_strict), (second, first, not is_strict))
            known = [replace(state, facts=closed(state.facts, fact)) for fact in sides]
            return [one for side in known for one in self.step(side)]
        except UnknownError as error:
            raise RejectedError(f"{error} at {state.at:#x}, {instruction.text}") from None
        except RejectedError as error:
            where = "" if " at 0x" in str(error) else f" at {state.at:#x}, {instruction.text}"
            raise RejectedError(f"{error}{where}") from None


def closed(facts: frozenset[Fact], fact: Fact) -> frozenset[Fact]:
    """Return facts with another one and those that follow by transitivity."""
    a, b, is_strict = fact
    below = [(a, is_strict), *((x, s or is_strict) for x, y, s in facts if y == a)]
    above = [(b, False), *((y, s) for x, y, s in facts if x == b)]
    found = {(x, y, s or t) for x, s in below for y, t in above if x != y}
    return facts | found | {(x, y, False) for x, y, _ in found}


def _mapped(t: Term, numbers: Any) -> Term:
    return Term(t.axes, numbers[t.v], None, t.maps)


def _signed(x: int) -> int:
    return x - WORD if x >= WORD // 2 else x
