"""Model file and ELF file, read for the checker."""

import io
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod
from struct import iter_unpack, unpack_from
from typing import Any, TypeAlias

import numpy as np

from bncc.checker.values import WORD, Ints, RejectedError, Term, Value, require

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
        for name, value, _, info, _, where in iter_unpack("<IIIBBH", content if kind == 2 else b""):
            if info & 15 == 2 and where:
                text = data[headers[link][4] + name :].partition(b"\0")[0].decode()
                # The same name for two addresses is that of none
                symbols[text] = value & ~1 if symbols.get(text, value & ~1) == value & ~1 else -1
    return Program(tuple(sections), symbols)


class Model:
    """A classifier: how readings give states, and states the costs of each class."""

    def __init__(self, data: bytes, entry: str, axes: Sequence[Sequence[int]]) -> None:
        """Read tables for an entry point, by the first numbers of intervals of its inputs."""
        archive = np.load(io.BytesIO(data))
        document = json.loads(archive["model.json"])
        require(document["format"] in (1, 2, 3, 4), "the model file has an unknown format")
        features, is_raw = document["features"], entry == "predict-raw"
        self.prior = archive["prior"].astype(np.int64)
        self.sizes: list[int] = []  # Bytes of each input
        self.points: list[Ints] = []  # First and last numbers of intervals
        states = []
        for f, starts in zip(features, axes, strict=True):
            is_number = is_raw and f["kind"] in NUMBERS
            n = len(f["categories"]) or f["n_states"] if is_raw else f["n_states"]
            widest = n if is_raw else max(one["n_states"] for one in features)
            size = np.dtype(f["kind"]).itemsize if is_number else 1 + (widest > 255)
            half, ends = 1 << 8 * size - 1, np.array([*starts, 1 << 8 * size], dtype=np.int64)
            points = np.stack([ends[:-1], ends[1:] - 1], axis=1).ravel()
            # Between these borders, states are ascending or descending.
            borders = (n * (not is_number), half, half + 1, 0x7F80_0001, 0xFF80_0001)
            is_right = ends[0] == 0 and {one for one in borders if one < 2 * half} <= {*ends}
            is_right = is_right and (np.diff(ends) > 0).all()
            require(is_right, f"the intervals of {f['name']} are not ascending, or too large")
            other = np.where(points < n, points, f["fallback"] if is_raw else -1)
            states.append(_binned(f, size, points) if is_number else other)
            self.sizes.append(size)
            self.points.append(points)
        self.valid = tuple(found >= 0 for found in states)
        self.tables: list[tuple[dict[int, Ints], Ints, Ints]] = []  # Levels, rows and costs
        self.used: set[int] = set()  # Inputs on which decisions depend
        left = archive["tables"].astype(np.int64).reshape(-1, len(self.prior))
        for record in _records(features, document["structure"]):
            levels, rows = _rows(record, states)
            is_flat = all((m[::2] == m[1::2]).all() for m in levels.values())
            require(is_flat, "the intervals do not separate the rows of a table")
            costs, left = np.split(left, [1 + rows.max()])
            self.tables.append((levels, rows, costs))
            if (costs != costs[:, :1]).any():
                self.used.update(levels)
        require(not len(left), "the tables of the model file have another size")

    def difference(self, first: int, second: int) -> Value:
        """Return the cost of a class less that of another."""
        own = ((m, rows, costs[:, first] - costs[:, second]) for m, rows, costs in self.tables)
        terms = tuple(Term(m, costs[rows]) for m, rows, costs in own)
        return Value(int(self.prior[first] - self.prior[second]), terms)


def _binned(f: Record, size: int, bits: Ints) -> Ints:
    """Return states of readings by their bits."""
    with np.errstate(invalid="ignore"):  # Signaling NaN
        values = bits.astype(f"u{size}").view(f["kind"]).astype(np.float64)
    is_missing = np.isnan(values) | (bits == 1 << 8 * size - 1) & (f["kind"][0] == "i")
    found = (values[:, None] > np.array(f["thresholds"], dtype=np.float64)).sum(axis=1)
    return np.where(is_missing, f["fallback"], found)


def _records(features: Sequence[Record], structure: Record) -> Sequence[Record]:
    """Return the features of each table, and above which states their rows differ."""
    if "parents" in structure:
        scopes = [[*above, i] for i, above in enumerate(structure["parents"])]
        scopes += [one for one in [structure.get("class_parents")] if one]
        cuts = [[range(features[i]["n_states"] - 1) for i in scope] for scope in scopes]
        structure = {"features": scopes, "cuts": cuts}
    pairs = zip(structure.get("features", ()), structure.get("cuts", ()), strict=True)
    return structure.get("tables") or [{"features": f, "cuts": c} for f, c in pairs]


def _rows(one: Record, states: Sequence[Ints]) -> tuple[dict[int, Ints], Ints]:
    """Return levels of inputs, and by them the row of a table, or the leaf of a tree."""
    nodes = [*zip(one["features"], one["cuts"], strict=True)]
    cuts = {
        f: np.unique([cut for g, own in nodes if g == f for cut in np.ravel(own)])
        for f in sorted({*one["features"]})
    }
    require(
        prod(len(own) + 1 for own in cuts.values()) <= 1 << 20, "a tree reads too many features"
    )
    # A state of each level
    state = dict(zip(cuts, np.ix_(*([*own, WORD] for own in cuts.values())), strict=True))
    rows: Any = 0
    for f, own in nodes if "below" not in one else ():
        rows = rows * (len(own) + 1) + np.searchsorted(own, state[f])  # The first is outermost
    found: dict[int, Any] = {-1 - leaf: leaf for leaf in range(len(nodes) + 1)}
    for k in reversed(range(len(nodes))) if "below" in one else ():  # Children first
        f, cut = nodes[k]
        rows = found[k] = np.where(state[f] > cut, found[one["above"][k]], found[one["below"][k]])
    levels = {f: np.searchsorted(own, np.maximum(states[f], 0)) for f, own in cuts.items()}
    return levels, rows
