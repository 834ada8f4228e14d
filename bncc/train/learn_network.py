"""Learning structure and tables from states: in sequence, or both in one descent."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from bncc._types import FloatArray, IntArray
from bncc.data.splits import SplitRule
from bncc.errors import OptionError
from bncc.fixed_point import QFormat
from bncc.model.model import MAX_TABLE_ENTRIES
from bncc.progress import Progress, nth_part
from bncc.structure.candidates import find_candidates
from bncc.structure.catalog import learn_structure, option_keys
from bncc.structure.graph import Structure, table_entries
from bncc.structure.learners.etan import alphas_of, best_alpha
from bncc.structure.options import price_of, step_of, widths_of
from bncc.train.checkpoint.callbacks import Callbacks
from bncc.train.gradient.engine import Learned, StructureProblem, checked_tables
from bncc.train.gradient.loop import descend
from bncc.train.hyperparameters import hyperparameters_of
from bncc.train.joint.candidate_layout import count_rows
from bncc.train.joint.descent import descend_structure
from bncc.train.margin.settings import margin_settings_of
from bncc.train.maximum_likelihood import LogTables, bdeu_log_tables, ml_log_tables
from bncc.train.settings import TrainSettings
from bncc.train.weights import typical_samples

MAX_DESCENT_ENTRIES = 2**24
"""Limit on table entries in gradient descent, which needs some ten floats for each."""

MAX_MARGIN_ENTRIES = 2**22
"""Limit on table entries in L-BFGS, which needs some thirty doubles for each."""

FormatOf = Callable[[Structure, LogTables], QFormat]


@dataclass(frozen=True, eq=False)
class Task:
    """Training states, with their settings."""

    X: IntArray  # (n_samples, n_features) int: States
    y: IntArray  # (n_samples,) int: Class indices
    n_states: list[int]  # Cardinality of each feature
    n_classes: int  # C
    settings: TrainSettings  # The options
    is_ordered: tuple[bool, ...] = ()  # Features whose states have neighbors; empty for all
    # (n_samples,) float64 or None: Sample weights, of mean 1; None for equal weights
    weights: FloatArray | None = None
    split: SplitRule | None = None  # Rule of the learners' validation splits; None for random

    @property
    def structure_options(self) -> dict[str, str]:
        """The options of the structure, without those of the parameters."""
        keys = option_keys(self.settings.structure)
        return {k: text for k, text in self.settings.structure_options.items() if k in keys}


def fit_in_turn(task: Task, choose: FormatOf, callbacks: Callbacks | None = None) -> Learned:
    """Learn the structure, then its tables."""
    settings = task.settings
    X, y, origin = typical_samples(task.X, task.y, task.weights, settings.seed)
    structure = learn_structure(
        settings.structure, X, y, task.n_states, task.n_classes,
        task.structure_options, settings.seed, _part(callbacks, 0, task), origin, task.split,
    )  # fmt: skip
    entries = table_entries(structure, task.n_states, task.n_classes)
    _check_size(entries, _most_entries(settings), "--structure naive")
    if structure.class_parents and not settings.is_counted:
        settings = counted_instead(settings)
        return structure, _refit(replace(task, settings=settings), structure, callbacks)
    if settings.is_refit:
        return structure, _refit(task, structure, callbacks)
    start = ml_log_tables(
        task.X, task.y, structure, task.n_states, task.n_classes, weights=task.weights
    )
    hyper = hyperparameters_of(settings, len(task.y))

    def choose_by_tables(tables: LogTables) -> QFormat:
        return choose(structure, checked_tables(tables, hyper.lr))

    quantizer = None if settings.float_ else choose_by_tables
    tables = descend(
        task.X, task.y, structure, task.n_states, start, hyper, quantizer, callbacks,
        task.is_ordered, task.weights,
    )  # fmt: skip
    return structure, checked_tables(tables, hyper.lr)


def counted_instead(settings: TrainSettings) -> TrainSettings:
    """Return settings with counted tables, for a class with parents, which no descent trains."""
    if settings.parameters != TrainSettings().parameters:
        raise OptionError(
            f"--parameters {settings.parameters} does not support a class with parents, which "
            f"--structure {settings.structure} has found; use --parameters ml"
        )
    return replace(settings, parameters="ml")


def fit_jointly(task: Task, choose: FormatOf, callbacks: Callbacks | None = None) -> Learned:
    """Learn structure and tables in one descent; learn the tables again if requested."""
    settings, options = task.settings, task.structure_options
    rng = np.random.default_rng(settings.seed)
    candidates = find_candidates(settings.structure, task.X.shape[1], options, rng)
    candidates = candidates.among(np.array(task.n_states) > 1)
    entries = count_rows(candidates, task.n_states) * task.n_classes
    _check_size(entries, MAX_DESCENT_ENTRIES, "--structure tan-subset with fewer parents=")
    problem = StructureProblem(
        task.X, task.y, task.n_states, task.n_classes,
        candidates, step_of(options), settings.size_weight,
        settings.total_bits if price_of(options) == "bits" else None, widths_of(options),
        task.is_ordered, task.weights,
    )  # fmt: skip
    hyper = hyperparameters_of(settings, len(task.y))

    def choose_by_tables(structure: Structure, tables: LogTables) -> QFormat:
        return choose(structure, checked_tables(tables, hyper.lr))

    quantizer = None if settings.float_ or settings.is_refit else choose_by_tables
    structure, tables = descend_structure(problem, hyper, rng, quantizer, callbacks)
    if not settings.is_refit:
        return structure, checked_tables(tables, hyper.lr)
    entries = table_entries(structure, task.n_states, task.n_classes)
    _check_size(entries, _most_entries(settings), "--structure tan-subset with fewer parents=")
    if callbacks is not None:
        callbacks.disarm()
    return structure, _refit(task, structure, callbacks)


def _refit(task: Task, structure: Structure, callbacks: Callbacks | None) -> LogTables:
    """Learn the tables of a given structure."""
    data = (task.X, task.y, structure, task.n_states, task.n_classes)
    if task.settings.parameters == "bdeu":
        return bdeu_log_tables(*data, _alpha(task, structure), weights=task.weights)
    if task.settings.parameters == "ml":
        return ml_log_tables(*data, weights=task.weights)
    from bncc.train.margin.fit import margin_log_tables  # scipy.optimize is slow to import

    told = _part(callbacks, 1, task)
    margin = margin_settings_of(task.settings)
    return margin_log_tables(*data, margin, task.weights, told, task.split)


def _part(callbacks: Callbacks | None, part: int, task: Task) -> Progress | None:
    """Return the progress callback of the structure, part 0, or of a following margin, part 1."""
    if callbacks is None:
        return None
    n_parts = 2 if task.settings.parameters == "margin" else 1
    return nth_part(callbacks.progress, part, n_parts)


def _most_entries(settings: TrainSettings) -> int:
    if settings.is_counted:
        return MAX_TABLE_ENTRIES
    return MAX_MARGIN_ENTRIES if settings.is_refit else MAX_DESCENT_ENTRIES


def _alpha(task: Task, structure: Structure) -> float:
    """Return the equivalent sample size of the tables: given, chosen by the learner, or default."""
    settings = task.settings
    if "alpha" in settings.structure_options or "alphas" not in option_keys(settings.structure):
        return settings.alpha
    X, y, _ = typical_samples(task.X, task.y, task.weights, settings.seed)
    alphas = alphas_of(settings.structure_options)
    return best_alpha(structure, X, y, task.n_states, task.n_classes, alphas)


def _check_size(entries: int, limit: int, remedy: str) -> None:
    if entries > limit:
        raise OptionError(
            f"the tables would have {entries} entries, more than {limit}; choose a coarser "
            f"--discretize or {remedy}, or drop columns with many values such as names"
        )
