"""
S3's neural networks in the memory or operations of naive Bayes, compared with Bayesian networks.

Networks of several architectures are tried, of which the best on validation rows is chosen.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from statistics import fmean
from typing import Any, NamedTuple

import numpy as np

from bncc.baselines.freeze import freeze_network
from bncc.baselines.plan import Activation, Form, NetworkPlan, Task, plan_within
from bncc.baselines.trainer import (
    LEARNING_RATES,
    NetworkSettings,
    train_network,
    use_one_thread,
)
from bncc.errors import OptionError
from bncc.papers import s3
from bncc.papers.experiments import (
    STEERING,
    Cell,
    Effort,
    Experiment,
    Request,
    cell_of,
    grid,
    selection,
)
from bncc.papers.folds import FILES, Fold, read_folds, rows_at
from bncc.papers.runs import Log, Program, Result, kept, key_of
from bncc.papers.s0 import BATCH_SIZES, OUR_MNIST
from bncc.papers.training import Judged
from bncc.progress import Progress, nth_part
from bncc.search.objective import undominated

PROGRAM = Program(
    "bncc's networks",
    ("baselines", "discretize", "data/splits.py", "papers/folds.py", "papers/s3_networks.py"),
)
"""Sources that determine the training results of a network."""
HELD = 0
"""Index among the `N_SPLITS` parts of the training rows: the validation set of architectures."""


@dataclass(frozen=True)
class Trial:
    """One training of a network."""

    plan: NetworkPlan  # Architecture and size
    settings: NetworkSettings  # Training settings


class Best(NamedTuple):
    """Result of a search on one fold."""

    trial: Trial  # Trial with the lowest validation error; the first on ties
    # validation and test: Errors: on validation rows, and on test rows after training on all others
    validation: float
    test: float
    n_trials: int  # Number of trials


def task_of(fold: Fold) -> Task:
    """Return the task of networks on a fold."""
    return Task(tuple(fold.n_states), fold.n_classes)


Work = tuple[Trial, bool]
"""The trial, and whether it is evaluated on validation rows."""


def best_network(fold: Fold, trials: Sequence[Trial], effort: Effort, advance: Progress) -> Best:
    """Train all trials without the validation rows, and the best of them on all rows."""
    least = 1.0

    def told(done: int, n: int, _: Work, judged: Result) -> None:
        nonlocal least
        least = min(least, judged["error"])
        advance(done / (n + 1), f"{done} of {n}, best {100 * least:.2f} %")

    def key(work: Work) -> str:
        trial, is_judged = work
        return key_of(asdict(trial), fold.digest, is_judged)

    with kept(_trained, fold, key, Log(effort.log, PROGRAM), effort.jobs) as run:
        errors = [judged["error"] for judged in run([(trial, True) for trial in trials], told)]
        best = trials[int(np.argmin(errors))]
        (test,) = run([(best, False)], lambda *_: None)
    advance(1.0, "")
    return Best(best, min(errors), test["error"], len(trials))


def _trained(fold: Fold, work: Work) -> Result:
    return train_one(fold, *work)._asdict()


def train_one(fold: Fold, trial: Trial, is_judged: bool) -> Judged:
    """Train a network and evaluate its integer form."""
    use_one_thread()
    part = fold.held_out(HELD) if is_judged else fold
    X = part.X.astype(np.int64)
    trained = train_network(trial.plan, X, part.y, tuple(fold.n_states), trial.settings)
    decided = freeze_network(trained, X).predict(part.X_test.astype(np.int64))
    return Judged(float((decided != part.y_test).mean()), trial.plan.parameter_bits)


IMAGES = ("usps", "mnist")
"""Sets with pixels as features; the others have no convolutional networks."""
BITS = range(1, 9)
"""Memory budgets: naive Bayes with this many bits per entry."""
MULTIPLES = (1, 2, 4, 8, 16, 32, 64, 128, 256)
"""Operation budgets: multiples of naive Bayes's operations."""
RUNS_AND_EPOCHS = {"letter": (16, 60), "satimage": (16, 60), "usps": (16, 60), "mnist": (8, 20)}
"""Architectures tried per cell, and epochs; S3 tries all architectures, with 500 epochs each."""
QUICK_RUNS = 4
QUICK_COLUMNS = ("FC relu 3 bits", "FC sign 3 bits", "FC one-hot relu 3 bits", "CNN relu 4x")


@dataclass(frozen=True)
class Column:
    """A curve of a figure at one budget."""

    is_convolutional: bool  # is_convolutional and is_one_hot: Kind of networks
    is_one_hot: bool
    activation: Activation  # Activation of hidden layers
    bits: int | None = None  # Memory budget; None for a budget of operations
    multiple: int | None = None  # Budget of operations

    @property
    def name(self) -> str:
        """Name of the column, such as ``FC relu 3 bits`` or ``CNN sign 4x``."""
        kind = "CNN" if self.is_convolutional else "FC one-hot" if self.is_one_hot else "FC"
        if self.multiple is not None:
            return f"{kind} {self.activation} {self.multiple}x"
        return f"{kind} {self.activation} {self.bits} bit{'s' if self.bits != 1 else ''}"

    def plan(self, task: Task, form: Form) -> NetworkPlan:
        """Return a network of an architecture within the budget."""
        if self.bits is not None:
            limit = self.bits * task.n_classes * (1 + sum(task.n_states))
            return plan_within(task, form, lambda plan: plan.parameter_bits, limit)
        assert self.multiple is not None
        limit = self.multiple * task.n_classes * (1 + task.n_features)
        return plan_within(task, form, lambda plan: plan.operations, limit)


_ACTIVATIONS: tuple[Activation, ...] = ("relu", "sign")
_COLUMNS = (
    *(
        Column(False, one_hot, activation, bits=bits)
        for one_hot in (False, True)
        for activation in _ACTIVATIONS
        for bits in BITS
    ),
    *(Column(True, False, activation, bits=bits) for activation in _ACTIVATIONS for bits in BITS),
    *(
        Column(True, False, activation, multiple=multiple)
        for activation in _ACTIVATIONS
        for multiple in MULTIPLES
    ),
)
COLUMNS = {column.name: column for column in _COLUMNS}


def _parts(request: Request) -> dict[str, tuple[str, str]]:
    known = tuple(FILES), tuple(COLUMNS)
    rows, columns = selection("s3-budget", request, known, (("usps",), QUICK_COLUMNS))
    rows = rows_at(request.data_dir, rows, request.rows)
    places = {
        title: (row, column)
        for title, (row, column) in grid(rows, columns).items()
        if row in IMAGES or not COLUMNS[column].is_convolutional
    }
    if not places:
        raise OptionError(f"{rows[0]} has no images to convolve; choose columns of FC")
    return places


def _run(place: tuple[str, str], request: Request, advance: Progress) -> list[Cell]:
    """
    Return a point of figures 3 and 4 of S3.

    Architectures are sampled: bits of a weight, layers, batch normalization, learning rate. Each is
    sized to the budget. On each fold, the one with the lowest validation error is trained on all
    training rows, and the error of its integer form on the test rows is ours.
    """
    row, column = place[0], COLUMNS[place[1]]
    folds, effort = read_folds(request.data_dir, row), request.effort
    if request.quick:
        effort = replace(effort, n_runs=effort.n_runs or QUICK_RUNS)
    n_runs, epochs = effort.of(*RUNS_AND_EPOCHS[row])
    found = []
    for k, fold in enumerate(folds):
        trials = draw_trials(task_of(fold), column, n_runs, epochs, BATCH_SIZES[row])
        tell = nth_part(advance, k, len(folds), f"fold {k + 1}," if len(folds) > 1 else "")
        found.append(best_network(fold, trials, effort, tell))
    plans, n = [each.trial.plan for each in found], sum(len(fold.y_test) for fold in folds)
    notes = [*map(_note, found), *([OUR_MNIST] if row == "mnist" else [])]
    return [
        cell_of(
            row, column.name, None, 100 * fmean(each.test for each in found), n, notes,
            bits=round(fmean(plan.parameter_bits for plan in plans)),
            operations=round(fmean(plan.operations for plan in plans)),
            budget=column.bits if column.bits is not None else column.multiple,
        )
    ]  # fmt: skip


def draw_trials(
    task: Task, column: Column, n_runs: int, epochs: int, batch_size: int
) -> tuple[Trial, ...]:
    """Sample networks of several architectures within a budget."""
    rng = np.random.default_rng([sum(task.n_states), *column.name.encode()])
    trials = []
    for seed in range(n_runs):
        form = Form(
            depth=int(rng.integers(1, 3) if column.is_convolutional else rng.integers(2, 6)),
            bits=int(rng.integers(1, 9)),
            activation=column.activation,
            has_norm=bool(rng.integers(0, 4)),
            is_convolutional=column.is_convolutional,
            is_one_hot=column.is_one_hot,
        )
        lr = float(rng.choice(LEARNING_RATES))
        settings = NetworkSettings(epochs, batch_size, lr, seed)
        trials.append(Trial(column.plan(task, form), settings))
    return tuple(trials)


def _note(found: Best) -> str:
    plan = found.trial.plan
    layers = [str(layer.n_out) for layer in plan.layers[:-1]]
    norm = ", batch normalization" if plan.has_norm else ""
    return (
        f"{'-'.join(layers)} units, {plan.bits} bits{norm}, lr {found.trial.settings.lr:g}; "
        f"{plan.parameter_bits} bits, {plan.operations} operations; validation "
        f"{100 * found.validation:.2f} %, best of {found.n_trials}"
    )


BAYESIAN = tuple(column for column, (_, bits) in s3.BITS_COLUMNS.items() if bits is not None)
"""Naive Bayes and TAN with 1 to 8 bits per entry, of figures 3 and 6."""
NEURAL = tuple(name for name, column in COLUMNS.items() if not column.is_one_hot)
"""All of figures 3 and 4 except one-hot inputs, as in the paper."""
PARETO_COLUMNS = (*BAYESIAN, *NEURAL)
PARETO_QUICK_COLUMNS = (
    "NB 1 bit", "NB 3 bits", "TAN 3 bits", "FC relu 3 bits", "CNN relu 1x", "CNN relu 4x",
)  # fmt: skip


def log_of_networks(log: Path | None) -> Path | None:
    """Return the file for trainings of neural networks, which have a version of their own."""
    return log and log.with_suffix(f".networks{log.suffix}")


Models = list[tuple[Experiment[Any], Any, Request]]
"""Parts of other experiments, with their requests."""


def _pareto_parts(request: Request) -> dict[str, Models]:
    """Return the models of each data set."""
    known = tuple(FILES), PARETO_COLUMNS
    rows, columns = selection("s3-pareto", request, known, (("usps",), PARETO_QUICK_COLUMNS))
    rows = rows_at(request.data_dir, rows, request.rows)
    effort = request.effort
    neural = replace(effort, log=log_of_networks(effort.log))
    models: dict[str, Models] = {row: [] for row in rows}
    bayesian = s3.EXPERIMENTS["s3-bits"], BAYESIAN, effort
    for experiment, theirs, spent in (bayesian, (EXPERIMENTS["s3-budget"], NEURAL, neural)):
        chosen = tuple(column for column in columns if column in theirs)
        if chosen:
            part = replace(request, rows=rows, columns=chosen, effort=spent)
            for place in experiment.parts(part).values():
                models[place[0]].append((experiment, place, part))
    return models


def _pareto(models: Models, request: Request, advance: Progress) -> list[Cell]:
    """
    Reproduce figure 7 of S3: the Pareto front of models in error, memory and operations.

    The models are those of ``s3-bits`` and ``s3-budget``, each chosen on validation rows. As in the
    paper, the front is that of test errors.
    """
    cells: list[Cell] = []
    for done, (experiment, place, part) in enumerate(models):
        tell = nth_part(advance, done, len(models), place[1])
        cells += experiment.run(place, part, tell)
    costs = [(_memory_bits(cell), int(cell["operations"])) for cell in cells]
    errors = [float(cell["ours"]) for cell in cells]
    on_front = undominated([(error, *cost) for error, cost in zip(errors, costs, strict=True)])
    return [
        cell_of(
            cell["row"], cell["column"], cell["paper"], cell["ours"], cell["n"],
            [f"{bits:,} bits, {operations:,} operations{', on the front' * (k in on_front)}"],
            memory_bits=bits, operations=operations, is_on_front=k in on_front,
        )
        for k, (cell, (bits, operations)) in enumerate(zip(cells, costs, strict=True))
    ]  # fmt: skip


def _memory_bits(cell: Cell) -> int:
    """Return the bits of all parameters; ``s3-bits`` has those of one entry."""
    return int(cell["bits"] * cell.get("entries", 1))


EXPERIMENTS: Mapping[str, Experiment[Any]] = {
    "s3-budget": Experiment(
        "classification error of quantized networks", _parts, _run, STEERING, STEERING
    ),
    "s3-pareto": Experiment(
        "classification error of Bayesian and neural networks",
        _pareto_parts,
        _pareto,
        STEERING,
        STEERING,
    ),
}
"""Experiments by their name in ``bncc reproduce``."""
