"""
The container of a model file: a zip of stored entries, reproducible from its contents.

Reading is writing compared: an archive is accepted only if packing what was found in it gives the
same bytes again. So no flipped bit, no trailing byte, no second directory and no compressed entry
passes, and the bytes of a model depend on no version of zlib, numpy or Python.
"""

import struct
import zlib
from collections.abc import Mapping
from hashlib import sha256

import numpy as np

from bncc._types import IntArray
from bncc.errors import ModelFileError

SUMS = "SHA256SUMS"
"""Name of the last entry: the sha256 of every other, in the format of ``sha256sum``."""

MAX_ENTRIES = 16
"""More than any format will need; a list of millions would only cost time."""

MAX_BYTES = 2**32 - 1
"""Size limit of an archive: the largest number that the fields of a zip file hold."""

_LOCAL = struct.Struct("<4s5H3L2H")
_CENTRAL = struct.Struct("<4s6H3L5H2L")
_END = struct.Struct("<4s4H2LH")
_VERSION = 20
_DATE = (0 << 9) | (1 << 5) | 1  # 1 January 1980, the zip format's zero
_UNIX = 3 << 8
_MODE = 0o100644 << 16


def pack(entries: Mapping[str, bytes]) -> bytes:
    """Return a zip archive of stored entries."""
    frame = _LOCAL.size + _CENTRAL.size
    if _END.size + sum(frame + 2 * len(k) + len(v) for k, v in entries.items()) > MAX_BYTES:
        raise ModelFileError(
            f"the file would hold more than {MAX_BYTES} bytes; use fewer features or coarser ones"
        )
    body, directory = bytearray(), bytearray()
    for name, content in entries.items():
        raw, crc, size = name.encode("ascii"), zlib.crc32(content), len(content)
        common = (_VERSION, 0, 0, 0, _DATE, crc, size, size, len(raw), 0)
        directory += _CENTRAL.pack(
            b"PK\x01\x02", _UNIX | _VERSION, *common, 0, 0, 0, _MODE, len(body)
        )
        directory += raw
        body += _LOCAL.pack(b"PK\x03\x04", *common) + raw + content
    n = len(entries)
    end = _END.pack(b"PK\x05\x06", 0, 0, n, n, len(directory), len(body), 0)
    return bytes(body + directory + end)


def unpack(data: bytes) -> dict[str, bytes]:
    """Return the entries of an archive that `pack` has written."""
    if not data.startswith(b"PK\x03\x04"):
        raise ModelFileError("it is not a zip archive")
    entries: dict[str, bytes] = {}
    position = 0
    while data.startswith(b"PK\x03\x04", position) and position + _LOCAL.size <= len(data):
        *_, size, n_name, _ = _LOCAL.unpack_from(data, position)
        start = position + _LOCAL.size
        position = start + n_name + size
        name = data[start : start + n_name].decode("latin-1")
        if len(entries) == MAX_ENTRIES or name in entries or position > len(data):
            raise ModelFileError("its entries are damaged")
        entries[name] = data[start + n_name : position]
    if not all(name.isascii() for name in entries) or pack(entries) != data:
        raise ModelFileError("its zip structure is damaged or was written by another program")
    return entries


def with_sums(entries: Mapping[str, bytes]) -> dict[str, bytes]:
    """Return the entries with the list of their sha256 digests as the last one."""
    lines = (f"{sha256(content).hexdigest()}  {name}\n" for name, content in entries.items())
    return {**entries, SUMS: "".join(lines).encode("ascii")}


def npy(values: IntArray, bits: int) -> bytes:
    """
    Return a vector of unsigned integers as a ``.npy`` file of format 1.0.

    Shapes: `values` (n,) int.
    """
    return _npy_header(len(values), bits) + values.astype(_dtype(bits)).tobytes()


def from_npy(content: bytes, n: int, bits: int) -> IntArray:
    """
    Return the vector in a ``.npy`` file whose length and width are known beforehand.

    Shapes: returns (n,) int64, the values.
    """
    header = _npy_header(n, bits)
    if not content.startswith(header) or len(content) != len(header) + n * _dtype(bits).itemsize:
        raise ModelFileError(f"an array is not the vector of {n} costs that the model asks for")
    return np.frombuffer(content, _dtype(bits), offset=len(header)).astype(np.int64)


def bytes_of(bits: int) -> int:
    """Return the bytes of an entry of a number of bits in a model file."""
    return _dtype(bits).itemsize


def _dtype(bits: int) -> "np.dtype[np.unsignedinteger]":
    return np.dtype("|u1" if bits <= 8 else "<u2" if bits <= 16 else "<u4")


def _npy_header(n: int, bits: int) -> bytes:
    # Written here since numpy pads it differently from version to version.
    text = f"{{'descr': '{_dtype(bits).str}', 'fortran_order': False, 'shape': ({n},), }}"
    padded = text.ljust(128 - 10 - 1) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(padded)) + padded.encode("ascii")
