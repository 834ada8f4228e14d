"""
Inputs that are worth replaying: borders of cells, extremes, ties of the model, invalid states.

All points are drawn by a seed. A difference of two readings is an axis of cells but not of points:
two readings that have it stand for it.
"""

from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from bncc._types import BoolArray, IntArray
from bncc.discretize.feature import Feature
from bncc.discretize.readings import probe_values
from bncc.model.model import Model
from bncc.model.reference import costs
from bncc.prove.decision import Mismatch
from bncc.prove.encoding import Encoding
from bncc.prove.grids import evaluated
from bncc.prove.regions import (
    Box,
    Numbers,
    Partition,
    Region,
    breakpoints,
    common,
    is_in,
    padded,
)
from bncc.prove.specification import Entry, Specification, reading_sets
from bncc.prove.values import Exact, Term, Value

_SWEEPS = 3
_CLIMBS = 5
_MOST_EDGES = 256
_MOST_CELLS = 400
_NANS = (0x7F80_0001, 0x7FBF_FFFF, 0x7FC0_0000, 0x7FFF_FFFF, 0xFF80_0001, 0xFFC0_0000, 0xFFFF_FFFF)
_DRAWS = 6
"""Number of readings that a step of a walk tries."""


class Points(Encoding):
    """Inputs of one entry point, and what the model says about them."""

    def __init__(
        self,
        model: Model,
        entry: Entry,
        of: Specification,
        *,
        partitions: Iterable[Partition] = (),
        packed: bool = False,
        seed: int = 0,
    ) -> None:
        super().__init__(model, entry, of, packed=packed)
        self._rng = np.random.default_rng(seed)
        if self._is_raw:
            self._sets = [
                [common(own, one.numbers) for own in reading_sets(f, one.size)]
                for f, one in zip(model.features, of.inputs, strict=True)
            ]
        else:
            self._sets = [[((s, s),) for s in range(n)] for n in model.n_states]
        self._states = [
            np.array([s for s, allowed in enumerate(sets) if allowed]) for sets in self._sets
        ]
        self._intervals = [padded(sets) for sets in self._sets]
        self._allowed = [one.numbers for one in of.inputs]
        self._probes = [self._probes_of(axis, partitions) for axis in range(len(of.inputs))]
        self._drawn = [self._to_draw(axis) for axis in range(self.n_axes)]
        # Tables by feature that they read, so that a step of a walk adds up few of them.
        self._tables: list[list[int]] = [[] for _ in of.inputs]
        for t, lookup in enumerate(model.lookups):
            for axis in lookup.read:
                self._tables[axis].append(t)
        self._costs = [np.asarray(table, dtype=np.int64) for table in model.tables]
        # Numbers of tables whose sums decide: with a gate, those before it too.
        self._sums = [len(model.tables)]
        if of.gate is not None:
            self._sums.append(of.gate.tables)

    # What the model says

    def costs(self, X: IntArray, n_tables: int) -> IntArray:
        """Return the sum of the first tables, whether they decide or not, (n, n_classes)."""
        if self.of.gate is None:
            return costs(self.model, X)
        total = np.tile(self.of.prior, (len(X), 1))
        for lookup, table in zip(self.model.lookups[:n_tables], self._costs, strict=False):
            total += table[lookup.rows(X)]
        return total

    # Borders and random numbers

    def _probes_of(self, axis: int, partitions: Iterable[Partition]) -> IntArray:
        """Return numbers of one input that are worth trying: the borders of all cells."""
        cells = [cell for table in self.of.tables for cell, _ in table.rows]
        edges = set(breakpoints(cells, axis))
        edges |= {edge for n in self._sets[axis] for low, high in n for edge in (low, high + 1)}
        own: set[int] = set()
        for partition in partitions:
            if partition.scope == (axis,):
                own |= set(breakpoints(partition.cells, axis))
        edges |= set(self._rng.permutation(sorted(own))[:_MOST_EDGES].tolist())
        top = 1 << 8 * self.of.inputs[axis].size
        edges |= {0, top >> 1, top}
        found = {edge + k for edge in edges for k in (-1, 0, 1)}
        if self._is_raw:
            found |= set(_bits_of(self.model.features[axis]))
        allowed = self._allowed[axis]
        return np.array([x for x in sorted(found) if is_in(allowed, x)], dtype=np.int64)

    def _number(self, allowed: Numbers) -> int:
        """Draw a number of a set, its borders often."""
        rng = self._rng
        low, high = allowed[int(rng.integers(len(allowed)))]
        if rng.random() < 0.5:
            return int(rng.choice([low, high]))
        return int(rng.integers(low, high + 1))

    def _of_states(self, X: IntArray) -> IntArray:
        """Draw a point for each row of states, borders of their readings often."""
        rng = self._rng
        found = np.empty((len(X), self.n_axes), dtype=np.int64)
        for axis, (low, high, sizes) in enumerate(self._intervals[: self.n_axes]):
            states = X[:, axis]
            drawn = rng.random((3, len(X)))
            k = (drawn[0] * sizes[states]).astype(np.int64)
            first, last = low[states, k], high[states, k]
            inside = first + (drawn[1] * (last - first + 1)).astype(np.int64)
            border = np.where(drawn[1] < 0.5, first, last)
            found[:, axis] = np.where(drawn[2] < 0.5, border, inside)
        return found

    def random_states(self, n: int) -> IntArray:
        """Draw states (n, n_features), each as likely, of those that some input has."""
        return np.stack([self._rng.choice(states, n) for states in self._states], axis=1)

    def random(self, n: int) -> IntArray:
        """Draw points: of random states, a part of their numbers borders or any bits."""
        rng = self._rng
        points = self._of_states(self.random_states(n))
        share = rng.choice([0.0, 0.2, 0.6], n)
        for axis in range(self.n_axes):
            probes, low, high = self._drawn[axis]
            any_bits = rng.integers(low, high + 1, n)
            other = np.where(rng.random(n) < 0.7, rng.choice(probes, n), any_bits)
            points[:, axis] = np.where(rng.random(n) < share, other, points[:, axis])
        for k in range(n if self._subtracted else 0):
            for axis in rng.choice(len(self._subtracted), int(rng.integers(3))) + self.n_axes:
                self._set(points[k], int(axis), int(rng.choice(self._probes[axis])))
        return points

    def _to_draw(self, axis: int) -> tuple[IntArray, int, int]:
        """Return the probes of an input that are drawn, and the least and the largest number."""
        allowed = self._allowed[axis] if self._is_raw else self._sets_of(axis)
        probes = np.array([x for x in self._probes[axis] if is_in(allowed, int(x))])
        return probes, allowed[0][0], allowed[-1][1]

    def _sets_of(self, axis: int) -> Numbers:
        """Return the states of a feature that an entry point decides."""
        return ((0, len(self._sets[axis]) - 1),)

    def mixed(self, n: int) -> IntArray:
        """Draw random points, a tenth of them with any number of the entry at one feature."""
        rng, points = self._rng, self.random(n)
        for k in np.flatnonzero(rng.random(n) < 0.1).tolist():
            axis = int(rng.integers(self.n_axes))
            points[k, axis] = self._number(self._allowed[axis])
        return points

    def borders(self) -> Iterator[IntArray]:
        """Yield points with one number each at a border of a cell, all others random."""
        places = [(axis, int(x)) for axis, own in enumerate(self._probes) for x in own]
        places = [places[k] for k in self._rng.permutation(len(places))]
        for start in range(0, len(places), 256):
            group = places[start : start + 256]
            points = self.random(len(group))
            for k, (axis, x) in enumerate(group):
                self._set(points[k], axis, x)
            yield points

    # Ties of the model

    def cells(self) -> Iterator[IntArray]:
        """Yield points that tie two classes, in each cell of the model's tables in turn."""
        boxes = [box for table in self.of.tables for cell, _ in table.rows for box in cell]
        if not boxes:
            boxes = [()]
        while True:
            order = self._rng.permutation(len(boxes))[:_MOST_CELLS]
            for start in range(0, len(order), 64):
                yield self._near_ties([boxes[k] for k in order[start : start + 64]])

    def _near_ties(self, boxes: Sequence[Box]) -> IntArray:
        """Draw one point in each box where two classes cost about the same."""
        n = len(boxes)
        points = self.random(n)
        held = np.zeros((n, self.n_axes), dtype=bool)
        for k, box in enumerate(boxes):
            for axis, allowed in box:
                inside = common(allowed, self._allowed[axis])
                if inside:
                    held[k, list(self._set(points[k], axis, self._number(inside)))] = True
        X, _ = self.states(points)
        n_tables = int(self._rng.choice(self._sums))
        pairs = self._pairs(X, n_tables)
        targets = self._targets(X, held, pairs, n_tables)
        if self.of.gate is not None and n_tables == self.of.gate.tables:
            # Two classes that nearly tie, or are about as far apart as the gate's margin
            targets -= self._rng.choice([0, self.of.gate.margin], len(targets))
        return self.walk(points, held, pairs, targets, n_tables)

    def _pairs(self, X: IntArray, n_tables: int) -> IntArray:
        """Draw two classes for each row: those of least cost, or any two."""
        rng, n_classes = self._rng, self.of.n_classes
        if n_classes < 2:
            return np.zeros((len(X), 2), dtype=np.int64)
        best = self.costs(X, n_tables).argsort(axis=1)[:, :2]
        drawn = np.array([rng.permutation(n_classes)[:2] for _ in X])
        return np.where(rng.random(len(X))[:, None] < 0.3, best, drawn)

    def _targets(self, X: IntArray, held: BoolArray, pairs: IntArray, n_tables: int) -> IntArray:
        """
        Draw how much more the first class of each pair shall cost than the second.

        Mostly nothing, or a number by which a wrong state of a held feature changes the decision.
        """
        rng, every = self._rng, np.arange(len(X))
        other = X.copy()
        for k in every.tolist():
            axes = np.flatnonzero(held[k])
            if len(axes):
                axis = int(rng.choice(axes))
                other[k, axis] = int(rng.choice(self._states[axis]))
        change = self.costs(other, n_tables) - self.costs(X, n_tables)
        change = change[every, pairs[:, 0]] - change[every, pairs[:, 1]]
        between = -(change * rng.random(len(X))).round().astype(np.int64)
        small = rng.integers(-2, 3, len(X))
        kind = rng.random(len(X))
        return np.where(kind < 0.4, 0, np.where(kind < 0.7, between, small))

    def walk(
        self,
        points: IntArray,
        held: BoolArray,
        pairs: IntArray,
        targets: IntArray,
        n_tables: int,
    ) -> IntArray:
        """
        Change the features that are not held until a pair of classes differs by a target.

        Both classes of a pair shall also cost less than all others. Shapes: `points` and `held`
        (n, n_axes), `pairs` (n, 2), `targets` (n,); returns points (m, n_axes), the end of each
        sweep over all features.
        """
        if self._subtracted:
            return self._walk_of_readings(points, held, pairs, targets, n_tables)
        rng, every = self._rng, np.arange(len(points))
        X, _ = self.states(points)
        total = self.costs(X, n_tables)
        found = []
        for sweep in range(_SWEEPS):
            for axis in rng.permutation(self.n_axes).tolist():
                if not self._tables[axis]:
                    continue
                rest = total - self._part(axis, X, n_tables)
                least = np.full(len(X), np.inf)
                chosen, best = X[:, axis].copy(), total
                states = self._states[axis]
                candidates = np.repeat(X[None], len(states), axis=0)
                candidates[:, :, axis] = states[:, None]
                parts = self._part(axis, candidates.reshape(-1, self.n_axes), n_tables)
                for s, part in zip(states.tolist(), np.split(parts, len(states)), strict=True):
                    sums = rest + part
                    a, b = sums[every, pairs[:, 0]], sums[every, pairs[:, 1]]
                    gap = abs(a - b - targets) + (np.minimum(a, b) - sums.min(axis=1))
                    gap = gap + rng.random(len(X)) * (0.5 if sweep else 1.5)
                    better = (gap < least) & ~held[:, axis]
                    least = np.where(better, gap, least)
                    chosen = np.where(better, s, chosen)
                    best = np.where(better[:, None], sums, best)
                X[:, axis], total = chosen, best
            if sweep:
                found.append(np.where(held, points, self._of_states(X)))
        return np.concatenate(found)

    def _walk_of_readings(
        self,
        points: IntArray,
        held: BoolArray,
        pairs: IntArray,
        targets: IntArray,
        n_tables: int,
    ) -> IntArray:
        """Do the same with readings in the place of states, whose differences depend on them."""
        rng, points, every = self._rng, points.copy(), np.arange(len(points))
        least = np.full(len(points), np.inf)
        for axis in [*rng.permutation(self.n_axes), *rng.permutation(self.n_axes)]:
            start = points.copy()
            for others in (start, *(self.random(len(points)) for _ in range(_DRAWS))):
                candidate = start.copy()
                candidate[:, axis] = np.where(held[:, axis], start[:, axis], others[:, axis])
                X, _ = self.states(candidate)
                sums = self.costs(X, n_tables)
                a, b = sums[every, pairs[:, 0]], sums[every, pairs[:, 1]]
                gap = abs(a - b - targets) + (np.minimum(a, b) - sums.min(axis=1))
                better = gap < least
                least = np.where(better, gap, least)
                points[better, axis] = candidate[better, axis]
        return points

    def _part(self, axis: int, X: IntArray, n_tables: int) -> IntArray:
        """Return the sum of the tables that read a feature, for each row of states."""
        lookups = self.model.lookups
        part = np.zeros((len(X), self.of.n_classes), dtype=np.int64)
        for t in self._tables[axis]:
            if t < n_tables:
                part += self._costs[t][lookups[t].rows(X)]
        return part

    # Sums of the code that differ from the model's

    def differing(self, mismatch: Mismatch, n: int = 192) -> IntArray | None:
        """
        Return points where a sum of the code differs from the model's, and two classes tie.

        None if no difference is found.
        """
        rng, total = self._rng, mismatch.difference
        points = self._in_cells(total, n)
        found = evaluated(total, self.with_differences(points))
        points = points[found[1]]
        if not len(points):
            return None
        a, b, n_tables = mismatch.first, mismatch.second, mismatch.n_tables
        values = found[0][found[1]]
        wanted = self._difference(points, a, b, n_tables)
        shift = max(range(24), key=lambda k: _most_frequent(values - (wanted << k)))
        error = values - (wanted << shift)
        if not error.any():
            return None
        wrong = np.flatnonzero(error)
        # Rare errors first: a frequent one may be a constant, which a few points show.
        by_error = {int(e): wrong[error[wrong] == e] for e in np.unique(error[wrong])}
        chosen: list[int] = []
        for own in sorted(by_error.values(), key=len):
            chosen += rng.permutation(own)[:8].tolist()
        chosen = chosen[:48]
        start, error = points[chosen], error[chosen]
        held = self._responsible(mismatch, start, error, shift)
        scaled = np.where(error > 0, -(-error >> shift), error >> shift)  # away from zero
        share = rng.choice([0.0, 1.0, 1.0, 2.0, rng.random()], len(start))
        targets = -(scaled * np.minimum(share, 1)).round().astype(np.int64)
        targets += np.where(share == 2, np.sign(scaled), 0)
        targets = np.where(rng.random(len(start)) < 0.25, -np.sign(scaled), targets)
        pairs = np.tile(np.array([a, b]), (len(start), 1))
        return self.walk(start, held, pairs, targets, n_tables)

    # Sums of the code whose lowest bits carry

    def extreme(self, total: Value, n: int, sign: int = 1) -> IntArray:
        """Draw points where the sum of the lowest n bits of all terms is largest or, -1, least."""
        low = [Term(p, t.values % (1 << n)) for p, t in total.terms.items() if t.slopes is None]
        points = self._climbed(low, sign)
        near = np.repeat(points, 3, axis=0)
        is_other = self._rng.random(near.shape) < 1.5 / self.n_axes
        return np.concatenate([points, np.where(is_other, self.random(len(near)), near)])

    def _climbed(self, terms: Sequence[Term], sign: int) -> IntArray:
        """Return points (n, n_features) where no other number of one feature gives a larger sum."""
        rng, points = self._rng, self.random(_CLIMBS)
        n = len(points)
        for _ in range(_SWEEPS):
            before = points.copy()
            for axis in rng.permutation(self.n_axes).tolist():
                own = {t.partition: t for t in terms if axis in t.partition.scope}
                edges = {x for partition in own for x in breakpoints(partition.cells, axis)}
                allowed = self._allowed[axis] if self._is_raw else self._sets_of(axis)
                numbers = [allowed[0][0], *(x for x in sorted(edges) if is_in(allowed, x))]
                tried = np.repeat(points, len(numbers), axis=0)
                tried[:, axis] = np.tile(numbers, n)
                sums = sign * evaluated(Exact(0, own), tried)[0].reshape(n, -1)
                points[:, axis] = np.array(numbers)[sums.argmax(axis=1)]
            if (points == before).all():
                break
        return points

    def _in_cells(self, total: Exact, n: int) -> IntArray:
        """Draw points, each in a cell of a sum's term or of a table in turn."""
        rng = self._rng
        regions: list[Region] = [c for p in total.terms for c in p.cells]
        regions += [cell for table in self.of.tables for cell, _ in table.rows]
        n = max(n, min(len(regions), 8 * n))
        points = self.random(n)
        order = rng.permutation(len(regions))
        for k in range(min(n, len(order))):
            region = regions[order[k]]
            box = region[int(rng.integers(len(region)))]
            for axis, allowed in box:
                inside = common(allowed, self._allowed[axis])
                if not self._is_raw:
                    inside = common(inside, self._sets_of(axis))
                if inside:
                    self._set(points[k], axis, self._number(inside))
        return points

    def _difference(self, points: IntArray, a: int, b: int, n_tables: int) -> IntArray:
        X, _ = self.states(points)
        sums = self.costs(X, n_tables)
        return sums[:, a] - sums[:, b]

    def _responsible(
        self, mismatch: Mismatch, points: IntArray, error: IntArray, shift: int
    ) -> BoolArray:
        """Return the inputs (n, n_axes) without whose number the error of a sum changes."""
        n, axes = points.shape
        held = np.zeros((n, axes), dtype=bool)
        for _ in range(2):
            others = self.random(n)
            changed = np.repeat(points, axes, axis=0)
            every = np.arange(n * axes)
            changed[every, every % axes] = others.ravel()
            values, known = evaluated(mismatch.difference, self.with_differences(changed))
            own = self._difference(changed, mismatch.first, mismatch.second, mismatch.n_tables)
            now = values - (own << shift)
            held |= ((now != np.repeat(error, axes)) | ~known).reshape(n, axes)
        return held


def _bits_of(feature: Feature) -> list[int]:
    """Return the readings of a feature that are worth trying, by their bits."""
    values = probe_values(feature)
    if feature.kind == "float32":
        return [*values.astype(np.float32).view(np.uint32).tolist(), *_NANS]
    size = np.dtype(feature.kind).itemsize if feature.is_numeric else 8
    return [int(x) % (1 << 8 * size) for x in values]


def _most_frequent(values: IntArray) -> int:
    """Return how often the most frequent number occurs."""
    return int(np.unique(values, return_counts=True)[1].max())
