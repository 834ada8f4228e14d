"""A model's record of its training: JSON values, reproducible from the same inputs."""

from typing import Any

from bncc import __version__
from bncc.data.dataset import Dataset
from bncc.discretize.fit import READINGS
from bncc.train.checkpoint.folder import data_digest
from bncc.train.hyperparameters import hyperparameters_of
from bncc.train.margin.settings import margin_settings_of
from bncc.train.options import MARGIN, OPTIONS, in_record_order
from bncc.train.settings import TrainSettings
from bncc.train.sum_settings import boost_settings_of


def origin_record(dataset: Dataset) -> dict[str, Any]:
    """
    Return the provenance of a model: version of bncc, digest and size of the training data.

    ``data`` has ``sha256``, ``of`` (``file``, or ``values`` for rows from memory), ``rows``, and
    ``columns``, including the class.
    """
    return {
        "bncc": __version__,
        "data": {
            "sha256": dataset.digest or data_digest(dataset),
            "of": "values" if dataset.digest is None else "file",
            "rows": dataset.n_rows,
            "columns": len(dataset.table.columns) + 1,
        },
    }


def settings_record(settings: TrainSettings, n_samples: int) -> dict[str, Any]:
    """Return the requested options of a model."""
    record: dict[str, Any] = {
        "structure": settings.structure,
        "structure_options": dict(sorted(settings.structure_options.items())),
        "parameters": "boosted" if settings.is_boosted else settings.parameters,
        "discretize": settings.discretize or ("quantile" if settings.is_boosted else "mdl"),
        "quantized": not settings.float_,
        "seed": settings.seed,
        "epochs": None,
    }
    if settings.readings != READINGS[0]:
        record["reading_types"] = settings.readings
    if settings.descends and settings.effort is not None:
        record["effort"] = settings.effort
    if settings.class_weight is not None:
        record["class_weight"] = settings.class_weight
    if settings.is_boosted:
        boosting = boost_settings_of(settings)
        epochs = boosting.float_epochs + boosting.quantized_epochs
        record |= {"epochs": epochs, "batch_size": boosting.batch_size, "lr": boosting.lr}
    if settings.descends:
        hyper = hyperparameters_of(settings, n_samples)
        for option in in_record_order(OPTIONS):
            if option.uses and option.is_recorded and option.takes_effect(settings.uses):
                record[option.key] = getattr(hyper, option.name)
    elif settings.parameters == MARGIN:
        margin = margin_settings_of(settings)
        record |= {"epochs": margin.most_iterations, "lambdas": list(margin.lambdas)}
        record["eta"] = margin.eta
    if settings.is_joint:
        record["size_weight"] = settings.size_weight
    return record
