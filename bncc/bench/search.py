"""Random search for what steers the descent: chosen on validation rows, reported on test rows."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass, replace
from hashlib import sha256
from itertools import product
from multiprocessing import get_context
from pathlib import Path

import numpy as np

from bncc._types import IntArray
from bncc.data.splits import stratified_holdout
from bncc.fixed_point import rounded
from bncc.structure.counts import family_rows
from bncc.structure.graph import Structure
from bncc.train.bit_split import formats_of
from bncc.train.learn import Task, fit_in_turn, fit_jointly
from bncc.train.maximum_likelihood import LogTables
from bncc.train.settings import TrainSettings

HELD_OUT = 0.2
"""Of a fold's training rows: what settings are chosen on. The chosen one learns from all."""
LR = (3e-3, 1e-2, 3e-2)
DROPOUT = (0.0, 0.02, 0.04, 0.1, 0.2, 0.3)
LOG_LAMBDA, LOG_GAMMA = (1.0, 3.0), (-0.5, 1.5)
"""Ranges of decimal logarithms. S0's setting II with less of gamma at both ends;
its lr has two values, and dropout is ours."""

Training = tuple[int, int, bool]
"""Fold, settings, and whether it learns from all rows."""
Advance = Callable[[float, str], object]
"""Called with the fraction done and what is at work."""


@dataclass(frozen=True, eq=False)
class Fold:
    """Rows to learn from and rows to be judged by, as states.

    Parameters
    ----------
    name : str
        For the log.
    X, y : (n, n_features) and (n,) int
        Training rows.
    X_test, y_test : (m, n_features) and (m,) int
        Test rows.
    n_states : list of int
        Cardinality of each feature.
    n_classes : int
        C.
    """

    name: str
    X: IntArray
    y: IntArray
    X_test: IntArray
    y_test: IntArray
    n_states: list[int]
    n_classes: int


@dataclass(frozen=True)
class Found:
    """What a search ends with; errors are fractions, means over folds.

    Parameters
    ----------
    settings : TrainSettings
        Those of least validation error, the first of equals.
    validation, test : float
        Their errors.
    least_test : float
        Of all settings, as papers report it.
    """

    settings: TrainSettings
    validation: float
    test: float
    least_test: float


def draw_settings(base: TrainSettings, n_runs: int, seed: int = 0) -> tuple[TrainSettings, ...]:
    """Draw what steers the descent.

    Parameters
    ----------
    base : TrainSettings
        All that is not drawn.
    n_runs : int
        How many.
    seed : int
        Where chance comes from; more runs begin with the same ones.

    Returns
    -------
    tuple of TrainSettings
        With lr, lambda, gamma, dropout and seed drawn; the seed chooses candidate parents too.
    """
    rng = np.random.default_rng(seed)
    return tuple(
        replace(
            base,
            lr=float(rng.choice(LR)),
            lambda_=float(10 ** rng.uniform(*LOG_LAMBDA)),
            gamma=float(10 ** rng.uniform(*LOG_GAMMA)),
            eta=10.0,
            dropout=float(rng.choice(DROPOUT)),
            seed=int(rng.integers(0, 2**31)),
        )
        for _ in range(n_runs)
    )


def search(
    folds: Sequence[Fold],
    drawn: Sequence[TrainSettings],
    *,
    jobs: int = 1,
    log: Path | None = None,
    advance: Advance | None = None,
) -> Found:
    """Train with all settings on all folds, and choose.

    Parameters
    ----------
    folds : sequence of Fold
        The data; all settings are tried on each.
    drawn : sequence of TrainSettings
        What to try.
    jobs : int
        Processes.
    log : Path or None
        A file of one JSON line per training, from which a later search goes on.
    advance : callable, optional
        Told of progress.

    Returns
    -------
    Found
        The same whatever `jobs` and the log.
    """
    todo = list(product(range(len(folds)), range(len(drawn)), (False, True)))
    keys = [_key(folds[f], drawn[s], is_final=final) for f, s, final in todo]
    errors = _read(log)
    missing = [(key, task) for key, task in zip(keys, todo, strict=True) if key not in errors]
    results = _errors(folds, drawn, [task for _, task in missing], jobs)
    for done, ((key, _), error) in enumerate(zip(missing, results, strict=True), 1):
        errors[key] = error
        if log is not None:
            with log.open("a", encoding="utf-8") as stream:
                print(json.dumps({"key": key, "error": error}), file=stream)
        if advance is not None:
            advance(done / len(missing), f"training {done} of {len(missing)}")
    table = np.array([errors[key] for key in keys]).reshape(len(folds), len(drawn), 2).mean(axis=0)
    best = int(table[:, 0].argmin())
    validation, test = table[best].tolist()
    return Found(drawn[best], validation, test, float(table[:, 1].min()))


def train_error(fold: Fold, settings: TrainSettings, *, is_final: bool) -> float:
    """Train once and return the error of the integer model.

    Parameters
    ----------
    fold : Fold
        The data.
    settings : TrainSettings
        The options; they fix the format of the costs.
    is_final : bool
        Learn from all training rows and judge by the test rows; else hold some out to judge by.

    Returns
    -------
    float
        Fraction of wrong decisions.

    Raises
    ------
    ValueError
        If the settings leave the place of the binary point open.
    """
    (fmt,) = formats_of(settings)
    X, y, judges, truth = fold.X, fold.y, fold.X_test, fold.y_test
    if not is_final:
        rest, held = stratified_holdout(fold.y, HELD_OUT, 0)
        X, y, judges, truth = fold.X[rest], fold.y[rest], fold.X[held], fold.y[held]
    learn = fit_jointly if settings.is_joint else fit_in_turn
    task = Task(X, y, fold.n_states, fold.n_classes, settings)
    structure, (prior, tables) = learn(task, lambda *_: fmt, None)
    costs = rounded(prior, fmt), tuple(rounded(table, fmt) for table in tables)
    return float((decide(judges, structure, fold.n_states, costs) != truth).mean())


def decide(
    X: IntArray, structure: Structure, n_states: Sequence[int], log_tables: LogTables
) -> IntArray:
    """Return the most probable class under log-probability tables, the smallest on ties.

    Parameters
    ----------
    X : (n_samples, n_features) int
        States.
    structure : Structure
        The graph.
    n_states : sequence of int
        Cardinality of each feature.
    log_tables : tuple
        Prior and tables as `ml_log_tables` returns them.

    Returns
    -------
    (n_samples,) int64
        Class indices.
    """
    log_prior, tables = log_tables
    log_joint = np.tile(log_prior, (len(X), 1))
    for i, table in enumerate(tables):
        log_joint += table[family_rows(X, structure, n_states, i)]
    return np.asarray(log_joint.argmax(axis=1))


def _key(fold: Fold, settings: TrainSettings, *, is_final: bool) -> str:
    """Return what tells a training from all others."""
    values: Mapping[str, object] = {**asdict(settings), "fold": fold.name, "is_final": is_final}
    text = json.dumps(values, sort_keys=True, default=str)
    return sha256(text.encode()).hexdigest()[:16]


def _read(log: Path | None) -> dict[str, float]:
    """Return the errors in a log; a line cut off is passed over."""
    found = {}
    for line in log.read_text("utf-8").splitlines() if log and log.exists() else ():
        try:
            entry = json.loads(line)
            found[str(entry["key"])] = float(entry["error"])
        except (ValueError, TypeError, KeyError):
            continue
    return found


def _errors(
    folds: Sequence[Fold], drawn: Sequence[TrainSettings], todo: Sequence[Training], jobs: int
) -> Iterator[float]:
    """Yield the error of each training, in their order."""
    if jobs == 1:
        for f, s, is_final in todo:
            yield train_error(folds[f], drawn[s], is_final=is_final)
        return
    with ProcessPoolExecutor(
        jobs, mp_context=get_context("spawn"), initializer=_hold, initargs=(folds, drawn)
    ) as pool:
        yield from pool.map(_error, todo)


_HELD: list[tuple[Sequence[Fold], Sequence[TrainSettings]]] = []
"""What a worker was started with, so that no task carries the data."""


def _hold(folds: Sequence[Fold], drawn: Sequence[TrainSettings]) -> None:
    _HELD.append((folds, drawn))


def _error(training: Training) -> float:
    folds, drawn = _HELD[-1]
    f, s, is_final = training
    return train_error(folds[f], drawn[s], is_final=is_final)
