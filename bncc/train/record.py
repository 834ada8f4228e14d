"""What a model remembers of its training: JSON values that the same inputs give again."""

from collections.abc import Sequence
from typing import Any

from bncc.fixed_point import QFormat
from bncc.structure.graph import Structure, free_parameters, table_entries
from bncc.train.hyperparameters import hyperparameters_of
from bncc.train.settings import TrainSettings


def settings_record(settings: TrainSettings, n_samples: int) -> dict[str, Any]:
    """Return how a model was asked for.

    Parameters
    ----------
    settings : TrainSettings
        The options.
    n_samples : int
        Training rows.

    Returns
    -------
    dict
        Options that had an effect, defaults filled in; ``epochs`` is None without descent.
    """
    record: dict[str, Any] = {
        "structure": settings.structure,
        "structure_options": dict(sorted(settings.structure_options.items())),
        "parameters": settings.parameters,
        "discretize": settings.discretize or "mdl",
        "quantized": not settings.float_,
        "seed": settings.seed,
        "epochs": None,
    }
    if not settings.is_counted:
        hyper = hyperparameters_of(settings, n_samples)
        record |= {"epochs": hyper.epochs, "batch_size": hyper.batch_size, "lr": hyper.lr}
        record["dropout"] = hyper.dropout
        if settings.parameters == "hybrid":
            record |= {"lambda": hyper.lambda_, "gamma": hyper.gamma, "eta": hyper.eta}
    return record


def size_record(
    structure: Structure, n_states: Sequence[int], n_classes: int, fmt: QFormat
) -> dict[str, int]:
    """Return what a model's tables amount to.

    Parameters
    ----------
    structure : Structure
        The graph.
    n_states : sequence of int
        Cardinality of each feature.
    n_classes : int
        C.
    fmt : QFormat
        Format of the costs.

    Returns
    -------
    dict
        ``table_entries`` (S3), ``free_parameters`` (S1) and ``table_bits``.
    """
    entries = table_entries(structure, n_states, n_classes)
    return {
        "table_entries": entries,
        "free_parameters": free_parameters(structure, n_states, n_classes),
        "table_bits": entries * fmt.bits,
    }
