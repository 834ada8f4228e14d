"""From a data set to a frozen model: discretize, learn, train, choose the bits, measure."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from time import perf_counter
from types import MappingProxyType

import numpy as np

from bncc._types import IntArray
from bncc.data.dataset import Dataset, check_trainable
from bncc.data.splits import stratified_holdout
from bncc.discretize.feature import Feature, states_of
from bncc.discretize.fit import fit_features
from bncc.errors import DataError, OptionError
from bncc.fixed_point import QFormat
from bncc.model import reference
from bncc.model.model import MAX_CLASSES, MAX_TABLE_ENTRIES, Model
from bncc.structure.graph import Structure, table_entries
from bncc.structure.learners import find_learner, learn_structure
from bncc.train.bit_split import best_format, candidate_formats
from bncc.train.freeze import freeze
from bncc.train.hyperparameters import hyperparameters_of
from bncc.train.maximum_likelihood import LogTables, bdeu_log_tables, ml_log_tables
from bncc.train.record import settings_record, size_record
from bncc.train.settings import FLOAT_FORMAT, TrainSettings

MAX_DESCENT_ENTRIES = 2**24
"""Gradient descent holds some ten floats per table entry."""

Progress = Callable[[int, int, float], None]
"""Called with (epochs done, epochs of all runs, mean loss of the last epoch)."""

FormatChoice = Callable[[LogTables], QFormat]


@dataclass(frozen=True)
class TrainResult:
    """What training returns.

    Parameters
    ----------
    model : Model
        The integer model; its `training` holds the figures, and nothing that changes from run
        to run.
    seconds : float
        Wall time.
    notes : tuple of str
        What the user should know, for instance options without effect.
    """

    model: Model
    seconds: float
    notes: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class _Task:
    """States, structure and settings: what every fit shares."""

    X: IntArray
    y: IntArray
    n_states: tuple[int, ...]
    n_classes: int
    structure: Structure
    settings: TrainSettings
    progress: Progress | None

    @property
    def n_runs(self) -> int:
        return 1 if self.settings.validation == 0 else 2

    def fit(self, rows: IntArray, run: int, choose: FormatChoice) -> tuple[LogTables, QFormat]:
        """Train on some rows; `choose` names the format once there are tables to judge by."""
        X, y, settings = self.X[rows], self.y[rows], self.settings
        data = (X, y, self.structure, self.n_states, self.n_classes)
        if settings.parameters == "ml":
            tables = ml_log_tables(*data)
            return tables, choose(tables)
        if settings.parameters == "bdeu":
            tables = bdeu_log_tables(*data, settings.alpha)
            return tables, choose(tables)
        return self._descend(X, y, ml_log_tables(*data), run, choose)

    def _descend(
        self, X: IntArray, y: IntArray, start: LogTables, run: int, choose: FormatChoice
    ) -> tuple[LogTables, QFormat]:
        # Here, not above: torch takes seconds to import, and counts do without it.
        from bncc.train.trainer import descend

        hyper = hyperparameters_of(self.settings, len(self.y))
        chosen = [FLOAT_FORMAT]

        def choose_once(tables: LogTables) -> QFormat:
            chosen[0] = choose(tables)
            return chosen[0]

        def report(epoch: int, epochs: int, loss: float) -> None:
            if self.progress is not None:
                self.progress(run * epochs + epoch, self.n_runs * epochs, loss)

        tables = descend(
            X,
            y,
            self.structure,
            self.n_states,
            start,
            hyper,
            None if self.settings.float_ else choose_once,
            report,
        )
        return tables, chosen[0]


def train_model(
    dataset: Dataset,
    settings: TrainSettings,
    *,
    test: Dataset | None = None,
    progress: Progress | None = None,
) -> TrainResult:
    """Train a classifier on raw readings.

    Parameters
    ----------
    dataset : Dataset
        The training rows.
    settings : TrainSettings
        The options.
    test : Dataset, optional
        Rows that nothing is fitted to, for ``error_test``.
    progress : callable, optional
        See `Progress`.

    Returns
    -------
    TrainResult
        The model, the time it took, and notes.

    Raises
    ------
    DataError
        If the rows cannot be learned from.
    OptionError
        If the tables would be too large for the options.
    """
    begin = perf_counter()
    check_trainable(dataset)
    features = fit_features(
        dataset.table,
        dataset.y,
        settings.discretize or "mdl",
        n_bins=settings.n_bins,
        rebin_states=settings.discretize is not None,
    )
    X = states_of(features, dataset.table)
    held_out = None
    if test is not None:
        known = test.with_classes(dataset.classes)
        held_out = (states_of(features, test.table), known.y)
    result = train_states(
        features, dataset.classes, X, dataset.y, settings, test=held_out, progress=progress
    )
    return TrainResult(result.model, perf_counter() - begin, result.notes)


def train_states(
    features: Sequence[Feature],
    classes: Sequence[str],
    X: IntArray,
    y: IntArray,
    settings: TrainSettings,
    *,
    test: tuple[IntArray, IntArray] | None = None,
    progress: Progress | None = None,
) -> TrainResult:
    """Train a classifier on states.

    The structure is learned from all rows. Tables are then trained twice: first without the
    validation rows, on which the split of the bits is chosen and ``error_validation`` measured;
    then, in the format found, on all rows. ``error_validation`` thus belongs to tables that never
    saw its rows, trained as the final ones are; it is a little optimistic in that thresholds,
    structure and the choice among eight splits did see them. All errors are those of integer
    models.

    Parameters
    ----------
    features : sequence of Feature
        The inputs, whose states X holds.
    classes : sequence of str
        Class labels in index order.
    X : (n_samples, n_features) int
        States.
    y : (n_samples,) int
        Class indices.
    settings : TrainSettings
        The options; `discretize` is recorded, not used.
    test : tuple of X and y, optional
        States and class indices for ``error_test``; -1 for an unknown class.
    progress : callable, optional
        See `Progress`.

    Returns
    -------
    TrainResult
        The model, the time it took, and notes.

    Raises
    ------
    DataError
        If there are more classes than a model can have.
    OptionError
        If the tables would be too large for the options.
    """
    begin = perf_counter()
    task = _task(features, classes, X, y, settings, progress)
    rest, held = _validation_rows(y, settings)
    notes = list(settings.notes())
    judged_on = held
    if len(held) == 0:
        judged_on = rest
        if settings.validation > 0:
            notes.append("too few rows to hold any out: the bits were chosen on training rows")
    formats = _formats(settings)

    def choose(tables: LogTables) -> QFormat:
        rows = judged_on
        return best_format(formats, *tables, task.structure, task.n_states, X[rows], y[rows])

    tables, fmt = task.fit(rest, 0, choose)
    error_validation = None
    if len(held) > 0:
        trial = freeze(features, classes, task.structure, *tables, fmt, {})
        error_validation = _error(trial, X[held], y[held])
        tables, _ = task.fit(np.arange(len(y)), 1, lambda _: fmt)
    model = freeze(features, classes, task.structure, *tables, fmt, {})
    figures = {
        "error_train": _error(model, X, y),
        "error_validation": error_validation,
        "error_test": None if test is None else _error(model, *test),
        "n_train": len(y),
        "n_validation": len(held),
        "n_test": None if test is None else len(test[1]),
    }
    sizes = size_record(task.structure, task.n_states, task.n_classes, fmt)
    model = replace(
        model, training=MappingProxyType(settings_record(settings, len(y)) | figures | sizes)
    )
    return TrainResult(model, perf_counter() - begin, tuple(notes))


def _task(
    features: Sequence[Feature],
    classes: Sequence[str],
    X: IntArray,
    y: IntArray,
    settings: TrainSettings,
    progress: Progress | None,
) -> _Task:
    n_states = tuple(feature.n_states for feature in features)
    if len(classes) > MAX_CLASSES:
        raise DataError(
            f"the class column holds {len(classes)} different values, more than the "
            f"{MAX_CLASSES} classes of a model; name another one with --class, or group them"
        )
    keys = find_learner(settings.structure).option_keys
    options = {key: text for key, text in settings.structure_options.items() if key in keys}
    structure = learn_structure(settings.structure, X, y, n_states, len(classes), options)
    entries = table_entries(structure, n_states, len(classes))
    limit = MAX_TABLE_ENTRIES if settings.is_counted else MAX_DESCENT_ENTRIES
    if entries > limit:
        raise OptionError(
            f"the tables would hold {entries} entries, more than {limit}; choose a coarser "
            "--discretize or --structure naive, or leave out columns of many values such as names"
        )
    return _Task(X, y, n_states, len(classes), structure, settings, progress)


def _validation_rows(y: IntArray, settings: TrainSettings) -> tuple[IntArray, IntArray]:
    everything = np.arange(len(y))
    if settings.validation == 0:
        return everything, everything[:0]
    rest, held = stratified_holdout(y, settings.validation, settings.seed)
    if len(held) == 0 or len(rest) == 0:
        return everything, everything[:0]
    return rest, held


def _formats(settings: TrainSettings) -> tuple[QFormat, ...]:
    if settings.float_:
        return (FLOAT_FORMAT,)
    return candidate_formats(settings.total_bits, settings.int_bits, settings.frac_bits)


def _error(model: Model, X: IntArray, y: IntArray) -> float | None:
    """Return the fraction of rows that the integer model gets wrong, None without rows."""
    if len(y) == 0:
        return None
    return float((reference.predict(model, X) != y).mean())
