"""Max-min parents and children (MMPC): pairs of variables that an arc may join."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import prod

import numpy as np
from scipy.special import gammaincc

from bncc._types import BoolArray, IntArray
from bncc.progress import Progress, silence
from bncc.structure.dags.dag_score import Columns, one_joint
from bncc.structure.scores import log_likelihood_term

ROWS_PER_FREEDOM = 5
"""Rows per degree of freedom below which a test is inconclusive."""


@dataclass(frozen=True, order=True)
class Association:
    """Strength of the dependence between two variables; larger is stronger."""

    minus_p: float  # The negative p-value, in -1 .. 0.
    statistic: float  # G2, >= 0: breaks ties between p-values that underflow

    @property
    def p(self) -> float:
        """The p-value."""
        return -self.minus_p


class IndependenceTests:
    r"""
    Independence tests over some rows, each computed once.

    .. math::
       G^2 = 2 \sum_{xyz} N_{xyz} \ln\frac{N_{xyz} N_z}{N_{xz} N_{yz}}

    with, as degrees of freedom, the sum over z of (states of X that occur with z - 1)(those of Y
    - 1). A test is skipped as inconclusive if there are fewer than five rows for each of
    :math:`(r_x - 1)(r_y - 1)\prod r_z` degrees of freedom.

    References
    ----------
    Tsamardinos, Brown and Aliferis 2006, sections 2 and 5. The code of S4's authors uses
    chi-square instead, with Yates' correction where fewer than ten are expected.
    """

    def __init__(self, columns: Columns) -> None:
        self._columns = columns
        self._found: dict[tuple[int, ...], Association | None] = {}
        self._term = log_likelihood_term()

    def __len__(self) -> int:
        """Return the number of tests."""
        return len(self._found)

    def association(self, x: int, y: int, given: tuple[int, ...]) -> Association | None:
        """Test whether two variables are independent given others."""
        x, y = min(x, y), max(x, y)
        key = (x, y, *given)
        if key not in self._found:
            self._found[key] = self._test(x, y, given)
        return self._found[key]

    def _test(self, x: int, y: int, given: tuple[int, ...]) -> Association | None:
        r = self._columns.n_states
        freedom = (r[x] - 1) * (r[y] - 1) * prod(r[j] for j in given)
        if self._columns.n_samples < ROWS_PER_FREEDOM * freedom:
            return None
        cells = self._counts(x, y, given)
        of_x, of_y = cells.sum(axis=2), cells.sum(axis=1)
        of_z = of_x.sum(axis=1)
        sums = [float(self._term(each, 1).sum()) for each in (cells, of_z, of_x, of_y)]
        statistic = max(2.0 * (sums[0] + sums[1] - sums[2] - sums[3]), 0.0)
        more_x, more_y = (np.maximum((of > 0).sum(axis=1) - 1, 0) for of in (of_x, of_y))
        occurring = int(more_x @ more_y)
        p = float(gammaincc(occurring / 2, statistic / 2)) if occurring else 1.0
        return Association(-p, statistic if occurring else 0.0)

    def _counts(self, x: int, y: int, given: tuple[int, ...]) -> IntArray:
        """Return N(z, x, y), whose size is bounded: five rows per degree of freedom."""
        columns = self._columns
        joint = one_joint(columns.n_samples)
        for j in given:
            joint = joint.with_column(columns.states[j], columns.n_states[j])
        rx, ry = columns.n_states[x], columns.n_states[y]
        index = (joint.index * rx + columns.states[x]) * ry + columns.states[y]
        return np.bincount(index, minlength=joint.n_listed * rx * ry).reshape(-1, rx, ry)


LEVEL = 0.05
"""Largest p-value of a dependence."""
MOST_GIVEN = 4
"""Largest conditioning set of a test, which bounds the number of tests."""


def varying_pairs(columns: Columns) -> BoolArray:
    """
    Return the pairs that may be joined when no test restricts them.

    Shapes: returns (n_variables, n_variables) bool, True if both vary and are different.
    """
    varies = (columns.states != columns.states[:, :1]).any(axis=1)
    found = np.outer(varies, varies)
    np.fill_diagonal(found, False)
    return found


def parents_and_children(
    columns: Columns, level: float = LEVEL, most_given: int = MOST_GIVEN, tell: Progress = silence
) -> BoolArray:
    """
    Return the pairs of variables that are each other's MMPC candidates.

    Shapes: returns (n_variables, n_variables) bool, symmetric: each is a candidate of the other.

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
    Return the candidate parents and children of one variable, before the symmetry check.

    Variables join in the order of their smallest association with the target over subsets of the
    current candidates, largest first; the first variable wins a tie. Finally, candidates that are
    independent of the target given a subset of the others are removed.

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
    """Return the smallest association over some subsets; None if it is independence."""
    for given in subsets:
        found = tests.association(x, target, given)
        if found is not None:
            if found.p > level:
                return None
            weakest = min(weakest, found)
    return weakest
