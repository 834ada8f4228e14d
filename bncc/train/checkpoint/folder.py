"""The checkpoint folder of a long training, from which it can resume after an interruption."""

import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from hashlib import sha256
from math import prod
from pathlib import Path
from typing import Any

import numpy as np

import bncc
from bncc._types import AnyArray, StrPath
from bncc.data.dataset import Dataset
from bncc.errors import CheckpointError, ModelFileError, OptionError
from bncc.fixed_point import QFormat
from bncc.model.archive import MAX_BYTES, SUMS, pack, unpack, with_sums
from bncc.model.atomic import write_whole
from bncc.model.file import from_bytes, to_bytes
from bncc.model.model import Model
from bncc.train.checkpoint.snapshot import TrainingState
from bncc.train.settings import TrainSettings

Identity = Mapping[str, Any]
"""JSON values: ``bncc`` the version, ``data`` a digest, and the options under their names."""


def identity_of(dataset: Dataset, settings: TrainSettings) -> Identity:
    """Return the fingerprint of a training: version, options, data digest."""
    options = asdict(settings)
    del options["engine"]
    options["structure_options"] = dict(sorted(settings.structure_options.items()))
    return {"bncc": bncc.__version__, "data": data_digest(dataset), **options}


def identity_digest(identity: Identity) -> str:
    """Return the digest that ties an interim model to its training."""
    return sha256(json.dumps(identity, sort_keys=True).encode("ascii")).hexdigest()


def data_digest(dataset: Dataset) -> str:
    """Return the digest of all row data that training uses."""
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
    """Describe the first difference between two trainings."""
    name = next(k for k in {**ours, **theirs} if ours.get(k) != theirs.get(k))
    if name == "data":
        return "the rows differ"
    what = "the version of bncc" if name == "bncc" else name.rstrip("_").replace("_", " ")
    return f"{what} is {ours.get(name)} here and {theirs.get(name)} there"


FORMAT = 1
"""Format version, incremented whenever an older bncc would misread newer checkpoints."""
DOCUMENT, ARRAYS, FIRST = "checkpoint.json", "arrays.bin", "first.bncc"
STATE, AVERAGE = "state/", "average/"
"""Prefix of the names of arrays."""
MALFORMED = (ValueError, TypeError, KeyError, OverflowError, RecursionError)
"""Exceptions raised by an invalid document."""
KINDS = ("<f4", "<f8", "<u4", "<u8")
"""Data types of engines: little endian, so that their bytes mean the same everywhere."""


@dataclass(frozen=True, eq=False)
class Saved:
    """A training in progress."""

    identity: Identity  # Fingerprint of the training
    moment: TrainingState  # State of its descent
    # Result of the first descent, without the validation rows; None until it ends
    first: Model | None


def encode(saved: Saved) -> bytes:
    """Return the content of a checkpoint."""
    moment = saved.moment
    arrays = {f"{STATE}{name}": _little(array) for name, array in moment.arrays.items()}
    if moment.average is not None:
        tables = (moment.average[0], *moment.average[1])
        arrays |= {f"{AVERAGE}{k}": _little(table) for k, table in enumerate(tables)}
    fmt = moment.fmt
    document = {
        "format": FORMAT,
        "identity": dict(saved.identity),
        "engine": moment.engine,
        "epoch": moment.epoch,
        "q_format": None if fmt is None else [fmt.int_bits, fmt.frac_bits],
        "chance": dict(moment.chance),
        "arrays": [[name, a.dtype.str, list(a.shape)] for name, a in arrays.items()],
    }
    entries = {
        DOCUMENT: json.dumps(document).encode("ascii"),
        ARRAYS: b"".join(array.tobytes() for array in arrays.values()),
    }
    if saved.first is not None:
        entries[FIRST] = to_bytes(saved.first)
    return pack(with_sums(entries))


def decode(content: bytes) -> Saved:
    """Return the training in a checkpoint."""
    try:
        entries = unpack(content)
        if with_sums({k: v for k, v in entries.items() if k != SUMS}) != entries:
            raise CheckpointError("digest mismatch")
        return _decoded(entries)
    except (ModelFileError, *MALFORMED) as error:
        said = str(error) if isinstance(error, ModelFileError) else "its entries are malformed"
        raise CheckpointError(said) from error


def _decoded(entries: Mapping[str, bytes]) -> Saved:
    document = json.loads(entries[DOCUMENT])
    if document["format"] != FORMAT:
        raise CheckpointError(
            f"it has format {document['format']}, and this version of bncc reads {FORMAT}"
        )
    fmt, arrays = document["q_format"], _arrays(document["arrays"], entries[ARRAYS])
    average = [array for name, array in arrays.items() if name.startswith(AVERAGE)]
    moment = TrainingState(
        str(document["engine"]),
        _count(document["epoch"]),
        None if fmt is None else QFormat(*(int(bits) for bits in fmt)),
        dict(document["chance"]),
        {name.removeprefix(STATE): a for name, a in arrays.items() if name.startswith(STATE)},
        (average[0], tuple(average[1:])) if average else None,
    )
    first = from_bytes(entries[FIRST], FIRST) if FIRST in entries else None
    return Saved(dict(document["identity"]), moment, first)


def _arrays(listed: Any, content: bytes) -> dict[str, AnyArray]:
    arrays: dict[str, AnyArray] = {}
    position = 0
    for name, kind, shape in listed:
        if kind not in KINDS:
            raise CheckpointError("an array has an unknown type")
        n = prod(_count(size) for size in shape)
        flat = np.frombuffer(content, kind, n, position)
        arrays[str(name)] = flat.reshape(shape).astype(flat.dtype.newbyteorder("="))
        position += flat.nbytes
    if position != len(content):
        raise CheckpointError("its arrays are not all named")
    return arrays


def _count(value: Any) -> int:
    if type(value) is not int or value < 0:
        raise CheckpointError("a number is malformed")
    return value


def _little(array: AnyArray) -> AnyArray:
    return array.astype(array.dtype.newbyteorder("<"))


NAME = "train.checkpoint"
"""Name of the file in the folder."""
HALF = f".{NAME}.tmp"
"""Name of a file being written; a killed process may leave it behind."""


@dataclass(frozen=True)
class Checkpoint:
    """Location of a training's checkpoints."""

    folder: Path  # Contains the file, possibly among others
    resume: bool = False  # True to resume from an existing checkpoint

    @property
    def path(self) -> Path:
        """Path of the file, which may not exist."""
        return self.folder / NAME

    def load(self, identity: Identity) -> Saved | None:
        """Return the training to resume."""
        if not self.resume or not os.path.lexists(self.path):
            return None
        try:
            saved = decode(_read(self.path))
        except CheckpointError as error:
            raise CheckpointError(
                f"'{self.path}' is truncated or corrupt ({error}); remove it, or use another "
                "--checkpoint to start over"
            ) from error
        if saved.identity != identity:
            raise CheckpointError(
                f"'{self.path}' belongs to another training: "
                f"{difference(identity, saved.identity)}; repeat the original options, or use "
                "another --checkpoint"
            )
        return saved

    def save(self, saved: Saved) -> None:
        """Save a training; after any failure, the file contains it or the previous checkpoint."""
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            write_whole(self.path, encode(saved), half=HALF)
        except OSError as error:
            raise CheckpointError(
                f"cannot write '{self.path}' ({error.strerror or error}); free some space or "
                "choose another path, and resume from the last checkpoint with --resume"
            ) from error
        except ModelFileError as error:
            raise CheckpointError(
                f"cannot write '{self.path}' ({error}), or leave out --checkpoint"
            ) from error

    def remove(self) -> None:
        """Delete the checkpoint of a completed training."""
        self.path.unlink(missing_ok=True)
        (self.folder / HALF).unlink(missing_ok=True)


def open_checkpoint(folder: StrPath, *, resume: bool, overwrite: bool = False) -> Checkpoint:
    """Return the location of a training's checkpoints, before any work is done."""
    checkpoint = Checkpoint(Path(folder), resume)
    if checkpoint.folder.exists() and not checkpoint.folder.is_dir():
        raise OptionError(f"'{folder}' is not a directory; name one with --checkpoint")
    if os.path.lexists(checkpoint.path) and not (resume or overwrite):
        raise OptionError(
            f"'{folder}' contains the checkpoint of a training; use --resume to continue it, "
            "--force to start over, or another --checkpoint"
        )
    return checkpoint


def _read(path: Path) -> bytes:
    if not path.is_file():
        raise CheckpointError("it is not a regular file")
    try:
        with path.open("rb") as file:
            content = file.read(MAX_BYTES + 1)
    except OSError as error:
        raise CheckpointError(error.strerror or "it cannot be read") from error
    if len(content) > MAX_BYTES:
        raise CheckpointError("it is too large")
    return content
