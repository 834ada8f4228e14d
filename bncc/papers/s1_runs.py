"""
The runs behind S1's tables: data sets, structures, tables, support vector machines; all kept.

Networks marginalize missing features; support vector machines impute their means.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from bncc._types import BoolArray, FloatArray, IntArray
from bncc.data.dataset import Dataset
from bncc.data.readers import read_table
from bncc.data.splits import stratified_folds
from bncc.data.target import dataset_of
from bncc.errors import DataError
from bncc.model.marginal import log_joint
from bncc.papers.experiments import Effort
from bncc.papers.folds import Fold, cut_fold
from bncc.papers.runs import Log, Program, Result, kept, key_of
from bncc.papers.training import decide
from bncc.progress import Progress, nth_part
from bncc.structure.graph import Structure, free_parameters, topological_order
from bncc.structure.learner import Problem
from bncc.structure.learners import LEARNERS
from bncc.structure.learners.margin import hill_climb
from bncc.structure.margin_scores.scored_tree import Found
from bncc.structure.margin_scores.search import Schedule, Search, anneal, begin
from bncc.train.margin.fit import margin_log_tables
from bncc.train.margin.settings import MarginSettings
from bncc.train.maximum_likelihood import LogTables, ml_log_tables

S1_FILES = {"mnist14": "mnist14.npz", "usps": "usps_all.csv.gz", "spambase": "spambase.csv.gz"}
"""Data sets by row of S1's tables."""
PLACES = (".", "paper", "raw", "../paper", "../raw")
"""Possible locations of a file within the data folder."""
N_SPLITS = 5
"""Number of random halves of spambase."""
HALF = 2301
USPS_ROWS = 8000
"""Numbers of training rows in S1."""


def s1_path(folder: Path, row: str) -> Path | None:
    """Return the path of a data set's file."""
    paths = (folder / place / S1_FILES[row] for place in PLACES)
    return next((path for path in paths if path.is_file()), None)


def s1_folds(folder: Path, row: str, n_splits: int = N_SPLITS) -> tuple[Fold, ...]:
    """
    Read a data set in S1's sizes.

    Spambase is split at random into halves; usps' 11,000 images once into 8000 and 3000; mnist14
    is 60,000 and 10,000 as in MNIST. All are discretized by the MDL rule on the training rows. S1's
    own splits of spambase and usps are not published.
    """
    path = s1_path(folder, row)
    if path is None:
        raise DataError(
            f"'{folder}' has no {S1_FILES[row]}, nor do its subfolders paper and raw; name the "
            "folder of the data sets with --data"
        )
    if row == "mnist14":
        return (_cut(row, dataset_of(read_table(path, fold=1)), ~_is_test(path)),)
    dataset = dataset_of(read_table(path))
    if row == "usps":
        n = min(USPS_ROWS, dataset.n_rows * 8 // 11)
        return (_cut(row, dataset, _drawn(dataset.n_rows, n, 0)),)
    n = min(HALF, (dataset.n_rows + 1) // 2)
    splits = (_drawn(dataset.n_rows, n, seed) for seed in range(n_splits))
    return tuple(_cut(f"{row} {k}", dataset, chosen) for k, chosen in enumerate(splits, 1))


def _is_test(path: Path) -> BoolArray:
    with np.load(path, allow_pickle=False) as archive:
        if "orig_is_test" not in archive:
            raise DataError(
                f"'{path}' does not mark the MNIST test rows in 'orig_is_test'; download or copy "
                "it again"
            )
        return np.asarray(archive["orig_is_test"], dtype=np.bool_)


def _drawn(n_rows: int, n: int, seed: int) -> BoolArray:
    """Sample the training rows."""
    chosen = np.zeros(n_rows, dtype=np.bool_)
    chosen[np.random.default_rng(seed).permutation(n_rows)[:n]] = True
    return chosen


def _cut(name: str, dataset: Dataset, chosen: BoolArray) -> Fold:
    parts = (dataset.take(np.flatnonzero(part)) for part in (chosen, ~chosen))
    return cut_fold(name, *parts)


COUNTED: Mapping[str, str] = {"NB": "naive", "TAN-ST-CMI": "chow-liu"}
"""Learners of a structure from counts, by the paper's names."""
SEARCHED: Mapping[str, tuple[str, str]] = {
    "TAN-HC-CR": ("climb", "cr"),
    "TAN-HC-MM": ("climb", "mm"),
    "TAN-SA-CR": ("anneal", "cr"),
    "TAN-SA-MM": ("anneal", "mm"),
}
"""Search and score, by the paper's names."""
STRUCTURES = (*COUNTED, *SEARCHED)


def has_chance(name: str) -> bool:
    """Return whether runs differ."""
    return name in SEARCHED and SEARCHED[name][0] == "anneal"


def has_margin(name: str) -> bool:
    """Return whether a structure search uses the margin, and so needs a lambda."""
    return name in SEARCHED and SEARCHED[name][1] == "mm"


def lambda_for(fold: Fold) -> float:
    """Choose the scale of the margin for tree scores."""
    tree, _, _ = begin(_problem(fold), Search())
    return tree.kind.lambda_


def found_structure(
    fold: Fold, name: str, run: int, lambda_: float | None, cooling: float = Schedule.cooling
) -> tuple[Structure, int | None]:
    """Learn a structure from all training rows."""
    problem = _problem(fold)
    if name in COUNTED:
        return LEARNERS[COUNTED[name]].learn(problem), None
    way, score = SEARCHED[name]
    search = Search(score, lambda_)
    found: Found
    if way == "climb":
        found = hill_climb(problem, search)
    else:
        tree, _, _ = begin(problem, search)
        found = anneal(tree, Schedule(cooling), np.random.default_rng((0, run)), lambda *_: None)
    return found.structure, found.n_evaluations


def _problem(fold: Fold) -> Problem:
    return Problem(fold.X, fold.y, fold.n_states, fold.n_classes)


PENALTY = 1.0
"""C* of S1's table 2."""
GAMMAS = (0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0)
"""Factors of squared distances in the kernel; S1's are among them."""
N_FOLDS = 5
MOST_ROWS = 4000
"""Largest number of rows for the choice of the kernel: each doubling takes four times as long."""


@dataclass(frozen=True)
class Machine:
    """A support vector machine."""

    error: float  # Error rate on the test rows
    n_vectors: int  # Support vectors
    gamma: float  # Kernel parameter


def machine_of(fold: Fold) -> Machine:
    """Learn from all training rows, with the kernel chosen by cross-validation."""
    machine = learned_machine(fold)
    error = float((machine.predict(inputs_of(fold, fold.X_test)) != fold.y_test).mean())
    return Machine(error, int(machine.n_support_.sum()), machine.gamma)


def learned_machine(fold: Fold) -> Any:
    """Learn a support vector machine from all training rows."""
    from sklearn.svm import SVC

    X = inputs_of(fold, fold.X)
    return SVC(C=PENALTY, gamma=_chosen(X, fold.y)).fit(X, fold.y)


def inputs_of(fold: Fold, X: IntArray) -> FloatArray:
    """
    Return states as inputs of a support vector machine.

    Shapes: `X` (n_rows, n_features) int; returns (n_rows, n_features) float64, in 0 .. 1.
    """
    return np.asarray(X / np.maximum(np.asarray(fold.n_states) - 1, 1))


def _chosen(X: FloatArray, y: IntArray) -> float:
    """Choose a kernel by cross-validation, on a stratified sample of many rows."""
    from sklearn.svm import SVC

    parts = -(-len(y) // MOST_ROWS)
    if parts > 1:
        part = stratified_folds(y, parts, 0) == 0
        X, y = X[part], y[part]
    folds = stratified_folds(y, N_FOLDS, 0)
    wrong = np.zeros(len(GAMMAS), dtype=np.int64)
    for k in range(N_FOLDS):
        rest, held = folds != k, folds == k
        for j, gamma in enumerate(GAMMAS):
            machine = SVC(C=PENALTY, gamma=gamma).fit(X[rest], y[rest])
            wrong[j] += (machine.predict(X[held]) != y[held]).sum()
    return GAMMAS[int(wrong.argmin())]


SVM = "SVM"
NETWORKS = {
    "NB-ML": ("NB", "ml"), "NB-MM": ("NB", "margin"), "TAN-ST-CMI-ML": ("TAN-ST-CMI", "ml"),
}  # fmt: skip
"""Structure and parameters, by name."""
WITHOUT_FEATURES = (*NETWORKS, SVM)
"""Learners that are evaluated with missing features."""

Decide = Callable[[BoolArray], IntArray]
"""Function from a mask of features missing in all test rows, (n_features,), to decisions."""


def missing_sets(n_features: int, count: int, n_repeats: int) -> BoolArray:
    """
    Sample missing features, the same for all learners.

    Shapes: returns (n_repeats, n_features) bool; within a sample, features that are missing at a
    smaller count are also missing at a larger one.
    """
    missing = np.zeros((n_repeats, n_features), dtype=np.bool_)
    for repeat, row in enumerate(missing):
        row[np.random.default_rng((0, repeat)).permutation(n_features)[:count]] = True
    return missing


def errors_with_missing(fold: Fold, name: str, count: int, n_repeats: int) -> list[float]:
    """
    Classify the test rows with some features missing in all of them, repeatedly.

    References
    ----------
    S1, figure 5.
    """
    decide = _learned(fold, name)
    return [
        float((decide(missing) != fold.y_test).mean())
        for missing in missing_sets(fold.X.shape[1], count, n_repeats)
    ]


@lru_cache(maxsize=1)
def _learned(fold: Fold, name: str) -> Decide:
    """Learn once for all counts."""
    if name == SVM:
        return _deciding_machine(fold)
    of, parameters = NETWORKS[name]
    structure, _ = found_structure(fold, of, 0, None)
    data = fold.X, fold.y, structure, fold.n_states, fold.n_classes
    tables = (
        ml_log_tables(*data) if parameters == "ml" else margin_log_tables(*data, MarginSettings())
    )

    def decide(missing: BoolArray) -> IntArray:
        scores = log_joint_without(structure, fold.n_states, tables, fold.X_test, missing)
        return np.asarray(scores.argmax(axis=1))

    return decide


def log_joint_without(
    structure: Structure,
    n_states: list[int],
    tables: LogTables,
    X: IntArray,
    missing: BoolArray,
) -> FloatArray:
    """
    Return `log_joint` for rows in which the same features are missing.

    Shapes: `X` (n_samples, n_features) int; `missing` (n_features,) bool; returns (n_samples,
    n_classes) float64. A missing feature with no known descendant sums to one and is skipped.
    """
    is_kept = ~missing
    for i in reversed(topological_order(structure)):
        for j in structure.parents[i]:
            is_kept[j] |= is_kept[i]
    kept = np.flatnonzero(is_kept).tolist()
    if not kept:
        return np.tile(tables[0], (len(X), 1))
    place = {feature: k for k, feature in enumerate(kept)}
    part = Structure(
        tuple(tuple(place[j] for j in structure.parents[i]) for i in kept),
        tuple(structure.class_is_parent[i] for i in kept),
    )
    of_part = tables[0], tuple(tables[1][i] for i in kept)
    unknown = np.broadcast_to(missing[kept], (len(X), len(kept)))
    return log_joint(part, [n_states[i] for i in kept], of_part, X[:, kept], unknown)


def _deciding_machine(fold: Fold) -> Decide:
    machine = learned_machine(fold)
    mean = inputs_of(fold, fold.X).mean(axis=0)
    X_test = inputs_of(fold, fold.X_test)

    def decide(missing: BoolArray) -> IntArray:
        return np.asarray(machine.predict(np.where(missing, mean, X_test)))

    return decide


N_RUNS = 10
"""Annealings per cell, as in S1."""
PROGRAM = Program(
    "bncc's learners",
    (
        "structure", "native", "train/maximum_likelihood.py", "train/margin", "discretize",
        "data/splits.py", "papers/folds.py", "papers/s1_runs.py", "papers/training.py",
        "model/marginal.py",
    ),
)  # fmt: skip
"""Sources that determine the result of a run."""

Call = tuple[int, str, tuple[Any, ...]]
"""Number of the fold, name of the step, and its options, as JSON values."""


def scale(fold: Fold) -> Result:
    """Choose the scale of the margin for tree scores."""
    return {"lambda": lambda_for(fold)}


def learn(
    fold: Fold, name: str, run: int, lambda_: float | None, cooling: float = Schedule.cooling
) -> Result:
    """Learn a structure from all training rows."""
    structure, evaluations = found_structure(fold, name, run, lambda_, cooling)
    return {
        "parents": [list(parents) for parents in structure.parents], "evaluations": evaluations
    }  # fmt: skip


def judge(fold: Fold, parents: Sequence[Sequence[int]], parameters: str) -> Result:
    """Learn float tables from all training rows and classify the test rows."""
    structure = Structure(tuple(map(tuple, parents)), (True,) * len(parents))
    data = fold.X, fold.y, structure, fold.n_states, fold.n_classes
    tables = (
        ml_log_tables(*data) if parameters == "ml" else margin_log_tables(*data, MarginSettings())
    )
    error = float((decide(fold.X_test, structure, fold.n_states, tables) != fold.y_test).mean())
    free = free_parameters(structure, fold.n_states, fold.n_classes)
    return {"error": error, "free_parameters": free}


def machine(fold: Fold) -> Result:
    """Learn a support vector machine."""
    return asdict(machine_of(fold))


def missing(fold: Fold, name: str, count: int, n_repeats: int) -> Result:
    """Classify the test rows with some features missing."""
    return {"errors": errors_with_missing(fold, name, count, n_repeats)}


_DONE: Mapping[str, Callable[..., Result]] = {
    "scale": scale, "learn": learn, "judge": judge, "machine": machine, "missing": missing,
}  # fmt: skip


class Runs:
    """Runs on the folds of a data set, which is read when needed."""

    def __init__(self, read: Callable[[], tuple[Fold, ...]], effort: Effort) -> None:
        self._read, self._effort = read, effort

    @cached_property
    def folds(self) -> tuple[Fold, ...]:
        """The data set."""
        return self._read()

    @cached_property
    def log(self) -> Log:
        """Log of known results; without a file, it exists for this object only."""
        return Log(self._effort.log, PROGRAM)

    def learned(
        self, name: str, n_runs: int, advance: Progress, cooling: float = Schedule.cooling
    ) -> list[tuple[int, Result]]:
        """Learn structures on all folds."""
        folds = range(len(self.folds))
        scales: list[float | None] = [None for _ in folds]
        if has_margin(name):
            told = nth_part(advance, 0, 2, "lambda")
            scales = [
                each["lambda"] for each in self.results([(f, "scale", ()) for f in folds], told)
            ]
        # The key of a run at the usual cooling is that of the tables.
        more = () if cooling == Schedule.cooling else (cooling,)
        calls: list[Call] = [
            (f, "learn", (name, run, scales[f], *more))
            for f in folds
            for run in range(n_runs if has_chance(name) else 1)
        ]
        results = self.results(calls, nth_part(advance, 1, 2, "structure"))
        return [(f, result) for (f, _, _), result in zip(calls, results, strict=True)]

    def results(self, calls: Sequence[Call], advance: Progress) -> list[Result]:
        """Make the calls without a known result."""
        with kept(_result, self.folds, self._key, self.log, self._effort.jobs) as run:
            return run(calls, lambda k, n, *_: advance(k / n, f"{k} of {n}"))

    def _key(self, call: Call) -> str:
        f, what, how = call
        return key_of(what, self.folds[f].digest, how)


def _result(folds: Sequence[Fold], call: Call) -> Result:
    f, what, how = call
    return _DONE[what](folds[f], *how)
