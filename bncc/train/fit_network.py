"""
One training from raw readings to a model: thresholds, structure and tables, format.

Everything is fitted to the given rows and to nothing else, so that the caller's validation rows
stay unseen by every stage.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from bncc._types import FloatArray
from bncc.data.dataset import Dataset
from bncc.discretize.feature import Feature, states_of
from bncc.discretize.fit import fit_features
from bncc.errors import DataError
from bncc.fixed_point import QFormat, quantize
from bncc.model.model import MAX_CLASSES, Model, check_model
from bncc.structure.graph import Structure
from bncc.train.checkpoint.callbacks import Callbacks
from bncc.train.learn_network import Task, fit_in_turn, fit_jointly
from bncc.train.maximum_likelihood import LogTables
from bncc.train.settings import TrainSettings
from bncc.train.weights import row_weights


def freeze(
    features: Sequence[Feature],
    classes: Sequence[str],
    structure: Structure,
    log_prior: FloatArray,
    log_tables: Sequence[FloatArray],
    q_format: QFormat,
    training: Mapping[str, Any],
) -> Model:
    """
    Quantize log-probabilities into a model: prior and tables alike, S3 equation 11.

    Shapes: `log_prior` (n_classes,) float64.
    """
    model = Model(
        features=tuple(features),
        classes=tuple(classes),
        structure=structure,
        q_format=q_format,
        prior=quantize(log_prior, q_format),
        tables=tuple(quantize(table, q_format) for table in log_tables),
        training=MappingProxyType(dict(training)),
    )
    check_model(model)
    return model


@dataclass(frozen=True, eq=False)
class Draft:
    """A classifier in floats, before its binary point is chosen."""

    features: tuple[Feature, ...]  # The inputs
    structure: Structure  # The graph
    log_tables: LogTables  # Prior and tables, natural log-probabilities


FormatChoice = Callable[[Draft], QFormat]


def prepared(dataset: Dataset, settings: TrainSettings) -> tuple[tuple[Feature, ...], Task]:
    """Fit thresholds to all rows of a data set; return them, and the rows as states."""
    features = fit_features(
        dataset.table,
        dataset.y,
        settings.discretize or "mdl",
        n_bins=settings.n_bins,
        rebin_states=settings.discretize is not None,
        readings=settings.readings,
    )
    if len(dataset.classes) > MAX_CLASSES:
        raise DataError(
            f"the class column contains {len(dataset.classes)} different values, more than the "
            f"{MAX_CLASSES} classes of a model; name another one with --class, or group them"
        )
    return features, Task(
        X=states_of(features, dataset.table),
        y=dataset.y,
        n_states=[feature.n_states for feature in features],
        n_classes=len(dataset.classes),
        settings=settings,
        is_ordered=tuple(feature.kind != "category" for feature in features),
        weights=row_weights(dataset, settings.class_weight),
        split=dataset.split,
    )


def fit_model(
    dataset: Dataset,
    settings: TrainSettings,
    choose_format: FormatChoice,
    callbacks: Callbacks | None = None,
) -> Model:
    """Train a classifier on all rows of a data set."""
    features, task = prepared(dataset, settings)
    start = None if callbacks is None else callbacks.start
    chosen = None if start is None else start.fmt

    def choose(structure: Structure, tables: LogTables) -> QFormat:
        nonlocal chosen
        chosen = choose_format(Draft(features, structure, tables))
        return chosen

    learn = fit_jointly if settings.is_joint else fit_in_turn
    structure, tables = learn(task, choose, callbacks)
    if chosen is None:
        # There was no descent in integers, or it ended before quantization.
        chosen = choose(structure, tables)
    return freeze(features, dataset.classes, structure, *tables, chosen, {})
