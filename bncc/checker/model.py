"""Model file and ELF file, read for the checker."""

import io
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod
from struct import iter_unpack, unpack_from
from typing import Any, TypeAlias

import numpy as np

from bncc.checker.boxes import Ints
from bncc.checker.values import RejectedError, Term, Value, require

Record: TypeAlias = Mapping[str, Any]
NUMBERS = ("int8", "uint8", "int16", "int32", "float32")


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
    is_linked = data[:6] == b"\x7fELF\x01\x01" and data[16:18] == b"\x02\x00"
    require(is_linked, "the program is not a linked ELF file of 32 bits")
    (at,), (n,) = unpack_from("<I", data, 32), unpack_from("<H", data, 48)
    headers = [*iter_unpack("<10I", data[at : at + 40 * n])]
    sections: list[tuple[int, bytes]] = []
    symbols: dict[str, int] = {}
    for _, kind, flags, address, offset, length, link, *_ in headers:
        content = data[offset : offset + length]
        if kind == 1 and flags & 3 == 2:
            sections.append((address, content))
        if kind == 2:
            names = data[headers[link][4] :]
            for name, value, _, info, _, where in iter_unpack("<IIIBBH", content):
                if info & 15 == 2 and where:
                    text, at = names[name : names.index(b"\0", name)].decode(), value & ~1
                    symbols[text] = at if symbols.get(text, at) == at else -1  # Ambiguous
    return Program(tuple(sections), symbols)


class Model:
    """A classifier: how readings give states, and states the costs of each class."""

    def __init__(self, data: bytes, entry: str, axes: Sequence[Sequence[int]]) -> None:
        """Read tables for an entry point, by the first numbers of intervals of its inputs."""
        archive = np.load(io.BytesIO(data))
        document = json.loads(archive["model.json"])
        require(document["format"] in (1, 2, 3, 4), "the model file has an unknown format")
        features, structure = document["features"], document["structure"]
        self.prior = archive["prior"].astype(np.int64)
        self.sizes = _sizes(features, entry)  # Bytes of each input
        self.points: list[Ints] = []  # First and last numbers of intervals
        states = []
        for f, size, starts in zip(features, self.sizes, axes, strict=True):
            ends = np.array([*starts, 1 << 8 * size], dtype=np.int64)
            self.points.append(np.stack([ends[:-1], ends[1:] - 1], axis=1).ravel())
            found, borders = _states(f, size, self.points[-1], is_raw=entry == "predict-raw")
            is_right = ends[0] == 0 and (np.diff(ends) > 0).all() and {*borders} <= {*ends}
            require(is_right, f"the intervals of {f['name']} are not ascending, or too large")
            states.append(found)
        self.valid = tuple(found >= 0 for found in states)
        self.tables: list[tuple[Term, Ints]] = []  # Row, and costs (rows, classes)
        self.used: set[int] = set()  # Inputs on which decisions depend
        left = archive["tables"].astype(np.int64)  # All tables, one after the other
        for record in _records(features, structure):
            row = _row(record, states)
            costs, left = np.split(left, [(1 + row.grid.max()) * len(self.prior)])
            costs = costs.reshape(-1, len(self.prior))
            self.tables.append((row, costs))
            if (costs != costs[:, :1]).any():
                self.used.update(row.levels)
            is_flat = all((m[::2] == m[1::2]).all() for m in row.levels.values())
            require(is_flat, "the intervals do not separate the rows of a table")
        require(not len(left), "the tables of the model file have another size")

    def difference(self, first: int, second: int) -> Value:
        """Return the cost of a class less that of another."""
        own = [(row, costs[:, first] - costs[:, second]) for row, costs in self.tables]
        terms = tuple(Term(row.levels, costs[row.grid]) for row, costs in own)
        return Value(int(self.prior[first] - self.prior[second]), terms)


def _sizes(features: Sequence[Record], entry: str) -> list[int]:
    if entry != "predict-raw":
        return [1 + (max(f["n_states"] for f in features) > 255)] * len(features)
    return [
        np.dtype(f["kind"]).itemsize if f["kind"] in NUMBERS else 1 + (_n_known(f) > 255)
        for f in features
    ]


def _n_known(f: Record) -> int:
    return len(f["categories"]) or f["n_states"]


def _states(f: Record, size: int, bits: Ints, *, is_raw: bool) -> tuple[Ints, Sequence[int]]:
    """
    Return states of inputs by their bits, -1 if out of range, and borders.

    Between borders, states are ascending or descending.
    """
    kind, half = f["kind"], 1 << 8 * size - 1
    if not is_raw or kind not in NUMBERS:
        n, other = (_n_known(f), f["fallback"]) if is_raw else (f["n_states"], -1)
        return np.where(bits < n, bits, other), [min(n, 2 * half)]
    with np.errstate(invalid="ignore"):  # Signaling NaN
        values = bits.astype(f"u{size}").view(kind).astype(np.float64)
    is_missing = np.isnan(values) if kind == "float32" else (bits == half) & (kind != "uint8")
    found = (values[:, None] > np.array(f["thresholds"], dtype=np.float64)).sum(axis=1)
    borders = [at for at in (half, half + 1, 0x7F80_0001, 0xFF80_0001) if at < 2 * half]
    return np.where(is_missing, f["fallback"], found), borders


def _records(features: Sequence[Record], structure: Record) -> Sequence[Record]:
    """Return the features of each table, and above which states their rows differ."""
    if "parents" not in structure:
        scopes, cuts = structure.get("features", ()), structure.get("cuts", ())
    else:
        scopes = [[*above, i] for i, above in enumerate(structure["parents"])]
        scopes += [structure["class_parents"]] if structure.get("class_parents") else []
        cuts = [[range(features[i]["n_states"] - 1) for i in scope] for scope in scopes]
    tables: Sequence[Record] = structure.get("tables", ())
    return tables or [{"features": f, "cuts": c} for f, c in zip(scopes, cuts, strict=True)]


def _row(one: Record, states: Sequence[Ints]) -> Term:
    """Return the row of a table that states address, or a tree's leaf."""
    axes, pairs = sorted({*one["features"]}), [*zip(one["features"], one["cuts"], strict=True)]
    if "below" in one:
        cuts = [sorted({cut for f, cut in pairs if f == axis}) for axis in axes]
        require(prod(len(c) + 1 for c in cuts) <= 1 << 20, "a tree reads too many features")
        state = dict(zip(axes, np.ix_(*([*c, c[-1] + 1] for c in cuts)), strict=True))
        nodes: dict[int, Any] = {-1 - leaf: leaf for leaf in range(len(pairs) + 1)}
        for k in reversed(range(len(pairs))):  # A parent comes before its children
            f, cut = pairs[k]
            nodes[k] = np.where(state[f] > cut, nodes[one["above"][k]], nodes[one["below"][k]])
        grid = nodes[0]
    else:
        cuts = [dict(pairs)[axis] for axis in axes]
        shape = [len(c) + 1 for c in one["cuts"]]  # The first feature is outermost
        grid = np.arange(prod(shape)).reshape(shape).transpose(np.argsort(one["features"]))
    found = (np.searchsorted(c, np.maximum(states[f], 0)) for f, c in zip(axes, cuts, strict=True))
    return Term(dict(zip(axes, found, strict=True)), grid)
