"""What tells a training from all others: the program, the options, the data."""

import json
from collections.abc import Mapping
from dataclasses import asdict
from hashlib import sha256
from typing import Any

import bncc
from bncc.data.dataset import Dataset
from bncc.train.settings import TrainSettings

Identity = Mapping[str, Any]
"""JSON values: ``bncc`` the version, ``data`` a digest, and the options under their names."""


def identity_of(dataset: Dataset, settings: TrainSettings) -> Identity:
    """Return what tells a training from all others."""
    options = asdict(settings)
    del options["engine"]
    options["structure_options"] = dict(sorted(settings.structure_options.items()))
    return {"bncc": bncc.__version__, "data": data_digest(dataset), **options}


def identity_digest(identity: Identity) -> str:
    """Return the digest by which an interim model knows its training."""
    return sha256(json.dumps(identity, sort_keys=True).encode("ascii")).hexdigest()


def data_digest(dataset: Dataset) -> str:
    """Return the digest of all that training sees of its rows."""
    digest = sha256(repr((dataset.class_name, dataset.classes)).encode())
    digest.update(dataset.y.astype("<i8").tobytes())
    if dataset.weights is not None:
        digest.update(dataset.weights.astype("<f8").tobytes())
    if dataset.split.groups is not None:
        digest.update(b"groups" + dataset.split.groups.astype("<i8").tobytes())
    if dataset.split.ordered:
        digest.update(b"ordered")
    for column in dataset.table.columns:
        digest.update(repr((column.name, column.kind)).encode())
        if column.kind == "category":
            digest.update(repr(column.values.tolist()).encode())
        else:
            digest.update(column.values.tobytes())
        digest.update(column.missing.tobytes())
    return digest.hexdigest()


def difference(ours: Identity, theirs: Identity) -> str:
    """Say in what two trainings differ first."""
    name = next(k for k in {**ours, **theirs} if ours.get(k) != theirs.get(k))
    if name == "data":
        return "the rows are others"
    what = "the version of bncc" if name == "bncc" else name.rstrip("_").replace("_", " ")
    return f"{what} is {ours.get(name)} here and {theirs.get(name)} there"
