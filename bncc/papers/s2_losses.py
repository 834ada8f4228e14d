"""Zero-one loss and log loss of S2's learners on the test rows of one fold."""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from scipy.special import logsumexp

from bncc._types import BoolArray, FloatArray, IntArray
from bncc.baselines.aode import PART, averaged
from bncc.baselines.rival import Rows
from bncc.model.marginal import log_joint
from bncc.papers.folds import Fold
from bncc.papers.s2_learners import Network
from bncc.structure.graph import Structure
from bncc.train.maximum_likelihood import LogTables, bdeu_log_tables

AODE = "AODE"
WEIGHT, LEAST = 1.0, 1
"""Of AODE's estimates: m, and rows that a value must be in. The paper does not say; these are
Weka's ``-M -W 1`` and its default of ``-F``."""
PERCENTS = (10, 20, 30)
"""Of test cells that are missing, table 4."""
WITH_MISSING = ("SA-ETAN", "A-ETAN")
"""Learners that are judged with missing cells."""


class Losses(NamedTuple):
    """Sums over rows."""

    errors: int  # Wrong decisions, the smallest class on ties
    log_loss: float  # Of ``-ln p(c | x)``, in nats


def missing_name(learner: str, percent: int) -> str:
    """Return the name under which losses with missing test cells are kept."""
    return f"{learner} {percent} % missing"


def losses(log_scores: FloatArray, y: IntArray) -> Losses:
    """
    Judge decisions and probabilities.

    Shapes: `log_scores` (n_rows, n_classes) float64; `y` (n_rows,) int.
    """
    true = np.take_along_axis(log_scores, y[:, np.newaxis], axis=1)[:, 0]
    log_loss = float((logsumexp(log_scores, axis=1) - true).sum()) if len(y) else 0.0
    return Losses(int((log_scores.argmax(axis=1) != y).sum()), log_loss)


def network_losses(
    fold: Fold, networks: Mapping[str, Network], drawn: FloatArray
) -> dict[str, Losses]:
    """
    Judge Bayesian networks, with all test cells and with some missing.

    Tables are the posterior means at the network's alpha. Missing features are summed out.

    Shapes: `drawn` (n_test_rows, n_features) float64.

    References
    ----------
    S2, section 4.
    """
    tables: dict[tuple[Structure, float], LogTables] = {}
    judged: dict[tuple[Structure, float, int], Losses] = {}

    def judge(network: Network, percent: int) -> Losses:
        """Judge once what several learners ended with."""
        structure, alpha = key = network.structure, network.alpha
        if (*key, percent) not in judged:
            if key not in tables:
                data = (fold.X, fold.y, structure, fold.n_states, fold.n_classes)
                tables[key] = bdeu_log_tables(*data, alpha)
            gaps: BoolArray = drawn < percent / 100
            scores = log_joint(structure, fold.n_states, tables[key], fold.X_test, gaps)
            judged[*key, percent] = losses(scores, fold.y_test)
        return judged[*key, percent]

    found = {name: judge(network, 0) for name, network in networks.items()}
    for name in WITH_MISSING:
        for percent in PERCENTS:
            found[missing_name(name, percent)] = judge(networks[name], percent)
    return found


def aode_losses(fold: Fold) -> Losses:
    """Judge averaged one-dependence estimators."""
    rows = Rows(fold.X, fold.y, tuple(fold.n_states), fold.n_classes)
    found = averaged(rows, WEIGHT, LEAST)
    n_parts = max(1, -(-len(fold.X_test) // PART))
    scores = [found.log_scores(part) for part in np.array_split(fold.X_test, n_parts)]
    return losses(np.concatenate(scores), fold.y_test)
