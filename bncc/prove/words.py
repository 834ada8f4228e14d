"""
Words bit by bit: values that are no sums of functions of few inputs.

A word is a value with a name as its base, and 32 functions of 0 and 1, its bits. Operations on bits
make words where they depend on many inputs; see `bncc.prove.diagrams`. A comparison of words with
bits of many inputs is a function of variables, which `bncc.prove.planes` defines.

Many tables of several inputs each make the diagrams of sums large. With `by_rows`, such tables are
taken for independent of each other: bits are functions of the row that each table is read at. What
holds for all combinations of rows holds for those that inputs have.
"""

from collections.abc import Iterable, Sequence
from functools import reduce
from itertools import chain
from typing import Protocol, TypeAlias

import numpy as np

from bncc.prove.algebra import Algebra
from bncc.prove.deadline import Deadline
from bncc.prove.diagrams import FALSE, TRUE, Diagrams
from bncc.prove.grids import grid_of, grid_size, starts_of
from bncc.prove.lanes import Lanes
from bncc.prove.regions import Numbers, Partition, Region, cell_of
from bncc.prove.values import MOST_CELLS, OBJECTS, WORD, Term, UndecidedError, Value

Bits: TypeAlias = tuple[int, ...]
"""The 32 bits of a word, the lowest first, by their diagrams."""
_HIGHEST = 1 << 31
_LESS = {name: f"minus {name}" for name in OBJECTS}
"""Base of a number less an address, by the object of the address."""
MOST_JOINT = 64
"""Largest number of cells of an operation on bits that gives no word."""
MOST_PLAIN = 512
"""Largest number of cells of a word that is used as a number."""
MOST_TABLE = 1 << 16
"""Largest number of cells of a function whose bits are tabulated."""


class Variables(Protocol):
    """Variables for bits of many inputs."""

    def lifted(self, bit: int, position: int) -> int:
        """Return a function of variables that equals one of inputs, a bit of a word."""

    def folded(self, bits: Bits) -> Bits:
        """Return bits with their own variables, if they are defined by those of others."""

    def known(self, bits: Bits, guard: int) -> Bits:
        """Return bits with their own variables, if a guard implies that they equal others."""


class Words(Algebra):
    """Operations on values, words among them, in one region of inputs."""

    most_joint = MOST_JOINT

    def __init__(self, full: tuple[Numbers, ...], deadline: Deadline | None = None) -> None:
        super().__init__(full)
        self.diagrams = Diagrams(deadline)
        self.by_rows = False
        self.register_bits = 32
        self.rows: list[
            Partition
        ] = []  # Tables whose rows are inputs of diagrams, after all inputs
        self.variables: Variables | None = None
        self.words: dict[str, Bits] = {}
        self._names: dict[Bits, str] = {}
        self.lanes = Lanes()
        self._tabulated: dict[tuple[Partition, bytes, Region], Bits] = {}

    # Words and bits

    def is_word(self, a: Value) -> bool:
        """Return whether a value is known by its bits."""
        return a.base in self.words or a.base in self.lanes

    def is_number(self, a: Value) -> bool:
        """Return whether a value is no address."""
        return a.base is None or self.is_word(a) or a.base in self._either

    @property
    def tabulated(self) -> list[Partition]:
        """Partitions of the functions of few inputs of which bits were taken."""
        return list(dict.fromkeys(partition for partition, _, _ in self._tabulated))

    def word(self, bits: Bits) -> Value:
        """Return the value with some bits."""
        if self.variables is not None:
            bits = self.variables.folded(bits)
        if max(bits) <= TRUE:
            return Value(sum(bit << k for k, bit in enumerate(bits)))
        if bits not in self._names:
            name = f"word {len(self._names)}"
            self._names[bits] = name
            self.words[name] = bits
        return Value(0, base=self._names[bits])

    def bits(self, a: Value) -> Bits:
        """Return the bits of a value in the current region."""
        if a.base in self.words:
            return self.words[a.base]
        if a.base in self.lanes:
            return self._bits_of_lanes(a.base)
        if a.base in self._either:
            self._check_either(a)
            parts = [self.bits(part) for part in self._either[a.base]]
            either = self.diagrams.either
            return reduce(lambda x, y: tuple(map(either, x, y)), parts)
        self.check_number(a)
        found = _constant(a.const)
        for term in a.terms.values():
            found = self._sum(found, self._bits_of_term(term), FALSE)
        return found

    def _bits_of_lanes(self, base: str | None) -> Bits:
        lanes = self.lanes.lanes(base)
        if lanes:
            return tuple(bit for number, n in lanes for bit in self.bits(number)[:n])
        parts, const = self.lanes.parts(base)
        found = _constant(const)
        for word, mask in parts:
            kept = (bit if mask >> k & 1 else FALSE for k, bit in enumerate(self.bits(word)))
            found = tuple(
                self.diagrams.differ(*(self._pair(k, f, g) if TRUE < min(f, g) else (f, g)))
                for k, (f, g) in enumerate(zip(found, kept, strict=True))
            )
        return found

    def _bits_of_term(self, term: Term) -> Bits:
        term = self.unit(term) if term.slopes is not None else term
        if self.by_rows and not term.partition.is_single:
            return self._bits_of_rows(term)
        term = self.inside(term)
        key = term.partition, term.values.tobytes(), self.region
        if key not in self._tabulated:
            starts = starts_of([term.partition], self.region, self.full)
            axes = term.partition.scope
            if grid_size(axes, starts) > MOST_TABLE:
                raise UndecidedError("cells", "bits depend on too many inputs at once")
            grid = grid_of(term.partition, term.values % WORD, starts)
            found = self.diagrams.tabulated(axes, [starts[axis] for axis in axes], grid)
            self._tabulated[key] = found
        return self._tabulated[key]

    def _bits_of_rows(self, term: Term) -> Bits:
        """Return the bits of a table of several inputs, as functions of its row."""
        key = term.partition, term.values.tobytes(), ((),)
        if key not in self._tabulated:
            if term.partition not in self.rows:
                self.rows.append(term.partition)
            axis = len(self.full) + self.rows.index(term.partition)
            starts = range(len(term.partition.cells))
            found = self.diagrams.tabulated((axis,), [starts], term.values % WORD)
            self._tabulated[key] = found
        return self._tabulated[key]

    def extended(self, point: Sequence[int]) -> tuple[int, ...]:
        """Return an input with the row of each table whose rows are inputs of diagrams."""
        return (*point, *(cell_of(partition, point) for partition in self.rows))

    def merged(self, term: Term) -> Term:
        """Return a term with cells of equal values joined; rows of tables stay apart."""
        return term if self.by_rows and not term.partition.is_single else super().merged(term)

    def plain(self, a: Value) -> Value:
        """Return a value that is no word, for one of few cells."""
        if not self.is_word(a):
            return a
        bits = self.bits(a)
        if any(map(self.diagrams.is_of_variables, bits)):
            raise UndecidedError("bits", "a bit of many inputs where a number is needed")
        if self.rows and any(axis >= len(self.full) for axis in self.diagrams.starts(bits)):
            raise UndecidedError("bits", "a bit of many rows where a number is needed")
        cells = self.diagrams.cells(bits, self.full, MOST_PLAIN)
        partition = self.partitions.of(((box,) for box, _ in cells))
        values = (sum(bit << k for k, bit in enumerate(own)) for _, own in cells)
        return self.mapped(Term(partition, np.zeros(len(cells), dtype=np.int64)), values)

    def _plain_or(self, reason: UndecidedError, a: Value) -> Value:
        try:
            return self.plain(a)
        except UndecidedError:
            raise reason from None

    def united(self, parts: Iterable[tuple[Region, Value]]) -> Value:
        """Return the word that has the value of each of disjoint regions there."""
        here, found = self.region, _constant(0)
        try:
            for region, value in parts:
                self.region = region
                found = self._chosen(self.diagrams.where(region), self.bits(value), found)
        finally:
            self.region = here
        return self.word(found)

    def guarded(self, guard: int, a: Value, b: Value) -> Value:
        """Return a where a function of variables is 1, else b."""
        x, y = self.bits(a), self.bits(b)
        if self.variables is not None:
            x = self.variables.known(x, guard)
            y = self.variables.known(y, self.diagrams.no(guard))
        return self.word(self._chosen(guard, x, y))

    def known(self, a: Value, guard: int) -> Value:
        """Return a value as it is simplest where a function of variables is 1."""
        is_mask = bool(a.number) and a.const & (a.const + 1) == 0
        if self.variables is None or not (is_mask or self.is_word(a)):
            return a
        return self.word(self.variables.known(self.bits(a), guard))

    def lifted(self, bit: int, position: int = 0) -> int:
        """Return a bit as a function of variables."""
        if not self.diagrams.is_of_inputs(bit):
            return bit
        if self.variables is None:
            raise UndecidedError("bits", "a condition depends on bits of many inputs")
        return self.variables.lifted(bit, position)

    def _pair(self, position: int, f: int, g: int) -> tuple[int, int]:
        """Return two bits as functions of inputs both, or of variables."""
        if self.diagrams.is_of_variables(f) or self.diagrams.is_of_variables(g):
            return self.lifted(f, position), self.lifted(g, position)
        return f, g

    def _chosen(self, condition: int, a: Bits, b: Bits) -> Bits:
        found = []
        for k, (f, g) in enumerate(zip(a, b, strict=True)):
            if f != g and self.diagrams.is_of_variables(condition):
                f, g = self.lifted(f, k), self.lifted(g, k)
            elif f != g and any(map(self.diagrams.is_of_variables, (f, g))):
                raise UndecidedError("bits", "paths meet with bits of different kinds")
            found.append(self.diagrams.chosen(condition, f, g))
        return tuple(found)

    def _sum(self, a: Bits, b: Bits, carry: int) -> Bits:
        diagrams, found = self.diagrams, []
        for k, (x, y) in enumerate(zip(a, b, strict=True)):
            if TRUE < max(x, y):
                x, y = self._pair(k, x, y)
            odd = diagrams.differ(x, y)
            if TRUE < max(odd, carry) and any(map(diagrams.is_of_variables, (odd, carry))):
                odd, carry = self._pair(k, odd, carry)
            found.append(diagrams.differ(odd, carry))
            carry = diagrams.chosen(odd, carry, x)
        return tuple(found)

    # Operations

    def add(self, a: Value, b: Value) -> Value:
        """Return the sum."""
        if a.base and b.base and not {a.base, b.base}.isdisjoint(_LESS.values()):
            return self._distance(a, b)
        if self.is_word(a) or self.is_word(b):
            if a.number == 0 or b.number == 0:
                return b if a.number == 0 else a
            return self.word(self._sum(self.bits(a), self.bits(b), FALSE))
        return super().add(a, b)

    def _distance(self, a: Value, b: Value) -> Value:
        """Return the sum of an address and of a number less another one in the same object."""
        names = {a.base, b.base}
        if not any(names == {*pair} for pair in _LESS.items()) or a.terms or b.terms:
            raise UndecidedError("pointers", "addresses of different objects are added")
        return Value((a.const + b.const) % WORD)

    def sub(self, a: Value, b: Value) -> Value:
        """Return the difference."""
        found = self.lanes.sub(a, b, self._lane)
        if found is not None:
            return found
        if a.number is not None and b.base in OBJECTS and not b.terms and self.register_bits == 32:
            # Compilers add the address of a loop to it again for the number of the round.
            return Value((a.const - b.const) % WORD, base=_LESS[b.base])
        if self.is_word(a) or self.is_word(b):
            return self.word(self._sum(self.bits(a), self._inverted(self.bits(b)), TRUE))
        return super().sub(a, b)

    def _lane(self, a: Value, b: Value, k: int, n: int) -> Value:
        """Return n bits from bit k on less those of another word, modulo 2^n."""
        return self.sub(self.field(a, k, n), self.field(b, k, n))

    def negative(self, a: Value) -> Value:
        """Return ``-a``."""
        return self.sub(Value(0), a) if self.is_word(a) else super().negative(a)

    def scaled(self, a: Value, factor: int) -> Value:
        """Return a multiple."""
        if self.is_word(a):
            k = factor.bit_length() - 1
            if not factor or factor != 1 << k:
                raise UndecidedError("bits", "bits of many inputs are multiplied")
            return self.word(((FALSE,) * k + self.bits(a))[:32])
        return super().scaled(a, factor)

    def low(self, a: Value, n: int) -> Value:
        """Return the lowest n bits."""
        if inverted := self.lanes.plain(a.base):
            number, bits = inverted
            return self.lanes.inverted(self.low(number, n), bits & (1 << n) - 1)
        if self.is_word(a):
            return self.word(self.bits(a)[:n] + (FALSE,) * (32 - n))
        return super().low(a, n)

    def field(self, a: Value, k: int, n: int) -> Value:
        """Return n bits from bit k on."""
        if self.is_word(a):
            return self.low(self.shifted(a, k), min(n, 32 - k))
        return super().field(a, k, n)

    def shifted(self, a: Value, k: int) -> Value:
        """Return ``a >> k`` without a sign."""
        if self.is_word(a):
            return self.word((self.bits(a) + (FALSE,) * k)[k : k + 32])
        return super().shifted(a, k)

    def moved_down(self, a: Value, k: int) -> Value:
        """Return ``a >> k`` without a sign, also of a sum that is negative for some inputs."""
        if inverted := self.lanes.plain(a.base):
            number, bits = inverted
            return self.lanes.inverted(self.moved_down(number, k), bits >> k)
        try:
            return self.shifted(a, k)
        except UndecidedError as reason:
            if reason.code != "cells" or a.base is not None:
                raise
            try:
                number = self.shifted(self.add(a, Value(_HIGHEST)), k)
            except UndecidedError:
                raise reason from None
            return self.lanes.inverted(number, _HIGHEST >> k)

    def signed(self, a: Value, n: int) -> Value:
        """Return the lowest n bits with their sign."""
        if self.is_word(a):
            kept = self.bits(a)[:n]
            return self.word(kept + kept[-1:] * (32 - n))
        return super().signed(a, n)

    def shifted_signed(self, a: Value, k: int) -> Value:
        """Return ``a >> k`` with copies of the sign."""
        if self.is_word(a):
            bits = self.bits(a)
            return self.word((bits + bits[-1:] * k)[-32:])
        return super().shifted_signed(a, k)

    def bitwise(self, a: Value, b: Value, op: str) -> Value:
        """Return ``and``, ``or`` or ``xor``."""
        mixed = self.lanes.bitwise(a, b, op)
        if mixed is not None:
            return mixed
        if not (self.is_word(a) or self.is_word(b) or self._is_apart(a, b)):
            is_named = not {a.base, b.base}.isdisjoint(self._either)
            if not is_named or op == "or" or b.number is not None:
                try:
                    return super().bitwise(a, b, op)
                except UndecidedError as reason:
                    return self._bitwise_or(reason, a, b, op)
        return self._bitwise(a, b, op)

    def _is_apart(self, a: Value, b: Value) -> bool:
        """Return whether an operation is on several tables, of which one has rows of its own."""
        partitions = {*a.terms, *b.terms}
        return self.by_rows and len(partitions) > 1 and not all(p.is_single for p in partitions)

    def _bitwise_or(self, reason: UndecidedError, a: Value, b: Value, op: str) -> Value:
        """Return a word, or raise the reason why there is no other value."""
        try:
            return self._bitwise(a, b, op)
        except UndecidedError as other:
            raise reason from other

    def _bitwise(self, a: Value, b: Value, op: str) -> Value:
        diagrams = self.diagrams
        operation = {"and": diagrams.both, "or": diagrams.either, "xor": diagrams.differ}[op]
        found = []
        for k, (f, g) in enumerate(zip(self.bits(a), self.bits(b), strict=True)):
            if TRUE < min(f, g):
                f, g = self._pair(k, f, g)
            found.append(operation(f, g))
        return self.word(tuple(found))

    def single(self, a: Value, what: str, most: int = MOST_CELLS) -> Term:
        """Return a value as one term of cells of the current region, without slopes."""
        return super().single(self.plain(a), what, most)

    def _inverted(self, bits: Bits) -> Bits:
        return tuple(map(self.diagrams.no, bits))

    def chosen(self, condition: Value, a: Value, b: Value) -> Value:
        """Return a where the condition is 1, b where it is 0."""
        if self.is_word(condition):
            return self.guarded(self.lifted(self.bits(condition)[0]), a, b)
        if self.is_word(a) or self.is_word(b):
            return self.word(self._chosen(self.bits(condition)[0], self.bits(a), self.bits(b)))
        return super().chosen(condition, a, b)

    def gated(self, gate: Term, a: Value) -> Value:
        """Return a value where a term of 0 and 1 is 1, else 0."""
        if self.is_word(a):
            bit = self._bits_of_term(gate)[0]
            return self.word(self._chosen(bit, self.bits(a), _constant(0)))
        return super().gated(gate, a)

    # Comparisons

    def less(self, a: Value, b: Value, *, is_signed: bool = False) -> Value:
        """Return 1 where ``a < b``, else 0."""
        if not (self.is_word(a) or self.is_word(b)):
            return super().less(a, b, is_signed=is_signed)
        diagrams, found = self.diagrams, FALSE
        try:
            for k, (f, g) in enumerate(zip(self.bits(a), self.bits(b), strict=True)):
                if f != g:
                    f, g = self.lifted(f, k), self.lifted(g, k)
                    is_less = f if is_signed and k == 31 else g
                    found = diagrams.chosen(diagrams.differ(f, g), is_less, found)
        except UndecidedError as reason:
            x, y = self._plain_or(reason, a), self._plain_or(reason, b)
            return super().less(x, y, is_signed=is_signed)
        return self._condition(found)

    def equal(self, a: Value, b: Value) -> Value:
        """Return 1 where both are equal, else 0."""
        if not (self.is_word(a) or self.is_word(b)):
            return super().equal(a, b)
        diagrams, found = self.diagrams, TRUE
        try:
            for k, (f, g) in enumerate(zip(self.bits(a), self.bits(b), strict=True)):
                if f != g:
                    differ = diagrams.differ(self.lifted(f, k), self.lifted(g, k))
                    found = diagrams.both(found, diagrams.no(differ))
        except UndecidedError as reason:
            try:
                return super().equal(self._plain_or(reason, a), self._plain_or(reason, b))
            except UndecidedError:  # Where they are equal may be few cells
                return self._plain_or(reason, self._equal_of_inputs(reason, a, b))
        return self._condition(found)

    def _equal_of_inputs(self, reason: UndecidedError, a: Value, b: Value) -> Value:
        pairs = list(zip(self.bits(a), self.bits(b), strict=True))
        if any(map(self.diagrams.is_of_variables, chain.from_iterable(pairs))):
            raise reason
        same = (self.diagrams.no(self.diagrams.differ(f, g)) for f, g in pairs)
        return self._condition(reduce(self.diagrams.both, same))

    def _condition(self, bit: int) -> Value:
        return self.word((bit, *_constant(0)[1:]))


def _constant(number: int) -> Bits:
    return tuple(number >> k & 1 for k in range(32))
