"""Sums of functions of the inputs: additions, parts of words, and functions of few inputs."""

from collections.abc import Callable, Iterable, Iterator, Sequence

import numpy as np

from bncc._types import IntArray
from bncc.prove.current import Current
from bncc.prove.differences import Differences
from bncc.prove.grids import largest_sum
from bncc.prove.regions import (
    Numbers,
    Partition,
    axis_numbers,
    both,
    joined,
)
from bncc.prove.values import (
    MOST,
    MOST_CELLS,
    MOST_PIECES,
    NO_TERMS,
    WORD,
    Exact,
    Term,
    UndecidedError,
    Value,
    centered,
    plus,
    slopes_of,
    times,
)

MOST_CARRYING = 32
"""Most sums with a carry that a search for a counterexample gets."""
Orders = Callable[[Exact], bool | None]
"""Returns whether a sum is negative on the current path; None if unknown."""


class Sums(Current):
    """Sums of values in one region of inputs, the current one."""

    def __init__(self, full: tuple[Numbers, ...]) -> None:
        super().__init__(full)
        self.is_negative: Orders = lambda _: None
        self.differences: Differences | None = None
        self._either: dict[str, tuple[Value, ...]] = {}
        self._n_known: dict[str | None, int] = {}  # Known lowest bits of values with unknown ones
        # Sums whose lowest bits carry for some inputs only, too many to tell them apart, with the
        # number of these bits
        self.carrying: list[tuple[Value, int]] = []

    def value(self, const: int, terms: Iterable[Term], base: str | None = None) -> Value:
        """Return a value from terms of different partitions, with constant ones added up."""
        self.partitions.check_time()
        kept: dict[Partition, Term] = {}
        for term in terms:
            if not term.is_reduced:
                term = Term(term.partition, term.values % WORD)
            if term.constant is not None:
                const += term.constant
                continue
            known = kept.get(term.partition)
            kept[term.partition] = term if known is None else plus(known, term)
        if self.differences is not None and len(kept) > 1:
            const, kept = self.differences.folded(const, kept, WORD)
        is_reduced = all(t.is_reduced and t.constant is None for t in kept.values())
        return Value(const % WORD, kept, base, is_reduced)

    # Sums

    def add(self, a: Value, b: Value) -> Value:
        """Return the sum."""
        if a.base is not None and b.base is not None:
            raise UndecidedError("pointers", "two addresses are added")
        if not a.terms and not b.terms:
            return Value((a.const + b.const) % WORD, NO_TERMS, a.base or b.base)
        const = a.const + b.const
        for one, other in ((a, b), (b, a)):
            if not other.terms and one.is_reduced:
                return Value(const % WORD, one.terms, a.base or b.base, is_reduced=True)
        terms = dict(a.terms)
        if self.differences is not None or not (a.is_reduced and b.is_reduced):
            for partition, term in b.terms.items():
                terms[partition] = plus(terms[partition], term) if partition in terms else term
            return self.value(const, terms.values(), a.base or b.base)
        for partition, term in b.terms.items():
            known = terms.get(partition)
            if known is None:
                terms[partition] = term
                continue
            total = plus(known, term)
            if not total.is_reduced:
                total = Term(partition, total.values % WORD)
            if total.constant is None:
                terms[partition] = total
            else:
                const += total.constant
                del terms[partition]
        return Value(const % WORD, terms, a.base or b.base, is_reduced=True)

    def negative(self, a: Value) -> Value:
        """Return ``-a``."""
        if a.base is not None:
            raise UndecidedError("pointers", "an address is negated")
        return self.value(-a.const, [times(term, -1) for term in a.terms.values()])

    def sub(self, a: Value, b: Value) -> Value:
        """Return the difference; that of two addresses in one region is a number."""
        if b.base is not None:
            if a.base != b.base:
                raise UndecidedError("pointers", "addresses of different objects are subtracted")
            a, b = Value(a.const, a.terms), Value(b.const, b.terms)
        return self.add(a, self.negative(b))

    def scaled(self, a: Value, factor: int) -> Value:
        """Return a multiple."""
        self.check_number(a)
        if factor == 1:
            return a
        return self.value(a.const * factor, [times(t, factor) for t in a.terms.values()])

    # Parts of a word

    def low(self, a: Value, n: int) -> Value:
        """Return the lowest n bits, as a sum that is exact."""
        found = self.split(a, n)[0]
        is_reduced = all(term.is_reduced for term in found.terms.values())
        return Value(found.const % WORD, found.terms, is_reduced=is_reduced)

    def field(self, a: Value, k: int, n: int) -> Value:
        """Return n bits from bit k on."""
        return self.low(self.split(a, k)[1] if k else a, min(n, 32 - k))

    def signed(self, a: Value, n: int) -> Value:
        """Return the lowest n bits with their sign."""
        extended = None if self.differences is None else self.differences.extended(a, n)
        if extended is not None:
            return extended
        half = 1 << (n - 1)
        biased = self.low(self.add(a, Value(half)), n)
        return self.add(biased, Value(-half % WORD))

    def shifted(self, a: Value, k: int) -> Value:
        """Return ``a >> k`` without a sign."""
        if k == 0:
            return a
        if k >= 32:
            return Value(0)
        return self.low(self.split(a, k)[1], 32 - k)

    def exact(self, a: Value) -> Exact:
        """Return a value as an integer from 0 to 2^32 - 1."""
        return self.split(a, 32)[0]

    def split(self, a: Value, n: int) -> tuple[Exact, Value]:
        """Return the exact lowest n bits, and the bits above them, modulo 2^(32 - n)."""
        self.check_number(a)
        if not a.terms:
            return Exact(a.const & (1 << n) - 1, NO_TERMS), Value(a.const >> n)
        if n == 32:
            least, most = self.range_of(a)
            if least >> 32 == most >> 32:
                return Exact(a.const - (least >> 32 << 32), a.terms), Value(0)
        for is_centered in (False, True):
            found = self._try_split(a, n, is_centered)
            if found is not None:
                return found
        a = self._of_one_input(a)
        ordered = self._split_by_order(a, n)
        if ordered is not None:
            return ordered
        lanes = self._split_lanes(a, n)
        if lanes is not None:
            return lanes
        try:
            term = self.joint(a.terms.values(), "bits of a sum")
        except UndecidedError:
            if len(self.carrying) < MOST_CARRYING:
                self.carrying.append((a, n))
            raise
        whole = Term(term.partition, term.values + a.const, term.slopes)
        if whole.slopes is None:
            whole = self.inside(Term(whole.partition, whole.values % WORD))
        found = self._try_split(Value(0, {whole.partition: whole}), n, False)
        assert found is not None
        return found

    def _of_one_input(self, a: Value) -> Value:
        """Return a sum as one term if all depend on the same input, and one is linear."""
        scopes = {term.partition.scope for term in a.terms.values()}
        is_linear = any(term.slopes is not None for term in a.terms.values())
        if len(a.terms) < 2 or len(scopes) > 1 or not is_linear:
            return a
        return self.value(a.const, [self.joint(a.terms.values(), "bits of a sum")])

    def _split_by_order(self, a: Value, n: int) -> tuple[Exact, Value] | None:
        """Split a difference of two sums whose order is known on this path; None if it is not."""
        size = 1 << n
        if len(a.terms) < 2 or any(term.slopes is not None for term in a.terms.values()):
            return None
        parts = [self._parts(term, n, True) for term in a.terms.values()]
        least, most = self.range_of(Exact(a.const % size, {low.partition: low for low, _ in parts}))
        if most >> n != (least >> n) + 1:
            return None
        carry = most >> n
        lows = [low for low, _ in parts]
        exact = self.exact_sum(a.const % size - carry * size, lows)
        is_negative = self.is_negative(exact)
        if is_negative is None:
            return None
        if is_negative:
            carry -= 1
            exact = self.exact_sum(a.const % size - carry * size, lows)
        return exact, self.value((a.const >> n) + carry, [high for _, high in parts])

    def _split_lanes(self, a: Value, n: int) -> tuple[Exact, Value] | None:
        """Split a sum of lanes one after the other, each with the carry of those below it."""
        starts = {term: _zeros(term) for term in a.terms.values()}
        within = sorted({start for start in starts.values() if 0 < start < n})
        if within:
            lower, rest = self.split(a, within[0])
            upper, high = self.split(rest, n - within[0])
            shifted = [times(t, 1 << within[0], exact=True) for t in upper.terms.values()]
            const = lower.const + (upper.const << within[0])
            return self.exact_sum(const, [*lower.terms.values(), *shifted]), high
        above = [term for term, start in starts.items() if start >= n]
        if not above or len(above) == len(starts):
            return None
        own = [term for term, start in starts.items() if start < n]
        low, carry = self.split(self.value(a.const, own), n)
        few = self.value(carry.const, [self.merged(t) for t in carry.terms.values() if _is_flat(t)])
        rest = self.value(0, [t for t in carry.terms.values() if not _is_flat(t)])
        _, high = self.split(self.value(0, above), n)
        return low, self.add(self.add(few, rest), high)

    def _try_split(self, a: Value, n: int, is_centered: bool) -> tuple[Exact, Value] | None:
        """Split each term separately; None if the lower parts carry for some inputs only."""
        size = 1 << n
        lows, highs = [], []
        least = most = a.const & (size - 1)
        for term in a.terms.values():
            key = n, is_centered
            if key not in term.parts_at:
                term.parts_at[key] = self._parts(term, n, is_centered)
            part, high = term.parts_at[key]
            lows.append(part)
            highs.append(high)
            first, last = self.bounds(part)
            least, most = least + first, most + last
        if least >> n != most >> n and len(lows) > 1:
            most, least = self._tighter(most, lows, 1), self._tighter(least, lows, -1)
        if least >> n != most >> n:
            return None
        carry = least >> n
        const = (a.const & (size - 1)) - carry * size
        exact = self.exact_sum(const, lows)
        return exact, self.value((a.const >> n) + carry, highs)

    def _tighter(self, bound: int, terms: Sequence[Term], sign: int) -> int:
        """Return a bound of a sum that accounts for inputs that several terms share."""
        self.partitions.check_time()
        if any(term.slopes is not None for term in terms):
            return bound
        inside = [self.inside(term) for term in terms]
        simple = sum(int((sign * term.values).max()) for term in inside)
        pairs = [(term.partition, sign * term.values) for term in inside]
        return bound + sign * (largest_sum(pairs, self.region, self.full) - simple)

    def _parts(self, term: Term, n: int, is_centered: bool) -> tuple[Term, Term]:
        size = 1 << n
        if term.slopes is None:
            low: IntArray = term.values & (size - 1)
            if is_centered:
                low = centered(low, size)
            if (low == term.values).all():
                return term, Term(term.partition, np.zeros_like(low))
            return Term(term.partition, low), Term(
                term.partition, ((term.values - low) >> n) % WORD
            )
        cells, slopes, values, quotients, steps = [], [], [], [], []
        axis = term.partition.scope[0]
        for k, cell in enumerate(term.partition.cells):
            slope, value = int(term.slopes[k]), int(term.values[k])
            if slope % size == 0:
                cells.append(cell[0][0][1])
                slopes.append(0)
                values.append(value % size)
                quotients.append(value // size)
                steps.append(slope // size)
                continue
            for first, last, quotient in _pieces(cell[0][0][1], slope, value, size):
                steps.append(0)
                cells.append(((first, last),))
                slopes.append(slope)
                values.append(value - quotient * size)
                quotients.append(quotient)
        if max(map(abs, (*values, *quotients)), default=0) >= MOST:
            raise UndecidedError("bits", "a sum of readings has too many bits")
        partition = self.partitions.of_axis(axis, cells)
        return (
            Term(partition, np.array(values, dtype=np.int64), np.array(slopes, dtype=np.int64)),
            Term(partition, np.array(quotients, dtype=np.int64), np.array(steps, dtype=np.int64)),
        )

    def exact_sum(self, const: int, terms: Iterable[Term]) -> Exact:
        """Return a sum of integers, terms that are constant added up."""
        kept: dict[Partition, Term] = {}
        for term in terms:
            if term.constant is not None:
                const += term.constant
            else:
                known = kept.get(term.partition)
                kept[term.partition] = term if known is None else plus(known, term, exact=True)
        if self.differences is not None and len(kept) > 1:
            const, kept = self.differences.folded(const, kept, None)
        return Exact(const, kept)

    def unit(self, term: Term) -> Term:
        """Return a linear term as one with a cell for each number of the current region."""
        assert term.slopes is not None
        axis = term.partition.scope[0]
        allowed = axis_numbers(self.region, axis, self.full[axis])
        cells: list[Numbers] = []
        values: list[int] = []
        for k, cell in enumerate(term.partition.cells):
            slope, value = int(term.slopes[k]), int(term.values[k])
            inside = both(cell, (((axis, allowed),),))
            if not inside:
                continue
            own = inside[0][0][1]
            if slope == 0:
                cells.append(own)
                values.append(value)
                continue
            if len(cells) + sum(high - low + 1 for low, high in own) > MOST_CELLS:
                raise UndecidedError("cells", "a table is addressed by too many readings")
            for low, high in own:
                for x in range(low, high + 1):
                    cells.append(((x, x),))
                    values.append(slope * x + value)
        if max(map(abs, values), default=0) >= 1 << 62:
            raise UndecidedError("bits", "a function of a reading has too large numbers")
        partition = self.partitions.of_axis(axis, cells)
        return Term(partition, np.array(values, dtype=np.int64))

    # Functions of few inputs

    def joint(self, terms: Iterable[Term], what: str, most: int = MOST_CELLS) -> Term:
        """Return the sum of terms as one term."""
        found: Term | None = None
        for term in sorted(terms, key=lambda one: len(one.partition.cells)):
            if found is None:
                found = term
                continue
            if (found.slopes is not None or term.slopes is not None) and (
                found.partition.scope != term.partition.scope
            ):
                found = found if found.slopes is None else self.unit(found)
                term = term if term.slopes is None else self.unit(term)
            overlay = self.partitions.overlay(found.partition, term.partition, most)
            if overlay is None:
                raise UndecidedError("cells", f"too many inputs at once decide {what}")
            partition, a, b = overlay
            first, second = np.array(a, dtype=int), np.array(b, dtype=int)
            slopes = None
            if found.slopes is not None or term.slopes is not None:
                slopes = slopes_of(found)[first] + slopes_of(term)[second]
            found = Term(partition, found.values[first] + term.values[second], slopes)
        assert found is not None
        return found

    def single(self, a: Value, what: str, most: int = MOST_CELLS) -> Term:
        """Return a value as one term of cells of the current region, without slopes."""
        self.check_number(a)
        term = self.joint(a.terms.values(), what, most)
        if term.slopes is not None:
            term = self.unit(term)
        return self.inside(Term(term.partition, (term.values + a.const) % WORD))

    def inside(self, term: Term) -> Term:
        """Return a term with the cells alone that have an input in the current region."""
        active = self.active(term.partition)
        if active.all():
            return term
        cells = [cell for cell, is_in in zip(term.partition.cells, active, strict=True) if is_in]
        return Term(self.partitions.of(cells), term.values[active])

    def mapped(self, term: Term, results: Iterable[int]) -> Value:
        """Return the function with other values on the same cells."""
        values = np.fromiter((r % WORD for r in results), dtype=np.int64)
        return self.value(0, [self.merged(Term(term.partition, values))])

    def merged(self, term: Term) -> Term:
        """Return a term with cells of equal values joined, if it is of one input or has few."""
        levels, at = np.unique(term.values, return_inverse=True)
        if len(levels) == len(term.values) or not (term.partition.is_single or len(levels) <= 2):
            return term
        cells = [
            joined(
                [box for k in np.flatnonzero(at == level) for box in term.partition.cells[k]],
                self.full,
            )
            for level in range(len(levels))
        ]
        return Term(self.partitions.of(cells), levels.astype(np.int64))

    def check_number(self, a: Value) -> None:
        """Verify that a value is not an address."""
        if a.base is not None:
            raise UndecidedError("pointers", "arithmetic on an address")


def _pieces(allowed: Numbers, slope: int, value: int, size: int) -> Iterator[tuple[int, int, int]]:
    """Cut numbers x so that ``(slope * x + value) // size`` is one quotient on each interval."""
    n_found = 0
    for low, high in allowed:
        while low <= high:
            quotient = (slope * low + value) // size
            last = high
            if slope > 0:
                last = min(high, ((quotient + 1) * size - 1 - value) // slope)
            elif slope < 0:
                last = min(high, (value - quotient * size) // -slope)
            yield low, last, quotient
            low = last + 1
            n_found += 1
            if n_found > MOST_PIECES:
                raise UndecidedError("cells", "bits of a reading have too many cases")


def _zeros(term: Term) -> int:
    """Return how many of the lowest bits are zero in every value of a term, at most 32."""
    bits = int(np.bitwise_or.reduce(np.concatenate([term.values, slopes_of(term)])))
    return 32 if bits == 0 else min(32, (bits & -bits).bit_length() - 1)


def _is_flat(term: Term) -> bool:
    return term.slopes is None
