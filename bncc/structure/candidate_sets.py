"""The differentiable searches by name: which candidate parents each chooses from."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from bncc.errors import OptionError
from bncc.structure.candidates import Candidates, all_earlier, all_others, nearest, subset
from bncc.structure.option_readers import Options
from bncc.structure.options import (
    has_order,
    order_of,
    parents_of,
    width_of,
)
from bncc.structure.orders import image_shape
from bncc.structure.pools import Pool, earlier, others

MAX_CANDIDATES = 2**21
"""Two thousand features with all earlier ones; beyond it even their list would fill memory."""


@dataclass(frozen=True)
class CandidateSet:
    """A way to find candidates and the option keys it knows."""

    # From the number of features, the options and chance to candidates
    find: Callable[[int, Options, np.random.Generator], Candidates]
    option_keys: tuple[str, ...]  # Keys that are read, by the search itself too


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
    """Return the features that come earlier, or all others where no order is asked for."""
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
"""Structures that are learned together with the tables (S0)."""


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
