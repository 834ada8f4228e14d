"""Model file and ELF file, read for the checker."""

import io
import json
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from math import prod
from typing import Any
from zipfile import ZipFile

import numpy as np

from bncc.checker.values import Ints, RejectedError, Term, Value, require

SIZES = {"int8": 1, "uint8": 1, "int16": 2, "int32": 4, "float32": 4}


@dataclass(frozen=True)
class Program:
    """Constants and symbols of an ELF file."""

    sections: tuple[tuple[int, bytes], ...]
    symbols: Mapping[str, int]

    def read(self, address: int, size: int, multiple: int = 1) -> int:
        """Return an unsigned number of code or constants at a multiple of a number."""
        require(address % multiple == 0, f"a read of {size} bytes at {address:#x} is not aligned")
        return int.from_bytes(self.bytes_at(address, size), "little")

    def bytes_at(self, address: int, size: int) -> bytes:
        """Return bytes of one section that is not written."""
        for start, data in self.sections:
            if start <= address and address + size <= start + len(data):
                return data[address - start : address - start + size]
        raise RejectedError(f"a read of {size} bytes at {address:#x}, outside the constants")


def program_of(data: bytes) -> Program:
    """Read an ELF file of 32 bits, least significant byte first."""
    is_linked = data[:6] == b"\x7fELF\x01\x01" and struct.unpack_from("<H", data, 16)[0] == 2
    require(is_linked, "the program is not a linked ELF file of 32 bits")
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


class Model:
    """A classifier: how readings give states, and states the costs of each class."""

    def __init__(self, data: bytes) -> None:
        with ZipFile(io.BytesIO(data)) as archive:
            parts = {name: archive.read(name) for name in archive.namelist()}
        for line in parts["SHA256SUMS"].decode().splitlines():
            digest, name = line.split("  ")
            require(sha256(parts[name]).hexdigest() == digest, f"the digest of {name} is wrong")
        document = json.loads(parts["model.json"])
        require(document["format"] in (1, 2, 3, 4), "the model file has an unknown format")
        self.digest = sha256(parts["SHA256SUMS"]).hexdigest()
        self.features: Sequence[Mapping[str, Any]] = document["features"]
        self.structure: Mapping[str, Any] = document["structure"]
        self.prior, self.costs = (
            np.load(io.BytesIO(parts[name]), allow_pickle=False).astype(np.int64)
            for name in ("prior.npy", "tables.npy")  # All tables, one after the other
        )

    def sizes(self, entry: str) -> list[int]:
        """Return the bytes of each input of an entry point."""
        if entry == "predict-raw":
            return [SIZES.get(f["kind"]) or (1 if _n_known(f) <= 255 else 2) for f in self.features]
        most = max(f["n_states"] for f in self.features)
        return [2 if most > 255 else 1] * len(self.features)

    def read(self, entry: str, points: Sequence[Ints]) -> None:
        """Find valid states and tables of an entry point, by the points of its inputs."""
        states = []
        for f, size, own in zip(self.features, self.sizes(entry), points, strict=True):
            found, borders = _states(f, size, own, is_raw=entry == "predict-raw")
            ends = [*own[::2].tolist(), 1 << 8 * size]
            is_right = ends[0] == 0 and (np.diff(ends) > 0).all() and {*borders} <= {*ends}
            require(is_right, f"the intervals of {f['name']} are not ascending, or too large")
            states.append(found)
        self.valid = tuple(found >= 0 for found in states)
        self.tables: list[tuple[Term, Ints]] = []  # Row, and costs (rows, classes)
        self.used: set[int] = set()  # Inputs on which decisions depend
        left = self.costs
        for record in self._records():
            row, n_rows = _row(record, states)
            costs = left[: n_rows * len(self.prior)].reshape(n_rows, -1)
            left = left[costs.size :]
            self.tables.append((row, costs))
            if "parents" not in self.structure or (costs != costs[:, :1]).any():
                self.used.update(row.levels)
            is_flat = all((m[::2] == m[1::2]).all() for m in row.levels.values())
            require(is_flat, "the intervals do not separate the rows of a table")
        require(not len(left), "the tables of the model file have another size")

    def difference(self, first: int, second: int) -> Value:
        """Return the cost of a class less that of another."""
        own = [(row, costs[:, first] - costs[:, second]) for row, costs in self.tables]
        terms = tuple(Term(row.levels, costs[row.grid]) for row, costs in own)
        return Value(int(self.prior[first] - self.prior[second]), terms)

    def _records(self) -> list[Mapping[str, Any]]:
        """Return the features of each table, and above which states their rows differ."""
        s = self.structure
        if "parents" not in s:
            pairs = zip(s.get("features", ()), s.get("cuts", ()), strict=True)
            return s.get("tables") or [{"features": f, "cuts": c} for f, c in pairs]
        scopes = [[*above, i] for i, above in enumerate(s["parents"])]
        scopes += [s["class_parents"]] if s.get("class_parents") else []
        every = [range(f["n_states"] - 1) for f in self.features]
        return [{"features": scope, "cuts": [every[i] for i in scope]} for scope in scopes]


def _n_known(f: Mapping[str, Any]) -> int:
    return len(f["categories"]) if f["kind"] == "category" else f["n_states"]


def _states(
    f: Mapping[str, Any], size: int, bits: Ints, *, is_raw: bool
) -> tuple[Ints, Sequence[int]]:
    """
    Return states of inputs by their bits, -1 if out of range, and borders.

    Between borders, states are ascending or descending.
    """
    kind, half = f["kind"], 1 << 8 * size - 1
    if not is_raw or kind not in SIZES:
        n, other = (_n_known(f), f["fallback"]) if is_raw else (f["n_states"], -1)
        return np.where(bits < n, bits, other), [min(n, 2 * half)]
    values: Any = bits if kind == "uint8" else np.where(bits < half, bits, bits - 2 * half)
    is_missing, borders = bits == half, [half, half + 1]
    if kind == "uint8":
        is_missing, borders = bits < 0, []
    if kind == "float32":
        with np.errstate(invalid="ignore"):  # Signaling NaN
            values = bits.astype(np.uint32).view(np.float32).astype(np.float64)
        is_missing, borders = np.isnan(values), [0x7F80_0001, half, 0xFF80_0001]
    found = (values[:, None] > np.array(f["thresholds"], dtype=np.float64)).sum(axis=1)
    return np.where(is_missing, f["fallback"], found), borders


def _row(one: Mapping[str, Any], states: Sequence[Ints]) -> tuple[Term, int]:
    """Return the row of a table that states address, or a tree's leaf, and how many there are."""
    is_tree = "below" in one
    axes = sorted(set(one["features"]))
    pairs = list(zip(one["features"], one["cuts"], strict=True))
    cuts = [sorted({c for f, c in pairs if f == a}) if is_tree else dict(pairs)[a] for a in axes]
    shape = [len(c) + 1 for c in cuts]
    require(prod(shape) <= 1 << 20, "a decision tree of the model reads too many features")
    level = dict(zip(axes, np.indices(shape), strict=True))
    grid: Any = 0
    if is_tree:
        nodes: dict[int, Any] = {-1 - leaf: leaf for leaf in range(len(pairs) + 1)}
        for k in reversed(range(len(pairs))):  # A parent comes before its children
            f, cut = pairs[k]
            is_above = level[f] > cuts[axes.index(f)].index(cut)
            nodes[k] = np.where(is_above, nodes[one["above"][k]], nodes[one["below"][k]])
        grid = nodes[0]
    else:
        for f, c in pairs:  # The first feature is outermost
            grid = grid * (len(c) + 1) + level[f]
    levels = {
        a: np.searchsorted(c, np.maximum(states[a], 0)) for a, c in zip(axes, cuts, strict=True)
    }
    return Term(levels, grid), len(pairs) + 1 if is_tree else prod(shape)
