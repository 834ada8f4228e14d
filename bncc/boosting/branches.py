"""Growth of branching tables: the leaf whose cut lowers the loss most is the next to be cut."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from heapq import heappop, heappush

import numpy as np

from bncc._types import AnyArray, IntArray
from bncc.boosting.cuts import Bins, Cut, worth_of
from bncc.structure.decision_tables import BranchingTable

LEAST_GAIN = 1e-6
"""Smallest change of twice the loss that is not rounding."""
LEAST_SAMPLES = 5
"""Fewest samples on either side of a cut."""

LeafCut = Callable[[IntArray, IntArray], Cut | None]
"""Returns the best cut of a leaf: of its samples, by some features; None if none gains anything."""
LeafCuts = Callable[[AnyArray], LeafCut]
"""Returns the above for slopes, (n_samples, 2 * n_classes) float32, of all samples."""


def numpy_leaf_cuts(bins: Bins, l2: float) -> LeafCuts:
    """
    Return the reference, in numpy.

    A leaf is worth what a cell is, see `bncc.boosting.cuts.numpy_best_cuts`; at least
    `LEAST_SAMPLES` are on either side of a cut. The first feature and the lowest cut win ties.
    """

    def of_slopes(slopes: AnyArray) -> LeafCut:
        def best(samples: IntArray, features: IntArray) -> Cut | None:
            found: Cut | None = None
            for f in features.tolist():
                codes, n_bins = bins.codes[f][samples], len(bins.cuts[f]) + 1
                sums = np.zeros((n_bins, slopes.shape[1]))
                np.add.at(sums, codes, slopes[samples])
                left = np.cumsum(sums, axis=0)
                n_left = np.cumsum(np.bincount(codes, minlength=n_bins))
                whole = left[-1:]
                gain = worth_of(left, l2) + worth_of(whole - left, l2) - worth_of(whole, l2)
                is_allowed = (n_left >= LEAST_SAMPLES) & (len(samples) - n_left >= LEAST_SAMPLES)
                gain = np.where(is_allowed, gain, 0.0)
                at = int(gain.argmax())
                if gain[at] > (found.gain if found else 0.0):
                    found = Cut(f, at, float(gain[at]))
            return found

        return best

    return of_slopes


@dataclass(frozen=True)
class BranchBounds:
    """Limits of a branching table."""

    leaves: int  # Most rows, at least 2
    depth: int  # Most cuts on the way to a row, at least 1


@dataclass(frozen=True)
class Nodes:
    """A decision tree in any order, node 0 the root."""

    feature: Sequence[int]
    cut: Sequence[int]  # Last state that goes below
    below: Sequence[int]  # Next node up to the cut, -1 at a leaf
    above: Sequence[int]  # Next node above it


def branching_table(nodes: Nodes) -> tuple[BranchingTable, list[int]]:
    """Return a tree with at least one cut as a table, and its leaves from left to right."""
    inner: list[int] = []
    leaves: list[int] = []
    waiting = [0]
    while waiting:
        node = waiting.pop()
        if nodes.below[node] < 0:
            leaves.append(node)
        else:
            inner.append(node)
            waiting += (nodes.above[node], nodes.below[node])
    place = {node: k for k, node in enumerate(inner)}
    place |= {node: -1 - row for row, node in enumerate(leaves)}
    table = BranchingTable(
        features=tuple(nodes.feature[node] for node in inner),
        cuts=tuple(nodes.cut[node] for node in inner),
        below=tuple(place[nodes.below[node]] for node in inner),
        above=tuple(place[nodes.above[node]] for node in inner),
    )
    return table, leaves


@dataclass(frozen=True)
class _Growth:
    """A tree in growth: its nodes, and the samples and depth of each."""

    feature: list[int] = field(default_factory=list)
    cut: list[int] = field(default_factory=list)
    below: list[int] = field(default_factory=list)
    above: list[int] = field(default_factory=list)
    samples: list[IntArray] = field(default_factory=list)
    depth: list[int] = field(default_factory=list)

    def leaf(self, samples: IntArray, depth: int) -> int:
        """Add a leaf, and return its node."""
        for of_nodes in (self.feature, self.cut, self.below, self.above):
            of_nodes.append(-1)
        self.samples.append(samples)
        self.depth.append(depth)
        return len(self.depth) - 1

    def split(self, node: int, bins: Bins, cut: Cut) -> tuple[int, int]:
        """Cut a leaf in two, and return them."""
        samples = self.samples[node]
        is_below = bins.codes[cut.feature][samples] <= cut.bin
        self.feature[node], self.cut[node] = cut.feature, int(bins.cuts[cut.feature][cut.bin])
        sides = (samples[is_below], samples[~is_below])
        self.below[node], self.above[node] = (
            self.leaf(side, self.depth[node] + 1) for side in sides
        )
        return self.below[node], self.above[node]


def grow_branches(
    bins: Bins, slopes: AnyArray, features: IntArray, bounds: BranchBounds, leaf_cuts: LeafCuts
) -> tuple[BranchingTable | None, IntArray]:
    """
    Grow one branching table, best first; of equal gains, the leaf that was made first.

    Shapes: `slopes` (n_samples, 2 * n_classes) float32; `features` (m,) int; returns cells
    (n_samples,) int64, the rows of the samples.
    """
    best_cut = leaf_cuts(slopes)
    tree = _Growth()
    waiting: list[tuple[float, int, Cut]] = []

    def weigh(node: int) -> None:
        if tree.depth[node] < bounds.depth and len(tree.samples[node]) >= 2 * LEAST_SAMPLES:
            cut = best_cut(tree.samples[node], features)
            if cut is not None and cut.gain >= LEAST_GAIN:
                heappush(waiting, (-cut.gain, node, cut))

    weigh(tree.leaf(np.arange(len(slopes)), 0))
    n_leaves = 1
    while waiting and n_leaves < bounds.leaves:
        _, node, cut = heappop(waiting)
        sides = tree.split(node, bins, cut)
        n_leaves += 1
        if n_leaves < bounds.leaves:
            for side in sides:
                weigh(side)
    cells: IntArray = np.zeros(len(slopes), dtype=np.int64)
    if n_leaves == 1:
        return None, cells
    table, leaves = branching_table(Nodes(tree.feature, tree.cut, tree.below, tree.above))
    for row, leaf in enumerate(leaves):
        cells[tree.samples[leaf]] = row
    return table, cells
