"""Model file and ELF file, read for the checker."""

import io
import json
from struct import iter_unpack, unpack_from
from typing import Any

import numpy as np

from bncc.checker.values import EXACT, Ints, Term, Value, require


class Program:
    """Constants and symbols of an ELF file of 32 bits, least significant byte first."""

    def __init__(self, data: bytes) -> None:
        """Read a file."""
        require(data[:6] + data[16:18] == b"\x7fELF\x01\x01\x02\x00", "no linked 32-bit ELF file")
        first, at, n_loads, n = unpack_from("<II8xH2xH", data, 28)
        parts = iter_unpack("<8I", data[first : first + 32 * n_loads])
        # Loaded segments: place in the file less address, start, end, and 0 if one is stored where
        # it runs and is in the file as a whole
        loads = [(o - v, v, v + m, v ^ p | f ^ m) for k, o, v, p, f, m, *_ in parts if k == 1]
        headers = [*iter_unpack("<10I", data[at : at + 40 * n])]
        self.sections, self.symbols = list[tuple[int, bytes]](), dict[str, int]()
        for _, kind, flags, at, offset, size, link, *_ in headers:
            content, end = data[offset : offset + size], at + size
            if kind == 1 and flags & 3 == 2 and size:
                # A single segment covers each section, with the bytes that its header names.
                near = [(d, w, v <= at < end <= e) for d, v, e, w in loads if v < end and at < e]
                require(near == [(offset - at, 0, True)], "a section is not what is loaded there")
                self.sections.append((at, content))
            for name, value, _, info, _, where in iter_unpack("<IIIBBH", content * (kind == 2)):
                if info & 15 == 2 and where:
                    text = data[headers[link][4] + name :].partition(b"\0")[0].decode()
                    is_new = self.symbols.setdefault(text, value & ~1) == value & ~1
                    self.symbols[text] = value & ~1 if is_new else -1  # Ambiguous

    def read(self, at: int, size: int, multiple: int = 1) -> bytes:
        """Return code or constants, at a multiple of a number, of a section that is not written."""
        found = [x[at - a :][:size] for a, x in self.sections if 0 <= at - a <= len(x) - size]
        require(found and at % multiple == 0, f"{at:#x} has no constant, or it is not aligned")
        return found[0]


class Model:
    """A classifier: how readings give states, and states the costs of each class."""

    def __init__(self, data: bytes, entry: str, axes: list[list[int]]) -> None:
        """Read tables for an entry point, by the first numbers of intervals of its inputs."""
        document = json.loads((archive := np.load(io.BytesIO(data)))["model.json"])
        require(1 <= document["format"] <= 6, "the model file has an unknown format")
        features, is_raw = document["features"], entry.endswith("-raw")
        require(not (is_raw and any("difference" in f for f in features)), "subtracted readings")
        widest = max(f["n_states"] for f in features)
        # Costs of each class by all tables, then those by the tables before a gate
        self.prior = np.tile(archive["prior"].astype(np.int64), 2)
        gate = document.get("gate", {"tables": 0, "margin": EXACT})
        self.classes, self.margin = range(len(self.prior) // 2), gate["margin"]
        inputs = [_input(f, own, is_raw, widest) for f, own in zip(features, axes, strict=True)]
        # Bytes of each input, first and last numbers of intervals, and their states
        self.sizes, self.points, states = zip(*inputs, strict=True)
        least = 0 if entry == "trusted" else -1
        self.valid, self.domain = (tuple(s >= k for s in states) for k in (0, least))
        rows = np.tile(archive["tables"].astype(np.int64).reshape(-1, len(self.classes)), 2)
        tables = [_parts(one, states) for one in _records(features, document["structure"])]
        ends = np.cumsum([1 + max(t.grid.max() for t in parts) for parts in tables])
        require(ends[-1] == len(rows), "the tables of the model file have another size")
        rows[ends[gate["tables"] - 1] :, len(self.classes) :] = 0
        costs = [np.pad(own, ((0, 1), (0, 0))) for own in np.split(rows, ends[:-1])]
        # For each table the row by inputs, -1 in all parts but one, and costs by row, 0 for row -1
        self.tables = [*zip(tables, costs, strict=True)]
        levels = [m for parts in tables for t in parts for m in t.levels.values()]
        require(all((m[::2] == m[1::2]).all() for m in levels), "intervals do not separate rows")
        deciding = [parts for parts, own in self.tables if np.ptp(own[:, self.classes], 1).any()]
        self.used = {axis for parts in deciding for t in parts for axis in t.levels}

    def difference(self, first: int, second: int) -> Value:
        """Return the cost of a class less that of another."""
        tables = [(parts, own[:, first] - own[:, second]) for parts, own in self.tables]
        terms = tuple(Term(t.levels, own[t.grid]) for parts, own in tables for t in parts)
        return Value(self.prior.item(first) - self.prior.item(second), terms)


def _input(f: Any, starts: list[int], is_raw: bool, widest: int) -> tuple[int, Ints, Ints]:
    """Return the bytes of an input, the first and last numbers of intervals, and their states."""
    is_number = is_raw and f["kind"] not in ("category", "state")
    n = len(f["categories"]) or f["n_states"] if is_raw else f["n_states"]
    size = np.dtype(f["kind"]).itemsize if is_number else 1 + ((n if is_raw else widest) > 255)
    half, ends = 1 << 8 * size - 1, np.array([*starts, 1 << 8 * size], dtype=np.int64).clip(0)
    # Between these borders, states are ascending or descending.
    borders = (n * (not is_number), half, half + 1, 0x7F80_0001, 0xFF80_0001)
    is_right = ends[0] == 0 < np.diff(ends).min() and {min(b, 2 * half) for b in borders} <= {*ends}
    require(is_right, f"the intervals of {f['name']} are not ascending, or too large")
    points = np.stack([ends[:-1], ends[1:] - 1], axis=1).ravel()
    if not is_number:
        return size, points, np.where(points < n, points, f["fallback"] if is_raw else -1)
    with np.errstate(invalid="ignore"):  # Signaling NaN
        values = points.astype(f"u{size}").view(f["kind"]).astype(np.float64)
    is_missing = np.isnan(values) | (points == half) & (f["kind"][0] == "i")
    found = (values[:, None] > np.array(f["thresholds"], dtype=np.float64)).sum(axis=1)
    return size, points, np.where(is_missing, f["fallback"], found)


def _records(features: Any, structure: Any) -> Any:
    """Return the features of each table, and above which states their rows differ."""
    network = [[*above, i] for i, above in enumerate(structure.get("parents", ()))]
    network += [one for one in [structure.get("class_parents")] if one]
    scopes = structure.get("features", network)
    cuts = [[range(features[i]["n_states"] - 1) for i in scope] for scope in scopes]
    pairs = zip(scopes, structure.get("cuts", cuts), strict=True)
    return structure.get("tables") or [{"features": f, "cuts": c} for f, c in pairs]


def _parts(one: Any, states: Any) -> list[Term]:
    """Return the row of a table by its inputs; of a tree a part for each leaf, with -1 outside."""
    nodes = [*zip(one["features"], one["cuts"], strict=True)]
    if "below" not in one:
        sizes = [1 + len(own) for _, own in nodes]  # The first is outermost
        rows = np.arange(np.prod(sizes)).reshape(sizes).transpose(np.argsort(one["features"]))
        return [Term({f: np.searchsorted(own, states[f]) for f, own in sorted(nodes)}, rows)]

    def leaves(k: int, inside: dict[int, Ints]) -> Any:
        if k < 0:
            require(len(inside) <= 20, "a leaf below too many features")
            rows = np.pad(np.full([1] * len(inside), -1 - k), (1, 0), constant_values=-1)
            return [Term(dict(sorted(inside.items())), rows)]
        f, cut = nodes[k]
        sides = (one["below"], states[f] <= cut), (one["above"], states[f] > cut)
        return [x for to, m in sides for x in leaves(to[k], {**inside, f: m * inside.get(f, 1)})]

    return [*leaves(0, {})]
