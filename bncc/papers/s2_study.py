"""S2's study: the losses and scores of its learners on each data set, by cross-validation."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy.special import logsumexp

from bncc._types import BoolArray, FloatArray, IntArray
from bncc.baselines.aode import PART, averaged
from bncc.baselines.baseline import Rows
from bncc.data.dataset import Dataset
from bncc.errors import DataError
from bncc.model.marginal import log_joint
from bncc.papers.folds import Fold
from bncc.papers.runs import Log, Program, Result, kept, key_of
from bncc.papers.s2_data import Part, Protocol, parts_of, read_set
from bncc.progress import Progress, silence
from bncc.structure.graph import Structure, forest, one_parent_each
from bncc.structure.learners.etan import DEFAULT_ALPHAS, best_forest
from bncc.structure.scores import FamilyScores, bdeu_families, score_of
from bncc.structure.spanning_trees import maximum_spanning_forest
from bncc.train.maximum_likelihood import LogTables, bdeu_log_tables

PROGRAM = Program(
    "S2's study",
    (
        "structure", "native", "data", "discretize/binning.py", "model/marginal.py",
        "train/maximum_likelihood.py", "baselines/aode.py", "papers/folds.py", "papers/s2_data.py",
        "papers/s2_study.py",
    ),
)  # fmt: skip
"""Sources that determine the study's results."""

ALPHA = 2.0
"""Equivalent sample size of the learners that do not choose it."""
ALPHAS = DEFAULT_ALPHAS
"""Candidates of SA-ETAN and A-ETAN."""
ROUNDING_NATS = 1e-3
"""Tolerance by which a score may be too small: arcs with almost no gain are omitted."""
NETWORKS = ("NB", "TAN", "ETAN", "ETAN(10)", "S-ETAN", "SA-ETAN", "A-ETAN")
"""Learners by the paper's names; NB is its Naive."""


@dataclass(frozen=True)
class Network:
    """A learned structure."""

    structure: Structure  # At most one feature parent each
    alpha: float  # Equivalent sample size of its score and its tables
    bdeu: float  # Score at that size, including the class's own, in nats


def learn_networks(fold: Fold) -> dict[str, Network]:
    """
    Learn all networks from the training rows of a fold.

    TAN is the spanning tree of greatest BDeu score, whatever its root. If several equivalent
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
    """Reject impossible scores: ETAN's is at least those of TAN and of naive Bayes."""
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


AODE = "AODE"
WEIGHT, LEAST = 1.0, 1
"""m of AODE's estimates, and the row count of frequent values. The paper does not specify them;
these are Weka's ``-M -W 1`` and its default of ``-F``."""
PERCENTS = (10, 20, 30)
"""Percentages of missing test cells, table 4."""
WITH_MISSING = ("SA-ETAN", "A-ETAN")
"""Learners that are evaluated with missing cells."""


class Losses(NamedTuple):
    """Sums over rows."""

    errors: int  # Wrong decisions, the smallest class on ties
    log_loss: float  # Sum of ``-ln p(c | x)``, in nats


def missing_name(learner: str, percent: int) -> str:
    """Return the name for losses with missing test cells."""
    return f"{learner} {percent} % missing"


def losses(log_scores: FloatArray, y: IntArray) -> Losses:
    """
    Evaluate decisions and probabilities.

    Shapes: `log_scores` (n_rows, n_classes) float64; `y` (n_rows,) int.
    """
    true = np.take_along_axis(log_scores, y[:, np.newaxis], axis=1)[:, 0]
    log_loss = float((logsumexp(log_scores, axis=1) - true).sum()) if len(y) else 0.0
    return Losses(int((log_scores.argmax(axis=1) != y).sum()), log_loss)


def network_losses(
    fold: Fold, networks: Mapping[str, Network], drawn: FloatArray
) -> dict[str, Losses]:
    """
    Evaluate Bayesian networks, with all test cells and with some missing.

    Tables are the posterior means at the network's alpha. Missing features are marginalized.

    Shapes: `drawn` (n_test_rows, n_features) float64.

    References
    ----------
    S2, section 4.
    """
    tables: dict[tuple[Structure, float], LogTables] = {}
    judged: dict[tuple[Structure, float, int], Losses] = {}

    def judge(network: Network, percent: int) -> Losses:
        """Evaluate each distinct result of several learners once."""
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
    """Evaluate averaged one-dependence estimators."""
    rows = Rows(fold.X, fold.y, tuple(fold.n_states), fold.n_classes)
    found = averaged(rows, WEIGHT, LEAST)
    n_parts = max(1, -(-len(fold.X_test) // PART))
    scores = [found.log_scores(part) for part in np.array_split(fold.X_test, n_parts)]
    return losses(np.concatenate(scores), fold.y_test)


BOXED = ("TAN", "ETAN", "SA-ETAN", AODE)
"""Learners whose losses by fold are drawn in figures 3 to 6."""

Todo = tuple[str, Path, Protocol]
"""A set's name, its file, and the settings of its folds."""


@dataclass(frozen=True)
class SetResult:
    """Results of the learners on one data set."""

    n_rows: int  # n_rows and n_folds: Rows of the set, and folds of all repeats together
    n_folds: int
    # By learner, and by `missing_name` with missing test cells: error rate in percent over all rows
    # of all repeats
    error: Mapping[str, float]
    log_loss: Mapping[str, float]  # By the same keys: mean ``-ln p(c | x)`` of rows, in nats
    bdeu: Mapping[str, float]  # By learner except AODE: mean score over folds, in nats
    # By `BOXED` learner: error rate in percent and mean ``-ln p(c | x)`` of each fold in turn
    by_fold: Mapping[str, Sequence[Sequence[float]]]


def study(
    files: Mapping[str, Path],
    protocol: Protocol,
    jobs: int = 1,
    log: Path | None = None,
    advance: Progress = silence,
) -> dict[str, SetResult]:
    """Evaluate all learners on all data sets."""
    names = sorted(files, key=lambda name: -files[name].stat().st_size)  # longest jobs first
    todo = [(name, files[name], protocol) for name in names]

    def told(done: int, n: int, one: Todo, _: Result) -> None:
        advance(done / n, one[0])

    with kept(_tried, None, set_key, Log(log, PROGRAM), jobs) as run:
        found = dict(zip(names, run(todo, told), strict=True))
    return {name: SetResult(**found[name]) for name in files}


def set_key(todo: Todo) -> str:
    """Return the fingerprint of a data set and its folds."""
    name, path, protocol = todo
    return key_of(name, asdict(protocol), sha256(path.read_bytes()).hexdigest())


def _tried(_: None, todo: Todo) -> Result:
    return asdict(try_set(todo))


def try_set(todo: Todo) -> SetResult:
    """Evaluate all learners on one data set."""
    name, path, protocol = todo
    dataset = read_set(path, name)
    errors: dict[str, float] = defaultdict(int)
    log_loss: dict[str, float] = defaultdict(float)
    bdeu: dict[str, float] = defaultdict(float)
    by_fold: dict[str, list[list[float]]] = {learner: [] for learner in BOXED}
    for repeat in range(protocol.n_repeats):
        generator = np.random.default_rng([protocol.seed, repeat])
        drawn = generator.random((dataset.n_rows, len(dataset.table.columns)))
        for part in _parts_of(name, dataset, protocol, repeat):
            fold = replace(part.fold, name=f"{name}, {part.fold.name}")
            networks = learn_networks(fold)
            found = network_losses(fold, networks, drawn[part.test_rows])
            found[AODE] = aode_losses(fold)
            for learner, judged in found.items():
                errors[learner] += judged.errors
                log_loss[learner] += judged.log_loss
            n = max(len(fold.y_test), 1)
            for learner, each in by_fold.items():
                judged = found[learner]
                each.append([100 * judged.errors / n, judged.log_loss / n])
            for learner, network in networks.items():
                bdeu[learner] += network.bdeu
    n_judged = dataset.n_rows * protocol.n_repeats
    n_folds = protocol.n_folds * protocol.n_repeats
    return SetResult(
        n_rows=dataset.n_rows,
        n_folds=n_folds,
        error={learner: 100 * count / n_judged for learner, count in errors.items()},
        log_loss={learner: total / n_judged for learner, total in log_loss.items()},
        bdeu={learner: total / n_folds for learner, total in bdeu.items()},
        by_fold=by_fold,
    )


def _parts_of(name: str, dataset: Dataset, protocol: Protocol, repeat: int) -> Iterator[Part]:
    """Split a set into folds, adding its name to error messages."""
    try:
        yield from parts_of(dataset, protocol, repeat)
    except DataError as error:
        raise DataError(f"{name}: {error}") from None
