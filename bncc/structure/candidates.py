"""Candidate parents: what a differentiable search chooses from, one of them or none per feature."""

from dataclasses import dataclass

import numpy as np

from bncc._types import BoolArray, IntArray
from bncc.structure.graph import Structure, forest

ABSENT = -1


@dataclass(frozen=True, eq=False)
class Candidates:
    """Feature parents that each feature may have; "no parent" always stands beside them.

    Parameters
    ----------
    parent : (n_features, most) int64
        Candidates of each feature in its row, filled up with `ABSENT` at the end.

    Raises
    ------
    ValueError
        If one is unknown or repeated, or if some choice of parents would have a cycle.
    """

    parent: IntArray

    def __post_init__(self) -> None:
        # The graph of all candidates has no cycle, so no choice among them has one.
        Structure(
            tuple(tuple(map(int, row[row != ABSENT])) for row in self.parent),
            (True,) * len(self.parent),
        )

    @property
    def n_features(self) -> int:
        """Number of features."""
        return len(self.parent)

    @property
    def is_present(self) -> BoolArray:
        """Which entries of `parent` are candidates: (n_features, most) bool."""
        return np.asarray(self.parent != ABSENT)

    def among(self, is_useful: BoolArray) -> "Candidates":
        """Return the candidates between some of the features.

        Parameters
        ----------
        is_useful : (n_features,) bool
            Which features may have and be parents. One with a single state should not: a
            parent tells nothing of it, and it tells nothing of others.

        Returns
        -------
        Candidates
            The others are left out.
        """
        useful = np.append(is_useful, False)  # what `ABSENT` refers to
        kept = [row[useful[row] & mine] for row, mine in zip(self.parent, is_useful, strict=True)]
        return _padded(np.arange(self.n_features), kept)

    def choose(self, choice: IntArray) -> Structure:
        """Return the structure of a choice.

        Parameters
        ----------
        choice : (n_features,) int
            0 for no parent, k for the k-th candidate.

        Returns
        -------
        Structure
            At most one feature parent each, the class a parent of all.
        """
        return forest(
            [int(row[k - 1]) if k else None for row, k in zip(self.parent, choice, strict=True)]
        )


def subset(order: IntArray, most: int, rng: np.random.Generator) -> Candidates:
    """Draw candidates at random from the features that come earlier.

    Parameters
    ----------
    order : (n_features,) int64
        A permutation of the features.
    most : int
        K, candidates per feature at most, >= 1.
    rng : numpy.random.Generator
        Where chance comes from. What it is asked does not depend on K, so that of the same
        state the candidates of a smaller K are among those of a larger.

    Returns
    -------
    Candidates
        In the order drawn.

    References
    ----------
    S0, section 4.2 (TAN Subset).
    """
    return _padded(order, [rng.permutation(order[:k])[:most] for k in range(len(order))])


def all_earlier(order: IntArray) -> Candidates:
    """Return every feature that comes earlier as a candidate.

    Parameters
    ----------
    order : (n_features,) int64
        A permutation of the features.

    Returns
    -------
    Candidates
        n_features * (n_features - 1) / 2 of them.

    References
    ----------
    S0, section 4.2 (TAN All).
    """
    return _padded(order, [order[:k] for k in range(len(order))])


def nearest(order: IntArray, most: int, width: int) -> Candidates:
    """Return the nearest pixels that come earlier.

    Parameters
    ----------
    order : (n_features,) int64
        A permutation of the pixels.
    most : int
        K, candidates per pixel at most, >= 1.
    width : int
        Columns of the image; pixel (r, c) is feature ``r * width + c``.

    Returns
    -------
    Candidates
        By distance between centers, equally distant ones by index.

    References
    ----------
    S0, section 4.2 and 4.4 (TAN Heuristic).
    """
    chosen = []
    for k, pixel in enumerate(order):
        earlier = np.sort(order[:k])
        rows, columns = earlier // width - pixel // width, earlier % width - pixel % width
        by_distance = np.argsort(rows**2 + columns**2, kind="stable")
        chosen.append(earlier[by_distance[:most]])
    return _padded(order, chosen)


def _padded(order: IntArray, chosen: list[IntArray]) -> Candidates:
    """Return the candidates of the features in an order."""
    parent = np.full((len(order), max(map(len, chosen), default=0)), ABSENT, dtype=np.int64)
    for feature, candidates in zip(order, chosen, strict=True):
        parent[feature, : len(candidates)] = candidates
    return Candidates(parent)
