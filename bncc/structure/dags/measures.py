"""What rows say of a graph: BDeu, BIC and mutual information."""

from dataclasses import dataclass
from math import log

import numpy as np

from bncc.structure.dags.columns import Columns, Dag
from bncc.structure.dags.dag_score import DagScore, Limits, ScoreKind

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
