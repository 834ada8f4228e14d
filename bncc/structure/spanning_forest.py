"""Prim's algorithm on a dense matrix of edge weights."""

import numpy as np

from bncc._types import FloatArray


def maximum_spanning_forest(
    weights: FloatArray, *, threshold: float = -np.inf
) -> tuple[int | None, ...]:
    """
    Return the parents of a spanning forest of greatest weight, rooted at smallest indices.

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
