"""
Abstract run of AVR: registers of bytes, flags that wait until they are read, 16-bit pointers.

A pointer to the stack or to a buffer is an offset from its start, modulo 2^16, that is between
-2^15 and 2^15: no object is larger, and none wraps around. The stack begins above the return
address that the caller has pushed, so that the first byte that a function pushes has the offset -1.
"""

from collections.abc import Mapping
from dataclasses import replace

from bncc.prove.avr_meaning import DATA, FLAGS
from bncc.prove.expressions import Expressions
from bncc.prove.instructions import Effect, Expr, Instruction, Set
from bncc.prove.memory import Memory
from bncc.prove.run import Run
from bncc.prove.slices import (
    Deferred,
    Operands,
    Slice,
    concatenated,
    consecutive,
    names_in,
    sliced,
    with_ones,
)
from bncc.prove.state import DEFERRED, Cell, Content, Draft, Frame, State, read
from bncc.prove.values import MASK, OBJECTS, WORD, UndecidedError, Value, ViolationError, signed

_HALF = 1 << 15
_RETURN = Value(0, base="return")


class ByteExpressions(Expressions):
    """Evaluates expressions over bytes and flags."""

    _flags = FLAGS

    def value(self, draft: Draft | Operands, expression: Expr) -> Value:
        """Return the value of an expression."""
        if isinstance(expression, str) or (
            isinstance(expression, tuple) and expression[0] in ("cat", "byte")
        ):
            return read(self.content(draft, expression), self._algebra)
        if isinstance(expression, tuple) and expression[0] == "pack":
            found = Value(0)
            for k, one in enumerate(expression[1:]):
                bit = self.value(draft, one)
                found = self._algebra.add(found, self._algebra.scaled(bit, 1 << k))
            return found
        return super().value(draft, expression)  # type: ignore[arg-type]

    def content(self, draft: Draft | Operands, expression: Expr) -> Content:
        """Return the content of a register that is set to an expression."""
        if isinstance(expression, str):
            if expression not in FLAGS:
                return draft.registers[expression]
            if expression not in draft.flags:
                raise UndecidedError("flags", f"the flag {expression} is that of two paths")
            return draft.flags[expression][1][0]
        if isinstance(expression, tuple):
            operation, *rest = expression
            if operation == "cat":
                parts = _of_one_pointer([self.content(draft, one) for one in rest])
                bits = consecutive(parts)
                if bits is not None and bits.mask + 1 != 1 << 8 * len(parts):
                    return bits
                return _pointer(concatenated(parts, self._algebra))
            if operation == "byte":
                return sliced(self.content(draft, rest[0]), 8 * int(str(rest[1])))
            if operation == "sub" and rest[0] == MASK >> 24:
                inner = self.content(draft, rest[1])
                if isinstance(inner, Slice) and inner.mask == MASK >> 24:
                    whole = inner.whole
                    if isinstance(whole, Value) and whole.base is None:
                        # The complement of a number has the complement of each byte.
                        return sliced(self._algebra.sub(Value(MASK), whole), inner.at)
            if operation in ("add", "sub"):
                byte, steps = (
                    draft.registers.get(one) if isinstance(one, str) else one for one in rest
                )
                # Numbers of several bytes are in temporaries, and have a carry.
                moved = None if rest[0] == "tmp0" else _moved(str(operation), byte, steps)
                if moved is not None:
                    return moved
            if operation == "pack":
                return self.deferred(draft, expression)
            if operation in ("and", "or", "shr", "zext"):
                part = self._part(draft, str(operation), *rest)
                if part is not None:
                    return part
        try:
            return self.value(draft, expression)
        except UndecidedError:
            return self.deferred(draft, expression)  # Hardly ever read

    def _part(
        self, draft: Draft | Operands, operation: str, left: Expr, right: Expr
    ) -> Content | None:
        """Return bits of a sum of several functions, which alone are none; None if it is no sum."""
        inner, number = self.content(draft, left), self.content(draft, right)
        is_sum = isinstance(inner, Value) and inner.base is None and len(inner.terms) > 1
        if not (is_sum or isinstance(inner, Slice)):
            return None
        if not isinstance(number, Value) or number.number is None:
            return None
        if operation == "shr":
            return sliced(inner, number.const, MASK)
        if operation == "or":
            return with_ones(inner, number.const) if isinstance(inner, Slice) else None
        return sliced(inner, 0, number.const if operation == "and" else (1 << number.const) - 1)

    def deferred(self, draft: Draft | Operands, expression: Expr) -> Content:
        """Return an operation that is done when its result is read."""
        if isinstance(expression, str) and (expression not in FLAGS or expression in draft.flags):
            return self.content(draft, expression)
        kept = {
            name: self.content(draft, name)
            for name in names_in(expression)
            if name not in FLAGS or name in draft.flags
        }
        return Deferred(expression, kept, self._later)

    def _operation(self, name: str, operands: list[Value]) -> Value:
        a = operands[0]
        if a.base in OBJECTS and not a.terms and name == "zext" and operands[1].number == 16:
            found = _pointer(a)
            assert isinstance(found, Value)
            return found
        if a.base == "return" and name == "shl" and operands[1].number == 1:
            return a  # The program counter counts words
        if name in ("ult", "slt") and not all(map(self._algebra.is_number, operands)):
            raise UndecidedError("pointers", "addresses are compared")
        return super()._operation(name, operands)


def _pointer(content: Content) -> Content:
    """Return a pointer with the offset from -2^15 on that it is modulo 2^16; others unchanged."""
    if not isinstance(content, Value) or content.base not in OBJECTS or content.terms:
        return content
    offset = (content.const + _HALF) % (2 * _HALF) - _HALF
    return Value(offset % WORD, base=content.base)


def _moved(operation: str, byte: object, steps: object) -> Content | None:
    """Return the high byte of a pointer, moved by 256 bytes per step; None if it is none."""
    whole = _whole_pointer(byte, 8)
    if isinstance(steps, Value):
        steps = steps.number
    if whole is None or not isinstance(steps, int):
        return None
    n = steps if operation == "add" else -steps
    return sliced(_pointer(Value((whole.const + (n << 8)) % WORD, base=whole.base)), 8)


def _of_one_pointer(parts: list[Content]) -> list[Content]:
    """Return two bytes as those of one pointer, where they are of two with equal low bytes."""
    if len(parts) != 2:
        return parts
    low, high = _whole_pointer(parts[0], 0), _whole_pointer(parts[1], 8)
    if low is None or high is None or low.base != high.base:
        return parts
    return [sliced(high, 0), parts[1]] if (low.const - high.const) % 256 == 0 else parts


def _whole_pointer(byte: object, at: int) -> Value | None:
    """Return the pointer that a register has the low or the high byte of; None if it has none."""
    if isinstance(byte, Slice) and (byte.at, byte.mask) == (at, MASK >> 24):
        whole = byte.whole
        if isinstance(whole, Value) and whole.base in OBJECTS and not whole.terms:
            return whole
    return None


class ByteMemory(Memory):
    """Memory of bytes, and flash in an address space of its own."""

    def load(self, draft: Draft, address: Value, size: int, *, anywhere: bool = False) -> Content:
        """Return the bytes at an address."""
        if address.base is None:
            return super().load(draft, address, size, anywhere=anywhere)
        at = self._in_data(address)
        if at.base == "stack" and not at.terms:
            # Interrupts may write at the stack pointer and below it.
            pointer = draft.before.registers["sp"]
            if isinstance(pointer, Value) and signed(at.const) <= signed(pointer.const):
                raise ViolationError(f"a read at {signed(at.const):+d} of the stack, below its end")
        return super().load(draft, at, size, anywhere=anywhere)

    def store(
        self, draft: Draft, address: Value, size: int, value: Content, *, anywhere: bool = False
    ) -> None:
        """Write a byte."""
        super().store(draft, self._in_data(address), size, value, anywhere=anywhere)

    def _some_input(self, address: Value, size: int, multiple: int) -> Content:
        # Flash and data have addresses of their own, and a sum of bytes keeps its carry.
        raise UndecidedError("memory", "an address in the input depends on the input")

    def _in_data(self, address: Value) -> Value:
        """Return an address without the start of data space."""
        if address.base is None:
            return address
        found = Value((address.const - DATA) % WORD, address.terms, address.base)
        if not address.terms and not -_HALF <= signed(found.const) < _HALF:
            raise ViolationError(f"a read of flash at an address of the {address.base}")
        return found

    def _constant(self, address: int, size: int, multiple: int) -> int:
        if address >= DATA:
            raise ViolationError(
                f"a read of RAM at {address - DATA:#x}; constants are known in flash only"
            )
        if address + size > 2 * _HALF:
            raise ViolationError(f"a read of flash at {address:#x}, beyond 64 KiB")
        return super()._constant(address, size, multiple)

    def _input(self, offset: int, size: int) -> Content:  # type: ignore[override]
        if offset not in self._at_offset:
            raise ViolationError(f"a read at offset {offset} of the input, outside it")
        index, at = self._at_offset[offset]
        reading = self._reading(index)
        return reading if self._inputs[index].size == 1 else sliced(reading, 8 * at)

    def _loaded(self, memory: Mapping[int, Cell], offset: int, size: int, name: str) -> Content:
        if offset in memory:
            return memory[offset].content
        if name == "stack" and offset < 0:
            return self._algebra.unknown_above(Value(0), 0)
        raise ViolationError(f"a read of the {name} at {offset:+d} before it is written")

    def _written(
        self, memory: Mapping[int, Cell], offset: int, size: int, value: Content
    ) -> Mapping[int, Cell]:
        return {**memory, offset: Cell(size, value)}


class AvrRun(Run):
    """The abstract run of one function of AVR."""

    _expressions: ByteExpressions

    _expressions_of, _memory_of = ByteExpressions, ByteMemory

    def _start(self, entry: int) -> State:
        machine = self._machine
        registers: dict[str, Content] = {
            name: Value(0, base=f"initial {name}") for name in machine.registers
        }
        registers[machine.stack] = Value(WORD - 1, base="stack")
        for (low, high), base in ((("r24", "r25"), "input"), (("r22", "r23"), "output")):
            pointer = Value(0, base=base)
            registers[low], registers[high] = Slice(pointer, 0), Slice(pointer, 8)
        for name, number in machine.constants.items():
            registers[name] = Value(number)
        stack = {0: Cell(1, Slice(_RETURN, 8)), 1: Cell(1, Slice(_RETURN, 0))}
        return State(entry, (Frame(entry, -1, -1, ()),), registers, stack=stack)

    def result(self, end: State) -> Content:
        """Return what a function returns in a state."""
        self.algebra.region = end.region
        return concatenated([end.registers["r24"], end.registers["r25"]], self.algebra)

    def written(self, end: State, at: int, size: int) -> Content | None:
        """Return a number in the output; None if it is not written."""
        cells = [end.output.get(at + k) for k in range(size)]
        found = [cell.content for cell in cells if cell is not None]
        self.algebra.region = end.region
        return concatenated(found, self.algebra) if len(found) == size else None

    def _execute(self, state: State, instruction: Instruction) -> list[State]:
        more = instruction.n_counted - 1
        found = super()._execute(state, instruction)
        return [replace(one, steps=one.steps + more) for one in found] if more else found

    def _apply(self, draft: Draft, effect: Effect) -> None:
        if isinstance(effect, Set) and effect.register == "I":
            raise UndecidedError("operation", "interrupts are switched, apart from a frame")
        if isinstance(effect, Set) and effect.register in FLAGS:
            content = self._expressions.deferred(draft, effect.value)
            draft.flags = {**draft.flags, effect.register: (DEFERRED, (content,))}
        else:
            super()._apply(draft, effect)

    def _content(self, draft: Draft, expression: Expr) -> Content:
        return self._expressions.content(draft, expression)

    def _check_frame(self, draft: Draft) -> None:
        content = draft.registers[self._machine.stack]
        pointer = self._depth(read(content, self.algebra))
        if draft.lowest < 0 and (pointer is None or draft.lowest < pointer):
            raise ViolationError(f"a write at {draft.lowest:+d} of the stack, below its pointer")
        if content is not draft.before.registers[self._machine.stack]:
            draft.forget_below(self._lowest(read(content, self.algebra)) + 1)

    def _checked(self, state: State) -> State:
        depth = self._depth(state.registers[self._machine.stack])
        return state if depth is None or depth >= state.deepest else replace(state, deepest=depth)

    @staticmethod
    def _depth(pointer: Content) -> int | None:
        """Return the offset of the lowest byte of the stack; None if it is not known."""
        if not isinstance(pointer, Value) or pointer.base != "stack" or pointer.terms:
            return None
        return signed(pointer.const) + 1

    def _may_enter(self, address: int) -> bool:
        return True  # Library routines that save registers jump back into a function
