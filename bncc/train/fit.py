"""One training from raw readings to a model: thresholds, structure, tables, format.

Everything is fitted to the rows that are handed in and to nothing else, so that rows held out by
the caller stay unseen by every stage.
"""

from collections.abc import Callable
from dataclasses import dataclass

from bncc._types import IntArray
from bncc.data.dataset import Dataset
from bncc.discretize.feature import Feature, states_of
from bncc.discretize.fit import fit_features
from bncc.errors import DataError, OptionError
from bncc.fixed_point import QFormat
from bncc.model.model import MAX_CLASSES, MAX_TABLE_ENTRIES, Model
from bncc.structure.graph import Structure, table_entries
from bncc.structure.learners import find_learner, learn_structure
from bncc.train.freeze import freeze
from bncc.train.hyperparameters import hyperparameters_of
from bncc.train.maximum_likelihood import LogTables, bdeu_log_tables, ml_log_tables
from bncc.train.settings import FLOAT_FORMAT, TrainSettings
from bncc.train.trainer import descend

MAX_DESCENT_ENTRIES = 2**24
"""Gradient descent holds some ten floats per table entry."""

Progress = Callable[[int, int, float], None]
"""Called with (epochs done, epochs of all trainings, mean loss of the last epoch)."""


@dataclass(frozen=True, eq=False)
class Draft:
    """A classifier in floats, before its binary point is chosen.

    Parameters
    ----------
    features : tuple of Feature
        The inputs.
    structure : Structure
        The graph.
    log_tables : tuple
        Prior and tables, natural log-probabilities.
    """

    features: tuple[Feature, ...]
    structure: Structure
    log_tables: LogTables


FormatChoice = Callable[[Draft], QFormat]


def fit_model(
    dataset: Dataset,
    settings: TrainSettings,
    choose_format: FormatChoice,
    progress: Progress | None = None,
) -> Model:
    """Train a classifier on all rows of a data set.

    Parameters
    ----------
    dataset : Dataset
        The rows to learn from.
    settings : TrainSettings
        The options.
    choose_format : callable
        Names the format of the costs, once there is a draft to judge by.
    progress : callable, optional
        See `Progress`.

    Returns
    -------
    Model
        The integer model, without a training record.

    Raises
    ------
    DataError
        If the rows cannot be learned from.
    OptionError
        If the tables would be too large for the options.
    """
    features = fit_features(
        dataset.table,
        dataset.y,
        settings.discretize or "mdl",
        n_bins=settings.n_bins,
        rebin_states=settings.discretize is not None,
    )
    X = states_of(features, dataset.table)
    structure = _learn_structure(features, dataset, X, settings)
    chosen = [FLOAT_FORMAT]

    def choose(tables: LogTables) -> QFormat:
        chosen[0] = choose_format(Draft(features, structure, tables))
        return chosen[0]

    tables = _fit_tables(features, dataset, X, structure, settings, choose, progress)
    if settings.is_counted:
        choose(tables)
    return freeze(features, dataset.classes, structure, *tables, chosen[0], {})


def _learn_structure(
    features: tuple[Feature, ...], dataset: Dataset, X: IntArray, settings: TrainSettings
) -> Structure:
    n_states = tuple(feature.n_states for feature in features)
    n_classes = len(dataset.classes)
    if n_classes > MAX_CLASSES:
        raise DataError(
            f"the class column holds {n_classes} different values, more than the "
            f"{MAX_CLASSES} classes of a model; name another one with --class, or group them"
        )
    keys = find_learner(settings.structure).option_keys
    options = {key: text for key, text in settings.structure_options.items() if key in keys}
    structure = learn_structure(settings.structure, X, dataset.y, n_states, n_classes, options)
    entries = table_entries(structure, n_states, n_classes)
    limit = MAX_TABLE_ENTRIES if settings.is_counted else MAX_DESCENT_ENTRIES
    if entries > limit:
        raise OptionError(
            f"the tables would hold {entries} entries, more than {limit}; choose a coarser "
            "--discretize or --structure naive, or leave out columns of many values such as names"
        )
    return structure


def _fit_tables(
    features: tuple[Feature, ...],
    dataset: Dataset,
    X: IntArray,
    structure: Structure,
    settings: TrainSettings,
    choose: Callable[[LogTables], QFormat],
    progress: Progress | None,
) -> LogTables:
    n_states = tuple(feature.n_states for feature in features)
    counted = (X, dataset.y, structure, n_states, len(dataset.classes))
    if settings.parameters == "bdeu":
        return bdeu_log_tables(*counted, settings.alpha)
    start = ml_log_tables(*counted)
    if settings.is_counted:
        return start
    hyper = hyperparameters_of(settings, dataset.n_rows)
    quantizer = None if settings.float_ else choose
    return descend(X, dataset.y, structure, n_states, start, hyper, quantizer, progress)
