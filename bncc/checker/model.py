"""Model file and ELF file, read for the checker."""

import io
import json
import struct
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from math import prod
from typing import Any
from zipfile import ZipFile

import numpy as np

from bncc.checker.terms import Ints, RejectedError, Term

SIZES = {"int8": 1, "uint8": 1, "int16": 2, "int32": 4, "float32": 4}


@dataclass(frozen=True)
class Program:
    """Constants and symbols of an ELF file."""

    sections: tuple[tuple[int, bytes], ...]
    symbols: Mapping[str, int]

    def read(self, address: int, size: int) -> int:
        """Return an unsigned number of code or constants."""
        return int.from_bytes(self.bytes_at(address, size), "little")

    def bytes_at(self, address: int, size: int) -> bytes:
        """Return bytes of one section that is not written."""
        for start, data in self.sections:
            if start <= address and address + size <= start + len(data):
                return data[address - start : address - start + size]
        raise RejectedError(f"a read of {size} bytes at {address:#x}, outside the constants")


def program_of(data: bytes) -> Program:
    """Read an ELF file of 32 bits, least significant byte first."""
    if data[:6] != b"\x7fELF\x01\x01" or struct.unpack_from("<H", data, 16)[0] != 2:
        raise RejectedError("the program is not a linked ELF file of 32 bits")
    (at,) = struct.unpack_from("<I", data, 32)
    size, n = struct.unpack_from("<HH", data, 46)
    headers = [struct.unpack_from("<10I", data, at + k * size) for k in range(n)]
    sections, symbols = [], {}
    for _, kind, flags, address, offset, length, link, *_ in headers:
        if kind == 1 and flags & 3 == 2:
            sections.append((address, data[offset : offset + length]))
        if kind == 2:
            names = data[headers[link][4] :]
            for k in range(offset, offset + length, 16):
                name, value, _, info, _, where = struct.unpack_from("<IIIBBH", data, k)
                if info & 15 == 2 and where:
                    symbols[names[name : names.index(b"\0", name)].decode()] = value & ~1
    return Program(tuple(sections), symbols)


@dataclass(frozen=True, eq=False)
class Model:
    """A classifier: costs by table row, and how inputs address rows."""

    features: Sequence[Mapping[str, Any]]
    structure: Mapping[str, Any]
    prior: Ints
    tables: Ints  # All, one after the other
    digest: str


def model_of(data: bytes) -> Model:
    """Read a model file, and verify its digests."""
    with ZipFile(io.BytesIO(data)) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    for line in parts["SHA256SUMS"].decode().splitlines():
        digest, name = line.split("  ")
        if sha256(parts[name]).hexdigest() != digest:
            raise RejectedError(f"the digest of {name} in the model file is wrong")
    document = json.loads(parts["model.json"])
    if document["format"] not in (1, 2, 3, 4):
        raise RejectedError("the model file has an unknown format")
    prior, tables = (
        np.load(io.BytesIO(parts[name]), allow_pickle=False).astype(np.int64)
        for name in ("prior.npy", "tables.npy")
    )
    digest = sha256(parts["SHA256SUMS"]).hexdigest()
    return Model(document["features"], document["structure"], prior, tables, digest)


@dataclass(frozen=True, eq=False)
class Specification:
    """Inputs of an entry point, and the cost of each class."""

    offsets: Mapping[int, tuple[int, int]]  # Input and byte of each offset of the buffer
    sizes: Sequence[int]
    domain: Sequence[Ints]  # State of each interval of each input, -1 if out of range
    prior: Ints
    tables: Sequence[tuple[Term, Ints]]  # Row by input, and costs (rows, classes)
    used: frozenset[int]


def specification(model: Model, entry: str, starts: Sequence[Ints]) -> Specification:
    """Return the rule of a model file for an entry point."""
    is_raw = entry == "predict-raw"
    state_size = 2 if max(f["n_states"] for f in model.features) > 255 else 1
    sizes = [_size(f) if is_raw else state_size for f in model.features]
    offsets: dict[int, tuple[int, int]] = {}
    at = 0
    for k, size in enumerate(sizes):
        at += -at % size
        offsets |= {at + byte: (k, byte) for byte in range(size)}
        at += size
    domain = []
    for f, size, own in zip(model.features, sizes, starts, strict=True):
        edges = [0, *(_edges(f, size) if is_raw else range(f["n_states"] + 1))]
        if own[0] != 0 or (np.diff(own) <= 0).any() or own[-1] >= 1 << 8 * size:
            raise RejectedError(f"the intervals of {f['name']} are not ascending")
        if not {e for e in edges if e < 1 << 8 * size} <= set(own.tolist()):
            raise RejectedError(f"the intervals of {f['name']} do not separate its states")
        find = _state if is_raw else lambda f, _, x: x if x < f["n_states"] else -1
        domain.append(np.array([find(f, size, x) for x in own.tolist()], dtype=np.int64))
    tables, at, used = [], 0, set()
    for term, n_rows, is_grown in _rows(model, domain):
        costs = model.tables[at : at + n_rows * len(model.prior)].reshape(n_rows, -1)
        at += costs.size
        tables.append((term, costs))
        if is_grown or (costs != costs[:, :1]).any():
            used |= set(term.axes)
    if at != len(model.tables):
        raise RejectedError("the tables of the model file have another size")
    return Specification(offsets, sizes, domain, model.prior, tables, frozenset(used))


def _size(f: Mapping[str, Any]) -> int:
    """Return the bytes of a reading."""
    return SIZES.get(f["kind"]) or (1 if _n_known(f) <= 255 else 2)


def _n_known(f: Mapping[str, Any]) -> int:
    return len(f["categories"]) if f["kind"] == "category" else f["n_states"]


def _edges(f: Mapping[str, Any], size: int) -> Iterator[int]:
    """Yield where the state of a reading may change, among its bits in ascending order."""
    half = 1 << 8 * size - 1
    if f["kind"] == "float32":
        yield from (1, 0x7F80_0001, half, half + 1, 0xFF80_0001)
        for t in f["thresholds"]:
            (bits,) = struct.unpack("<I", struct.pack("<f", t))
            yield from (bits, bits + 1)
    elif f["kind"] in SIZES:
        yield from (half, half + 1)
        yield from ((int(t) + 1) % (2 * half) for t in f["thresholds"])
    else:
        yield from range(_n_known(f) + 1)


def _state(f: Mapping[str, Any], size: int, bits: int) -> int:
    """Return the state of a reading by its bits."""
    kind, half = f["kind"], 1 << 8 * size - 1
    x: float = bits
    if kind == "float32":
        (x,) = struct.unpack("<f", struct.pack("<I", bits))
        if x != x:
            return int(f["fallback"])
    elif kind in SIZES:
        if kind != "uint8":
            x = bits - 2 * half if bits >= half else bits
            if bits == half:
                return int(f["fallback"])
    else:
        return bits if bits < _n_known(f) else int(f["fallback"])
    return sum(x > t for t in f["thresholds"])


def _rows(model: Model, domain: Sequence[Ints]) -> Iterator[tuple[Term, int, bool]]:
    """Yield the row of each table as a function of the inputs, and its number of rows."""
    s, n_states = model.structure, [f["n_states"] for f in model.features]
    if "parents" in s:
        scopes = [[*above, i] for i, above in enumerate(s["parents"])]
        scopes += [s["class_parents"]] if s.get("class_parents") else []
        for scope in scopes:
            levels = [np.maximum(domain[f], 0) for f in scope]
            yield (
                _term(scope, levels, [n_states[f] for f in scope]),
                prod(n_states[f] for f in scope),
                False,
            )
        return
    records = s.get("tables") or [
        {"features": f, "cuts": c} for f, c in zip(s["features"], s["cuts"], strict=True)
    ]
    for one in records:
        if "below" in one:
            yield _tree(one, domain), len(one["cuts"]) + 1, True
            continue
        levels = [
            np.searchsorted(c, domain[f]) for f, c in zip(one["features"], one["cuts"], strict=True)
        ]
        sizes = [len(c) + 1 for c in one["cuts"]]
        yield _term(one["features"], levels, sizes), prod(sizes), True


def _term(scope: Sequence[int], levels: Sequence[Ints], sizes: Sequence[int]) -> Term:
    """Return the row that levels address, the first one outermost."""
    rows = np.arange(prod(sizes), dtype=np.int64).reshape(sizes)
    if len(scope) == 1:
        return Term((scope[0],), levels[0])
    order = sorted(range(len(scope)), key=lambda k: scope[k])
    maps = tuple(levels[k] for k in order)
    return Term(tuple(scope[k] for k in order), rows.transpose(order), None, maps)


def _tree(one: Mapping[str, Any], domain: Sequence[Ints]) -> Term:
    """Return the leaf that a decision tree reaches, the leftmost being 0."""
    nodes = list(zip(one["features"], one["cuts"], one["below"], one["above"], strict=True))
    axes = tuple(sorted(set(one["features"])))
    cuts = {a: sorted({c for f, c, *_ in nodes if f == a}) for a in axes}
    if prod(len(c) + 1 for c in cuts.values()) > 1 << 20:
        raise RejectedError("a decision tree of the model reads too many features")
    maps = tuple(np.searchsorted(cuts[a], domain[a]) for a in axes)
    at = np.zeros([len(cuts[a]) + 1 for a in axes], dtype=np.int64)
    index = dict(zip(axes, np.indices(at.shape), strict=True))
    for k, (f, cut, below, above) in enumerate(nodes):  # a parent comes first
        at = np.where(at == k, np.where(index[f] > cuts[f].index(cut), above, below), at)
    grid = -1 - at
    return Term(axes, grid, None, maps) if len(axes) > 1 else Term(axes, grid[maps[0]])
