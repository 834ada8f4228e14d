"""
Boolean functions of the inputs as ordered decision diagrams.

A node tests an input and has a child for each interval of its numbers. Nodes are reduced and made
once, so functions are equal if they are one node (R. E. Bryant, "Graph-based algorithms for Boolean
function manipulation", 1986). A bit of a sum of tables of few inputs has at most as many nodes for
an input as there are partial sums.

A variable stands for a function of the inputs. What holds for both its numbers holds for every
input.
"""

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import compress, pairwise, repeat
from operator import ne

import numpy as np

from bncc._types import IntArray
from bncc.prove.deadline import Deadline
from bncc.prove.regions import Box, Numbers, Region, numbers
from bncc.prove.values import UndecidedError

FALSE, TRUE = 0, 1
MOST_NODES = 1 << 21
"""Largest number of nodes of a proof."""
FIRST_VARIABLE = 1 << 20
"""Rank of the first variable; inputs have smaller ones."""
_LAST = 1 << 40
_EVERY = (1 << 12) - 1


class Diagrams:
    """Functions of 0 and 1, named by their nodes: `FALSE`, `TRUE` and numbers from 2 on."""

    def __init__(self, deadline: Deadline | None = None) -> None:
        self.order: Mapping[int, int] = {}  # Ranks of inputs; others in their order of use
        self._deadline = deadline or Deadline()
        self.most_nodes = MOST_NODES
        self.is_full = False  # True once a function needs more nodes
        self._rank = [_LAST, _LAST]
        self._ends: list[tuple[int, ...]] = [(), ()]  # First numbers of all intervals but the first
        self._children: list[tuple[int, ...]] = [(), ()]
        self._known: dict[tuple[int, tuple[int, ...], tuple[int, ...]], int] = {}
        self._ands: dict[tuple[int, int], int] = {}
        self._ors: dict[tuple[int, int], int] = {}
        self._xors: dict[tuple[int, int], int] = {}
        self._choices: dict[tuple[int, int, int], int] = {}
        self._axes: dict[int, int] = {}  # By rank
        self._rank_of: dict[int, int] = {}

    def __len__(self) -> int:
        return len(self._rank)

    # Nodes

    def is_of_variables(self, node: int) -> bool:
        """Return whether a function is of variables; a constant is none."""
        return FIRST_VARIABLE <= self._rank[node] < _LAST

    def is_of_inputs(self, node: int) -> bool:
        """Return whether a function is of inputs; a constant is none."""
        return self._rank[node] < FIRST_VARIABLE

    def _node(self, rank: int, ends: Iterable[int], children: Sequence[int]) -> int:
        changes = list(map(ne, children[1:], children))
        if not all(changes):
            ends = compress(ends, changes)
            children = [children[0], *compress(children[1:], changes)]
        if len(children) == 1:
            return children[0]
        key = rank, tuple(ends), tuple(children)
        found = self._known.get(key)
        if found is None:
            found = len(self._rank)
            self._check_size(found)
            self._known[key] = found
            self._rank.append(rank)
            self._ends.append(key[1])
            self._children.append(key[2])
        return found

    def _check_size(self, n: int) -> None:
        if n > self.most_nodes:
            self.is_full = True
            raise UndecidedError("cells", "bits depend on too many inputs at once")
        if not n & _EVERY:
            self._deadline.check()

    def rank(self, axis: int) -> int:
        """
        Return the rank of an input: diagrams test those of smaller ranks first.

        Code adds up what it reads, so the order of reading keeps diagrams small.
        """
        if axis not in self._rank_of:
            found = self.order.get(axis, len(self.order) + len(self._rank_of))
            self._rank_of[axis] = found
            self._axes[found] = axis
        return self._rank_of[axis]

    # Operations

    def both(self, f: int, g: int) -> int:
        """Return ``f and g``."""
        if f == g or g == TRUE:
            return f
        if f == TRUE:
            return g
        if f == FALSE or g == FALSE:
            return FALSE
        key = (f, g) if f < g else (g, f)
        found = self._ands.get(key)
        if found is None:
            found = self._ands[key] = self._applied(self.both, f, g)
        return found

    def differ(self, f: int, g: int) -> int:
        """Return ``f xor g``."""
        if f == g:
            return FALSE
        if f == FALSE:
            return g
        if g == FALSE:
            return f
        key = (f, g) if f < g else (g, f)
        found = self._xors.get(key)
        if found is None:
            found = self._xors[key] = self._applied(self.differ, f, g)
        return found

    def _applied(self, operation: Callable[[int, int], int], f: int, g: int) -> int:
        """Return an operation on two functions, done for each child of those that test first."""
        first, second = self._rank[f], self._rank[g]
        if first > second:
            f, g, first, second = g, f, second, first
        ends, left = self._ends[f], self._children[f]
        if first != second:
            return self._node(first, ends, list(map(operation, left, repeat(g))))
        right = self._children[g]
        if self._ends[g] != ends:
            ends = tuple(sorted({*ends, *self._ends[g]}))
            left, right = self._spread(f, ends), self._spread(g, ends)
        return self._node(first, ends, list(map(operation, left, right)))

    def _spread(self, node: int, ends: Iterable[int]) -> tuple[int, ...]:
        """Return the children of a node between more ends than its own."""
        own, children = self._ends[node], self._children[node]
        return (children[0], *(children[bisect_right(own, end)] for end in ends))

    def no(self, f: int) -> int:
        """Return ``not f``."""
        return self.differ(f, TRUE)

    def either(self, f: int, g: int) -> int:
        """Return ``f or g``."""
        if f == g or g == FALSE:
            return f
        if f == FALSE:
            return g
        if f == TRUE or g == TRUE:
            return TRUE
        key = (f, g) if f < g else (g, f)
        found = self._ors.get(key)
        if found is None:
            found = self._ors[key] = self._applied(self.either, f, g)
        return found

    def chosen(self, condition: int, f: int, g: int) -> int:
        """Return f where a condition holds, else g."""
        if f == g or condition == TRUE:
            return f
        if condition == FALSE:
            return g
        if g == FALSE:
            return self.both(condition, f)
        if f == TRUE:
            return self.either(condition, g)
        key = condition, f, g
        found = self._choices.get(key)
        if found is None:
            rank = min(map(self._rank.__getitem__, key))
            own = [node for node in key if self._rank[node] == rank]
            ends = tuple(sorted({end for node in own for end in self._ends[node]}))
            columns = (self._spread(x, ends) if x in own else repeat(x) for x in key)
            found = self._choices[key] = self._node(rank, ends, list(map(self.chosen, *columns)))
        return found

    # Functions of inputs

    def tabulated(
        self, axes: Sequence[int], starts: Sequence[Sequence[int]], values: IntArray
    ) -> tuple[int, ...]:
        """
        Return the 32 bits of a function, the lowest first, from an array with its values.

        `starts` has the first numbers of the intervals of each axis. The first interval has
        all numbers below its end, and the last one has no end.
        """
        order = sorted(range(len(axes)), key=lambda k: self.rank(axes[k]))
        values = values.transpose(order)
        found = []
        for bit in range(32):
            nodes: IntArray = values >> bit & 1
            if not nodes.any():
                found.append(FALSE)
                continue
            for k in reversed(order):
                rows = nodes.reshape(-1, nodes.shape[-1])
                unique, at = np.unique(rows, axis=0, return_inverse=True)
                rank, ends = self.rank(axes[k]), tuple(int(x) for x in starts[k][1:])
                made = [self._node(rank, ends, [int(x) for x in row]) for row in unique]
                nodes = np.array(made, dtype=np.int64)[at.reshape(nodes.shape[:-1])]
            found.append(int(nodes))
        return tuple(found)

    def of_sum(
        self,
        const: int,
        terms: Mapping[tuple[int, ...], IntArray],
        starts: Mapping[int, Sequence[int]],
        n_bits: int,
    ) -> tuple[int, ...]:
        """
        Return the lowest bits of a sum of functions of few inputs, arrays by their inputs.

        Inputs are chosen in their order. What is left of the sum after some of them is a constant
        and functions of which the first inputs are chosen.
        """
        ordered = []
        for scope, part in terms.items():
            order = sorted(range(len(scope)), key=lambda k: self.rank(scope[k]))
            ordered.append((tuple(scope[k] for k in order), part.transpose(order)))
        axes = sorted({axis for scope in terms for axis in scope}, key=self.rank)
        first_of = {axis: [t for t in ordered if t[0][0] == axis] for axis in axes}
        known: dict[tuple[int, int, tuple[tuple[tuple[int, ...], bytes], ...]], tuple[int, ...]]
        known = {}

        def visit(
            k: int, total: int, begun: list[tuple[tuple[int, ...], IntArray]]
        ) -> tuple[int, ...]:
            if k == len(axes):
                return tuple(total >> bit & 1 for bit in range(n_bits))
            key = k, total, tuple((scope, part.tobytes()) for scope, part in begun)
            if key not in known:
                own = [t for t in (*begun, *first_of[axes[k]]) if t[0][0] == axes[k]]
                others = [t for t in begun if t[0][0] != axes[k]]
                children = []
                for x in range(len(starts[axes[k]])):
                    now, rest = total, list(others)
                    for scope, part in own:
                        if len(scope) == 1:
                            now += int(part[x])
                            continue
                        least = int(part[x].min())
                        now += least
                        if (part[x] != least).any():
                            rest.append((scope[1:], part[x] - least))
                    children.append(visit(k + 1, now, rest))
                rank, ends = self.rank(axes[k]), tuple(starts[axes[k]][1:])
                known[key] = tuple(
                    self._node(rank, ends, column) for column in zip(*children, strict=True)
                )
            return known[key]

        return visit(0, const, [])

    def where(self, region: Region) -> int:
        """Return the function that is 1 in a region."""
        found = FALSE
        for box in region:
            inside = TRUE
            for axis, allowed in box:
                edges = [edge for low, high in allowed for edge in (low, high + 1)]
                children = [k % 2 for k in range(len(edges) + 1)]
                inside = self.both(inside, self._node(self.rank(axis), edges, children))
            found = self.either(found, inside)
        return found

    def at(self, node: int, point: Sequence[int]) -> int:
        """Return the value of a function of inputs at a point, a number of each input."""
        while node > TRUE:
            x = point[self._axes[self._rank[node]]]
            node = self._children[node][bisect_right(self._ends[node], x)]
        return node

    def cells(
        self, bits: Sequence[int], full: Sequence[Numbers], most: int
    ) -> list[tuple[Box, tuple[int, ...]]]:
        """Return disjoint boxes that cover every input, and the values of functions on each."""
        found: list[tuple[Box, tuple[int, ...]]] = []

        def visit(nodes: tuple[int, ...], box: Box) -> None:
            rank = min(self._rank[node] for node in nodes)
            if rank == _LAST:
                found.append((tuple(sorted(box)), nodes))
                if len(found) > most:
                    raise UndecidedError("cells", "bits depend on too many inputs at once")
                return
            axis = self._axes[rank]
            own = [node for node in nodes if self._rank[node] == rank]
            starts = sorted({0}.union(*(self._ends[node] for node in own)))
            sides: dict[tuple[int, ...], list[tuple[int, int]]] = {}
            for first, end in pairwise((*starts, full[axis][-1][1] + 1)):
                if first < end:
                    inside = tuple(
                        node if self._rank[node] != rank
                        else self._children[node][bisect_right(self._ends[node], first)]
                        for node in nodes
                    )  # fmt: skip
                    sides.setdefault(inside, []).append((first, end - 1))
            for inside, allowed in sides.items():
                visit(inside, (*box, (axis, numbers(allowed))))

        visit(tuple(bits), ())
        return found

    def reached(self, nodes: Sequence[int]) -> Iterator[int]:
        """Yield all nodes of functions, without constants."""
        seen = set(nodes)
        waiting = list(seen)
        while waiting:
            node = waiting.pop()
            if node > TRUE:
                yield node
                new = set(self._children[node]) - seen
                seen |= new
                waiting += new

    def starts(self, nodes: Sequence[int]) -> dict[int, list[int]]:
        """Return the first numbers of the intervals that functions distinguish, by input."""
        found: dict[int, set[int]] = {}
        for node in self.reached(nodes):
            found.setdefault(self._axes[self._rank[node]], {0}).update(self._ends[node])
        return {axis: sorted(own) for axis, own in found.items()}

    # Variables

    def variable(self, k: int) -> int:
        """Return the variable of a number, which comes after all inputs and smaller numbers."""
        return self._node(FIRST_VARIABLE + k, (1,), (FALSE, TRUE))

    def highest(self, node: int) -> int:
        """Return the largest number of a variable that a function of variables depends on."""
        return max(self._rank[one] for one in self.reached([node])) - FIRST_VARIABLE


def order_of(scopes: Iterable[Sequence[int]]) -> dict[int, int]:
    """
    Return ranks of inputs such that few functions of several inputs are open at a time.

    A function is open between its first and its last input: diagrams distinguish the numbers of
    these inputs so long.
    """
    left = [set(scope) for scope in scopes if len(scope) > 1]
    every = {axis for scope in left for axis in scope}
    begun: set[int] = set()
    order: dict[int, int] = {}

    def price(axis: int) -> tuple[int, int]:
        now = begun | {axis}
        n_open = {a for scope in left if scope & now and not scope <= now for a in scope & now}
        return len(n_open), axis

    while every:
        chosen = min(every, key=price)
        every.remove(chosen)
        begun.add(chosen)
        left = [scope for scope in left if not scope <= begun]
        order[chosen] = len(order)
    return order
