"""Cycles among features: a search along the parents, depth first, in linear time."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Cycles:
    """What keeps a graph from being acyclic."""

    # Arcs (parent, child), one in every cycle: without them there is none. Where features have at
    # most one parent, these are as many as there are cycles.
    closing: tuple[tuple[int, int], ...]
    # One cycle: every feature is a parent of the next, and the last of the first. Empty if there is
    # none.
    first: tuple[int, ...]


def find_cycles(parents: Sequence[Sequence[int]]) -> Cycles:
    """
    Search a graph for cycles.

    An arc closes a cycle if it leads back to a feature that is still on the path. Without these
    arcs every feature is left after all of its parents, so there is no cycle.
    """
    closing: list[tuple[int, int]] = []
    first: tuple[int, ...] = ()
    is_seen, is_on_path = [False] * len(parents), [False] * len(parents)
    for start in range(len(parents)):
        path: list[int] = []
        to_search: list[Iterator[int]] = [iter((start,))]
        while to_search:
            feature = next(to_search[-1], None)
            if feature is None:
                to_search.pop()
                if path:
                    is_on_path[path.pop()] = False
            elif is_on_path[feature]:
                closing.append((feature, path[-1]))
                first = first or (feature, *path[: path.index(feature) : -1])
            elif not is_seen[feature]:
                is_seen[feature] = is_on_path[feature] = True
                path.append(feature)
                to_search.append(iter(parents[feature]))
    return Cycles(tuple(closing), first)
