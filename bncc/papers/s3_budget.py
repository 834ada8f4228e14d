"""Figures 3 and 4 of S3: quantized networks in the memory, or with the work, of naive Bayes."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from bncc.baselines.plan import Activation, NetworkPlan
from bncc.baselines.sizing import Form, Task, plan_within
from bncc.baselines.trainer import LEARNING_RATES, NetworkSettings
from bncc.errors import OptionError
from bncc.papers.folds import FILES, Fold, read_folds, rows_at
from bncc.papers.network_search import Best, Trial, best_network, task_of
from bncc.papers.request import Advance, Cell, Effort, Request, part_of, selection
from bncc.papers.s0_table1 import BATCH_SIZES

IMAGES = ("usps", "mnist")
"""Sets whose features are pixels; the others have no convolutional networks."""
BITS = range(1, 9)
"""Memory budgets: naive Bayes with so many bits an entry."""
MULTIPLES = (1, 2, 4, 8, 16, 32, 64)
"""Budgets of operations: multiples of those of naive Bayes. S3 goes on to 256."""
RUNS_AND_EPOCHS = {"letter": (16, 60), "satimage": (16, 60), "usps": (16, 60), "mnist": (8, 20)}
"""Forms tried per cell, and passes over the rows; S3 tries all forms, with 500 passes each."""
QUICK_RUNS = 4
QUICK_COLUMNS = ("FC relu 3 bits", "FC sign 3 bits", "FC one-hot relu 3 bits", "CNN relu 4x")


@dataclass(frozen=True)
class Column:
    """A curve of a figure at one budget."""

    is_convolutional: bool  # is_convolutional and is_one_hot: Which networks
    is_one_hot: bool
    activation: Activation  # Of hidden layers
    bits: int | None = None  # Memory budget; None of a budget of operations
    multiple: int | None = None  # Budget of operations

    @property
    def name(self) -> str:
        """As the column is called, such as ``FC relu 3 bits`` or ``CNN sign 4x``."""
        kind = "CNN" if self.is_convolutional else "FC one-hot" if self.is_one_hot else "FC"
        if self.multiple is not None:
            return f"{kind} {self.activation} {self.multiple}x"
        return f"{kind} {self.activation} {self.bits} bit{'s' if self.bits != 1 else ''}"

    def plan(self, task: Task, form: Form) -> NetworkPlan:
        """Return the network of a form within the budget."""
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


def s3_budget(request: Request, advance: Advance | None = None) -> tuple[Cell, ...]:
    """
    Repeat figures 3 and 4 of S3.

    For each cell forms are drawn: bits of a weight, layers, batch normalization, learning rate.
    Each is sized to the budget. The one of least error on rows held out learns from all training
    rows, and the error of its integers on the test rows is ours.
    """
    known = tuple(FILES), tuple(COLUMNS)
    rows, columns = selection("s3-budget", request, known, (("usps",), QUICK_COLUMNS))
    rows = rows_at(request.data_dir, rows, request.rows)
    effort = request.effort
    if request.quick:
        effort = replace(effort, n_runs=effort.n_runs or QUICK_RUNS)
    todo = [
        (row, COLUMNS[column])
        for row in rows
        for column in columns
        if row in IMAGES or not COLUMNS[column].is_convolutional
    ]
    if not todo:
        raise OptionError(f"{rows[0]} has no images to convolve; choose columns of FC")
    cells: list[Cell] = []
    for row, column in todo:
        tell = part_of(advance, len(cells), len(todo), f"{row} {column.name}")
        tell(0.0, "")
        cells.append(_cell(row, column, read_folds(request.data_dir, row), effort, tell))
    return tuple(cells)


def draw_trials(
    task: Task, column: Column, n_runs: int, epochs: int, batch_size: int
) -> tuple[Trial, ...]:
    """Draw networks of several forms within a budget."""
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


def _cell(
    row: str, column: Column, folds: Sequence[Fold], effort: Effort, advance: Advance
) -> Cell:
    n_runs, epochs = effort.of(*RUNS_AND_EPOCHS[row])
    trials = draw_trials(task_of(folds[0]), column, n_runs, epochs, BATCH_SIZES[row])
    found = best_network(folds, trials, effort, advance)
    plan = found.trial.plan
    return {
        "row": row,
        "column": column.name,
        "paper": None,
        "ours": 100 * found.test,
        "n": sum(len(fold.y_test) for fold in folds),
        "note": _note(found),
        "bits": plan.parameter_bits,
        "operations": plan.operations,
        "budget": column.bits if column.bits is not None else column.multiple,
    }


def _note(found: Best) -> str:
    plan = found.trial.plan
    layers = [str(layer.n_out) for layer in plan.layers[:-1]]
    norm = ", batch normalization" if plan.has_norm else ""
    return (
        f"{'-'.join(layers)} units, {plan.bits} bits{norm}, lr {found.trial.settings.lr:g}; "
        f"{plan.parameter_bits} bits, {plan.operations} operations; validation "
        f"{100 * found.validation:.2f} %, best of {found.n_trials}"
    )
