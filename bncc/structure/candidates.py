"""Candidate parents of each feature, and the differentiable searches that choose among them."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from bncc._types import BoolArray, IntArray
from bncc.errors import OptionError
from bncc.structure.graph import Structure, one_parent_each
from bncc.structure.options import (
    Options,
    has_order,
    order_of,
    parents_of,
    width_of,
)
from bncc.structure.orders import Pool, earlier, image_shape, others

ABSENT = -1


@dataclass(frozen=True, eq=False)
class Candidates:
    """Feature parents that each feature may have; "no parent" is always a candidate too."""

    # (n_features, most) int64: One row of candidates per feature, padded with `ABSENT`
    parent: IntArray

    def __post_init__(self) -> None:
        self.graph()  # raises an error for an invalid graph

    def graph(self) -> Structure:
        """Return the structure with all candidates as parents."""
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
        """Mask of the candidates in `parent`: (n_features, most) bool."""
        return np.asarray(self.parent != ABSENT)

    def among(self, is_useful: BoolArray) -> "Candidates":
        """
        Return the candidates between some of the features.

        Shapes: `is_useful` (n_features,) bool.
        """
        useful = np.append(is_useful, False)  # entry that `ABSENT` refers to
        kept = [row[useful[row] & mine] for row, mine in zip(self.parent, is_useful, strict=True)]
        return _padded(enumerate(kept))

    def choose(self, choice: IntArray) -> Structure:
        """
        Return the structure of a choice.

        Shapes: `choice` (n_features,) int.
        """
        return one_parent_each(
            [int(row[k - 1]) if k else None for row, k in zip(self.parent, choice, strict=True)]
        )


def subset(pool: Pool, most: int, rng: np.random.Generator) -> Candidates:
    """
    Sample candidates at random.

    References
    ----------
    S0, section 4.2 (TAN Subset).
    """
    return _padded((feature, rng.permutation(some)[:most]) for feature, some in pool)


def all_earlier(order: IntArray) -> Candidates:
    """
    Return every feature that comes earlier as a candidate.

    Shapes: `order` (n_features,) int64.

    References
    ----------
    S0, section 4.2 (TAN All).
    """
    return _padded(earlier(order))


def all_others(n_features: int) -> Candidates:
    """
    Return every other feature as a candidate, whether or not arcs then form a cycle.

    References
    ----------
    S0, section 4 (pseudo-TAN).
    """
    return _padded(others(n_features))


def nearest(pool: Pool, most: int, width: int) -> Candidates:
    """
    Return the nearest pixels.

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
    """Return candidates for features in any order."""
    by_feature = dict(chosen)
    most = max(map(len, by_feature.values()), default=0)
    parent = np.full((len(by_feature), most), ABSENT, dtype=np.int64)
    for feature, candidates in by_feature.items():
        parent[feature, : len(candidates)] = candidates
    return Candidates(parent)


MAX_CANDIDATES = 2**21
"""Two thousand features with all earlier ones; beyond that even the list would fill memory."""


@dataclass(frozen=True)
class CandidateSet:
    """A way to find candidates and the option keys it knows."""

    # Candidates from the number of features, the options and a random generator
    find: Callable[[int, Options, np.random.Generator], Candidates]
    option_keys: tuple[str, ...]  # Keys that are read, including those of the search


def _subset(n_features: int, options: Options, rng: np.random.Generator) -> Candidates:
    return subset(_pool(n_features, options, rng), parents_of(options), rng)


def _all(n_features: int, options: Options, rng: np.random.Generator) -> Candidates:
    if not has_order(options):
        return all_others(n_features)
    return all_earlier(order_of(options, n_features, rng))


def _heuristic(n_features: int, options: Options, rng: np.random.Generator) -> Candidates:
    _, width = image_shape(n_features, width_of(options))
    # C is the order that S0 found slightly better than B, and B than A.
    return nearest(_pool(n_features, options, rng, "C"), parents_of(options), width)


def _pool(
    n_features: int, options: Options, rng: np.random.Generator, default: str = "random"
) -> Pool:
    """Return the earlier features as candidates, or all others where no order is requested."""
    if not has_order(options):
        return others(n_features)
    return earlier(order_of(options, n_features, rng, default))


_DESCENT = ("price", "step", "widths")
"""Option keys of the descent, whatever the candidates."""

CANDIDATE_SETS: Mapping[str, CandidateSet] = {
    "tan-subset": CandidateSet(_subset, ("order", "parents", *_DESCENT, "width")),
    "tan-all": CandidateSet(_all, ("order", *_DESCENT, "width")),
    "tan-heuristic": CandidateSet(_heuristic, ("order", "parents", *_DESCENT, "width")),
}
"""Structures learned together with the tables (S0)."""


def find_candidates(
    name: str, n_features: int, options: Options, rng: np.random.Generator
) -> Candidates:
    """Return the candidates of a search."""
    most = parents_of(options) if "parents" in CANDIDATE_SETS[name].option_keys else n_features
    most = min(most, n_features)
    if has_order(options):
        n_candidates = n_features * most - most * (most + 1) // 2
    else:
        n_candidates = n_features * min(most, n_features - 1)
    if n_candidates > MAX_CANDIDATES:
        raise OptionError(
            f"{n_features} features would have {n_candidates} candidate parents, more than "
            f"{MAX_CANDIDATES}; choose --structure tan-subset with fewer parents="
        )
    return CANDIDATE_SETS[name].find(n_features, options, rng)
