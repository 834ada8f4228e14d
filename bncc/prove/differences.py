"""
Differences of two readings as inputs of their own.

A sum of the first reading and of the second one with opposite signs is a function of their exact
difference. A proof treats the difference as one more input, independent of both readings: what
holds for all combinations of these holds for those that readings have.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from bncc.prove.regions import Numbers, Partition, Partitions
from bncc.prove.values import Term, Value, plus, slopes_of


@dataclass(frozen=True)
class Difference:
    """Two readings of one type that are subtracted, the first minus the second, exactly."""

    first: int  # Inputs
    second: int
    size: int  # Bytes of a reading
    is_signed: bool  # True if readings are signed numbers

    @property
    def span(self) -> int:
        """Number of values of a reading; no difference is as large."""
        return 1 << 8 * self.size

    @property
    def numbers(self) -> Numbers:
        """Differences by their bits, which are twice as many as a reading's."""
        return (0, self.span - 1), (self.span**2 - self.span + 1, self.span**2 - 1)


class Differences:
    """The differences among the inputs of an entry point."""

    def __init__(self, pairs: Mapping[int, Difference], partitions: Partitions) -> None:
        self._pairs, self._partitions = pairs, partitions
        self.readings = frozenset(k for of in pairs.values() for k in (of.first, of.second))
        """The inputs that are subtracted."""
        self._spans = {k: of.span for of in pairs.values() for k in (of.first, of.second)}

    def extended(self, a: Value, n: int) -> Value | None:
        """
        Return a reading of n bits with its sign, defined for all of its numbers.

        None if the value is no reading. It may be all negative on a path, but a difference of
        readings is known as one only if it is one for all of them.
        """
        if len(a.terms) != 1 or a.const or a.base is not None:
            return None
        (term,) = a.terms.values()
        span = self._spans.get(term.partition.scope[0])
        if span != 1 << n or term.slopes is None or len(term.partition.cells) > 1:
            return None
        ((_, allowed),) = term.partition.cells[0][0]
        if allowed != ((0, span - 1),) or term.slopes[0] != 1 or term.values[0] != 0:
            return None
        half = span >> 1
        partition = self._partitions.of_axis(
            term.partition.scope[0], [((0, half - 1),), ((half, span - 1),)]
        )
        values, slopes = np.array([[0, -span], [1, 1]], dtype=np.int64)
        return Value(0, {partition: Term(partition, values, slopes)})

    def folded(
        self, const: int, terms: dict[Partition, Term], modulus: int | None
    ) -> tuple[int, dict[Partition, Term]]:
        """
        Return a sum in which every difference of two readings is a term of its own input.

        The sum is equal modulo a number; exactly equal if there is none.
        """
        linear = [term for term in terms.values() if self._is_of_reading(term)]
        if len(linear) < 2:
            return const, terms
        by_axis = {term.partition.scope[0]: term for term in linear}
        if len(by_axis) < len(linear):
            return const, terms  # Two terms of one reading have not been added up
        for axis, of in self._pairs.items():
            first, second = by_axis.get(of.first), by_axis.get(of.second)
            if first is None or second is None:
                continue
            parts = [self._affine(term, of, modulus) for term in (first, second)]
            if parts[0] is None or parts[1] is None or parts[0][0] != -parts[1][0]:
                continue
            kept = {p: term for p, term in terms.items() if term not in (first, second)}
            multiple = self._multiple(axis, parts[0][0])
            known = kept.get(multiple.partition)
            if known is not None:
                multiple = plus(known, multiple, exact=modulus is None)
            kept[multiple.partition] = multiple
            return self.folded(const + parts[0][1] + parts[1][1], kept, modulus)
        return const, terms

    def _is_of_reading(self, term: Term) -> bool:
        scope = term.partition.scope
        return term.slopes is not None and len(scope) == 1 and scope[0] in self.readings

    def _affine(self, term: Term, of: Difference, modulus: int | None) -> tuple[int, int] | None:
        """
        Return the slope and the constant of a term that is linear in the number of its reading.

        None if it is not, wherever it is defined.
        """
        half = of.span >> 1 if of.is_signed else of.span  # Numbers from here on are negative
        slopes, found = slopes_of(term), None
        for k, cell in enumerate(term.partition.cells):
            slope, value = int(slopes[k]), int(term.values[k])
            for low, high in cell[0][0][1]:
                consts = [value] * (low < half) + [value + slope * of.span] * (high >= half)
                for const in consts:
                    one = slope, const if modulus is None else const % modulus
                    if slope == 0 or found not in (None, one):
                        return None
                    found = one
        return found

    def _multiple(self, axis: int, slope: int) -> Term:
        """Return a multiple of a difference."""
        of = self._pairs[axis]
        cells = [(interval,) for interval in of.numbers]
        values = np.array([0, -slope * of.span**2], dtype=np.int64)
        slopes = np.array([slope, slope], dtype=np.int64)
        return Term(self._partitions.of_axis(axis, cells), values, slopes)
