"""The runs behind S1's tables: structures, tables learned on them, and machines; each kept."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from bncc.papers.folds import Fold
from bncc.papers.pool import results_of
from bncc.papers.request import Advance, Effort, part_of
from bncc.papers.run_log import Result, RunLog, run_key
from bncc.papers.s1_missing_runs import errors_with_missing
from bncc.papers.s1_structures import found_structure, has_chance, has_margin, lambda_for
from bncc.papers.s1_svm import machine_of
from bncc.papers.training import decide
from bncc.structure.graph import Structure, free_parameters
from bncc.train.margin.fit import margin_log_tables
from bncc.train.margin.settings import MarginSettings
from bncc.train.maximum_likelihood import ml_log_tables

N_RUNS = 10
"""Annealings per cell, as in S1."""
PROGRAM = (
    "structure", "native/scores.c", "native/scores.h",
    "train/maximum_likelihood.py", "train/margin", "discretize",
    "data/splits.py", "papers/s1_data.py", "papers/s1_missing_runs.py", "papers/s1_runs.py",
    "papers/s1_structures.py", "papers/s1_svm.py", "papers/training.py", "model/marginal.py",
)  # fmt: skip
"""What decides the result of a run."""

Call = tuple[int, str, tuple[Any, ...]]
"""Number of the fold, what is done, and how: JSON values."""


def scale(fold: Fold) -> Result:
    """Choose the scale of the margin by which trees are scored."""
    return {"lambda": lambda_for(fold)}


def learn(fold: Fold, name: str, run: int, lambda_: float | None) -> Result:
    """Learn a structure from all training rows."""
    structure, evaluations = found_structure(fold, name, run, lambda_)
    return {
        "parents": [list(parents) for parents in structure.parents], "evaluations": evaluations
    }  # fmt: skip


def judge(fold: Fold, parents: Sequence[Sequence[int]], parameters: str) -> Result:
    """Learn float tables from all training rows and decide the test rows."""
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
    """Decide the test rows with some features missing."""
    return {"errors": errors_with_missing(fold, name, count, n_repeats)}


_DONE: Mapping[str, Callable[..., Result]] = {
    "scale": scale, "learn": learn, "judge": judge, "machine": machine, "missing": missing,
}  # fmt: skip


class Runs:
    """Runs on the folds of a data set."""

    def __init__(self, folds: Sequence[Fold], effort: Effort) -> None:
        self.folds, self._jobs = folds, effort.jobs
        self._log = RunLog(effort.log, PROGRAM)

    def learned(self, name: str, n_runs: int, advance: Advance) -> list[tuple[int, Result]]:
        """Learn structures on all folds."""
        folds = range(len(self.folds))
        scales: list[float | None] = [None for _ in folds]
        if has_margin(name):
            told = part_of(advance, 0, 2, "lambda")
            scales = [
                each["lambda"] for each in self.results([(f, "scale", ()) for f in folds], told)
            ]
        calls: list[Call] = [
            (f, "learn", (name, run, scales[f]))
            for f in folds
            for run in range(n_runs if has_chance(name) else 1)
        ]
        results = self.results(calls, part_of(advance, 1, 2, "structure"))
        return [(f, result) for (f, _, _), result in zip(calls, results, strict=True)]

    def results(self, calls: Sequence[Call], advance: Advance) -> list[Result]:
        """Do what is not known yet."""
        keys = [run_key(what, self.folds[f].digest, list(how)) for f, what, how in calls]
        todo = {key: call for key, call in zip(keys, calls, strict=True) if key not in self._log}
        waiting = list(todo)
        found = results_of(_result, list(todo.values()), self._jobs, _hold, (self.folds,))
        for done, (index, result) in enumerate(found, 1):
            self._log.add(waiting[index], result)
            advance(done / len(todo), f"{done} of {len(todo)}")
        return [self._log[key] for key in keys]


_HELD: list[Sequence[Fold]] = []
"""What a process was started with, so that no call carries the data."""


def _hold(folds: Sequence[Fold]) -> None:
    _HELD[:] = [folds]


def _result(call: Call) -> Result:
    f, what, how = call
    return _DONE[what](_HELD[-1][f], *how)
