"""Max-min parents and children: who may be joined by an arc."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations

import numpy as np

from bncc._types import BoolArray
from bncc.structure.dags.columns import Columns
from bncc.structure.dags.independence import Association, IndependenceTests
from bncc.structure.learner import Tell, silence

LEVEL = 0.05
"""Greatest p-value of a dependence."""
MOST_GIVEN = 4
"""Variables that a test is conditioned on at most, which bounds the number of tests."""


def varying_pairs(columns: Columns) -> BoolArray:
    """
    Return which variables may be joined where no test says which.

    Shapes: returns (n_variables, n_variables) bool, whether both vary, and are not the same.
    """
    varies = (columns.states != columns.states[:, :1]).any(axis=1)
    found = np.outer(varies, varies)
    np.fill_diagonal(found, False)
    return found


def parents_and_children(
    columns: Columns, level: float = LEVEL, most_given: int = MOST_GIVEN, tell: Tell = silence
) -> BoolArray:
    """
    Return which variables are each other's candidates by MMPC.

    Shapes: returns (n_variables, n_variables) bool, symmetric: each is among the other's.

    References
    ----------
    Tsamardinos, Brown and Aliferis 2006, algorithms 1 and 2.
    """
    n, tests = columns.n_variables, IndependenceTests(columns)
    found = np.zeros((n, n), dtype=bool)
    for target in range(n):
        chosen = max_min(tests, target, n, level, most_given)
        found[target, chosen] = True
        words = f"{len(chosen)} neighbors of variable {target}, {len(tests)} tests"
        tell((target + 1) / n, words)
    return found & found.T


def max_min(
    tests: IndependenceTests, target: int, n_variables: int, level: float, most_given: int
) -> list[int]:
    """
    Return the candidate parents and children of one variable, before symmetry is asked for.

    Variables join by the greatest of their least associations with the target, given subsets of
    those that joined before. In the end those leave that are independent of the target given a
    subset of the others. Of equals, the first variable joins.


    References
    ----------
    Tsamardinos, Brown and Aliferis 2006, algorithm 1 and the max-min heuristic.
    """
    least: dict[int, Association] = {}
    for x in range(n_variables):
        found = tests.association(x, target, ()) if x != target else None
        if found is not None and found.p <= level:
            least[x] = found
    chosen: list[int] = []
    while least:
        joining = max(least, key=lambda x: (least[x], -x))
        del least[joining]
        for x in list(least):
            given = (tuple(sorted((joining, *s))) for s in _subsets(chosen, most_given - 1))
            still = _weakest(tests, x, target, given, level, least.pop(x))
            if still is not None:
                least[x] = still
        chosen.append(joining)
    for x in list(chosen):
        subsets = _subsets(sorted(set(chosen) - {x}), most_given)
        if _weakest(tests, x, target, subsets, level, Association(-0.0, 0.0)) is None:
            chosen.remove(x)
    return sorted(chosen)


def _subsets(members: Sequence[int], most: int) -> Iterator[tuple[int, ...]]:
    """Return the subsets of some variables, the smallest first."""
    sizes = range(min(len(members), most) + 1)
    return (subset for size in sizes for subset in combinations(members, size))


def _weakest(
    tests: IndependenceTests,
    x: int,
    target: int,
    subsets: Iterable[tuple[int, ...]],
    level: float,
    weakest: Association,
) -> Association | None:
    """Return the least association given one of some subsets; None if it is independence."""
    for given in subsets:
        found = tests.association(x, target, given)
        if found is not None:
            if found.p > level:
                return None
            weakest = min(weakest, found)
    return weakest
