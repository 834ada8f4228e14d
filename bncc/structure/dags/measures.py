"""What rows say of a graph: BDeu, BIC and mutual information."""

from dataclasses import dataclass
from math import log

import numpy as np

from bncc.structure.dags.dag_score import Columns, Dag, DagScore, Limits, ScoreKind, arcs_of
from bncc.structure.graph import Structure, topological_order

NO_LIMIT = Limits(entries=2**62)
"""A graph is judged as it is; only joint states that occur are counted."""


@dataclass(frozen=True)
class Measures:
    """Measures of a graph on rows, in nats; the greater, the better."""

    bdeu: float  # Log marginal likelihood of the rows
    bic: float  # Log-likelihood less half ln N per free parameter
    # Mean over the variables of the empirical mutual information of each with its parents, >= 0:
    # what MMHC's and S4's tables call KL
    information: float


def measure(columns: Columns, dag: Dag, alpha: float = 10.0) -> Measures:
    """
    Measure a graph on rows, best on rows that it was not learned from.

    References
    ----------
    S4, table 2; Tsamardinos, Brown and Aliferis 2006, section 6.
    """
    bdeu = DagScore(columns, ScoreKind("bdeu", alpha), NO_LIMIT)
    bic = DagScore(columns, ScoreKind("bic"), NO_LIMIT)
    # What parents add to the log-likelihood is N times their information.
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
        # An arc into the last parent that is compelled and does not go on to y compels it too.
        is_chain = not compelled[last] <= parents
        compelled[y] = parents if is_collider or is_chain else compelled[last]
    return frozenset((x, y) for y, found in enumerate(compelled) for x in found)


@dataclass(frozen=True)
class Distance:
    """How two graphs differ."""

    missing: int  # Pairs of variables that an arc joins in the true graph alone
    extra: int  # Pairs that an arc joins in the learned graph alone
    reversed: int  # Arcs that are compelled in both, in opposite directions
    undecided: int  # Pairs joined in both, in a direction that only one of the graphs compels

    @property
    def total(self) -> int:
        """The structural Hamming distance as S4 has it."""
        return self.missing + self.extra + self.reversed

    @property
    def of_patterns(self) -> int:
        """The structural Hamming distance as MMHC's paper has it: 0 for equivalent graphs alone."""
        return self.total + self.undecided


def structural_distance(learned: Dag, true: Dag) -> Distance:
    """
    Return the structural Hamming distance of two graphs, equal for equivalent ones.

    References
    ----------
    S4, table 2; the rule is that of its authors' code, which leaves `undecided` out. Tsamardinos,
    Brown and Aliferis 2006, algorithm 4, count it too.
    """
    ours, theirs = _edges(learned), _edges(true)
    found, expected = compelled_arcs(learned), compelled_arcs(true)
    reversed_ = len(found & {(y, x) for x, y in expected})
    shared = [arc for arc in found ^ expected if frozenset(arc) in ours & theirs]
    # Of a reversed arc both directions are among them.
    undecided = len(shared) - 2 * reversed_
    return Distance(len(theirs - ours), len(ours - theirs), reversed_, undecided)


def _edges(dag: Dag) -> frozenset[frozenset[int]]:
    return frozenset(map(frozenset, arcs_of(dag)))
