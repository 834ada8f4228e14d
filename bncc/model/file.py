"""The `.bncc` file: data only, versioned, digested, refused unless it is whole."""

import os
from hashlib import sha256
from pathlib import Path

from bncc._types import StrPath
from bncc.errors import ModelError, ModelFileError, OptionError
from bncc.model.archive import SUMS, pack, unpack, with_sums
from bncc.model.atomic import write_whole
from bncc.model.codec import FORMATS, decode, encode, read_document
from bncc.model.model import Model

MAX_FILE = 256 * 2**20
"""Bytes of a model file; a microcontroller holds a thousandth of it."""


def to_bytes(model: Model) -> bytes:
    """Return the content of a model file."""
    data = pack(with_sums(encode(model)))
    if len(data) > MAX_FILE:
        raise ModelFileError(
            f"the model needs {len(data)} bytes and a model file holds at most {MAX_FILE}; "
            "use fewer states or parents"
        )
    return data


def from_bytes(data: bytes, name: StrPath) -> Model:
    """Return the model in the content of a file."""
    try:
        entries = unpack(data)
        sums = {entry: content for entry, content in entries.items() if entry != SUMS}
        if with_sums(sums) != entries:
            raise ModelFileError("its digest does not match its content")
        document = read_document(entries)
        number = document.get("format")
        if type(number) is not int or number < 1:
            raise ModelFileError("its format number is malformed")
        if number in FORMATS:
            return decode(document, entries)
    except (ModelFileError, ModelError, ValueError) as error:
        raise ModelFileError(
            f"'{name}' is not a whole bncc model ({error}); copy it again or train anew"
        ) from error
    raise ModelFileError(
        f"'{name}' has model format {number} and this bncc reads up to {FORMATS[-1]}; update bncc"
    )


def save_model(model: Model, path: StrPath, *, overwrite: bool = False) -> None:
    """
    Write a model file; equal models give equal bytes.

    Parameters
    ----------
    model : Model
        A whole model.
    path : path
        Where it goes.
    overwrite : bool
        Whether an existing file may be replaced.

    Raises
    ------
    OptionError
        If the file exists and `overwrite` is not set.
    ModelError
        If the model is not whole.
    ModelFileError
        If it cannot be written; an older file is then still what it was.
    """
    data = to_bytes(model)
    target = Path(path)
    try:
        if target.exists() and not target.is_file():
            raise OptionError(f"'{path}' is not a regular file; choose another name for the model")
        if target.exists() and not overwrite:
            raise OptionError(f"'{path}' exists; choose another name or overwrite it with --force")
        write_whole(target, data)
    except (OSError, ValueError) as error:
        raise ModelFileError(
            f"cannot write '{path}' ({_reason(error)}); choose another folder or make room"
        ) from error


def load_model(path: StrPath) -> Model:
    """
    Read a model file.

    Parameters
    ----------
    path : path
        A file that `save_model` has written.

    Returns
    -------
    Model
        A whole model with read-only arrays.

    Raises
    ------
    ModelFileError
        If the file is absent, too large, damaged in any bit, or of another format.
    """
    return from_bytes(_read(path), path)


def model_digest(model: Model) -> str:
    """Return the digest of a model's content."""
    return sha256(with_sums(encode(model))[SUMS]).hexdigest()


def _read(path: StrPath) -> bytes:
    source = Path(path)
    try:
        if source.is_dir():
            raise ModelFileError(f"'{path}' is a directory; name the model file inside it")
        if not source.exists():
            raise ModelFileError(f"'{path}' does not exist; make it with 'bncc train -o'")
        if not source.is_file():
            # Opening a named pipe would wait for ever.
            raise ModelFileError(f"'{path}' is not a regular file; copy the model to one")
        with source.open("rb") as file:
            data = file.read(MAX_FILE + 1)
    except OSError as error:
        raise ModelFileError(
            f"cannot read '{path}' ({_reason(error)}); check its permissions"
        ) from error
    if len(data) > MAX_FILE:
        raise ModelFileError(
            f"'{path}' is larger than {MAX_FILE} bytes, the limit of a model file; "
            "name a file that bncc has written"
        )
    return data


def _reason(error: Exception) -> str:
    return os.strerror(error.errno) if isinstance(error, OSError) and error.errno else str(error)
