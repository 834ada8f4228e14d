"""Maximum-weight trees on a dense matrix: Prim's algorithm for edges, Edmonds' for arcs."""

from collections.abc import Sequence

import numpy as np

from bncc._types import FloatArray, IntArray


def maximum_spanning_forest(
    weights: FloatArray, *, threshold: float = -np.inf
) -> tuple[int | None, ...]:
    """
    Return the parents of a maximum-weight spanning forest, rooted at the smallest indices.

    Shapes: `weights` (n, n) float64.
    """
    n = len(weights)
    parent: list[int | None] = [None] * n
    outside = np.ones(n, dtype=bool)
    best = np.full(n, -np.inf)
    nearest = np.full(n, -1)
    for _ in range(n):
        candidates = np.where(outside, best, -np.inf)
        node = int(candidates.argmax())
        if nearest[node] >= 0 and outside[node] and candidates[node] > threshold:
            parent[node] = int(nearest[node])
        else:
            node = int(outside.argmax())
        outside[node] = False
        closer = outside & (weights[node] > best)
        best[closer] = weights[node][closer]
        nearest[closer] = node
    return tuple(parent)


_ROOT = 0
"""A virtual node with an arc of weight 0 to every other: taking it means having no parent."""


def maximum_branching(weights: FloatArray) -> tuple[int | None, ...]:
    """
    Return the parents of a maximum-weight branching.

    A branching has no cycle and at most one parent per node. Every node takes the entering arc of
    greatest weight; a cycle is contracted into one node, whose entering arcs are then weighted by
    their gain over the arcs that they replace. A path is grown against the arcs, so that every arc
    taken lengthens it, ends it or contracts part of it: O(n^2) in all.

    Shapes: `weights` (n, n) float64.

    References
    ----------
    Edmonds, Optimum branchings, 1967; Tarjan, Finding optimum branchings, 1977; S2, algorithm 1.
    """
    n = len(weights)
    entering = _Entering(weights)
    is_done = np.zeros(n + 1, dtype=bool)
    is_done[_ROOT] = True
    for start in range(1, n + 1):
        path: list[int] = []
        place = entering.place_of(start)
        while not is_done[place]:
            if place in path:
                at = path.index(place)
                place = entering.contract(path[at:])
                del path[at:]
            path.append(place)
            place = entering.take(place)
        is_done[path] = True
    return entering.expand()


class _Entering:
    """
    The arcs that enter each node of the contracted graph, and the contractions.

    Node v is at place v + 1, a contracted cycle at the smallest place of its nodes. Every node and
    every cycle also has a number: its place, or from n + 1 on in order of contraction.
    """

    def __init__(self, weights: FloatArray) -> None:
        n = len(weights)
        self.n = n
        self.gain = np.full((n + 1, n + 1), -np.inf)  # [child, parent]
        self.gain[1:, 1:] = np.where(weights > 0, weights, -np.inf).T
        self.gain[1:, _ROOT] = 0.0
        np.fill_diagonal(self.gain, -np.inf)
        places = np.arange(n + 1)
        self.arc = places[:, None] * (n + 1) + places  # child * (n + 1) + parent, of nodes
        self.number = list(range(n + 1))  # of the node or cycle at each place
        self.place = list(range(n + 1))  # of each number
        self.taken = [0] * (n + 1)  # arc that enters each number
        self.cycle: list[int | None] = [None] * (n + 1)  # which holds each number

    def place_of(self, node: int) -> int:
        """Return the place of a node after contractions."""
        number = node
        while (cycle := self.cycle[number]) is not None:
            number = cycle
        return self.place[number]

    def take(self, place: int) -> int:
        """Take the arc of greatest gain into a place, and return its origin."""
        parent = int(self.gain[place].argmax())
        self.taken[self.number[place]] = int(self.arc[place, parent])
        self.gain[place] -= self.gain[place, parent]
        return parent

    def contract(self, path: Sequence[int]) -> int:
        """Contract a cycle into one node, and return its place."""
        places = np.sort(path)
        first, others = int(places[0]), places[1:]
        self._join(self.gain, self.arc, places, first)
        self._join(self.gain.T, self.arc.T, places, first)
        self.gain[others] = self.gain[:, others] = self.gain[first, first] = -np.inf
        number = len(self.cycle)
        for place in places:
            self.cycle[self.number[place]] = number
        self.cycle.append(None)
        self.taken.append(0)
        self.place.append(first)
        self.number[first] = number
        return first

    def _join(self, gain: FloatArray, arc: IntArray, places: IntArray, first: int) -> None:
        """Merge the rows at some places into the first, keeping the best entries."""
        best = gain[places].argmax(axis=0)
        every = np.arange(self.n + 1)
        gain[first], arc[first] = gain[places[best], every], arc[places[best], every]

    def expand(self) -> tuple[int | None, ...]:
        """Return the parents: an arc into a cycle replaces the one into the node that it enters."""
        parent: list[int | None] = [None] * self.n
        is_open = [False] * len(self.cycle)
        for number in reversed(range(1, len(self.cycle))):
            if is_open[number]:
                continue
            child, source = divmod(self.taken[number], self.n + 1)
            parent[child - 1] = None if source == _ROOT else source - 1
            inner: int | None = child
            while inner is not None and inner != number:
                is_open[inner] = True
                inner = self.cycle[inner]
        return tuple(parent)
