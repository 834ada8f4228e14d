"""Specification of an entry point by the model: inputs, errors, and the cost of each class."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise, product
from typing import Literal, TypeAlias

import numpy as np

from bncc._types import IntArray
from bncc.device.machine import row_dtype
from bncc.discretize.feature import LARGEST_INT, SMALLEST_INT, Feature
from bncc.discretize.readings import n_known, state_dtype
from bncc.errors import OptionError
from bncc.model.gate import Gate
from bncc.model.model import Model
from bncc.model.used import used_features
from bncc.prove.differences import Difference
from bncc.prove.floats import ORDERED, below
from bncc.prove.regions import EVERYWHERE, Box, Numbers, Region, common, numbers, without
from bncc.structure.decision_tables import BranchingTable, Lookup

Entry: TypeAlias = Literal["predict-raw", "predict", "trusted", "scores", "scores-raw"]
OF_READINGS = frozenset({"predict-raw", "scores-raw"})
"""Entry points that take readings, the others states."""
OF_SCORES = frozenset({"scores", "scores-raw"})
"""Entry points that write scores."""
ERROR = -1
"""Result of an entry point for a state out of range, NAME_ERR_STATE."""


@dataclass(frozen=True)
class Input:
    """One number in the input buffer, or the difference of two of them."""

    offset: int  # -1 for a difference
    size: int
    numbers: Numbers  # What it can be, by its bits
    difference: Difference | None = None


@dataclass(frozen=True, eq=False)
class Table:
    """A table of the model over the entry's inputs."""

    rows: tuple[tuple[Region, int], ...]  # Inputs of each cell, and the row that they address
    costs: IntArray  # (n_rows, n_classes)


@dataclass(frozen=True, eq=False)
class Specification:
    """Inputs of an entry point and its answer to each."""

    inputs: tuple[Input, ...]
    valid: Region  # Inputs with every state in range, for which it decides
    # Inputs with the states of used features in range: it decides or, unless they are valid,
    # returns `ERROR`, as it does for all others
    decided: Region
    prior: IntArray  # (n_classes,)
    tables: tuple[Table, ...]
    score_size: int  # Bytes of a score, 0 if the entry returns none
    gate: Gate | None = None  # Tables that decide alone where their margin is large

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return len(self.prior)

    @property
    def alignments(self) -> Mapping[str, int]:
        """Alignment of the input and of the output: that of their widest number."""
        sizes = [one.size for one in self.inputs if one.difference is None]
        return {"input": max([1, *sizes]), "output": max(1, self.score_size)}


def specification(
    model: Model, entry: Entry, *, packed: bool = False, score_size: int = 0
) -> Specification:
    """Return what an entry point must do; `packed`: structs of the target have no gaps."""
    if entry in OF_READINGS:
        if any(feature.kind == "state" for feature in model.features):
            raise OptionError("the model has no thresholds; prove `--entry predict`")
        layout = row_dtype(model.features, packed=packed)
        fields = [layout.fields[name] for name in layout.names or ()]  # type: ignore[index]
        inputs = tuple(
            Input(field[1], field[0].itemsize, ((0, (1 << 8 * field[0].itemsize) - 1),))
            for field in fields
        ) + tuple(_difference(model, f) for f in model.features[len(fields) :])
        sets = [
            [common(own, one.numbers) for own in reading_sets(f, one.size)]
            for f, one in zip(model.features, inputs, strict=True)
        ]
        axes = _axes(inputs)
        for axis, one, own in zip(axes, inputs, sets, strict=True):
            if one.difference != inputs[axis].difference:
                own[:] = [_negated(part, one.size) for part in own]
        valid = decided = EVERYWHERE
    else:
        size = state_dtype(model.n_states).itemsize
        most = (1 << 8 * size) - 1
        inputs = tuple(
            Input(size * i, size, ((0, n - 1 if entry == "trusted" else most),))
            for i, n in enumerate(model.n_states)
        )
        sets = [[((s, s),) for s in range(n)] for n in model.n_states]
        axes = list(range(len(inputs)))
        ranges = [
            (i, ((0, n - 1),))
            for i, n in enumerate(model.n_states)
            if inputs[i].numbers != ((0, n - 1),)
        ]
        used = used_features(model)
        valid = (tuple(ranges),)
        decided = (tuple(item for item in ranges if item[0] in used),)
    tables = tuple(
        Table(_rows(model, lookup, sets, axes), np.asarray(table, dtype=np.int64))
        for lookup, table in zip(model.lookups, model.tables, strict=True)
    )
    prior = np.asarray(model.prior, dtype=np.int64)
    return Specification(
        inputs, valid, decided, prior, tables, score_size if entry in OF_SCORES else 0, model.gate
    )


def _difference(model: Model, feature: Feature) -> Input:
    """Return a difference as an input that has any number which two readings can have."""
    assert feature.difference is not None
    kind = model.features[feature.difference[0]].kind
    of = Difference(*feature.difference, np.dtype(kind).itemsize, is_signed=kind != "uint8")
    return Input(-1, 2 * of.size, of.numbers, of)


def reading_sets(feature: Feature, size: int) -> list[Numbers]:
    """Return the readings of each state, by their bits."""
    every: Numbers = ((0, (1 << 8 * size) - 1),)
    known: list[Numbers] = []
    if feature.kind == "float32":
        bits = np.array(feature.thresholds, dtype=np.float32).view(np.uint32)
        rest = ORDERED
        for threshold in bits:
            own = below(int(threshold), or_equal=True)
            known.append(common(rest, own))
            rest = without(rest, own)
        known.append(rest)
    elif feature.kind in LARGEST_INT:
        low = SMALLEST_INT[feature.kind]
        ends = [*(int(t) for t in feature.thresholds), LARGEST_INT[feature.kind]]
        for end in ends:
            known.append(_bits(low, end, size) if low <= end else ())
            low = max(low, end + 1)
    else:
        known = [((s, s),) for s in range(n_known(feature))]
    known += [()] * (feature.n_states - len(known))
    unused = every
    for own in known:
        unused = without(unused, own)
    k = feature.missing_state
    known[k] = numbers((*known[k], *unused))
    return known


def _axes(inputs: Sequence[Input]) -> list[int]:
    """Return the input by which each feature is known: differences of two readings share one."""
    first: dict[frozenset[int], int] = {}
    found = []
    for axis, one in enumerate(inputs):
        of = one.difference
        pair = frozenset((axis,) if of is None else (of.first, of.second))
        found.append(first.setdefault(pair, axis))
    return found


def _negated(own: Numbers, size: int) -> Numbers:
    """Return signed numbers with the other sign, all by their bits."""
    span = 1 << 8 * size
    found = [(span - high, span - max(low, 1)) for low, high in own if high]
    return numbers([*found, *((0, 0) for low, _ in own if low == 0)])


def _bits(low: int, high: int, size: int) -> Numbers:
    """Return an interval of signed numbers by their bits."""
    span = 1 << 8 * size
    if low < 0 <= high:
        return numbers([(low + span, span - 1), (0, high)])
    return ((low % span, high % span),)


def _rows(
    model: Model, lookup: Lookup, sets: Sequence[Sequence[Numbers]], axes: Sequence[int]
) -> tuple[tuple[Region, int], ...]:
    if isinstance(lookup, BranchingTable):
        regions = lookup.regions(model.n_states)
        found: list[tuple[Region, int]] = []
        for row, region in enumerate(regions):
            box = _box((axes[f], _of_states(sets[f], *ends)) for f, ends in region.items())
            if box is not None:
                found.append(((box,), row))
        return tuple(found)
    read = sorted(lookup.read)
    levels = []
    for f in read:
        starts = [*lookup.states(f), model.n_states[f]]
        levels.append([(a, _of_states(sets[f], a, b - 1)) for a, b in pairwise(starts)])
    combined = list(product(*levels))
    X = np.zeros((len(combined), model.n_features), dtype=np.int64)
    for k, chosen in enumerate(combined):
        for f, (state, _) in zip(read, chosen, strict=True):
            X[k, f] = state
    rows = lookup.rows(X)
    cells = []
    for k, chosen in enumerate(combined):
        box = _box((axes[f], allowed) for f, (_, allowed) in zip(read, chosen, strict=True))
        if box is not None:
            cells.append(((box,), int(rows[k])))
    return tuple(cells)


def _box(allowed: Iterable[tuple[int, Numbers]]) -> Box | None:
    """Return the box of some restrictions, maybe several of one input; None if it is empty."""
    found: dict[int, Numbers] = {}
    for axis, own in allowed:
        found[axis] = common(found.get(axis, own), own)
    return tuple(sorted(found.items())) if all(found.values()) else None


def _of_states(sets: Sequence[Numbers], first: int, last: int) -> Numbers:
    return numbers(interval for s in range(first, last + 1) for interval in sets[s])
