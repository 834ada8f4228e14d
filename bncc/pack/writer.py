"""A model as a blob: the smallest layout of the kernel ``cut-packed`` over its readings."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

import numpy as np

from bncc._types import FloatArray, IntArray
from bncc.discretize.feature import Feature, inputs_of
from bncc.discretize.float_order import float_key, float_keys
from bncc.discretize.missing import MISSING_INT
from bncc.discretize.readings import n_known
from bncc.errors import ModelError
from bncc.lower.kernels.cut_packed.layout import AGAIN, MARK_BITS, MORE, CutPackedKernel, cut_packed
from bncc.lower.kernels.shared.rows import lifted_priors
from bncc.model.model import Model
from bncc.pack.blob import HEADER, MOST_BYTES, MOST_FEATURES, WORD, Header, written
from bncc.program.ir import Program, Table, has_trees, n_levels, with_tables
from bncc.program.pipeline import FLOWS_FOR, optimize_each, program_of

FLOWS = ("none", *FLOWS_FOR["size"])
"""Passes move costs to a prior, which a blob has as tables."""
MOST_PRIOR_TABLES = 64
"""Tables that a prior may take."""
BYTE = 8
ONE_BYTE_FEATURES = 2 ** (BYTE - MARK_BITS)
"""Readings that an entry of one byte can number."""
LEAST, LARGEST = -(2**31), 2**31 - 1
"""Range of a reading in 32 bits; the key of a missing float is the least."""


@dataclass(frozen=True)
class Packed:
    """A model as a blob."""

    content: bytes
    header: Header
    n_tables: int
    n_cuts: int
    table_bytes: int  # Bytes of cuts and rows

    @property
    def ratio(self) -> float:
        """Bytes of the blob per byte of tables."""
        return len(self.content) / self.table_bytes


def pack(model: Model, sequence: int = 0) -> Packed:
    """Return the smallest blob of a model; refuse a model that no blob can have."""
    _check(model)
    found = [
        packed
        for optimized in optimize_each(program_of(model), FLOWS)
        for packed in _layouts(_of_cuts(optimized.program), model.features, sequence)
    ]
    if not found:
        raise ModelError(
            "the model is too large for a blob, whose costs take at most 8 bits and whose length "
            f"is at most {MOST_BYTES} bytes; train with fewer --bits or a smaller --max-flash"
        )
    return min(found, key=lambda packed: len(packed.content))


def readings_of_raw(features: Sequence[Feature], R: FloatArray) -> IntArray:
    """
    Return raw readings as a firmware passes them to the runtime.

    Shapes: `R` (n, n_inputs) float64; returns (n, n_inputs) int64, in 32 bits.
    """
    columns = [
        np.where(np.isnan(R[:, i]), LEAST, float_keys(R[:, i].astype(np.float32)))
        if feature.kind == "float32"
        else R[:, i].astype(np.int64)
        for i, feature in enumerate(inputs_of(features))
    ]
    return np.stack(columns, axis=1).astype(np.int64)


def reading_type(features: Sequence[Feature]) -> str:
    """Return the narrowest C type that the runtime can take for readings, keys of floats too."""
    inputs = inputs_of(features)
    narrow = ("int8", "uint8", "int16")
    is_narrow = all(f.kind in narrow or (not f.is_numeric and n_known(f) < 2**BYTE) for f in inputs)
    return "int16_t" if is_narrow else "int32_t"


def _check(model: Model) -> None:
    """Refuse a model whose decision is no sum of tables over cuts of readings."""
    if model.front_end is not None:
        raise ModelError(
            "the model decides from samples, and blobs have no front end; compute the features "
            "with `bncc features` and train on their table"
        )
    program = program_of(model)
    if model.gate is not None:
        raise ModelError("blobs have no gate; train without gate=N")
    if has_trees(program):
        raise ModelError("blobs have no decision trees; train without leaves=N and front=N")
    used = {f for table in program.tables for f in table.features}
    subtracted = [model.features[f].name for f in sorted(used) if model.features[f].difference]
    if subtracted:
        raise ModelError(
            f"feature {subtracted[0]!r} is a difference of readings, which blobs do not have; "
            "train without differences"
        )
    n_inputs = len(inputs_of(model.features))
    if n_inputs > MOST_FEATURES:
        raise ModelError(f"blobs have at most {MOST_FEATURES} readings; train with fewer")


def _ordered_states(feature: Feature) -> list[int]:
    """Return the states in the order of the readings; that of missing ones is before or behind."""
    if not feature.is_numeric:
        return [*range(n_known(feature)), feature.missing_state]
    known = list(range(len(feature.thresholds) + 1))
    return [feature.missing_state, *known] if feature.has_marker else known


def _limits(feature: Feature) -> list[int]:
    """Return the largest reading of each state but the last, in the order of the readings."""
    if not feature.is_numeric:
        return list(range(n_known(feature)))
    if feature.kind == "float32":
        return [LEAST, *(float_key(float(threshold)) for threshold in feature.thresholds)]
    limits = [min(max(int(threshold), LEAST), LARGEST) for threshold in feature.thresholds]
    return [MISSING_INT[feature.kind], *limits] if feature.has_marker else limits


def _of_cuts(program: Program) -> Program:
    """
    Return a program of cuts over states in the order of the readings.

    Neighbors of the same level share one, and a table that reads no feature is part of the prior.
    """
    orders = [_ordered_states(feature) for feature in program.features]
    features = tuple(
        Feature(feature.name, "state", len(order))
        for feature, order in zip(program.features, orders, strict=True)
    )
    tables = [_in_order(table, program.n_states, orders) for table in program.tables]
    constant = [table.costs[0] for table in tables if not table.features]
    return replace(
        program,
        features=features,
        prior=program.prior + sum(constant, np.zeros_like(program.prior)),
        tables=tuple(table for table in tables if table.features),
    )


def _in_order(table: Table, n_states: Sequence[int], orders: Sequence[list[int]]) -> Table:
    """Return a table with a level for each run of equal levels in the order of the readings."""
    costs = table.costs.reshape(*n_levels(table, n_states), -1)
    maps = {}
    for axis, f in enumerate(table.features):
        levels = [table.maps[f][state] if f in table.maps else state for state in orders[f]]
        runs = [(level, len(list(run))) for level, run in groupby(levels)]
        costs = costs.take([level for level, _ in runs], axis=axis)
        maps[f] = tuple(k for k, (_, n) in enumerate(runs) for _ in range(n))
    varying = tuple(f for f in table.features if max(maps[f]))
    return replace(
        table,
        features=varying,
        costs=costs.reshape(-1, costs.shape[-1]),
        maps={f: maps[f] for f in varying},
    )


def _layouts(program: Program, features: Sequence[Feature], sequence: int) -> Iterator[Packed]:
    """Yield the blobs of a program of cuts over the states of some features."""
    if not program.tables:
        raise ModelError("the model reads no feature; train it with features that vary")
    for lifted in lifted_priors(program):
        for kernel in cut_packed(_without_prior(lifted)):
            if kernel.dictionary is None and kernel.prior is None:
                packed = _packed(kernel, features, sequence)
                if packed is not None:
                    yield packed


def _without_prior(program: Program) -> Program:
    """Return a program whose prior is in tables of two equal rows, none wider than the others."""
    most = max(1, *(int(table.costs.max()) for table in program.tables))
    prior, first = program.prior, program.tables[0]
    f, added = first.features[0], list[Table]()
    levels = (0, *(1 for _ in range(program.n_states[f] - 1)))
    while prior.any() and len(added) < MOST_PRIOR_TABLES:
        part = np.minimum(prior, most)
        costs = np.stack([part, part])
        added.append(replace(first, features=(f,), costs=costs, maps={f: levels}))
        prior = prior - part
    return with_tables(program, (*program.tables, *added), prior)


def _packed(kernel: CutPackedKernel, features: Sequence[Feature], sequence: int) -> Packed | None:
    """Return the blob of a layout; None if it is too large."""
    program = kernel.program
    n_inputs = len(inputs_of(features))
    cuts = [
        (each.feature, _limits(features[each.feature])[least - 1])
        for table_cuts in kernel.cuts
        for each in table_cuts
        for least in each.least
    ]
    base = min(limit for _, limit in cuts)
    span = max(limit for _, limit in cuts) - base
    header = Header(
        base=base % WORD,
        sequence=sequence,
        n_features=n_inputs,
        n_classes=program.n_classes,
        cost_bits=kernel.cost_bits,
        entry_bytes=1 if n_inputs <= ONE_BYTE_FEATURES else 2,
        limit_bytes=max(1, -(-span.bit_length() // BYTE)),
    )
    marks = np.concatenate(kernel.entries) & (AGAIN | MORE)
    listed = b"".join(
        (f << MARK_BITS | mark).to_bytes(header.entry_bytes, "little")
        + (limit - base).to_bytes(header.limit_bytes, "little")
        for (f, limit), mark in zip(cuts, marks.tolist(), strict=True)
    )
    rows = b"".join(
        kernel.packed(table.costs).astype(np.uint8).tobytes() for table in program.tables
    )
    table_bytes = len(listed) + len(rows)
    if HEADER.size + table_bytes > MOST_BYTES:
        return None
    content = written(header, listed, rows)
    return Packed(content, header, len(program.tables), kernel.n_cuts, table_bytes)
