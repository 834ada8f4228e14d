"""
Random models that find states from readings, data of the cost model besides trained models.

Networks with costs of probabilities, and programs of the cuts that boosting trains. Their sizes are
those of microcontrollers: many have few features and classes. A sensor's readings have one of the
types, the sensors of a model one or several.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from zlib import crc32

import numpy as np

from bncc._types import FloatArray, IntArray
from bncc.device.meter import Inputs
from bncc.discretize.feature import Feature, FeatureKind
from bncc.discretize.readings import states_of_raw
from bncc.fixed_point import QFormat, quantize
from bncc.model.model import Model
from bncc.program.ir import Program
from bncc.structure.graph import forest
from tests.cut_programs import cut_program, stand_in

N_NETWORKS = 120
N_OF_CUTS = 80
N_SPARSE = 40
"""Further programs of cuts, which read few of many features."""
KINDS: tuple[tuple[FeatureKind, ...], ...] = (
    ("float32",),
    ("int16",),
    ("uint8",),
    ("float32",),
    ("int16",),
    ("int32",),
    ("int16", "float32"),
    ("float32", "float32", "int32"),
    ("int16", "uint8", "float32", "int32"),
    ("int16", "category"),
)
"""Types that the readings of a model have in turn."""
CLASSES = (2, 2, 2, 3, 4, 4, 5, 6, 7, 8, 10, 12, 20, 26)
BITS = (1, 2, 2, 3, 3, 4, 4, 5, 6, 8)
N_ROWS = 12
"""Inputs over which a decision is measured."""
MOST_COSTS = 12_000
"""Most costs of a model, so that its tables fit an AVR."""
MOST_ROWS = 400
"""Most rows of a table."""


@dataclass(frozen=True, eq=False)
class Drawn:
    """A random model."""

    name: str
    model: Model
    program: Program | None = None  # What it sums where this is not its own program

    @property
    def has_textbook(self) -> bool:
        """True for every other network, whose textbook classifier is measured too."""
        return self.program is None and self.name[-1] in "02468"

    @cached_property
    def inputs(self) -> Inputs:
        """Readings of sensors whose states are equally frequent, none of them missing."""
        rng = np.random.default_rng(crc32(self.name.encode()))
        R = np.stack([_readings(f, rng.random(N_ROWS)) for f in self.model.inputs], axis=1)
        return Inputs(states_of_raw(self.model.features, R), R)


def _readings(feature: Feature, drawn: FloatArray) -> FloatArray:
    """Return readings; a threshold is the largest reading of its state."""
    if not feature.is_numeric:
        return np.floor(drawn * feature.n_states)
    cuts = feature.thresholds
    values = np.array([*cuts, cuts[-1] + 1 if cuts else 1], dtype=np.float64)
    return values[np.floor(drawn * len(values)).astype(int)]


def drawn_models() -> Iterator[Drawn]:
    """Yield the models, networks and programs of cuts in turn."""
    for number in range(N_NETWORKS):
        yield network(number)
        if number < N_OF_CUTS + N_SPARSE:
            yield of_cuts(number)


def network(number: int) -> Drawn:
    """Return a network, the same for the same number."""
    rng = np.random.default_rng((1, number))
    n_features = _between(rng, 2, 64)
    n_classes = int(rng.choice(CLASSES))
    typical = _between(rng, 2, 20)
    kinds = KINDS[int(rng.integers(len(KINDS)))]
    bits, arcs = int(rng.choice(BITS)), float(rng.choice((0.0, 0.0, 0.5, 1.0)))
    sharpness = float(rng.choice((0.3, 1.0, 3.0)))
    while True:
        features = _sensors(rng, n_features, kinds, typical)
        parents = _parents(rng, features, arcs)
        n_rows = [
            f.n_states * (1 if j is None else features[j].n_states)
            for f, j in zip(features, parents, strict=True)
        ]
        if sum(n_rows) * n_classes <= MOST_COSTS:
            break
        typical, n_features = max(2, typical * 3 // 4), max(2, n_features * 7 // 8)
    q_format = QFormat(bits, 0)
    tables = tuple(
        _costs(rng, f.n_states, n, n_classes, sharpness, q_format)
        for f, n in zip(features, n_rows, strict=True)
    )
    prior = _costs(rng, n_classes, n_classes, 1, 3.0, q_format)[:, 0]
    classes = tuple(f"c{c}" for c in range(n_classes))
    model = Model(features, classes, forest(parents), q_format, prior, tables, {})
    return Drawn(f"network {number}", model)


def of_cuts(number: int) -> Drawn:
    """Return a program of cuts, the same for the same number."""
    rng = np.random.default_rng((2, number))
    is_sparse = number >= N_OF_CUTS
    n_features, n_states = _between(rng, 20 if is_sparse else 4, 64), _between(rng, 3, 12)
    n_classes, n_rows = int(rng.choice(CLASSES)), int(rng.choice((4, 8, 8, 16)))
    most = 8 if is_sparse else min(60, MOST_COSTS // (n_rows * n_classes))
    n_tables = _between(rng, 3, max(4, most))
    kinds = tuple(kind for kind in KINDS[int(rng.integers(len(KINDS)))] if kind != "category")
    program = cut_program(
        n_features,
        n_states,
        n_classes,
        n_tables,
        n_rows,
        bits=int(rng.choice((2, 3, 3, 4))),
        seed=number,
        has_prior=bool(rng.integers(2)),
        share_of_grids=float(rng.choice((0.0, 0.1, 0.4))),
    )
    sensors = tuple(
        _sensor(rng, i, kinds[i % len(kinds)], n_states, missing=0) for i in range(n_features)
    )
    program = replace(program, features=sensors)
    return Drawn(f"cuts {number}", _reading(stand_in(program), program), program)


def _reading(model: Model, program: Program) -> Model:
    """Return a model whose decisions depend on the features that a program reads."""
    read = {i for table in program.tables for i in table.features}
    tables = [
        np.arange(table.size).reshape(table.shape) % 3 if i in read else table
        for i, table in enumerate(model.tables)
    ]
    return replace(model, tables=tuple(tables))


def _between(rng: np.random.Generator, low: int, high: int) -> int:
    """Draw a number whose logarithm is uniform."""
    return round(float(np.exp(rng.uniform(np.log(low), np.log(high)))))


def _sensors(
    rng: np.random.Generator, n: int, kinds: Sequence[FeatureKind], typical: int
) -> tuple[Feature, ...]:
    """Draw sensors with about as many states as is typical; one in ten has a single one."""
    counts = np.maximum(2, np.rint(typical * rng.uniform(0.5, 1.5, n)).astype(int))
    counts[rng.random(n) < 0.1] = 1
    counts[0] = max(2, counts[0])
    return tuple(
        _sensor(rng, i, kinds[i % len(kinds)], int(counts[i]), int(rng.integers(counts[i])))
        for i in range(n)
    )


def _sensor(
    rng: np.random.Generator, i: int, kind: FeatureKind, n_states: int, missing: int
) -> Feature:
    if kind == "category":
        labels = tuple(str(k) for k in range(n_states))
        return Feature(f"x{i}", kind, n_states, categories=labels, missing_state=missing)
    if kind == "float32":
        shift = 1.5 if i % 3 else 0.0  # Two of three sensors give positive readings
        cuts = np.unique(rng.normal(shift, 1, 8 * n_states).astype(np.float32))
        cuts = np.abs(cuts) if shift else cuts
        chosen: tuple[float, ...] = tuple(
            np.sort(rng.permutation(np.unique(cuts))[: n_states - 1]).astype(float).tolist()
        )
    else:
        span = {"uint8": 250, "int16": (60, 250, 9000)[i % 3], "int32": 1 << 20}[kind]
        less = span // 2 if i % 4 == 1 and kind != "uint8" else 0
        chosen = tuple(np.sort(rng.permutation(span)[: n_states - 1] - less).tolist())
    return Feature(f"x{i}", kind, n_states, chosen, missing_state=missing)


def _parents(
    rng: np.random.Generator, features: Sequence[Feature], arcs: float
) -> list[int | None]:
    """Draw a parent before each feature, where the table of both is not too large."""
    parents: list[int | None] = [None]
    for i in range(1, len(features)):
        j = int(rng.integers(i))
        is_small = features[i].n_states * features[j].n_states <= MOST_ROWS
        parents.append(j if is_small and rng.random() < arcs else None)
    return parents


def _costs(
    rng: np.random.Generator,
    n_states: int,
    n_rows: int,
    n_classes: int,
    sharpness: float,
    q_format: QFormat,
) -> IntArray:
    """Draw the costs of probabilities of states, for each class and state of a parent."""
    shares = rng.dirichlet(np.full(n_states, sharpness), (n_rows // n_states, n_classes))
    likely = np.log(np.maximum(shares.transpose(0, 2, 1).reshape(n_rows, n_classes), 1e-9))
    # Costs of some models need all bits
    scale = q_format.max_cost / 5.0
    return quantize(np.minimum(likely * scale, 0.0), q_format)
