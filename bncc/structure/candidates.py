"""Candidate parents: what a differentiable search chooses from, one of them or none per feature."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from bncc._types import BoolArray, IntArray
from bncc.structure.graph import Structure, one_parent_each
from bncc.structure.pools import Pool, earlier, others

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
        If one is unknown or repeated, or the feature itself.
    """

    parent: IntArray

    def __post_init__(self) -> None:
        self.graph()  # refuses what is no graph

    def graph(self) -> Structure:
        """Return the structure with all candidates as parents.

        Returns
        -------
        Structure
            If it has no cycle, no choice among the candidates has one.
        """
        return Structure(
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
        return _padded(enumerate(kept))

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
        return one_parent_each(
            [int(row[k - 1]) if k else None for row, k in zip(self.parent, choice, strict=True)]
        )


def subset(pool: Pool, most: int, rng: np.random.Generator) -> Candidates:
    """Draw candidates at random.

    Parameters
    ----------
    pool : Pool
        Who may become a parent of whom.
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
    return _padded((feature, rng.permutation(some)[:most]) for feature, some in pool)


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
    return _padded(earlier(order))


def all_others(n_features: int) -> Candidates:
    """Return every other feature as a candidate, whether or not arcs then form a cycle.

    Parameters
    ----------
    n_features : int
        Number of features.

    Returns
    -------
    Candidates
        n_features * (n_features - 1) of them.

    References
    ----------
    S0, section 4 (pseudo-TAN).
    """
    return _padded(others(n_features))


def nearest(pool: Pool, most: int, width: int) -> Candidates:
    """Return the nearest pixels.

    Parameters
    ----------
    pool : Pool
        Which pixels may become a parent of which.
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

    def chosen(pixel: int, some: IntArray) -> IntArray:
        some = np.sort(some)
        rows, columns = some // width - pixel // width, some % width - pixel % width
        return some[np.argsort(rows**2 + columns**2, kind="stable")[:most]]

    return _padded((pixel, chosen(pixel, some)) for pixel, some in pool)


def _padded(chosen: Iterable[tuple[int, IntArray]]) -> Candidates:
    """Return the candidates of features that come in any order."""
    by_feature = dict(chosen)
    most = max(map(len, by_feature.values()), default=0)
    parent = np.full((len(by_feature), most), ABSENT, dtype=np.int64)
    for feature, candidates in by_feature.items():
        parent[feature, : len(candidates)] = candidates
    return Candidates(parent)
