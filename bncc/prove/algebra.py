"""Operations on values: bits, conditions and comparisons."""

from collections.abc import Iterable, Sequence

import numpy as np

from bncc.prove.regions import Box, Partition, Region, both, joined, numbers
from bncc.prove.sums import Sums
from bncc.prove.values import (
    MASK,
    MOST_CELLS,
    MOST_GUARD,
    WORD,
    Exact,
    OpenOrderError,
    Term,
    UndecidedError,
    Value,
    plus,
    slopes_of,
    times,
)

MOST_LEVELS = 8
"""Largest number of limits among which a comparison of a reading chooses."""


class Algebra(Sums):
    """Operations on values in one region of inputs, the current one."""

    most_joint = MOST_CELLS
    """Largest number of cells of an operation on bits of two values."""

    def bitwise(self, a: Value, b: Value, op: str) -> Value:
        """Return ``and``, ``or`` or ``xor``."""
        if a.number is not None and b.number is not None:
            done = {"and": a.const & b.const, "or": a.const | b.const, "xor": a.const ^ b.const}
            return Value(done[op])
        if op == "or" and not {a.base, b.base}.isdisjoint(self._either):
            return self._either_of(a, b)
        if op == "and" and a.base in self._either and b.number is not None:
            self._check_either(a)
            return self._named(self._masked(part, b.const) for part in self._either[a.base])
        for one, other in ((a, b), (b, a)):
            if one.base in self._n_known and other.base is None:
                return self._partly_known(one, other, op)
        self.check_number(a)
        self.check_number(b)
        try:
            common = self._and(a, b)
        except UndecidedError:
            if op == "or":
                return self._either_of(a, b)
            raise
        if op == "and":
            return common
        return self.sub(self.add(a, b), self.scaled(common, 1 if op == "or" else 2))

    def unknown_above(self, a: Value, n: int) -> Value:
        """
        Return a value plus a multiple of 2^n of which nothing is known.

        Nothing is decided by the upper bits: what is computed of them is unknown or undecided. Nor
        is anything known of those of two such values together: they share a name, and their
        difference is unknown too.
        """
        if n >= 32:
            return a
        name = f"unknown from bit {n}"
        self._n_known[name] = n
        return Value(a.const, a.terms, name, a.is_reduced)

    def _known(self, a: Value) -> tuple[Value, int] | None:
        """Return a number without its unknown bits, and how many bits are known of it."""
        if a.base is None:
            return a, 32
        n = self._n_known.get(a.base)
        return None if n is None else (Value(a.const, a.terms, is_reduced=a.is_reduced), n)

    def add(self, a: Value, b: Value) -> Value:
        """Return the sum."""
        if a.base is not None and b.base is not None:
            x, y = self._known(a), self._known(b)
            if x is not None and y is not None:
                return self.unknown_above(super().add(x[0], y[0]), min(x[1], y[1]))
        return super().add(a, b)

    def sub(self, a: Value, b: Value) -> Value:
        """Return the difference; that of two addresses in one region is a number."""
        if b.base is not None:
            x, y = self._known(a), self._known(b)
            if x is not None and y is not None:
                return self.unknown_above(super().sub(x[0], y[0]), min(x[1], y[1]))
        return super().sub(a, b)

    def scaled(self, a: Value, factor: int) -> Value:
        """Return a multiple."""
        known = self._known(a)
        if a.base is not None and known is not None and factor:
            n = known[1] + (factor & -factor).bit_length() - 1
            return self.unknown_above(super().scaled(known[0], factor), n)
        return super().scaled(a, factor)

    def _partly_known(self, a: Value, b: Value, op: str) -> Value:
        """Return ``and`` or ``or`` of a value with unknown bits and a number, if it is known."""
        n = self._n_known[a.base]
        if op == "and" and b.number is not None and b.const:
            if b.const >> n == 0:
                return self.bitwise(self.low(a, n), b, op)
            # Compilers insert a part into a word that was never written.
            return self.unknown_above(Value(0), (b.const & -b.const).bit_length() - 1)
        if op == "or" and not a.const and not a.terms and self.possible(b) >> n == 0:
            return self.add(a, b)
        raise UndecidedError("pointers", "bits of what was never written")

    def _either_of(self, a: Value, b: Value) -> Value:
        """Return ``a | b`` by name: all that is known of it is whether a bit from k on is set."""
        parts: list[Value] = []
        for one in (a, b):
            if one.base in self._either:
                self._check_either(one)
                parts += self._either[one.base]
            else:
                self.check_number(one)
                parts.append(one)
        return self._named(parts)

    def _named(self, parts: Iterable[Value]) -> Value:
        name = f"bits {len(self._either)}"
        self._either[name] = tuple(parts)
        return Value(0, base=name)

    def _check_either(self, a: Value) -> None:
        if a.const or a.terms:
            raise UndecidedError("bits", "a sum of bits that are known together only")

    def low(self, a: Value, n: int) -> Value:
        """Return the lowest n bits."""
        known = self._known(a)
        if known is not None and n <= known[1]:
            a = known[0]
        if a.base not in self._either:
            return super().low(a, n)
        self._check_either(a)
        parts = self._either[a.base]
        if all(self.possible(part) >> n == 0 for part in parts):
            return a
        return self._named(super(Algebra, self).low(part, n) for part in parts)

    def signed(self, a: Value, n: int) -> Value:
        """Return the lowest n bits with their sign."""
        # Compilers return the zero of a check that has passed, as class 0.
        return super().signed(self.settled(a), n)

    def settled(self, a: Value) -> Value:
        """Return 0 for bits of which none is set in the current region; others unchanged."""
        is_zero = a.base in self._either and self.equal(a, Value(0)).number == 1
        return Value(0) if is_zero else a

    def _some_above(self, limit: int, parts: Sequence[Value]) -> Value:
        """Return 1 where the bitwise or of values exceeds a limit, all ones in binary."""
        found = Value(0)
        for part in parts:
            for one in self._apart(part) if limit == 0 else (part,):
                above = self.less(Value(limit), one)
                known = found.number
                if known is None and above.number is None and found.base is above.base is None:
                    found = self._any_of(found, above)
                    continue
                if known is None:
                    both_above = self.gated(self.gate(found), above)
                else:
                    both_above = above if known else Value(0)
                found = self.sub(self.add(found, above), both_above)
                if found.terms:
                    found = Value(0, {(t := self.gate(found)).partition: t})
        return found

    def _any_of(self, a: Value, b: Value) -> Value:
        """Return 1 where one of two conditions is 1, else 0."""
        first, second = self._sides(a), self._sides(b)
        none = first[0]
        some = joined((*first[1], *both(none, second[1])), self.full)
        cells = {1: some, 0: both(none, second[0])}
        kept = {k: cell for k, cell in cells.items() if cell}
        term = Term(self.partitions.of(kept.values()), np.array(list(kept), dtype=np.int64))
        return self.value(0, [term])

    def _sides(self, condition: Value) -> tuple[Region, Region]:
        """Return where a condition is 0, and where it is 1."""
        gate = self.gate(condition)
        sides: tuple[list[Box], list[Box]] = [], []
        for cell, k in zip(gate.partition.cells, gate.values.tolist(), strict=True):
            sides[k].extend(cell)
        return tuple(sides[0]), tuple(sides[1])

    def _apart(self, part: Value) -> Sequence[Value]:
        """Return values of which one is not zero exactly where a sum is not: terms of one sign."""
        total = self.exact(part)
        terms = [Value(0, {p: t}) for p, t in total.terms.items()]
        if total.const or any(self.bounds(t)[0] < 0 for t in total.terms.values()):
            return (part,)
        return terms

    def _and(self, a: Value, b: Value) -> Value:
        if a.number is not None:
            a, b = b, a
        if not self.possible(a) & self.possible(b):
            return Value(0)
        if b.number is not None:
            return self._masked(a, b.const)
        for one, other in ((a, b), (b, a)):
            mask = self._mask(one)
            if mask is not None:
                return self.gated(mask, other)
        both_terms = [*a.terms.values(), *b.terms.values()]
        term = self.joint(both_terms, "a bit operation", self.most_joint)
        first = self.on(a, term.partition)
        second = self.on(b, term.partition)
        return self.mapped(term, (x & y for x, y in zip(first, second, strict=True)))

    def _masked(self, a: Value, mask: int) -> Value:
        """Return a value with only some bits: differences of its lowest bits."""
        if mask == MASK:
            return a
        found = Value(0)
        k = 0
        while mask >> k:
            if mask >> k & 1:
                end = k
                while mask >> end & 1:
                    end += 1
                found = self.add(found, self._run(a, k, end))
                k = end
            k += 1
        return found

    def _run(self, a: Value, k: int, end: int) -> Value:
        """Return a value with the bits from k to before end only."""
        if k == 0:
            return self.low(a, end)
        if end == 32:
            try:
                return self.scaled(self.shifted(a, k), 1 << k)
            except UndecidedError:
                return self.sub(a, self.low(a, k))
        return self.sub(self.low(a, end), self.low(a, k))

    def on(self, a: Value, partition: Partition) -> list[int]:
        """Return the numbers of a value on the cells of a partition finer than its own."""
        total = np.full(len(partition.cells), a.const, dtype=np.int64)
        for term in a.terms.values():
            if term.slopes is not None:
                raise UndecidedError("bits", "a bit operation on readings")
            overlay = self.partitions.overlay(partition, term.partition, MOST_CELLS)
            if overlay is None or overlay[0] is not partition:
                raise UndecidedError("cells", "a bit operation depends on too many inputs at once")
            total += term.values[np.array(overlay[2], dtype=int)]
        return [int(x) for x in total % WORD]

    def _mask(self, a: Value) -> Term | None:
        """Return a value that is all zeros or all ones as a term of 0 and 1."""
        if len(a.terms) != 1:
            return None
        (term,) = a.terms.values()
        if term.slopes is not None:
            return None
        values = (term.values + a.const) % WORD
        if not np.isin(values, (0, MASK)).all():
            return None
        return Term(term.partition, values & 1)

    def gated(self, gate: Term, a: Value) -> Value:
        """Return a value where a term of 0 and 1 is 1, else 0."""
        self.check_number(a)
        found = Value(0)
        if a.const:
            found = self.value(0, [Term(gate.partition, gate.values * a.const)])
        for term in a.terms.values():
            found = self.add(found, self.value(0, [self._product(gate, term)]))
        return found

    def _product(self, gate: Term, term: Term) -> Term:
        if term.slopes is not None and term.partition.scope != gate.partition.scope:
            term = self.unit(term)
        # Where the gate is 0 the term may have no value.
        is_open = gate.values == 1
        cells = list(zip(gate.partition.cells, is_open, strict=True))
        opened = self.partitions.of(cell for cell, one in cells if one)
        overlay = self.partitions.overlay(opened, term.partition, MOST_CELLS)
        if overlay is None:
            raise UndecidedError("cells", "a conditional value depends on too many inputs at once")
        partition, _, b = overlay
        second = np.array(b, dtype=int)
        shut = [cell for cell, one in cells if not one]
        none = np.zeros(len(shut), dtype=np.int64)
        values = np.concatenate([term.values[second], none])
        slopes = None if term.slopes is None else np.concatenate([term.slopes[second], none])
        return Term(self.partitions.of((*partition.cells, *shut)), values, slopes)

    def possible(self, a: Value) -> int:
        """Return a mask with all bits that a value may have set."""
        if a.base is not None:
            return MASK
        if not a.terms:
            return a.const
        terms = list(a.terms.values())
        if len(terms) == 1 and not a.const and terms[0].slopes is None:
            values = terms[0].values[self.active(terms[0].partition)]
            return int(np.bitwise_or.reduce(values)) & MASK
        added = [part for term in terms for part in (term.values, slopes_of(term))]
        lowest = a.const | int(np.bitwise_or.reduce(np.concatenate(added)))
        multiple = lowest & -lowest  # It divides all numbers that are added
        low, high = self.range_of(a)
        if low >> 32 != high >> 32:
            return MASK & -multiple
        return (1 << (high % WORD).bit_length()) - 1 & -multiple

    # Comparisons

    def less(self, a: Value, b: Value, *, is_signed: bool = False) -> Value:
        """Return 1 where ``a < b``, else 0."""
        is_mask = a.number is not None and a.const & (a.const + 1) == 0
        if b.base in self._either and is_mask and not (b.const or b.terms or is_signed):
            return self._some_above(a.const, self._either[b.base])
        is_power = bool(b.number) and b.const & (b.const - 1) == 0
        if a.base in self._either and is_power and not (a.const or a.terms or is_signed):
            return self.sub(Value(1), self._some_above(b.const - 1, self._either[a.base]))
        if a.base is not None or b.base is not None:
            # Equal bases do not help: where a caller has its memory, a sum may wrap around.
            raise UndecidedError("pointers", "the order of addresses")
        if is_signed:
            half = Value(1 << 31)
            a, b = self.add(a, half), self.add(b, half)
        total = self._difference(a, b)
        if self.differences is not None and not is_signed and len(total.terms) == 2:
            found = self._less_of_readings(a, b)
            if found is not None:
                return found
        return self._negative(total)

    def _less_of_readings(self, a: Value, b: Value) -> Value | None:
        """
        Return 1 where a reading is less than another one, as words without a sign.

        This is the order with signs but where one alone is negative. None if their difference is
        no input.
        """
        half = Value(1 << 31)
        if len(self._difference(self.add(a, half), self.add(b, half)).terms) != 1:
            return None
        zero = Value(0)
        signs = self.sub(self.less(b, zero, is_signed=True), self.less(a, zero, is_signed=True))
        return self.add(self.less(a, b, is_signed=True), signs)

    def _difference(self, a: Value, b: Value) -> Exact:
        first, second = self.exact(a), self.exact(b)
        terms = dict(first.terms)
        for partition, term in second.terms.items():
            minus = times(term, -1, exact=True)
            terms[partition] = (
                plus(terms[partition], minus, exact=True) if (partition in terms) else minus
            )
        return self.exact_sum(first.const - second.const, terms.values())

    def _negative(self, total: Exact) -> Value:
        """Return 1 where a sum is negative, else 0."""
        low, high = self.range_of(total)
        if high < 0 or low >= 0:
            return Value(int(high < 0))
        with_slopes = [term for term in total.terms.values() if term.slopes is not None]
        if len(with_slopes) == 1 < len(total.terms):
            found = self._negative_by_level(total, with_slopes[0])
            if found is not None:
                return found
        try:
            n_axes = len({axis for p in total.terms for axis in p.scope})
            if len(total.terms) > 1 and n_axes > 3:
                raise UndecidedError("cells", "a comparison depends on too many inputs")
            term = self.joint(total.terms.values(), "a comparison", MOST_GUARD)
        except UndecidedError:
            known = self.is_negative(total)
            if known is not None:
                return Value(int(known))
            term = self._nested(total)
        if term.slopes is None:
            term = self.inside(term)
            return self.mapped(term, (int(v) for v in term.values + total.const < 0))
        return self._negative_linear(term, total.const)

    def _nested(self, total: Exact) -> Term:
        """
        Return a sum as one term if one summand has all inputs of the others.

        Compilers compare a number with a limit that depends on what the number depends on too.
        """
        scopes = [set(p.scope) for p in total.terms]
        if max(scopes, key=len) != set().union(*scopes):
            raise OpenOrderError(total) from None
        try:
            return self.joint(total.terms.values(), "a comparison", MOST_GUARD)
        except UndecidedError:
            raise OpenOrderError(total) from None

    def _negative_by_level(self, total: Exact, linear: Term) -> Value | None:
        """
        Return 1 where a reading plus one of a few numbers is negative, else 0.

        Compilers compare once with a limit that depends on the path. None if there are many
        numbers.
        """
        rest = [term for term in total.terms.values() if term is not linear]
        try:
            level = self.inside(self.joint(rest, "a limit", MOST_GUARD))
        except UndecidedError:
            return None
        levels = np.unique(level.values)
        if len(levels) > MOST_LEVELS or level.partition.scope == linear.partition.scope:
            return None
        found = Value(0)
        for number in levels.tolist():
            gate = self.merged(Term(level.partition, (level.values == number).astype(np.int64)))
            side = self._negative_linear(linear, total.const + number)
            found = self.add(found, self.gated(gate, side))
        return found

    def _negative_linear(self, term: Term, const: int) -> Value:
        assert term.slopes is not None
        axis = term.partition.scope[0]
        sides: tuple[list[tuple[int, int]], list[tuple[int, int]]] = ([], [])
        for k, cell in enumerate(term.partition.cells):
            slope, value = int(term.slopes[k]), int(term.values[k]) + const
            for low, high in cell[0][0][1]:
                if slope == 0:
                    sides[value < 0].append((low, high))
                    continue
                below = slope > 0  # Negative for the numbers below `first`, else for those above
                first = -(value // slope) if below else value // -slope + 1
                if low <= min(first - 1, high):
                    sides[below].append((low, min(first - 1, high)))
                if max(low, first) <= high:
                    sides[not below].append((max(low, first), high))
        cells = [numbers(side) for side in sides]
        kept = [(cell, k) for k, cell in enumerate(cells) if cell]
        partition = self.partitions.of_axis(axis, [cell for cell, _ in kept])
        return self.value(0, [Term(partition, np.array([k for _, k in kept], dtype=np.int64))])

    def equal(self, a: Value, b: Value) -> Value:
        """Return 1 where both are equal, else 0."""
        if a.base in self._either and b.number == 0:
            self._check_either(a)
            return self.sub(Value(1), self._some_above(0, self._either[a.base]))
        if a.base is not None or b.base is not None:
            if a.base != b.base or a.base in self._n_known:
                raise UndecidedError("pointers", "addresses are compared")
            a, b = Value(a.const, a.terms), Value(b.const, b.terms)
        difference = self.sub(a, b)
        if difference.number is not None:
            return Value(int(difference.const == 0))
        if len(difference.terms) == len(a.terms) == len(b.terms) == 1:
            # Two readings, whose difference is an input of its own, or functions of one input
            return self.sub(Value(1), self.less(Value(0), difference))
        less, more = self.less(a, b), self.less(b, a)
        return self.sub(Value(1), self.add(less, more))

    def gate(self, condition: Value) -> Term:
        """Return a condition of 0 and 1 as a term of two cells at most."""
        return self.merged(self.single(condition, "a condition", MOST_CELLS))

    def chosen(self, condition: Value, a: Value, b: Value) -> Value:
        """Return a where the condition is 1, b where it is 0."""
        if condition.number is not None:
            return a if condition.const else b
        return self.add(b, self.gated(self.gate(condition), self.sub(a, b)))

    def shifted_signed(self, a: Value, k: int) -> Value:
        """Return ``a >> k`` with copies of the sign."""
        if k == 0:
            return a
        k = min(k, 32)
        if k >= 31:
            sign = self.less(a, Value(0), is_signed=True)
            return self.negative(sign)
        biased = self.shifted(self.add(a, Value(1 << 31)), k)
        return self.add(biased, Value(-(1 << (31 - k)) % WORD))
