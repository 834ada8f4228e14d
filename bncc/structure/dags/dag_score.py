"""Graph scores with cached family counts, and distances between graphs."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import log, prod

import numpy as np

from bncc._types import AnyArray, IntArray
from bncc.errors import OptionError
from bncc.structure.graph import Structure, topological_order
from bncc.structure.scores import Term, log_gamma_term, log_likelihood_term

CELLS_PER_ROW = 4
"""Limit for listing all joint states; above it only those that occur are listed."""


@dataclass(frozen=True, eq=False)
class Columns:
    """The variables of a graph, including the class."""

    states: IntArray  # (n_variables, n_samples) int: State of each variable in each row, from 0
    n_states: tuple[int, ...]  # Cardinality of each variable

    @property
    def n_variables(self) -> int:
        """Number of variables."""
        return len(self.n_states)

    @property
    def n_samples(self) -> int:
        """Number of rows."""
        return int(self.states.shape[1])

    def rows(self, chosen: AnyArray) -> "Columns":
        """
        Return some of the rows.

        Shapes: `chosen` (n,) int or bool.
        """
        return Columns(np.ascontiguousarray(self.states[:, chosen]), self.n_states)


@dataclass(frozen=True, eq=False)
class Joint:
    """Index of the joint state of some variables in each row."""

    # (n_samples,) int64: In ``0 .. n_listed - 1``; equal exactly for rows with equal states
    index: IntArray
    n_listed: int  # Joint states that the index distinguishes, including empty ones
    n_cells: int  # All possible joint states

    def with_column(self, states: IntArray, r: int) -> "Joint":
        """
        Return the joint states after the addition of one variable.

        Shapes: `states` (n_samples,) int.
        """
        n_listed, index = self.n_listed * r, self.index * r + states
        if n_listed > CELLS_PER_ROW * max(len(index), 64):
            occurring, index = np.unique(index, return_inverse=True)
            n_listed = len(occurring)
        return Joint(index, n_listed, self.n_cells * r)

    def counts(self) -> IntArray:
        """
        Return the number of rows of each joint state that occurs.

        Shapes: returns (n,) int64, each > 0; they sum to the number of rows.
        """
        counts = np.bincount(self.index, minlength=1)
        return counts[counts > 0]


def one_joint(n_samples: int) -> Joint:
    """Return the joint state of no variables, which is the same for every row."""
    return Joint(np.zeros(n_samples, dtype=np.int64), 1, 1)


def columns_of(X: IntArray, y: IntArray, n_states: Sequence[int], n_classes: int) -> Columns:
    """
    Return the columns of features and class.

    Shapes: `X` (n_samples, n_features) int; `y` (n_samples,) int.
    """
    states = np.vstack([np.asarray(X).T, np.asarray(y)[None, :]])
    return Columns(np.ascontiguousarray(states), (*map(int, n_states), int(n_classes)))


Dag = tuple[tuple[int, ...], ...]
"""Parents of each variable, ascending, without cycles."""


def no_arcs(n_variables: int) -> Dag:
    """Return the graph without arcs."""
    return ((),) * n_variables


def arcs_of(dag: Dag) -> tuple[tuple[int, int], ...]:
    """Return the arcs of a graph."""
    return tuple((j, i) for i, parents in enumerate(dag) for j in parents)


SCORES = ("bdeu", "bic")
MAX_ENTRIES = 2**16
"""Largest number of table entries that a learner allows."""
KEPT_JOINTS = 64
"""Sets of variables whose joint states are cached, at eight bytes per row each."""


@dataclass(frozen=True)
class Limits:
    """Limits of a family."""

    parents: int | None = None  # Most parents of a variable; None for no limit
    entries: int = MAX_ENTRIES  # Most entries of a table


@dataclass(frozen=True)
class ScoreKind:
    """Kind of score and its parameters."""

    name: str = "bdeu"  # Its name
    alpha: float = 10.0  # Equivalent sample size of BDeu, > 0
    arc_price: float = 0.0  # Additional penalty of each arc, in nats, >= 0


class DagScore:
    r"""
    A decomposable score of graphs over some rows, in nats.

    .. math::
       s(X, \Pi) = J(X, \Pi) - J(\Pi) - \text{penalty},

    with J as in `bdeu_families`, summed over the joint states that occur. J is cached by its set of
    variables, so families share counts. For rows in segments, the segments' scores are added, each
    with the equivalent sample size divided by the number of segments (S4).
    """

    def __init__(
        self,
        columns: Columns,
        kind: ScoreKind | None = None,
        limits: Limits | None = None,
        segments: Joint | None = None,
    ) -> None:
        self.columns = columns
        self.kind = kind or ScoreKind()
        self.limits = limits or Limits()
        most = max(columns.n_states, default=0)
        if most > self.limits.entries:
            raise OptionError(
                f"a variable has {most} states, more than the {self.limits.entries} entries "
                "allowed per table; use fewer states, or raise max-entries="
            )
        start = segments or one_joint(columns.n_samples)
        n_segments = len(start.counts()) if segments else 1
        self._joints: dict[tuple[int, ...], Joint] = {(): Joint(start.index, start.n_listed, 1)}
        self._sums: dict[tuple[int, ...], float] = {}
        self._term = self._term_of(max(n_segments, 1))

    def _term_of(self, n_segments: int) -> Term:
        if self.kind.name == "bic":
            return log_likelihood_term()
        return log_gamma_term(self.kind.alpha / n_segments)

    def fits(self, i: int, parents: Sequence[int]) -> bool:
        """Return whether a family is within the limits, without counting."""
        most = self.limits.parents
        if most is not None and len(parents) > most:
            return False
        r = self.columns.n_states
        return prod((r[j] for j in parents), start=r[i]) <= self.limits.entries

    def family(self, i: int, parents: Sequence[int]) -> float:
        """Return s(X_i, parents)."""
        r = self.columns.n_states
        n_parent_states = prod(r[j] for j in parents)
        if n_parent_states * r[i] > self.limits.entries:
            raise OptionError(
                f"the table of a variable with {len(parents)} parents would have "
                f"{n_parent_states * r[i]} entries, more than {self.limits.entries}; use fewer "
                "parents, or raise max-entries="
            )
        score = self._sum((*parents, i)) - self._sum(parents)
        if self.kind.name == "bic":
            score -= 0.5 * log(max(self.columns.n_samples, 1)) * n_parent_states * (r[i] - 1)
        return score - self.kind.arc_price * len(parents)

    def total(self, dag: Dag) -> float:
        """Return the score of a graph."""
        return sum(self.family(i, parents) for i, parents in enumerate(dag))

    def _sum(self, variables: Sequence[int]) -> float:
        """Return J of a set of variables."""
        key = tuple(sorted(variables))
        if key not in self._sums:
            joint = self._joint(tuple(variables))
            terms = self._term(joint.counts(), joint.n_cells)
            self._sums[key] = float(np.sum(terms))
        return self._sums[key]

    def _joint(self, variables: tuple[int, ...]) -> Joint:
        """Return the joint states of variables, of which all but the last are likely cached."""
        if variables not in self._joints:
            before = self._joint(variables[:-1])
            last = variables[-1]
            joint = before.with_column(self.columns.states[last], self.columns.n_states[last])
            if len(self._joints) > KEPT_JOINTS:
                self._joints.pop(next(key for key in self._joints if key))
            self._joints[variables] = joint
        return self._joints[variables]


NO_LIMIT = Limits(entries=2**62)
"""No limits: a graph is evaluated as it is, and only joint states that occur are counted."""


@dataclass(frozen=True)
class Measures:
    """Measures of a graph on rows, in nats; larger is better."""

    bdeu: float  # Log marginal likelihood of the rows
    bic: float  # Log-likelihood minus half ln N per free parameter
    # Mean over the variables of the empirical mutual information with their parents, >= 0; called
    # KL in the tables of MMHC and S4
    information: float


def measure(columns: Columns, dag: Dag, alpha: float = 10.0) -> Measures:
    """
    Measure a graph on rows, preferably on rows that it was not learned from.

    References
    ----------
    S4, table 2; Tsamardinos, Brown and Aliferis 2006, section 6.
    """
    bdeu = DagScore(columns, ScoreKind("bdeu", alpha), NO_LIMIT)
    bic = DagScore(columns, ScoreKind("bic"), NO_LIMIT)
    # Parents add N times their information to the log-likelihood.
    price = 0.5 * log(max(columns.n_samples, 1))
    gained = 0.0
    for i, parents in enumerate(dag):
        states = [columns.n_states[j] for j in parents]
        free = (int(np.prod(states, dtype=object)) - 1) * (columns.n_states[i] - 1)
        gained += bic.family(i, parents) - bic.family(i, ()) + price * free
    n = max(columns.n_samples * columns.n_variables, 1)
    return Measures(bdeu.total(dag), bic.total(dag), max(gained, 0.0) / n)


def compelled_arcs(dag: Dag) -> frozenset[tuple[int, int]]:
    """
    Return the directed arcs of the completed partially directed graph (CPDAG) of a graph.

    References
    ----------
    Chickering, A transformational characterization of equivalent Bayesian network structures,
    1995, algorithm ``Label-Edges``.
    """
    order = topological_order(Structure(dag, (False,) * len(dag)))
    place = {i: k for k, i in enumerate(order)}
    compelled: list[frozenset[int]] = [frozenset()] * len(dag)
    for y in order:
        parents = frozenset(dag[y])
        if not parents:
            continue
        last = max(parents, key=place.__getitem__)
        is_collider = bool(parents - {last} - set(dag[last]))
        # A compelled arc into the last parent that is not also an arc into y compels y's arcs too.
        is_chain = not compelled[last] <= parents
        compelled[y] = parents if is_collider or is_chain else compelled[last]
    return frozenset((x, y) for y, found in enumerate(compelled) for x in found)


@dataclass(frozen=True)
class Distance:
    """Differences between two graphs."""

    missing: int  # Pairs of variables joined by an arc in the true graph only
    extra: int  # Pairs joined by an arc in the learned graph only
    reversed: int  # Arcs that are compelled in both, in opposite directions
    undecided: int  # Pairs joined in both, in a direction that only one of the graphs compels

    @property
    def total(self) -> int:
        """The structural Hamming distance as defined by S4."""
        return self.missing + self.extra + self.reversed

    @property
    def of_patterns(self) -> int:
        """The structural Hamming distance of MMHC's paper: 0 only for equivalent graphs."""
        return self.total + self.undecided


def structural_distance(learned: Dag, true: Dag) -> Distance:
    """
    Return the structural Hamming distance of two graphs, equal for equivalent ones.

    References
    ----------
    S4, table 2; the rule is that of its authors' code, which excludes `undecided`. Tsamardinos,
    Brown and Aliferis 2006, algorithm 4, include it.
    """
    ours, theirs = _edges(learned), _edges(true)
    found, expected = compelled_arcs(learned), compelled_arcs(true)
    reversed_ = len(found & {(y, x) for x, y in expected})
    shared = [arc for arc in found ^ expected if frozenset(arc) in ours & theirs]
    # A reversed arc contributes both directions.
    undecided = len(shared) - 2 * reversed_
    return Distance(len(theirs - ours), len(ours - theirs), reversed_, undecided)


def _edges(dag: Dag) -> frozenset[frozenset[int]]:
    return frozenset(map(frozenset, arcs_of(dag)))
