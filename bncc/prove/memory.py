"""Memory of a call: constants, the input, the output and the stack."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain

import numpy as np

from bncc.prove.code import Code
from bncc.prove.regions import Region, axis_numbers, both, count_numbers
from bncc.prove.slices import sliced
from bncc.prove.specification import Input
from bncc.prove.state import ApartError, Cell, Content, Draft, Merged, read
from bncc.prove.values import (
    AlignmentError,
    Term,
    UndecidedError,
    Value,
    ViolationError,
    signed,
)
from bncc.prove.words import Words

MOST_STATES = 64
"""Largest number of values of an input that is read as so many cases."""


class Memory:
    """Loads and stores; what is outside the constants, the buffers and the own frame is refused."""

    def __init__(
        self,
        code: Code,
        inputs: Sequence[Input],
        n_output: int,
        algebra: Words,
        alignments: Mapping[str, int],
    ) -> None:
        self._code, self._inputs = code, inputs
        self._alignments = alignments
        self._n_output = n_output
        self._algebra = algebra
        self._at_offset = {
            offset: (k, offset - one.offset)
            for k, one in enumerate(inputs)
            for offset in range(one.offset, one.offset + one.size)
        }

    def load(self, draft: Draft, address: Value, size: int, *, anywhere: bool = False) -> Content:
        """Return the bytes at an address, the upper ones zero."""
        algebra = self._algebra
        multiple = 1 if anywhere else size
        if address.base is None:
            if address.number is not None:
                return Value(self._constant(address.const, size, multiple))
            term = algebra.single(address, "an address")
            numbers = (self._constant(int(at), size, multiple) for at in term.values)
            return algebra.mapped(term, numbers)
        if address.base == "input" and address.terms:
            return self._some_input(address, size, multiple)
        if address.terms:
            raise UndecidedError("memory", f"an address in the {address.base} depends on the input")
        offset = signed(address.const)
        self._check_alignment("read", address.base, offset, size, multiple)
        if address.base == "input":
            return self._input(offset, size)
        if address.base == "stack":
            return self._loaded(draft.stack, offset, size, "stack")
        if address.base == "output":
            return self._loaded(draft.output, offset, size, "output")
        raise ViolationError(f"a read at {address.base} {offset:+d}")

    def _check_alignment(
        self, verb: str, base: str | None, at: int, size: int, multiple: int
    ) -> None:
        """Verify that an address is the multiple that an instruction needs."""
        known = 1 << 32 if base is None else self._alignments.get(base, 1)
        if at % multiple or known % multiple:
            place = f"{at:#x}" if base is None else f"{base} {at:+d}"
            raise AlignmentError(
                f"a {verb} of {size} bytes at {place}, which is not known to be a multiple of "
                f"{multiple}"
            )

    def _constant(self, address: int, size: int, multiple: int) -> int:
        self._check_alignment("read", None, address, size, multiple)
        found = self._code.bytes_at(address, size)
        if found is None:
            raise ViolationError(f"a read of {size} bytes at {address:#x}, outside the constants")
        return int.from_bytes(found, "little")

    def _some_input(self, address: Value, size: int, multiple: int) -> Content:
        """Return bytes of the input at an address that few inputs decide, by the address."""
        algebra, here = self._algebra, self._algebra.region
        term = algebra.single(Value(address.const, address.terms), "an address")
        found: list[tuple[Region, Content]] = []
        try:
            for number in np.unique(term.values).tolist():
                cells = (term.partition.cells[k] for k in np.flatnonzero(term.values == number))
                inside = both(tuple(chain(*cells)), here)
                if not inside:
                    continue
                offset = signed(number)
                self._check_alignment("read", "input", offset, size, multiple)
                algebra.region = inside
                found.append((inside, self._input(offset, size)))
        finally:
            algebra.region = here
        return found[0][1] if len(found) == 1 else Merged(tuple(found))

    def _input(self, offset: int, size: int) -> Value:
        found = Value(0)
        k = 0
        while k < size:
            if offset + k not in self._at_offset:
                raise ViolationError(f"a read at offset {offset + k} of the input, outside it")
            index, at = self._at_offset[offset + k]
            one = self._inputs[index]
            n = min(size - k, one.size - at)
            part = self._reading(index)
            if at or n < one.size:
                part = self._algebra.low(self._algebra.shifted(part, 8 * at), 8 * n)
            found = self._algebra.add(found, self._algebra.scaled(part, 1 << 8 * k))
            k += n
        return found

    def _reading(self, index: int) -> Value:
        partition = self._algebra.partitions.of_axis(index, [self._inputs[index].numbers])
        zero = np.zeros(1, dtype=np.int64)
        term = Term(partition, zero, zero + 1)
        allowed = axis_numbers(self._algebra.region, index, self._inputs[index].numbers)
        of = self._algebra.differences
        is_subtracted = of is not None and index in of.readings
        if count_numbers(allowed) <= MOST_STATES and not is_subtracted:
            term = self._algebra.unit(term)
        return self._algebra.value(0, [term])

    def _loaded(self, memory: Mapping[int, Cell], offset: int, size: int, name: str) -> Content:
        algebra, is_own = self._algebra, name == "stack" and offset + size <= 0
        found = Value(0)
        k = 0
        while k < size:
            at, cell = _cell_at(memory, offset + k)
            if cell is None:
                if is_own:
                    return self._algebra.unknown_above(found, 8 * k)
                raise ViolationError(
                    f"a read of the {name} at {offset + k:+d} before it is written"
                )
            inside = offset + k - at
            n = min(size - k, cell.size - inside)
            if inside == 0 and k == 0 and n == cell.size == size == 4:
                return cell.content
            try:
                part = self._part(cell.content, inside, n)
            except UndecidedError as reason:
                # Compilers load a spilled halfword with what is above it.
                is_open = isinstance(reason, ApartError) or reason.code not in ("cells", "bits")
                if is_open or k == 0 or not is_own:
                    raise
                return algebra.unknown_above(found, 8 * k)
            found = algebra.add(found, algebra.scaled(part, 1 << 8 * k))
            k += n
        return found

    def _part(self, content: Content, at: int, size: int) -> Value:
        """Return bytes of what was written at once."""
        whole = read(content, self._algebra)
        part = whole if not at else self._algebra.shifted(whole, 8 * at)
        return self._algebra.low(part, 8 * size)

    def store(
        self, draft: Draft, address: Value, size: int, value: Content, *, anywhere: bool = False
    ) -> None:
        """Write the lowest bytes of a value."""
        if address.base not in ("stack", "output"):
            raise ViolationError(f"a write at {address.base or 'a constant'} {address.const:#x}")
        if address.terms:
            raise UndecidedError("memory", f"an address in the {address.base} depends on the input")
        offset = signed(address.const)
        multiple = 1 if anywhere else size
        self._check_alignment("write", address.base, offset, size, multiple)
        if address.base == "output":
            if not 0 <= offset <= self._n_output - size:
                raise ViolationError(f"a write at offset {offset} of the output, outside it")
            draft.output = self._written(draft.output, offset, size, value)
            return
        if offset > -size:
            raise ViolationError(f"a write at {offset:+d} of the stack, outside the own frame")
        draft.lowest = min(draft.lowest, offset)
        draft.stack = self._written(draft.stack, offset, size, value)

    @staticmethod
    def part(memory: Mapping[int, Cell], at: int, size: int) -> Content | None:
        """Return bytes that were written at once, alone or with others; None if none were."""
        start, cell = _cell_at(memory, at)
        if cell is None or start + cell.size < at + size:
            return None
        if cell.size == size:
            return cell.content
        return sliced(cell.content, 8 * (at - start), (1 << 8 * size) - 1)

    def _written(
        self, memory: Mapping[int, Cell], offset: int, size: int, value: Content
    ) -> Mapping[int, Cell]:
        found = dict(memory)
        for at in range(offset - 3, offset + size):
            cell = found.get(at)
            if cell is None or at + cell.size <= offset:
                continue
            del found[at]
            rest = list(_rest(at, at + cell.size, offset, offset + size))
            if not rest:
                continue
            try:
                content = read(cell.content, self._algebra)
            except UndecidedError:
                continue  # Nor is the rest of what differs between paths
            if content.base is not None:
                continue  # The rest of an address is not read again
            for first, end in rest:
                k, n = 8 * (first - at), 8 * (end - first)
                kept: Content
                try:
                    kept = self._algebra.field(content, k, n)
                except UndecidedError:
                    kept = sliced(content, k, (1 << n) - 1)  # A part of it may be known
                found[first] = Cell(end - first, kept)
        # Only its lowest bits matter of a number in a lane, as of one in a cell.
        lanes = self._algebra.lanes.lanes(value.base) if isinstance(value, Value) else ()
        if lanes and size == 4:
            for k, (number, n) in enumerate(lanes):
                found[offset + k * n // 8] = Cell(n // 8, number)
        else:
            found[offset] = Cell(size, value)
        return found


def _rest(first: int, end: int, start: int, stop: int) -> Iterator[tuple[int, int]]:
    """Yield what a write of some bytes leaves of others, in halfwords and bytes."""
    for low, high in ((first, min(end, start)), (max(first, stop), end)):
        at = low
        while at < high:
            size = 2 if at % 2 == 0 and at + 2 <= high else 1
            yield at, at + size
            at += size


def _cell_at(memory: Mapping[int, Cell], offset: int) -> tuple[int, Cell | None]:
    for at in range(offset, offset - 4, -1):
        cell = memory.get(at)
        if cell is not None and at + cell.size > offset:
            return at, cell
    return offset, None
