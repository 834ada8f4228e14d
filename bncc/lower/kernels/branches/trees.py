"""Decision trees as the kernel of branches prints them: a number per leaf, and no idle node."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np

from bncc.program.ir import Table, n_levels
from bncc.structure.decision_tables import BranchingTable


@dataclass(frozen=True)
class Node:
    """A comparison of one feature."""

    feature: int  # The feature
    least: int  # The least state above the cut, 1 or more
    above: "Branch"  # Subtree for states from ``least`` on
    below: "Branch"  # Subtree for smaller states


Branch: TypeAlias = Node | int
"""A node, or the number of a leaf."""


def branches_of(table: Table, n_states: Sequence[int], leaves: Sequence[int]) -> Branch:
    """Return a table's tree with a number for each row, and few cuts between equal branches."""
    if table.tree is not None:
        return _of_tree(table.tree, leaves)
    return _of_product(table, n_states, leaves)


def _of_tree(tree: BranchingTable, leaves: Sequence[int]) -> Branch:
    # In preorder every node comes before those below it.
    found: dict[int, Branch] = {}

    def at(place: int) -> Branch:
        return leaves[-1 - place] if place < 0 else found[place]

    for k in reversed(range(len(tree.features))):
        above, below = at(tree.above[k]), at(tree.below[k])
        found[k] = _node(tree.features[k], tree.cuts[k] + 1, above, below)
    return found[0]


def _node(feature: int, least: int, above: Branch, below: Branch) -> Branch:
    """Return a node; without its comparison where equal branches meet at its cut."""
    if above == below:
        return above
    low, high = _ends(feature, above, 0), _ends(feature, below, -1)
    up, down = len(low) - 1, len(high) - 1
    # The longest path does not grow if one of the branches is at most one comparison away.
    if low[-1] != high[-1] or min(up, down) > 1:
        return Node(feature, least, above, below)
    return _joined(feature, above, below, 0) if up <= down else _joined(feature, below, above, -1)


def _ends(feature: int, branch: Branch, end: int) -> list[Branch]:
    """Return the way to the branch of a feature's lowest states, 0, or of its highest, -1."""
    found = [branch]
    while isinstance(branch, Node) and branch.feature == feature:
        branch = branch.above if end else branch.below
        found.append(branch)
    return found


def _joined(feature: int, branch: Branch, other: Branch, end: int) -> Branch:
    """Return a tree with another one in place of the branch at one of its ends."""
    if not isinstance(branch, Node) or branch.feature != feature:
        return other
    if end:
        return replace(branch, above=_joined(feature, branch.above, other, end))
    return replace(branch, below=_joined(feature, branch.below, other, end))


def _of_product(table: Table, n_states: Sequence[int], leaves: Sequence[int]) -> Branch:
    """Return the tree of a table with a row for each combination of levels, by bisection."""
    counts = n_levels(table, n_states)

    def of_feature(place: int, row: int) -> Branch:
        """Return what is left to decide if the features before a place have led to a row."""
        if place == len(counts):
            return leaves[row]
        f = table.features[place]
        levels = np.array(table.maps.get(f, range(n_states[f])))
        starts = [0, *(np.flatnonzero(np.diff(levels)) + 1).tolist()]
        sides = [of_feature(place + 1, row * counts[place] + int(levels[s])) for s in starts]
        # A cut between equal sides is not compared.
        kept = [k for k, side in enumerate(sides) if not k or side != sides[k - 1]]
        return bisected(f, [starts[k] for k in kept], [sides[k] for k in kept])

    def bisected(f: int, first: list[int], sides: list[Branch]) -> Branch:
        if len(first) == 1:
            return sides[0]
        middle = len(first) // 2
        above = bisected(f, first[middle:], sides[middle:])
        return Node(f, first[middle], above, bisected(f, first[:middle], sides[:middle]))

    return of_feature(0, 0)


def nodes(branch: Branch) -> Iterator[Node]:
    """Yield the nodes of a tree."""
    waiting = [branch]
    while waiting:
        each = waiting.pop()
        if isinstance(each, Node):
            yield each
            waiting += [each.below, each.above]


def leaf_depths(branch: Branch) -> list[int]:
    """Return the number of comparisons that lead to each leaf."""
    found, waiting = [], [(branch, 0)]
    while waiting:
        each, depth = waiting.pop()
        if isinstance(each, Node):
            waiting += [(each.below, depth + 1), (each.above, depth + 1)]
        else:
            found.append(depth)
    return found


def leaves_of(branch: Branch) -> list[int]:
    """Return what each leaf stands for, from the highest states to the lowest."""
    found, waiting = [], [branch]
    while waiting:
        each = waiting.pop()
        if isinstance(each, Node):
            waiting += [each.below, each.above]
        else:
            found.append(each)
    return found
