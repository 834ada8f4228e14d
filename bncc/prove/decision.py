"""
Proof that what a run returns is the model's answer.

Two sums that the code compares must be, up to a power of two, the costs of two classes of the
model: their difference is the same function of the inputs. Facts about the order of costs on a
path, with bounds on costs where a path covers few inputs, prove which class costs least.
"""

from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import dataclass

import numpy as np

from bncc._types import IntArray
from bncc.prove.algebra import Algebra
from bncc.prove.gates import OPEN, GateFacts, answered, decided, first
from bncc.prove.grids import MOST_GRID, grid_of, grid_size, is_zero, largest_sum, starts_of
from bncc.prove.regions import Box, Partition, Region, cell_of, contains, meets
from bncc.prove.specification import Specification
from bncc.prove.state import Fact
from bncc.prove.values import Exact, Term, UndecidedError, Value, centered

N_SAMPLES = 24
SHIFTS = range(32)
LANES = (8, 16, 24)
"""Positions of lanes that compilers compare with what is below them."""


@dataclass(frozen=True)
class Mismatch:
    """Two costs of the model that a comparison should be about, and is not."""

    first: int
    second: int
    difference: Exact
    n_tables: int  # Tables whose costs these are


@dataclass(frozen=True)
class Pair:
    """Two costs that a sum may compare: it is their difference plus a number, times 2^shift."""

    first: int
    second: int
    shift: int
    n_tables: int
    more: int = 0


class Costs:
    """The costs of the model as sums over an algebra's partitions."""

    def __init__(self, of: Specification, algebra: Algebra, seed: int = 0) -> None:
        self.of = of
        self._algebra = algebra
        self._full = tuple(one.numbers for one in of.inputs)
        self.tables: list[tuple[Partition, IntArray]] = []
        for table in of.tables:
            partition = algebra.partitions.of(region for region, _ in table.rows)
            self.tables.append((partition, table.costs[[row for _, row in table.rows]]))
        rng = np.random.default_rng(seed)
        self.points = self.drawn(rng, N_SAMPLES)
        self._at: dict[Partition, IntArray] = {}
        gate = of.gate
        self._gate = None if gate is None else GateFacts(of.n_classes, gate.margin)
        # Sums that comparisons may be about, and what they add to their difference.
        self._sums: dict[int, tuple[int, ...]] = {len(of.tables): (0,)}
        if gate is not None:
            self._sums[gate.tables] = (0, gate.margin, -gate.margin)
        self._of_points = {n: self.totals(self.points, n) for n in self._sums}
        self._named: dict[tuple[object, ...], tuple[Fact, ...]] = {}
        self._scales: dict[tuple[object, ...], tuple[int, int]] = {}
        self.mismatches: list[Mismatch] = []

    @property
    def partitions(self) -> Iterable[Partition]:
        """The cells between which the code or the model distinguishes."""
        return self._algebra.partitions

    def drawn(self, rng: np.random.Generator, n: int) -> list[tuple[int, ...]]:
        """Draw inputs that the entry decides."""
        return [self._draw(rng) for _ in range(n)]

    def _draw(self, rng: np.random.Generator) -> tuple[int, ...]:
        """Draw an input that the entry decides, each cell of a table alike."""
        point = [self._number(allowed, rng) for allowed in self._full]
        valid = dict(self.of.valid[0])
        for axis, allowed in valid.items():
            point[axis] = self._number(allowed, rng)
        for k in rng.permutation(len(self.tables)):
            cells = self.tables[k][0].cells
            for box in cells[int(rng.integers(len(cells)))]:
                for axis, allowed in box:
                    if rng.random() < 0.5:
                        point[axis] = self._number(allowed, rng)
        return tuple(point)

    @staticmethod
    def _number(allowed: Sequence[tuple[int, int]], rng: np.random.Generator) -> int:
        low, high = allowed[int(rng.integers(len(allowed)))]
        return int(rng.integers(low, high + 1))

    def totals(self, points: Sequence[tuple[int, ...]], n_tables: int | None = None) -> IntArray:
        """Return the costs of all classes by the first tables, (n_points, n_classes)."""
        found = np.tile(self.of.prior, (len(points), 1))
        for partition, costs in self.tables[:n_tables]:
            found += costs[[cell_of(partition, point) for point in points]]
        return found

    # Comparisons of sums

    def names(self, total: Exact, region: Region) -> tuple[Fact, ...]:
        """
        Return facts about pairs of costs, each true exactly where a sum is negative.

        The sum must be the difference of these costs up to a power of two. Two pairs of classes may
        have the same difference. With a gate, costs may be those by its first tables, one of them
        with the margin.
        """
        key = total.key(), region
        if key not in self._named:
            self._named[key] = self._found(total, region)
        return self._named[key]

    def _facts(self, pair: Pair, is_strict: bool) -> Iterator[Fact]:
        if pair.n_tables == len(self.tables):
            yield pair.first, pair.second, is_strict
            return
        assert self.of.gate is not None
        margin = self.of.gate.margin
        if pair.more <= 0:
            yield first(pair.first), first(pair.second, -pair.more), is_strict
        if pair.more >= 0:
            more = pair.more or margin
            yield first(pair.first, more), first(pair.second, more - pair.more), is_strict

    def scale(self, total: Exact, region: Region) -> tuple[int, int]:
        """
        Return n and k for a sum that names two costs.

        Without its lowest n bits, it is 2^k times their difference.
        """
        return self._scales[total.key(), region]

    def _found(self, total: Exact, region: Region) -> tuple[Fact, ...]:
        for n in dict.fromkeys((0, _trailing_ones(total.const), *LANES)):
            one = self._upper(total, n, region) if n else total
            if one is None:
                continue
            for is_strict in (True, False):
                # Negative is at most -1.
                pairs = self._search(Exact(one.const + (not is_strict), one.terms), region)
                if pairs:
                    self._scales[total.key(), region] = n, pairs[0].shift
                    return tuple(fact for pair in pairs for fact in self._facts(pair, is_strict))
        self._note(total, region)
        return ()

    def _upper(self, total: Exact, k: int, region: Region) -> Exact | None:
        """
        Return a sum without its lowest k bits, which is negative for the same inputs.

        None if these bits carry for some inputs. Lanes above others are compared in place.
        """
        algebra = self._algebra
        algebra.region = region
        if any(term.slopes is not None for term in total.terms.values()):
            return None
        size = 1 << k
        least = most = total.const % size
        upper = {}
        for partition, term in total.terms.items():
            low = centered(term.values % size, size)
            upper[partition] = Term(partition, (term.values - low) >> k)
            first, last = algebra.bounds(Term(partition, low))
            least, most = least + first, most + last
        if least >> k != most >> k:
            return None
        return Exact((total.const >> k) + (least >> k), upper)

    def _search(self, total: Exact, region: Region) -> list[Pair]:
        return [
            pair
            for pair in self._candidates(total, self._inside(region))
            if self._is_pair(total, pair, region)
        ]

    def _is_pair(self, total: Exact, pair: Pair, region: Region) -> bool:
        self._algebra.partitions.check_time()
        less = Exact(total.const - (pair.more << pair.shift), total.terms)
        return self.equals(less, pair.first, pair.second, pair.shift, region, None, pair.n_tables)

    def _inside(self, region: Region) -> list[int]:
        return [k for k, point in enumerate(self.points) if contains(region, point)]

    def _note(self, total: Exact, region: Region) -> None:
        """Note the classes that a comparison seems to be about."""
        inside = self._inside(region)
        pair = next(iter(self._candidates(total, inside)), None) or self._nearest(total, inside)
        if pair is not None:
            self.mismatches.append(Mismatch(pair.first, pair.second, total, pair.n_tables))

    def _evaluated(self, total: Exact, inside: Sequence[int]) -> IntArray:
        found = np.full(len(inside), total.const, dtype=np.int64)
        for partition, term in total.terms.items():
            cells = self._cells_at(partition)[list(inside)]
            found += term.values[cells]
            if term.slopes is not None:
                x = np.array([self.points[k][partition.scope[0]] for k in inside], dtype=np.int64)
                found += term.slopes[cells] * x
        return found

    def _cells_at(self, partition: Partition) -> IntArray:
        """Return the cell of each sample; the first one where there is none."""
        if partition not in self._at:
            cells = [cell_of(partition, point) for point in self.points]
            self._at[partition] = np.array(cells, dtype=np.int64)
        return self._at[partition]

    def _differences(self, inside: Sequence[int]) -> Iterator[tuple[IntArray, int, int]]:
        """Yield the differences of all pairs, (n_inside, n_classes, n_classes), plus a number."""
        for n, numbers in self._sums.items():
            costs = self._of_points[n][list(inside)]
            for more in numbers:
                yield costs[:, :, None] - costs[:, None, :] + more, n, more

    def _candidates(self, total: Exact, inside: Sequence[int]) -> Iterator[Pair]:
        values = self._evaluated(total, inside)
        size = int(np.abs(values).sum())
        for wanted, n, more in self._differences(inside):
            sizes = np.abs(wanted).sum(axis=0)
            for shift in SHIFTS:
                for a, b in np.argwhere(sizes << shift == size):
                    if a != b and (values == wanted[:, a, b] << shift).all():
                        yield Pair(int(a), int(b), shift, n, more)

    def _nearest(self, total: Exact, inside: Sequence[int]) -> Pair | None:
        """Return the pair that most samples agree with, at least half of them."""
        values = self._evaluated(total, inside)
        best, found = 0.5, None
        if not len(inside):
            return None
        for wanted, n, more in self._differences(inside):
            for shift in (0, 8, 16, 24):
                shares = (values[:, None, None] == wanted << shift).mean(axis=0)
                np.fill_diagonal(shares, 0)
                a, b = divmod(int(shares.argmax()), self.of.n_classes)
                if shares[a, b] > best:
                    best, found = float(shares[a, b]), Pair(a, b, shift, n, more)
        return found

    def equals(
        self,
        total: Exact,
        first: int,
        second: int,
        shift: int,
        region: Region,
        modulus: int | None = None,
        n_tables: int | None = None,
    ) -> bool:
        """
        Return whether a sum is the difference of two costs for every input of a region.

        Costs are those by the first tables, all without a number.
        """
        terms = [Term(p, t.values, t.slopes) for p, t in total.terms.items()]
        prior = self.of.prior
        const = total.const - (int(prior[first] - prior[second]) << shift)
        for partition, costs in self.tables[:n_tables]:
            values = costs[:, second] - costs[:, first]
            if int(np.abs(values).max(initial=0)) << shift >= 1 << 62:
                return False  # A multiple of 2^64 would be zero
            values = values << shift
            # A feature on which no decision depends may have a state out of range here.
            if values.any():
                terms.append(Term(partition, values))
        return self.vanishes(const, terms, region, modulus)

    def is_score(
        self,
        value: Value,
        of: int,
        winner: int,
        bits: int,
        region: Region,
        n_tables: int | None = None,
    ) -> bool:
        """Return whether the lowest bits of a value are the cost of a class less the winner's."""
        most = int(self.of.prior[of] - self.of.prior[winner]) + sum(
            int((costs[:, of] - costs[:, winner]).max()) for _, costs in self.tables[:n_tables]
        )
        if value.base is not None or most >> bits:
            return False
        total = Exact(value.const, value.terms)
        return self.equals(total, of, winner, 0, region, 1 << bits, n_tables)

    def vanishes(
        self, const: int, terms: Iterable[Term], region: Region, modulus: int | None = None
    ) -> bool:
        """Return whether a sum is zero, maybe modulo a number, for every input of a region."""
        terms = list(terms)
        if self._vanishes(const, terms, region, modulus):
            return True
        return len(region) > 1 and all(
            self._vanishes(const, terms, (box,), modulus) for box in region
        )

    def _vanishes(
        self, const: int, terms: Sequence[Term], region: Region, modulus: int | None
    ) -> bool:
        algebra = self._algebra
        algebra.region = region
        const, left = self._paired(const, terms, modulus)
        starts = starts_of([term.partition for term in left], region, self._full)
        grids = ((t.partition.scope, grid_of(t.partition, t.values, starts)) for t in left)
        return is_zero(const, grids, modulus)

    def _paired(
        self, const: int, terms: Iterable[Term], modulus: int | None
    ) -> tuple[int, list[Term]]:
        """Drop terms that are constant in the current region, also as sums over the same inputs."""
        algebra = self._algebra
        of_scope: dict[tuple[int, ...], list[Term]] = {}
        largest = 0
        for term in terms:
            term = algebra.unit(term) if term.slopes is not None else term
            largest += int(np.abs(term.values).max(initial=0))
            if largest >= 1 << 62:  # A multiple of 2^64 would be zero
                raise UndecidedError("bits", "a sum of costs has too many bits")
            if modulus is not None:
                term = Term(term.partition, term.values % modulus)
            inside = term.values[algebra.active(term.partition)]
            if (inside == inside[0]).all():
                const += int(inside[0])
                continue
            of_scope.setdefault(term.partition.scope, []).append(term)
        left: list[Term] = []
        large: list[Term] = []
        for scope, group in of_scope.items():
            starts = starts_of([term.partition for term in group], algebra.region, self._full)
            if grid_size(scope, starts) <= MOST_GRID >> 4:
                left += group
                continue
            found, rest = self._cancelled(group, modulus)
            const += found
            large += rest
        if not large and self._have_grids(left):
            return const, left
        # Code may depend on fewer inputs than the model's tree, where a comparison is redundant.
        found, rest = self._cancelled([*left, *large], modulus)
        const += found
        if self._have_grids(rest):
            return const, rest
        total = _modulo(algebra.inside(algebra.joint(rest, "a sum of trees")), modulus)
        if (total.values != total.values[0]).any():
            raise UndecidedError("sums-differ", "a tree differs from the model's")
        return const + int(total.values[0]), []

    def _have_grids(self, terms: Sequence[Term]) -> bool:
        """Return whether grids of all edges are small enough for the functions."""
        starts = starts_of([term.partition for term in terms], self._algebra.region, self._full)
        return all(grid_size(term.partition.scope, starts) <= MOST_GRID for term in terms)

    def _cancelled(self, group: Sequence[Term], modulus: int | None) -> tuple[int, list[Term]]:
        """Cancel pairs of terms whose sum is constant."""
        algebra = self._algebra
        const, rest = 0, []
        waiting = [algebra.inside(term) for term in group]
        while waiting:
            term = waiting.pop()
            if (term.values == term.values[0]).all():
                const += int(term.values[0])
                continue
            for k, other in enumerate(waiting):
                try:
                    total = algebra.inside(algebra.joint([term, other], "a sum of two trees"))
                except UndecidedError:
                    continue  # Two trees of other inputs
                total = _modulo(total, modulus)
                if (total.values == total.values[0]).all():
                    const += int(total.values[0])
                    del waiting[k]
                    break
            else:
                rest.append(term)
        return const, rest

    # Gates

    @property
    def always(self) -> frozenset[Fact]:
        """Facts that hold for every input, if there is a gate: costs in one order alone too."""
        gate = self.of.gate
        if self._gate is None or gate is None:
            return frozenset()
        found = set(self._gate.always())
        for n, numbers in self._sums.items():
            most = self.of.prior[:, None] - self.of.prior[None, :]
            for _, costs in self.tables[:n]:
                most = most + (costs[:, :, None] - costs[:, None, :]).max(axis=0)
            for more in numbers:
                for a, b in np.argwhere(most + more <= 0):
                    if a != b:
                        pair = Pair(int(a), int(b), 0, n, more)
                        found.update(self._facts(pair, False))
                        if most[a, b] + more < 0:
                            found.update(self._facts(pair, True))
        return frozenset(found)

    def implied(self, facts: frozenset[Fact]) -> frozenset[Fact]:
        """Return facts with what follows from them about a gate."""
        return facts if self._gate is None else self._gate.implied(facts)

    def is_answer(self, winner: int, facts: Set[Fact], region: Region) -> bool:
        """Return whether the model answers with a class in a region."""
        if self._gate is None:
            return self.is_least(winner, facts, region)
        return answered(winner) in facts or all(
            self._is_decided(winner, facts, box)
            or (
                all(self._is_near(c, facts, box) for c in range(self.of.n_classes) if c != winner)
                and self.is_least(winner, facts, (box,))
            )
            for box in region
        )

    def n_summed(self, winner: int, facts: Set[Fact], region: Region) -> int | None:
        """Return the number of tables that decide, for a class; None if it is not known."""
        gate = self.of.gate
        if gate is None:
            return len(self.tables)
        if all(self._is_decided(winner, facts, box) for box in region):
            return gate.tables
        every = range(self.of.n_classes)
        if OPEN in facts or all(self._is_near(c, facts, box) for c in every for box in region):
            return len(self.tables)
        return None

    def _is_decided(self, winner: int, facts: Set[Fact], box: Box) -> bool:
        """Return whether the tables before a gate decide, for a class."""
        assert self.of.gate is not None
        assert self._gate is not None
        n, margin = self.of.gate.tables, self.of.gate.margin
        return decided(winner) in facts or all(
            self._gate.is_beyond(facts, other, winner)
            or self._exceeds(other, winner, box, margin, n)
            for other in range(self.of.n_classes)
            if other != winner
        )

    def _is_near(self, c: int, facts: Set[Fact], box: Box) -> bool:
        """Return whether the tables before a gate never decide for a class."""
        assert self.of.gate is not None
        assert self._gate is not None
        n, margin = self.of.gate.tables, self.of.gate.margin
        others = [other for other in range(self.of.n_classes) if other != c]
        return (
            OPEN in facts
            or any(self._gate.is_within(facts, other, c) for other in others)
            or any(self._exceeds(c, other, box, 1 - margin, n) for other in others)
        )

    # Ends

    def is_least(self, winner: int, facts: Iterable[Fact], region: Region) -> bool:
        """Return whether a class costs least, and least of all before it, in a region."""
        known = set(facts)
        for other in range(self.of.n_classes):
            if other == winner:
                continue
            is_strict = other < winner
            if (winner, other, True) in known or (
                not is_strict and (winner, other, False) in known
            ):
                continue
            if not all(self._exceeds(other, winner, box, int(is_strict)) for box in region):
                return False
        return True

    def _exceeds(
        self, other: int, winner: int, box: Box, least: int, n_tables: int | None = None
    ) -> bool:
        """Return whether the cost of a class is at least some more than another's in a box."""
        const = int(self.of.prior[other] - self.of.prior[winner])
        bound, terms = const, []
        for partition, costs in self.tables[:n_tables]:
            active = [meets(cell, (box,)) for cell in partition.cells]
            if not any(active):
                continue
            differences = costs[:, winner] - costs[:, other]
            most = differences[active].max()
            bound -= int(most)
            terms.append((partition, np.where(active, differences, most)))
        # The sum of the tables' extremes first, which is a bound that takes no account of inputs
        # that tables share.
        return bound >= least or const - largest_sum(terms, (box,), self._full) >= least


def _trailing_ones(number: int) -> int:
    """Return where the lane is that a compiler compares by filling up what is below it."""
    return (number ^ number + 1).bit_length() - 1


def _modulo(term: Term, modulus: int | None) -> Term:
    return term if modulus is None else Term(term.partition, term.values % modulus)
