"""Values over a box of inputs: a base, a constant and functions of few inputs, modulo 2^32."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from math import prod
from typing import Any

import numpy as np

from bncc.checker.terms import (
    UNKNOWN,
    WORD,
    Bools,
    Box,
    Ints,
    Term,
    UnknownError,
    Value,
    components_of,
    multiplied,
    runs_of,
    zeros_of,
)

MOST, MOST_JOINT = 1 << 20, 1 << 13


class Algebra:
    """Operations on values in one box of inputs; each input is divided into intervals."""

    def __init__(self, starts: Sequence[Ints], ends: Sequence[Ints]) -> None:
        self.starts, self.ends = starts, ends
        self.box: Box = tuple(np.ones(len(one), dtype=bool) for one in starts)
        self.order: Callable[[Value], bool | None] = lambda _: None

    def extremes(self, t: Term) -> tuple[Ints, Ints]:
        """Return a term at the first and the last number of all intervals of the box."""
        if t.maps:
            levels = [np.unique(m[self.box[a]]) for a, m in zip(t.axes, t.maps, strict=True)]
            v = t.v[np.ix_(*levels)].ravel()
            return v, v
        (axis,), inside = t.axes, self.box[t.axes[0]]
        v = t.v[inside]
        if t.s is None:
            return v, v
        s = t.s[inside]
        return v + s * self.starts[axis][inside], v + s * self.ends[axis][inside]

    def bounds(self, a: Value) -> tuple[int, int]:
        """Return bounds of an exact sum."""
        low = high = a.const
        for t in a.terms:
            first, last = self.extremes(t)
            low += int(min(first.min(), last.min()))
            high += int(max(first.max(), last.max()))
        return low, high

    def flat(self, t: Term) -> Ints:
        """Return a term of one input as constants, 0 outside the box."""
        inside = self.box[t.axes[0]]
        if t.s is not None and (t.s[inside] != 0).any():
            raise UnknownError("a reading where constants are needed")
        return np.where(inside, t.v, 0)

    def levels(self, terms: Sequence[Term]) -> tuple[tuple[int, ...], list[Ints], list[Ints]]:
        """Return the inputs of terms, a level for each interval, and an interval of each level."""
        axes = tuple(sorted({axis for t in terms for axis in t.axes}))
        maps, samples = [], []
        for axis in axes:
            rows = [
                t.maps[t.axes.index(axis)] if t.maps else self.flat(t)
                for t in terms
                if axis in t.axes
            ]
            inside = np.flatnonzero(self.box[axis])
            inverse = np.zeros(len(inside), dtype=np.int64)
            for row in rows:
                ranks = np.unique(row[inside], return_inverse=True)[1]
                _, index, inverse = np.unique(
                    inverse * len(inside) + ranks, return_index=True, return_inverse=True
                )
            at = np.zeros(len(self.box[axis]), dtype=np.int64)
            at[inside] = inverse
            maps.append(at)
            samples.append(inside[index])
        return axes, maps, samples

    def on(self, t: Term, axes: tuple[int, ...], samples: Sequence[Ints]) -> Ints:
        """Return a term as an array over samples of inputs."""
        own = [one for axis, one in zip(axes, samples, strict=True) if axis in t.axes]
        shape = [len(one) if a in t.axes else 1 for a, one in zip(axes, samples, strict=True)]
        if not t.maps:
            return self.flat(t)[own[0]].reshape(shape)
        grid: Ints = t.v[np.ix_(*(m[one] for m, one in zip(t.maps, own, strict=True)))]
        return grid.reshape(shape)

    def joint(self, terms: Sequence[Term], most: int = MOST) -> Term:
        """Return the sum of terms as one term."""
        if len(terms) == 1:
            return terms[0]
        if len({t.axes for t in terms}) == 1 and len(terms[0].axes) == 1:
            slopes = [t.s for t in terms if t.s is not None]
            total = sum(slopes[1:], slopes[0]) if slopes else None
            return Term(terms[0].axes, sum((t.v for t in terms[1:]), terms[0].v), total)
        axes, maps, samples = self.levels(terms)
        if prod(map(len, samples)) > most:
            raise UnknownError("a function of too many inputs")
        grid = np.zeros([len(one) for one in samples], dtype=np.int64)
        for t in terms:
            grid = grid + self.on(t, axes, samples)
        return Term(axes, grid, None, tuple(maps))

    def value(
        self, const: int, terms: Iterable[Term], base: str | None = None, *, exact: bool = False
    ) -> Value:
        """Return a sum with one term for the same inputs and none that is constant."""
        groups: dict[tuple[int, ...], list[Term]] = {}
        for t in terms:
            groups.setdefault(t.axes, []).append(t)
        kept = []
        for group in groups.values():
            t = self.joint(group)
            if t.s is not None:
                (axis,) = t.axes
                inside = self.box[axis]
                slopes = np.where(inside, t.s, 0)
                s = np.where(self.starts[axis] < self.ends[axis], slopes, 0)
                if not exact:
                    s = (s + WORD // 2) % WORD - WORD // 2
                if np.abs(slopes if exact else s).max() > 1 << 30:
                    raise UnknownError("a multiple of a reading")
                v = t.v + (slopes - s) * np.where(inside, self.starts[axis], 0)
                t = Term(t.axes, v, s if s.any() else None)
            if not exact:
                t = Term(t.axes, t.v % WORD, t.s, t.maps)
            first, _ = self.extremes(t)
            if (t.s is None or not t.s.any()) and (first == first[0]).all():
                const += int(first[0])
            else:
                kept.append(t)
        return Value(const if exact else const % WORD, tuple(kept), base)

    # Arithmetic

    def add(self, a: Value, b: Value) -> Value:
        """Return ``a + b``."""
        if "?" in (a.base, b.base) or (a.base and b.base):
            return UNKNOWN
        return self.value(a.const + b.const, (*a.terms, *b.terms), a.base or b.base)

    def sub(self, a: Value, b: Value) -> Value:
        """Return ``a - b``."""
        if a.base == b.base != "?":
            a, b = Value(a.const, a.terms), Value(b.const, b.terms)
        return self.add(a, self.scaled(b, -1))

    def scaled(self, a: Value, k: int) -> Value:
        """Return a multiple."""
        if a.base:
            return UNKNOWN
        k = (k + WORD // 2) % WORD - WORD // 2
        return self.value(a.const * k, multiplied(a.terms, k))

    def split(self, a: Value, n: int) -> tuple[Value, Value]:
        """Return the lowest n bits exactly, and those above them modulo 2^(32 - n)."""
        if a.base:
            raise UnknownError("bits of an address")
        for terms in (a.terms, self._grouped(a.terms)):
            found = self._split(a.const, terms, n)
            if found:
                return found
        starts = [zeros_of(t) for t in a.terms]
        cut = min((k for k in starts if 0 < k < n), default=0)
        if cut:
            lower, rest = self.split(a, cut)
            upper, high = self.split(rest, n - cut)
            terms = (*lower.terms, *multiplied(upper.terms, 1 << cut))
            return self.value(lower.const + (upper.const << cut), terms, exact=True), high
        above = [t for t, k in zip(a.terms, starts, strict=True) if k >= n]
        if above and len(above) < len(starts):
            own = [t for t, k in zip(a.terms, starts, strict=True) if k < n]
            low, carry = self.split(self.value(a.const, own), n)
            return low, self.add(carry, self.split(self.value(0, above), n)[1])
        found = self._split(0, [self._constant_added(self.joint(a.terms, MOST_JOINT), a.const)], n)
        if not found:
            raise UnknownError("bits of a sum")
        return found

    def _constant_added(self, t: Term, const: int) -> Term:
        v = t.v + const
        return Term(t.axes, v if t.s is not None else v % WORD, t.s, t.maps)

    def _grouped(self, terms: Sequence[Term]) -> list[Term]:
        """Return the sums of terms that share inputs, where they are small."""
        groups: list[list[Term]] = []
        for t in terms:
            near = [g for g in groups if any(set(t.axes) & set(one.axes) for one in g)]
            groups = [g for g in groups if not any(g is one for one in near)]
            groups.append([t, *(one for g in near for one in g)])
        return [one for g in groups for one in self._joined(g)]

    def _joined(self, group: list[Term]) -> list[Term]:
        try:
            return [self.joint(group)]
        except UnknownError:
            return group

    def _split(self, const: int, terms: Sequence[Term], n: int) -> tuple[Value, Value] | None:
        """Split each term; None if the lower parts carry for some inputs only."""
        size = 1 << n
        for is_centered in (False, True):
            parts = [self.part(t, n, is_centered) for t in terms]
            lows = tuple(low for low, _ in parts)
            least, most = self.bounds(Value(const % size, lows))
            if least >> n == most >> n:
                carry = least >> n
                low = self.value(const % size - carry * size, lows, exact=True)
                return low, self.value((const >> n) + carry, (high for _, high in parts))
        return None

    def part(self, t: Term, n: int, is_centered: bool) -> tuple[Term, Term]:
        """Return the lowest n bits of a term, maybe about zero, and those above them."""
        size = 1 << n
        if t.s is None:
            low = t.v % size
            if is_centered:
                levels = np.unique(self.extremes(Term(t.axes, low, None, t.maps))[0])
                gaps = np.diff(np.append(levels, levels[0] + size))
                start = levels[(int(gaps.argmax()) + 1) % len(levels)]
                low = np.where(low >= start, low - size, low)
            high = (t.v - low) >> n
            return Term(t.axes, low, None, t.maps), Term(t.axes, high, None, t.maps)
        (axis,) = t.axes
        first, last = (t.v + t.s * x >> n for x in (self.starts[axis], self.ends[axis]))
        whole = t.s % size == 0
        if (self.box[axis] & ~whole & (first != last)).any():
            raise UnknownError("intervals that do not separate the bits of a reading")
        quotient = np.where(whole, t.v >> n, first)
        rest = Term(t.axes, t.v - (quotient << n), np.where(whole, 0, t.s))
        return rest, Term(t.axes, quotient, np.where(whole, t.s >> n, 0))

    def low(self, a: Value, n: int) -> Value:
        """Return the lowest n bits."""
        found = self.split(a, n)[0] if n else Value(0)
        return self.value(found.const, found.terms)

    def shr(self, a: Value, k: int) -> Value:
        """Return ``a >> k`` without a sign."""
        return a if k == 0 else Value(0) if k > 31 else self.low(self.split(a, k)[1], 32 - k)

    def field(self, a: Value, k: int, n: int) -> Value:
        """Return n bits from bit k on."""
        return self.low(self.split(a, k)[1] if k else a, min(n, 32 - k))

    def sar(self, a: Value, k: int) -> Value:
        """Return ``a >> k`` with copies of the sign."""
        k = min(k, 31)
        shifted = self.shr(self.add(a, Value(1 << 31)), k)
        return self.sub(shifted, Value(1 << 31 - k)) if k else a

    def sext(self, a: Value, n: int) -> Value:
        """Return the lowest n bits with their sign."""
        half = Value(1 << n - 1)
        return self.sub(self.low(self.add(a, half), n), half)

    # Bits

    def pointwise(self, f: Callable[..., Any], *operands: Value) -> Value:
        """Return an operation on functions of few inputs, number by number."""
        if any(a.base for a in operands):
            return UNKNOWN
        terms = [t for a in operands for t in a.terms]
        if not terms:
            done = f(*(np.array([a.const], dtype=np.int64) for a in operands))
            return Value(int(done[0]) % WORD)
        axes, maps, samples = self.levels(terms)
        if prod(map(len, samples)) > MOST_JOINT:
            raise UnknownError("an operation on functions of too many inputs")
        shape = [len(one) for one in samples]
        grids = []
        for a in operands:
            grid = np.full(shape, a.const, dtype=np.int64)
            for t in a.terms:
                grid = grid + self.on(t, axes, samples)
            grids.append(grid % WORD)
        result = np.asarray(f(*grids), dtype=np.int64) % WORD
        if len(axes) == 1:
            return self.value(0, [Term(axes, result[maps[0]])])
        return self.value(0, [Term(axes, result, None, tuple(maps))])

    def mapped(self, f: Callable[[int], int], a: Value) -> Value:
        """Return a function of a value that depends on few inputs."""
        return self.pointwise(
            lambda x: np.array([f(int(one)) for one in x.ravel()]).reshape(x.shape), a
        )

    def bits_and(self, a: Value, b: Value) -> Value:
        """Return ``a & b``."""
        if a.base or b.base:
            return UNKNOWN
        if not a.terms:
            a, b = b, a
        if not self._possible(a) & self._possible(b):
            return Value(0)
        if not b.terms:
            found = Value(0)
            for k, end in runs_of(b.const):
                found = self.add(found, self.scaled(self.field(a, k, end - k), 1 << k))
            return found
        for mask, other in ((a, b), (b, a)):
            if len(mask.terms) == 1 and mask.terms[0].s is None:
                t = mask.terms[0]
                if np.isin((self.extremes(t)[0] + mask.const) % WORD, (0, WORD - 1)).all():
                    gate = Value(mask.const & 1, (Term(t.axes, t.v & 1, None, t.maps),))
                    gate = self.value(0, [self.joint_of(self.low(gate, 1))])
                    return self.gated(gate, other)
        return self.pointwise(lambda x, y: x & y, a, b)

    def joint_of(self, a: Value) -> Term:
        """Return a value that depends on the input as one term."""
        if not a.terms:
            raise UnknownError("a constant")
        return self._constant_added(self.joint(a.terms, MOST_JOINT), a.const)

    def gated(self, gate: Value, a: Value) -> Value:
        """Return a value where the gate is 1, and 0 where it is 0."""
        if not gate.terms:
            return a if gate.const else Value(0)
        found = self.scaled(gate, a.const)
        for t in a.terms:
            if t.s is not None and t.axes == gate.terms[0].axes:
                chosen = self.flat(self.joint_of(gate))
                part = self.value(0, [Term(t.axes, t.v * chosen, t.s * chosen)])
            else:
                part = self.pointwise(lambda x, y: x * y, gate, Value(0, (t,)))
            found = self.add(found, part)
        return found

    def _possible(self, a: Value) -> int:
        if not a.terms:
            return a.const
        low, high = self.bounds(a)
        if low < 0 or high >= WORD:
            high = WORD - 1
        zeros = min(zeros_of(t) for t in (*a.terms, Term((0,), np.array([a.const]))))
        return (1 << high.bit_length()) - (1 << zeros)

    def bits_or(self, a: Value, b: Value) -> Value:
        """Return ``a | b``."""
        return self.sub(self.add(a, b), self.bits_and(a, b))

    def bits_xor(self, a: Value, b: Value) -> Value:
        """Return ``a ^ b``."""
        for one, other in ((a, b), (b, a)):
            if not one.terms and one.const in (1 << 31, WORD - 1):
                return self.add(a, b) if one.const < WORD - 1 else self.sub(one, other)
        return self.sub(self.add(a, b), self.scaled(self.bits_and(a, b), 2))

    # Comparisons

    def less(self, a: Value, b: Value, *, is_signed: bool = False) -> Value:
        """Return 1 where ``a < b``, else 0."""
        if a.base or b.base:
            difference = self.sub(a, b)
            if difference.base or difference.terms:
                raise UnknownError("addresses that are compared")
            return Value(int(difference.const >= WORD // 2))
        half = Value((WORD // 2) * is_signed)
        first, second = (self.split(self.add(one, half), 32)[0] for one in (a, b))
        return self.negative(self.exact_sum(0, (first, 1), (second, -1)))

    def exact_sum(self, const: int, *parts: tuple[Value, int]) -> Value:
        """Return a sum of multiples of exact sums."""
        terms = [t for a, k in parts for t in multiplied(a.terms, k)]
        return self.value(const + sum(a.const * k for a, k in parts), terms, exact=True)

    def negative(self, total: Value) -> Value:
        """Return 1 where an exact sum is negative, else 0."""
        low, high = self.bounds(total)
        if high < 0 or low >= 0:
            return Value(int(high < 0))
        known = self.order(total)
        if known is not None:
            return Value(int(known))
        t = self.joint(
            total.terms, 512 if len({a for t in total.terms for a in t.axes}) > 3 else MOST_JOINT
        )
        if t.s is None:
            return self.value(
                0, [Term(t.axes, (t.v < -total.const).astype(np.int64), None, t.maps)]
            )
        (axis,) = t.axes
        signs = [(t.v + t.s * x < -total.const) for x in (self.starts[axis], self.ends[axis])]
        if (self.box[axis] & (signs[0] != signs[1])).any():
            raise UnknownError("intervals that do not separate a comparison of a reading")
        return self.value(0, [Term(t.axes, signs[0].astype(np.int64))])

    def equal(self, a: Value, b: Value) -> Value:
        """Return 1 where both are equal, else 0."""
        d = self.sub(a, b)
        if d.base:
            raise UnknownError("addresses that are compared")
        if not d.terms:
            return Value(int(d.const == 0))
        total = self.split(d, 32)[0]
        return self.negative(self.value(total.const - 1, total.terms, exact=True))

    def opposite(self, a: Value) -> Value:
        """Return ``1 - a``."""
        return self.sub(Value(1), a)

    def vanishes(self, a: Value, modulus: int = 0) -> bool:
        """Return whether a sum is zero for all inputs of the box, maybe modulo a number."""
        (grids,) = self._components(self.value(a.const, a.terms, exact=not modulus))
        return all(not (g % modulus if modulus else g).any() for g in grids.values())

    def is_multiple(self, a: Value, of: Value) -> bool:
        """Return whether an exact sum is 2^k times another one for all inputs of the box."""
        first, second = self._components(a, of)
        sums = [sum(int(np.abs(g).sum()) for g in grids.values()) for grids in (first, second)]
        k = sums[0].bit_length() - sums[1].bit_length()
        if k < 0 or sums[1] << k != sums[0] or not sums[1]:
            return False
        zero = np.zeros(1, dtype=np.int64)
        pairs = [(first.get(x, zero), second.get(x, zero)) for x in {*first, *second}]
        return all(bool((x == y << k).all()) for x, y in pairs)

    def _components(self, *sums: Value) -> list[dict[tuple[int, ...], Ints]]:
        """Return sums as functions of few inputs, in the only way in which each is 0 at a first."""
        terms = [t for a in sums for t in a.terms]
        axes, _, samples = self.levels(terms)
        found = []
        for a in sums:
            grids: dict[tuple[int, ...], Ints] = {(): np.full((), a.const, dtype=np.int64)}
            for t in a.terms:
                own = [one for axis, one in zip(axes, samples, strict=True) if axis in t.axes]
                if prod(map(len, own)) > MOST:
                    raise UnknownError("a function of too many inputs")
                for scope, part in components_of(t.axes, self.on(t, t.axes, own)):
                    grids[scope] = grids.get(scope, 0) + part
            found.append(grids)
        return found

    # Boxes

    def boxes_of(self, condition: Value) -> Iterator[Box]:
        """Yield disjoint boxes that cover the current one, between which a value differs."""
        t = self.joint_of(condition)
        axes, maps, samples = self.levels([t])
        grid = self.on(t, axes, samples)
        for k, axis in enumerate(axes):
            rows = np.moveaxis(grid, k, 0).reshape(len(samples[k]), -1)
            groups = np.unique(rows, axis=0, return_inverse=True)[1].ravel()
            if groups.max():
                for level in range(groups.max() + 1):
                    yield _with(self.box, axis, self.box[axis] & (groups[maps[k]] == level))
                return
        raise UnknownError("a condition that does not depend on the input")

    def minus(self, box: Box, other: Box) -> Iterator[Box]:
        """Yield disjoint boxes of the inputs of one box that are not in another."""
        if all((a & b).any() for a, b in zip(box, other, strict=True)):
            for axis, allowed in enumerate(other):
                outside = box[axis] & ~allowed
                if outside.any():
                    yield _with(box, axis, outside)
                box = _with(box, axis, box[axis] & allowed)
        else:
            yield box


def _with(box: Box, axis: int, allowed: Bools) -> Box:
    return (*box[:axis], allowed, *box[axis + 1 :])
