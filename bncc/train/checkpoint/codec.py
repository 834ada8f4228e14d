"""A training that is under way as the bytes of a checkpoint, and back."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np

from bncc._types import AnyArray
from bncc.errors import CheckpointError, ModelFileError
from bncc.fixed_point import QFormat
from bncc.model.archive import SUMS, pack, unpack, with_sums
from bncc.model.file import from_bytes, to_bytes
from bncc.model.model import Model
from bncc.train.checkpoint.fingerprint import Identity
from bncc.train.checkpoint.snapshot import Moment

FORMAT = 1
"""Bumped whenever an older bncc would go on wrongly from what a newer one has written."""
DOCUMENT, ARRAYS, FIRST = "checkpoint.json", "arrays.bin", "first.bncc"
STATE, AVERAGE = "state/", "average/"
"""What the names of arrays begin with."""
MALFORMED = (ValueError, TypeError, KeyError, OverflowError, RecursionError)
"""What a document raises that is not what it should be."""
KINDS = ("<f4", "<f8", "<u4", "<u8")
"""What engines hold: little endian, so that their bytes say the same everywhere."""


@dataclass(frozen=True, eq=False)
class Saved:
    """A training that is under way."""

    identity: Identity  # Which training
    moment: Moment  # Where its descent is
    # What the first descent, without the validation rows, ended with; None while it lasts
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
            raise CheckpointError("its digest does not match its content")
        return _decoded(entries)
    except (ModelFileError, *MALFORMED) as error:
        said = str(error) if isinstance(error, ModelFileError) else "its entries are malformed"
        raise CheckpointError(said) from error


def _decoded(entries: Mapping[str, bytes]) -> Saved:
    document = json.loads(entries[DOCUMENT])
    if document["format"] != FORMAT:
        raise CheckpointError(f"it has format {document['format']} and this bncc reads {FORMAT}")
    fmt, arrays = document["q_format"], _arrays(document["arrays"], entries[ARRAYS])
    average = [array for name, array in arrays.items() if name.startswith(AVERAGE)]
    moment = Moment(
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
            raise CheckpointError("an array is of an unknown kind")
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
