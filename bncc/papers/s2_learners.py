"""The Bayesian networks that S2 compares, learned of one fold from one count of its pairs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from bncc.papers.folds import Fold
from bncc.structure.graph import Structure, forest, one_parent_each
from bncc.structure.learners.etan import DEFAULT_ALPHAS, best_forest
from bncc.structure.scores import FamilyScores, bdeu_families, score_of
from bncc.structure.spanning_trees import maximum_spanning_forest

ALPHA = 2.0
"""Equivalent sample size of the learners that do not choose it."""
ALPHAS = DEFAULT_ALPHAS
"""Those that SA-ETAN and A-ETAN choose among."""
ROUNDING_NATS = 1e-3
"""By so much a score may be less than it should: arcs that gain next to nothing are left out."""
NETWORKS = ("NB", "TAN", "ETAN", "ETAN(10)", "S-ETAN", "SA-ETAN", "A-ETAN")
"""Learners by the paper's names; NB is its Naive."""


@dataclass(frozen=True)
class Network:
    """What was learned."""

    structure: Structure  # At most one feature parent each
    alpha: float  # Equivalent sample size of its score and its tables
    bdeu: float  # Score at that size, the class's own included, in nats


def learn_networks(fold: Fold) -> dict[str, Network]:
    """
    Learn all networks from the training rows of a fold.

    TAN is the spanning tree of greatest BDeu score, whichever its root. Where several equivalent
    sample sizes give the same score, the smallest is taken.


    References
    ----------
    S2, section 2.1 (TAN), section 3 (ETAN), equation 7 (S-ETAN), section 4 (alpha).
    """
    data = (fold.X, fold.y, fold.n_states, fold.n_classes)
    families = dict(zip(ALPHAS, bdeu_families(*data, ALPHAS), strict=True))
    at_two = families[ALPHA]
    etans = [_network(best_forest(families[a]), a, families[a]) for a in ALPHAS]
    relevant = [
        _network(best_forest(families[a], is_selective=True), a, families[a]) for a in ALPHAS
    ]
    found = {
        "NB": _network(one_parent_each([None] * fold.X.shape[1]), ALPHA, at_two),
        "TAN": _network(_tan(at_two), ALPHA, at_two),
        "ETAN": etans[ALPHAS.index(ALPHA)],
        "ETAN(10)": etans[ALPHAS.index(10.0)],
        "S-ETAN": relevant[ALPHAS.index(ALPHA)],
        "SA-ETAN": _best(relevant),
        "A-ETAN": _best(etans),
    }
    check_scores(found, fold.name)
    return found


def check_scores(networks: Mapping[str, Network], where: str) -> None:
    """Refuse scores that cannot be: ETAN's is at least those of TAN and of naive Bayes."""
    for other in ("TAN", "NB"):
        lack = networks[other].bdeu - networks["ETAN"].bdeu
        if lack > ROUNDING_NATS:
            raise RuntimeError(f"ETAN scores {lack:g} nats less than {other} in {where}")


def _network(structure: Structure, alpha: float, families: FamilyScores) -> Network:
    return Network(structure, alpha, score_of(structure, families))


def _best(networks: Sequence[Network]) -> Network:
    return max(networks, key=lambda network: network.bdeu)


def _tan(families: FamilyScores) -> Structure:
    gains = families.given_both - families.given_class[:, np.newaxis]
    return forest(maximum_spanning_forest(gains))
