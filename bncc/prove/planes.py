"""
Costs of classes bit by bit, and the search of the least one from the highest bit down.

Bit c of a word, its plane k, is bit k of the cost of class c: a function of all inputs. Such words
are found among those of a run by what the model says at some inputs, and are proved: the numbers
that they stand for are written as sums of functions of few inputs, whose bits must be theirs.

A comparison of words is a function of all classes at once, too large for a diagram over inputs. So
it is one over variables instead. Variable ``cost[c][k]`` is bit k of the cost of class c, and
``left[c][k]`` is 1 if no cost, without its lowest k bits, is less than that of class c:

    left[c][k] = left[c][k+1] and not cost[c][k] if that holds for some class, else left[c][k+1]

A word with the right side of this in its bits for every c is that of these variables.
"""

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import reduce
from itertools import chain, islice, product
from math import prod

import numpy as np

from bncc._types import IntArray
from bncc.prove.decision import Costs
from bncc.prove.diagrams import FALSE, TRUE
from bncc.prove.grids import components, largest_sum
from bncc.prove.regions import Numbers, Partition, Region
from bncc.prove.values import Exact, Term, UndecidedError, plus, times
from bncc.prove.words import Bits, Words

MOST_PLANES = 16
LEAST_PLANES = 2
"""Least number of bits by which the others are known."""
MOST_WHOLE = 8
"""Most choices of words for all bits that are tried."""
MOST_JOINED = 256
"""Most words for one bit that are put together of registers."""
N_SAMPLES = 100
_MOST_GRID = 1 << 13


class Planes:
    """The variables of a proof, once words with the costs of all classes are found."""

    def __init__(self, costs: Costs, algebra: Words) -> None:
        self._costs, self._algebra = costs, algebra
        self._diagrams = algebra.diagrams
        self._n_tried = 0
        self._costs_of: list[list[int]] = []  # By class and bit, the lowest first
        self._variable_of: dict[int, int] = {}  # By function of inputs
        self._folded: dict[Bits, Bits] = {}
        self._left: list[int] = []  # 1 for each class of least cost
        self._verified: dict[Region, bool] = {}
        self._sums: list[Exact] = []

    # Variables

    def lifted(self, bit: int, position: int) -> int:
        """Return a function of variables that equals one of inputs."""
        self._search()
        if bit not in self._variable_of:
            raise UndecidedError("bits", f"bit {position} of a word is none of a cost of a class")
        return self._variable_of[bit]

    def folded(self, bits: Bits) -> Bits:
        """Return bits with their own variables, if they are defined by those of others."""
        return self._folded.get(bits, bits)

    def known(self, bits: Bits, guard: int) -> Bits:
        """Return bits with their own variables, or as a number, if a guard implies these."""
        if len(self._costs_of) > self._algebra.register_bits:
            return bits  # Those of several registers may be equal where the guard holds
        diagrams = self._diagrams
        lifted = [self._variable_of.get(bit, bit) for bit in bits]
        for defined, own in self._folded.items():
            if all(
                x == y
                or not (diagrams.is_of_inputs(x) or diagrams.both(guard, diagrams.differ(x, y)))
                for x, y in zip(lifted, defined, strict=True)
            ):
                return own
        if not any(map(diagrams.is_of_inputs, lifted)):
            set_here = [diagrams.both(guard, bit) for bit in lifted]
            if all(bit in (FALSE, guard) for bit in set_here):
                return tuple(TRUE if bit else FALSE for bit in set_here)
        return bits

    def _search(self) -> None:
        """Search the bits of all costs among the words of the run so far."""
        words = list(self._algebra.words.values())
        if self._costs_of or len(words) == self._n_tried:
            return
        self._n_tried = len(words)
        for found, is_whole in _Search(self._costs, self._algebra, reversed(words)).planes():
            bits_of = list(zip(*found, strict=True))
            base = min(
                map(self._algebra.extended, self._costs.points),
                key=lambda one: max(self._number(own, one) for own in bits_of),
            )
            try:
                sums = [self._sum_of(own, base, is_whole=is_whole) for own in bits_of]
            except UndecidedError:
                continue
            n_planes = max(len(bits) for bits, _ in sums)
            self._costs_of = [[*bits, *[FALSE] * (n_planes - len(bits))] for bits, _ in sums]
            self._sums = [total for _, total in sums]
            self._define()
            return

    def _define(self) -> None:
        """Make the variables, those of the highest bits first."""
        n, diagrams = len(self._costs_of), self._diagrams
        n_planes = len(self._costs_of[0])
        left = [TRUE] * n
        # Also as functions of inputs: the code begins with any of the bits above which none is set.
        known: list[list[int]] = []
        is_known = True
        for k in reversed(range(n_planes)):
            place = 2 * n * (n_planes - 1 - k)
            planes = [own[k] for own in self._costs_of]
            for c, plane in enumerate(planes):
                if plane > TRUE and plane not in self._variable_of:
                    self._name(plane, diagrams.variable(place + 2 * c + 1))
            bits = [self._variable_of.get(plane, plane) for plane in planes]
            clear = self._without(left, bits)
            some = reduce(diagrams.either, clear)
            after = [diagrams.chosen(some, a, b) for a, b in zip(clear, left, strict=True)]
            if is_known:
                known += [[TRUE] * n] * (left == [TRUE] * n)
                known = [self._without(own, planes) for own in known]
                self._name_all(known, clear)
                is_known = some == TRUE
            left = [
                one if one <= TRUE else diagrams.variable(place + 2 * n + 2 * c)
                for c, one in enumerate(after)
            ]
            for part in self._parts_of_words(n):
                rest = (FALSE,) * (32 - len(after[part]))
                if left[part] != after[part]:
                    self._folded[(*after[part], *rest)] = (*left[part], *rest)
            if is_known:
                self._name_all(known, left)
        self._left = left

    def _parts_of_words(self, n: int) -> list[slice]:
        """Return the classes whose bits are in one register."""
        width = self._algebra.register_bits
        return [slice(k, min(k + width, n)) for k in range(0, n, width)]

    def _without(self, left: Sequence[int], planes: Sequence[int]) -> list[int]:
        """Return functions that are 1 where those of `left` are and those of `planes` are not."""
        both, no = self._diagrams.both, self._diagrams.no
        return [both(a, no(b)) for a, b in zip(left, planes, strict=True)]

    def _name_all(self, known: Iterable[Sequence[int]], bits: Sequence[int]) -> None:
        """Note that functions of variables equal several of inputs."""
        for functions in known:
            for function, bit in zip(functions, bits, strict=True):
                self._name(function, bit)

    def _name(self, function: int, bit: int) -> None:
        """Note that a function of variables equals one of inputs."""
        if function > TRUE:
            self._variable_of[function] = bit
            self._variable_of[self._diagrams.no(function)] = self._diagrams.no(bit)

    # Decision

    def check(self, guard: int, result: Bits, region: Region) -> None:
        """Verify that a result is the class of least cost wherever a guard holds in a region."""
        self._search()
        if not self._left:
            raise UndecidedError("bits", "the class that is returned depends on bits of no cost")
        diagrams = self._diagrams
        # Some class is always left.
        inside = diagrams.both(guard, reduce(diagrams.either, self._left))
        lifted = [self._algebra.lifted(bit, k) for k, bit in enumerate(result)]
        is_class, before = FALSE, FALSE
        for c, left in enumerate(self._left):
            same = [bit if c >> k & 1 else diagrams.no(bit) for k, bit in enumerate(lifted)]
            answered = reduce(diagrams.both, same, inside)
            wins = diagrams.both(left, diagrams.no(before))
            before = diagrams.either(before, left)
            is_class = diagrams.either(is_class, answered)
            if diagrams.both(answered, diagrams.no(wins)) != FALSE:
                raise UndecidedError(
                    "sums-differ",
                    f"the code returns class {c} where the bits of the costs do not imply it",
                )
        if diagrams.both(inside, diagrams.no(is_class)) != FALSE:
            raise UndecidedError("wrong-class", "the code returns no class for some inputs")
        if region not in self._verified:
            self._verified[region] = self._are_costs(region)
        if not self._verified[region]:
            raise UndecidedError("sums-differ", "the bits of the code are not those of the costs")

    def _are_costs(self, region: Region) -> bool:
        """Return whether the numbers of all classes differ by the costs of the model."""
        first = self._sums[0]
        return all(
            self._costs.equals(_minus(self._algebra, own, first), c, 0, 0, region)
            for c, own in enumerate(self._sums)
            if c
        )

    def _sum_of(
        self, planes: Sequence[int], base: Sequence[int], *, is_whole: bool
    ) -> tuple[list[int], Exact]:
        """
        Return the number of some bits as a sum of functions of few inputs, with all its bits.

        Bits that no word was found for, since few inputs set them or the code makes them later, are
        known from the others: the functions are small, so the lowest bits determine them.
        """
        diagrams, starts = self._diagrams, self._diagrams.starts(planes)
        parts: dict[tuple[int, ...], IntArray] = {}
        for scope in self._scopes(starts):
            parts |= self._parts(planes, scope, starts, base)
        const, size = int(parts.pop(())), 1 << len(planes)
        terms = {}
        for scope, part in parts.items():
            part = (part + size // 2) % size - size // 2
            const += int(part.min())
            if part.any():
                terms[scope] = part - part.min()
        if not is_whole:
            const %= size
        most = abs(const) + sum(int(part.max()) for part in terms.values())
        # All sums are less than 2^(n_bits - 1) in size: the highest bit is the sign.
        n_bits = max(len(planes), most.bit_length()) + 1
        total = diagrams.of_sum(const, terms, starts, n_bits)
        exact = Exact(const, self._terms(terms, starts))
        if self._algebra.rows:
            self._name_unset(total, exact, len(planes))
        if n_bits > 32 or list(total[: len(planes)]) != list(planes) or total[-1] != FALSE:
            raise UndecidedError("sums-differ", "the bits of a cost are not those of a sum")
        used = [k for k, bit in enumerate(total) if bit != FALSE]
        return list(total[: max(used, default=0) + 1]), exact

    def _name_unset(self, total: Sequence[int], exact: Exact, n: int) -> None:
        """Note which bits of a sum, all but its lowest n, are set by rows but by no input."""
        full = self._algebra.full
        parts = [(term.partition, term.values) for term in exact.terms.values()]
        most = exact.const + largest_sum(parts, ((),), full)
        least = exact.const - largest_sum([(p, -values) for p, values in parts], ((),), full)
        if least >= 0:
            for bit in total[max(n, most.bit_length()) :]:
                self._name(bit, FALSE)

    def _scopes(self, starts: Mapping[int, Sequence[int]]) -> Iterator[tuple[int, ...]]:
        """
        Yield inputs that a function in the sum may depend on, as a table of the model or the code.

        The code may have added tables up, and what all classes of a row have in common is free.
        """
        partitions = [p for p, _ in self._costs.tables] + self._algebra.tabulated
        found = {tuple(axis for axis in p.scope if axis in starts) for p in partitions}
        for scope in sorted({(), *((axis,) for axis in starts), *found}, key=len):
            if prod(len(starts[axis]) for axis in scope) <= _MOST_GRID:
                yield scope

    def _number(self, planes: Sequence[int], point: Sequence[int]) -> int:
        return sum(self._diagrams.at(bit, point) << k for k, bit in enumerate(planes))

    def _parts(
        self,
        planes: Sequence[int],
        scope: tuple[int, ...],
        starts: Mapping[int, Sequence[int]],
        base: Sequence[int],
    ) -> dict[tuple[int, ...], IntArray]:
        """Return the number of some bits where all but a few inputs are those of a point."""
        point, numbers = list(base), []
        for chosen in product(*(starts[axis] for axis in scope)):
            for axis, x in zip(scope, chosen, strict=True):
                point[axis] = x
            numbers.append(self._number(planes, point))
        grid = np.array(numbers, dtype=np.int64).reshape([len(starts[axis]) for axis in scope])
        # Components vanish at the first number of an axis, which is that of the point here.
        at = [bisect_right(starts[axis], base[axis]) - 1 for axis in scope]
        for k, first in enumerate(at):
            grid = np.roll(grid, -first, k)
        found: dict[tuple[int, ...], IntArray] = {}
        for own, part in components(scope, grid):
            for k, axis in enumerate(own):
                part = np.roll(part, at[scope.index(axis)], k)
            found[own] = part
        return found

    def _terms(
        self,
        terms: Mapping[tuple[int, ...], IntArray],
        starts: Mapping[int, Sequence[int]],
    ) -> dict[Partition, Term]:
        partitions, full, rows = self._algebra.partitions, self._algebra.full, self._algebra.rows
        found: dict[Partition, Term] = {}
        for scope, part in terms.items():
            if scope[0] >= len(full):
                partition = rows[scope[0] - len(full)]
                at = [bisect_right(starts[scope[0]], k) - 1 for k in range(len(partition.cells))]
                term = Term(partition, part[at])
            else:
                cells = product(*(_intervals(starts[axis], full[axis]) for axis in scope))
                partition = partitions.of((tuple(zip(scope, cell, strict=True)),) for cell in cells)
                term = Term(partition, part.ravel())
            # The rows of a table may be the cells of its inputs.
            own = found.get(partition)
            found[partition] = term if own is None else plus(own, term, exact=True)
        return found


class _Search:
    """Search of words whose bits are those of all costs, by the model's at some inputs."""

    def __init__(self, costs: Costs, algebra: Words, words: Iterable[Bits]) -> None:
        n = costs.of.n_classes
        self._diagrams = algebra.diagrams
        drawn = costs.drawn(np.random.default_rng(0), N_SAMPLES)
        points = [*drawn, *_extremes(costs)]
        self._points = list(map(algebra.extended, points))
        totals = costs.totals(points)
        self._wanted = totals - totals[:, :1]
        self._n, self._width = n, min(n, algebra.register_bits)
        found = (word[: self._width] for word in words)
        self._words = list(dict.fromkeys(w for w in found if not any(map(self._is_other, w))))
        self._rows: dict[tuple[Bits, int], IntArray] = {}
        self._known: dict[bytes, list[tuple[Bits, IntArray]]] = {}

    def _is_other(self, bit: int) -> bool:
        return self._diagrams.is_of_variables(bit)

    def planes(self) -> Iterator[tuple[list[Bits], bool]]:
        """
        Yield one word for each bit, the lowest first, and whether these are all bits.

        Several words may have the same bits at all points. If some bits are in no word yet, those
        below them are yielded. The last one may be inverted.
        """
        n_whole = 0
        for most in range(MOST_PLANES + 1):
            found: list[list[Bits]] = []
            for path, is_whole in self._rest(self._wanted, [], most):
                if not is_whole:
                    found.append(path)
                elif len(path) == most:  # The fewest bits come first
                    yield path, True
                    n_whole += 1
                    if n_whole == MOST_WHOLE:
                        return
        if n_whole:
            return
        longest = max(map(len, found), default=0)
        yield from ((path, False) for path in found if len(path) == longest >= LEAST_PLANES)

    def _rest(
        self, wanted: IntArray, before: list[Bits], most: int
    ) -> Iterator[tuple[list[Bits], bool]]:
        """Yield words, `most` at most, of which the weighted sum differs as is wanted."""
        if not wanted.any():
            yield before, True
            return
        is_last = True
        for word, bits in self._suitable(wanted & 1) if len(before) < most else ():
            if word in before:
                continue
            inverted = tuple(map(self._diagrams.no, word))
            if inverted not in before:
                is_last = False
                yield from self._rest((wanted - bits) >> 1, [*before, word], most)
                yield from self._rest((wanted + bits) >> 1, [*before, inverted], most)
        if is_last:
            yield before, False

    def _suitable(self, parity: IntArray) -> list[tuple[Bits, IntArray]]:
        """Return words whose bits are odd as is wanted, with these bits less the first one."""
        key = parity.tobytes()
        if key not in self._known:
            every = ((word, self._fitting(word, parity)) for word in self._joined(parity))
            self._known[key] = [(word, bits) for word, bits in every if bits is not None]
        return self._known[key]

    def _joined(self, wanted: IntArray) -> Iterable[Bits]:
        """Return words for one bit of all costs, put together of those of some classes each."""
        if self._width == self._n:
            return self._words
        parts = []
        for first in range(0, self._n, self._width):
            own = wanted[:, first : first + self._width]
            parity = own ^ own[:, :1]
            some = dict.fromkeys(word[: own.shape[1]] for word in self._words)
            parts.append([word for word in some if self._fitting(word, parity) is not None])
        return (tuple(chain(*some)) for some in islice(product(*parts), MOST_JOINED))

    def _fitting(self, word: Bits, parity: IntArray) -> IntArray | None:
        """Return by how much bits of a word exceed its first one, if that is odd as is wanted."""
        rows = []
        for k, odd in enumerate(parity):
            row = self._row(word, k)
            rows.append(row - row[0])
            if (rows[-1] & 1 != odd).any():
                return None
        return np.array(rows)

    def _row(self, word: Bits, k: int) -> IntArray:
        if (word, k) not in self._rows:
            row = [self._diagrams.at(bit, self._points[k]) for bit in word]
            self._rows[word, k] = np.array(row, dtype=np.int64)
        return self._rows[word, k]


def _extremes(costs: Costs) -> Iterator[tuple[int, ...]]:
    """Yield inputs where the cost of each class is much more than the least one, or hardly more."""
    for c, sign in product(range(costs.of.n_classes), (1, -1)):
        point = list(costs.points[0])
        for partition, own in costs.tables:
            excess = sign * (own[:, c] - own.min(axis=1))
            for axis, allowed in partition.cells[int(excess.argmax())][0]:
                point[axis] = allowed[0][0]
        yield tuple(point)


def _minus(algebra: Words, a: Exact, b: Exact) -> Exact:
    """Return the difference of two sums."""
    negative = [times(term, -1, exact=True) for term in b.terms.values()]
    return algebra.exact_sum(a.const - b.const, [*a.terms.values(), *negative])


def _intervals(starts: Sequence[int], full: Numbers) -> list[Numbers]:
    """Return the intervals of an input that begin at some numbers."""
    ends = (*starts[1:], max(full[-1][1], starts[-1]) + 1)
    return [((first, end - 1),) for first, end in zip(starts, ends, strict=True)]
