"""
Inputs near ties of two classes, where a table entry that is off by little changes the decision.

An entry of the class that wins matters if it grows by at least the distance to the next class, an
entry of another class if it falls by at least that class's distance to the winner. Each input shows
such changes of all rows that it reads at once; inputs are chosen greedily by how many bits of
entries they show for the first time.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import prod

import numpy as np

from bncc._types import AnyArray, IntArray
from bncc.model.gate import Gate
from bncc.model.model import Model
from bncc.model.reference import predict
from bncc.program.ir import Program, n_levels, width_of

CELLS = 2**13
"""Table entries that are looked at for one step."""
FAR_CELLS = 2**17
"""Table entries that are looked at where no step shows anything new."""
ALL_CELLS = 2**27
"""Table entries that are looked at for all steps, which bounds the time of a search."""
ROUND_CELLS = 2**22
"""Table entries to inspect before a search decides whether to continue ..."""
WORTH = 1 / 200
"""... which it does if at least this share of the bits shown is new."""
FEW_INPUTS = 2**11
"""With at most so many joint states, all of them are looked at instead of some drawn."""
ALL_INPUTS = 2**8
"""With at most so many joint states, a walk leads through all of them."""
VISITS = 6
"""Times that each state is read again where tables have maps of states, ..."""
VISITED_AT_ONCE = 32
"""... of so many changes the one nearest to a tie first."""
PATIENCE = 8
"""Draws without anything new after which a search ends."""
MOST_MOVES = 2**22
"""States of all features times tables beyond which no walk is tried: it would take gigabytes."""
KEPT = (0.0, 0.5, 0.8)
"""Shares of states that are kept in a draw."""


@dataclass(frozen=True, eq=False)
class Rows:
    """Rows that a program reads, as one index into all its tables."""

    program: Program  # The program that is printed

    @cached_property
    def entries(self) -> AnyArray:
        """Costs of all tables, one below the other, (n_rows, n_classes)."""
        costs = np.concatenate([table.costs for table in self.program.tables])
        return costs.astype(np.min_scalar_type(int(costs.max())))

    @cached_property
    def whole(self) -> int:
        """All bits that entries are stored in."""
        return (1 << width_of(int(self.entries.max()))) - 1

    def at_least(self, distances: IntArray) -> AnyArray:
        """Return the bits of entries whose value is at least a distance."""
        exponent = np.searchsorted(self._powers, distances)
        return self._upper[exponent]

    @cached_property
    def _powers(self) -> IntArray:
        return 2 ** np.arange(self.whole.bit_length(), dtype=np.int64)

    @cached_property
    def _upper(self) -> AnyArray:
        upper = [self.whole >> k << k for k in range(self.whole.bit_length() + 1)]
        return np.array(upper, dtype=self.entries.dtype)

    @cached_property
    def first(self) -> IntArray:
        """Row 0 of each table."""
        sizes = [len(table.costs) for table in self.program.tables]
        return np.concatenate([[0], np.cumsum(sizes)[:-1]]).astype(np.int64)

    def _terms(self) -> Iterator[tuple[int, int, IntArray]]:
        """Yield table, feature and how far each state of the feature moves the table's row."""
        n_states = self.program.n_states
        for t, table in enumerate(self.program.tables):
            if table.tree is not None:
                continue
            stride = 1
            for f, n in zip(
                reversed(table.features), reversed(n_levels(table, n_states)), strict=True
            ):
                yield t, f, stride * np.array(table.maps.get(f, range(n_states[f])))
                stride *= n

    @cached_property
    def moves(self) -> tuple[IntArray, ...]:
        """By feature how far each state moves the row of each table, (n_states, n_tables)."""
        moves = [np.zeros((n, len(self.program.tables)), np.int64) for n in self.program.n_states]
        for t, f, far in self._terms():
            moves[f][:, t] += far
        return tuple(moves)

    @property
    def n_moves(self) -> int:
        """Number of entries of `moves`."""
        return sum(self.program.n_states) * len(self.program.tables)

    def of(self, X: IntArray) -> IntArray:
        """Return the rows that states read, (n, n_tables)."""
        rows = np.tile(self.first, (len(X), 1))
        for t, f, far in self._terms():
            rows[:, t] += far[X[:, f]]
        if self._trees:
            rows[:, self._trees] = self._leaves(X)
        return rows

    @cached_property
    def _trees(self) -> list[int]:
        """The tables that decision trees address."""
        return [t for t, table in enumerate(self.program.tables) if table.tree is not None]

    @cached_property
    def _nodes(self) -> tuple[IntArray, IntArray, IntArray, IntArray, int]:
        """Roots, features, cuts and the two successors of the nodes of all trees, and their depth.

        A successor that is negative is a row of all tables, -1 - row.
        """
        trees = [(t, table.tree) for t, table in enumerate(self.program.tables)]
        roots: list[int] = []
        features: list[int] = []
        cuts: list[int] = []
        following: list[list[int]] = []
        depth = 0
        for t, tree in trees:
            if tree is None:
                continue
            roots.append(len(features))
            following += [
                [place + roots[-1] if place >= 0 else place - int(self.first[t]) for place in pair]
                for pair in zip(tree.below, tree.above, strict=True)
            ]
            features += tree.features
            cuts += tree.cuts
            depth = max(depth, tree.depth)
        return np.array(roots), np.array(features), np.array(cuts), np.array(following), depth

    def _leaves(self, X: IntArray) -> IntArray:
        """Return the rows of trees that states read, (n, n_trees), all trees at the same time."""
        roots, features, cuts, following, depth = self._nodes
        place = np.tile(roots, (len(X), 1))
        number = np.arange(len(X))[:, None]
        for _ in range(depth):
            node = np.maximum(place, 0)
            is_above = (X[number, features[node]] > cuts[node]).astype(np.int64)
            place = np.where(place < 0, place, following[node, is_above])
        return np.asarray(-1 - place)

    def moved(self, x: IntArray, at: IntArray, chosen: IntArray) -> IntArray:
        """
        Return the rows that are read after some of the `changes`, (n_changes, n_tables).

        Shapes: `x` (n_features,) int, the states before; `at` (n_tables,) int64, the rows then.
        """
        features, states = self.changes[chosen].T
        before = self.all_moves[self.first_change[features] + x[features]]
        rows = np.asarray(at + self.all_moves[chosen] - before)
        if self._trees:
            X = np.tile(x, (len(chosen), 1))
            X[np.arange(len(chosen)), features] = states
            rows[:, self._trees] = self._leaves(X)
        return rows

    @cached_property
    def changes(self) -> IntArray:
        """Each feature with each of its states, (n_changes, 2)."""
        return np.array([(f, s) for f, n in enumerate(self.program.n_states) for s in range(n)])

    @cached_property
    def visited(self) -> IntArray:
        """Indices of the `changes` to near ties: all, or those to states next to cuts of trees."""
        trees = [table.tree for table in self.program.tables if table.tree is not None]
        if len(trees) < len(self.program.tables):
            return np.arange(len(self.changes))
        near_cuts = {
            (f, state)
            for tree in trees
            for f, cut in zip(tree.features, tree.cuts, strict=True)
            for state in (cut, cut + 1)
        }
        return np.array(
            [k for k, each in enumerate(self.changes.tolist()) if tuple(each) in near_cuts]
        )

    @cached_property
    def all_moves(self) -> IntArray:
        """`moves` in the order of `changes`."""
        return np.concatenate(self.moves)

    @cached_property
    def first_change(self) -> IntArray:
        """First change of each feature."""
        return np.concatenate([[0], np.cumsum(self.program.n_states)[:-1]]).astype(np.int64)


@dataclass(frozen=True, eq=False)
class Shown:
    """Bits of table entries of which a change shows in a decision."""

    rows: Rows  # The tables
    bits: AnyArray  # (n_rows, n_classes) unsigned: Bits of each entry that some input shows

    @classmethod
    def none(cls, rows: Rows) -> "Shown":
        """Return the record before any input."""
        return cls(rows, np.zeros_like(rows.entries))

    def new(self, at: IntArray) -> AnyArray:
        """Return the bits that inputs show, (n, n_tables, n_classes), from the rows they read."""
        entries, gate = self.rows.entries[at], self.rows.program.gate
        costs = entries.sum(axis=1, dtype=np.int64) + self.rows.program.prior
        number = np.arange(len(costs))
        if gate is not None:
            return self._new_of_gate(entries, costs, gate)
        best = costs.argmin(axis=1)
        # By how much each class has to fall to win, or the winner to rise to lose.
        away = costs - costs[number, best][:, None]
        away += np.arange(costs.shape[1]) > best[:, None]
        away[number, best] = np.iinfo(np.int64).max
        away[number, best] = away.min(axis=1)
        visible = self.rows.at_least(away)
        rising = np.zeros_like(visible)
        rising[number, best] = self.rows.whole
        entries ^= rising[:, None, :]
        entries &= visible[:, None, :]
        return entries

    def _new_of_gate(self, entries: AnyArray, costs: IntArray, gate: Gate) -> AnyArray:
        """
        Return bits that inputs show in any case.

        Where the first tables decide, a class wins by their margin if one of their entries falls by
        that much more than it is behind. Elsewhere entries behind the gate show as without one.
        """
        before, behind = entries[:, : gate.tables], entries[:, gate.tables :]
        first = before.sum(axis=1, dtype=np.int64) + self.rows.program.prior
        is_early = gate.decides(first)
        before &= self._falling(first, gate.margin)[:, None, :]
        behind &= self._falling(costs, 0)[:, None, :]
        before[~is_early] = 0
        behind[is_early] = 0
        return entries

    def _falling(self, costs: IntArray, margin: int) -> AnyArray:
        """Return bits of entries of each class by which it may fall below the winner's cost."""
        number, best = np.arange(len(costs)), costs.argmin(axis=1)
        away = costs - costs[number, best][:, None]
        away += margin or np.arange(costs.shape[1]) > best[:, None]
        away[number, best] = np.iinfo(np.int64).max
        return self.rows.at_least(away)

    def gains(self, at: IntArray) -> IntArray:
        """Return how many bits each input shows that none before it has."""
        fresh = self.new(at) & ~self.bits[at]
        return np.asarray(np.bitwise_count(fresh).sum(axis=(1, 2), dtype=np.int64))

    def add(self, at: IntArray) -> None:
        """Enter the bits that inputs show."""
        np.bitwise_or.at(self.bits, at, self.new(at))


@dataclass(frozen=True, eq=False)
class Steps:
    """A walk from input to input: in each step one feature takes another state."""

    features: IntArray  # (n_steps,) int64: features and states: Which feature, and its new state
    states: IntArray
    # (n_steps,) int64: The decision after the step; the number of classes where further steps come
    # before it
    classes: IntArray
    shown: Shown  # Bits that the walk and the other inputs show

    def first(self, n: int) -> "Steps":
        """Return at most `n` steps, the last of which leads to an input."""
        ends = np.flatnonzero(self.classes[:n] < self.classes.max())
        k = int(ends[-1]) + 1 if len(ends) and n < len(self.classes) else n
        parts = (self.features[:k], self.states[:k], self.classes[:k])
        return Steps(*parts, self.shown)

    def inputs(self, start: IntArray) -> IntArray:
        """Return the states after each step, (n_steps, n_features)."""
        X = np.empty((len(self.features), len(start)), np.int64)
        x = start.copy()
        for k, (f, state) in enumerate(zip(self.features, self.states, strict=True)):
            x[f] = state
            X[k] = x
        return X


class Walk:
    """
    The search for steps, greedy: the next input is the neighbor that shows most new bits.

    If no neighbor shows any, it continues from a random input.
    """

    def __init__(self, rows: Rows, X: IntArray) -> None:
        self.rows = rows
        self.shown = Shown.none(rows)
        self.shown.add(rows.of(X))
        self._x = X[0].copy()
        self._at = rows.of(X[:1])[0]
        self._rng = np.random.default_rng(0)
        self._steps: list[tuple[int, int, bool]] = []
        self._n_shown = 0

    def go(self, most_steps: int) -> list[tuple[int, int, bool]]:
        """Return at most so many steps: feature, state, and whether an input is complete."""
        n_inputs = prod(self.rows.program.n_states)
        if n_inputs <= ALL_INPUTS and n_inputs + len(self._x) <= most_steps:
            self._all()
            return self._steps
        cells = self._at.size * self.rows.entries.shape[1]
        n_near = max(CELLS // cells, 8)
        n_drawn = min(max(FAR_CELLS // cells, 8), FEW_INPUTS)
        patience = 1 if n_inputs <= FEW_INPUTS else PATIENCE
        for _ in range(ALL_CELLS // ROUND_CELLS):
            before, left, dry = self._n_shown, ROUND_CELLS // cells, 0
            while left > 0 and dry < patience:
                left -= n_near
                if not self._near(n_near, most_steps):
                    left -= n_drawn
                    dry = 0 if self._far(n_drawn, most_steps) else dry + 1
            if dry == patience or self._n_shown - before < WORTH * self._n_shown:
                break
        if not all(table.is_plain for table in self.rows.program.tables):
            self._visit_states(most_steps)
        return self._steps

    def _all(self) -> None:
        """Go through all inputs, one change at a time, in a reflected order."""
        inputs: list[tuple[int, ...]] = [()]
        for n in self.rows.program.n_states:
            ways = (range(n), range(n - 1, -1, -1))
            inputs = [(*x, state) for k, x in enumerate(inputs) for state in ways[k % 2]]
        for x in np.array(inputs):
            changed = np.flatnonzero(self._x != x)
            self._x = x
            changes = [(f, int(x[f])) for f in changed.tolist()]
            self._enter(self.rows.of(x[None])[0], changes, 0)

    def _visit_states(self, most_steps: int) -> None:
        """Read every state some times near a tie, since maps have an entry for each."""
        rows, changes = self.rows, self.rows.changes
        for _ in range(VISITS):
            left = self._rng.permutation(self.rows.visited)
            while len(left) and len(self._steps) < most_steps:
                near = left[:VISITED_AT_ONCE]
                at = rows.moved(self._x, self._at, near)
                costs = rows.entries[at].sum(axis=1, dtype=np.int64) + rows.program.prior
                two = np.partition(costs, min(1, costs.shape[1] - 1), axis=1)[:, :2]
                best = int((two[:, -1] - two[:, 0]).argmin())
                feature, state = changes[near[best]].tolist()
                self._x[feature] = state
                self._enter(at[best], [(feature, state)], 0)
                left = np.delete(left, best)

    def _near(self, n: int, most_steps: int) -> bool:
        """Change the one state that shows most."""
        rows, changes = self.rows, self.rows.changes
        if n < len(changes):
            chosen = self._rng.choice(len(changes), n, replace=False)
        else:
            chosen = np.arange(len(changes))
        at = rows.moved(self._x, self._at, chosen)
        gains = self.shown.gains(at)
        best = int(gains.argmax())
        if gains[best] == 0 or len(self._steps) + 1 > most_steps:
            return False
        f, state = changes[chosen[best]].tolist()
        self._x[f] = state
        self._enter(at[best], [(f, state)], int(gains[best]))
        return True

    def _far(self, n: int, most_steps: int) -> bool:
        """Change several states, in as many steps, for the most that is shown per step."""
        X = self._drawn(n)
        at = self.rows.of(X)
        n_changed = np.count_nonzero(self._x != X, axis=1)
        gains = self.shown.gains(at)
        gains[n_changed + len(self._steps) > most_steps] = 0
        best = int((gains / np.maximum(n_changed, 1)).argmax())
        if gains[best] == 0:
            return False
        changed = np.flatnonzero(self._x != X[best])
        self._x = X[best]
        steps = [(f, int(self._x[f])) for f in changed.tolist()]
        self._enter(at[best], steps, int(gains[best]))
        return True

    def _drawn(self, n: int) -> IntArray:
        n_states = self.rows.program.n_states
        if prod(n_states) <= FEW_INPUTS:
            return _all_inputs(n_states)
        drawn = self._rng.integers(0, n_states, (n, len(n_states)))
        kept = self._rng.random(drawn.shape) < self._rng.choice(KEPT, (n, 1))
        return np.where(kept, self._x, drawn)

    def _enter(self, at: IntArray, changes: list[tuple[int, int]], gain: int) -> None:
        self._at = at
        self._n_shown += gain
        self.shown.add(at[None])
        last = len(changes) - 1
        self._steps += [(f, state, k == last) for k, (f, state) in enumerate(changes)]


def near_tie_steps(model: Model, program: Program, X: IntArray, most_steps: int) -> Steps:
    """
    Find inputs near ties and the answers that Python gives.

    Shapes: `X` (n, n_features) int64.
    """
    rows = Rows(program)
    walk = Walk(rows, X)
    found = walk.go(most_steps) if rows.n_moves <= MOST_MOVES else []
    table = np.array(found, np.int64).reshape(-1, 3)
    features, states, is_input = table.T
    steps = Steps(features, states, is_input, walk.shown)
    classes = np.where(is_input == 1, predict(model, steps.inputs(X[0])), len(model.classes))
    return replace(steps, classes=classes)


def _all_inputs(n_states: Sequence[int]) -> IntArray:
    """Return every input; features of one state are not counted as dimensions, which are few."""
    varied = [f for f, n in enumerate(n_states) if n > 1]
    inputs = np.zeros((prod(n_states), len(n_states)), dtype=np.int64)
    inputs[:, varied] = np.indices([n_states[f] for f in varied]).reshape(len(varied), -1).T
    return inputs
