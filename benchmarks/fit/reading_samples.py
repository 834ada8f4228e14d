"""
Measured kernels that compare readings, the data of their cost model.

Random programs over cuts, and of decision trees, of the shapes that boosting trains, over readings
of one type or of several: instructions of `predict_raw` (cycles on AVR) and its bytes of flash,
compiled with -O2 and with -Os, for one layout of each family and all that it may compare.
"""

import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from hashlib import sha256

import numpy as np

from benchmarks.fit.cost_samples import Sample
from bncc._types import FloatArray, IntArray
from bncc.device.cross import find_toolchain
from bncc.device.meter import Inputs, Meter
from bncc.device.sources import sources
from bncc.discretize.feature import Feature
from bncc.discretize.readings import representatives, states_of_raw
from bncc.emit.emitter import EmitOptions, emit_candidate
from bncc.errors import BnccError
from bncc.lower.cost_model import OF_READINGS, Level, candidate
from bncc.lower.cut_conditions import Compared
from bncc.lower.direct import is_direct
from bncc.lower.kernels.base import Kernel
from bncc.lower.kernels.branches.layout import BranchKernel
from bncc.lower.kernels.branches.trees import Node
from bncc.lower.kernels.families import FAMILIES, FOR_CUTS, FOR_TREES
from bncc.lower.reading_comparisons import Visit
from bncc.lower.reading_cost import reading_terms, tree_terms
from bncc.program.ir import Program, decisions, has_trees
from bncc.program.pipeline import optimize
from bncc.targets import TARGETS
from tests.cut_programs import cut_program, stand_in
from tests.tree_programs import tree_program

MACHINES: tuple[tuple[str, Level], ...] = (
    ("cortex-m0", "-O2"),
    ("cortex-m0", "-Os"),
    ("cortex-m4", "-O2"),
    ("cortex-m4", "-Os"),
    ("avr", "-O2"),
    ("avr", "-Os"),
)
N_INPUTS = 6
KINDS = (
    ("float32",),
    ("int16",),
    ("uint8",),
    ("float32",),
    ("high",),
    ("int16", "float32"),
    ("int16", "uint8", "float32", "int32"),
)
"""Kinds of readings that a program mixes; "high" is an int16 cut by its high byte."""
TABLES = (
    (8, 32, 2, 3, 4),
    (16, 16, 26, 5, 32),
    (36, 64, 6, 20, 16),
    (5, 64, 2, 60, 16),
    (57, 32, 2, 12, 8),
    (13, 100, 3, 25, 12),
    (64, 16, 10, 40, 8),
    (16, 16, 26, 30, 16),
    (10, 60, 4, 8, 64),
    (24, 32, 5, 70, 8),
    (5, 64, 2, 120, 8),
    (36, 64, 6, 4, 16),
    (17, 40, 8, 15, 16),
    (20, 16, 2, 3, 8),
    (30, 24, 7, 10, 8),
    (6, 64, 3, 30, 16),
    (12, 32, 4, 4, 8),
    (40, 16, 12, 6, 32),
    (5, 64, 2, 30, 12),
    (16, 16, 20, 12, 8),
    (9, 60, 2, 20, 8),
    (24, 24, 5, 8, 32),
    (33, 16, 2, 6, 16),
    (7, 50, 10, 20, 12),
    (18, 32, 3, 50, 8),
    (11, 40, 6, 5, 8),
)
"""Features, their states, classes, tables and the most rows of a table."""
TREES = (
    (16, 16, 5, 1, 16),
    (57, 64, 2, 12, 8),
    (8, 32, 2, 3, 4),
    (24, 32, 4, 10, 16),
    (36, 64, 6, 20, 8),
    (16, 16, 26, 5, 32),
    (5, 64, 2, 40, 16),
    (13, 100, 3, 25, 8),
    (64, 16, 10, 5, 16),
    (10, 60, 4, 1, 100),
    (16, 16, 26, 30, 8),
    (5, 64, 2, 110, 4),
    (24, 32, 8, 12, 24),
    (20, 16, 2, 4, 8),
    (30, 24, 7, 8, 8),
    (6, 64, 3, 15, 16),
    (12, 32, 4, 4, 6),
    (40, 16, 12, 6, 16),
    (5, 64, 2, 20, 24),
    (16, 16, 20, 8, 12),
    (9, 60, 2, 1, 40),
    (24, 24, 5, 6, 32),
    (33, 16, 2, 10, 6),
    (7, 50, 10, 12, 12),
    (18, 32, 3, 40, 6),
    (11, 40, 6, 1, 8),
)
"""Features, their states, classes, trees and the most leaves of a tree."""
MORE = 74
"""Further shapes of tables, and as many of trees, that a generator draws."""
_MOST_COSTS, _MOST_LEAVES = 12_500, 900
"""Most costs of a drawn program of tables, and most leaves of a drawn program of trees."""


def shapes() -> Iterator[tuple[int, ...]]:
    """Yield shapes of tables and of trees in turn: those above, then drawn ones."""
    for pair in zip(TABLES, TREES, strict=True):
        yield from pair
    rng = np.random.default_rng(len(TABLES))
    for _ in range(MORE):
        for sizes, most in (((4, 8, 16, 32, 64), _MOST_COSTS), ((4, 6, 8, 16, 32), _MOST_LEAVES)):
            n_features = int(np.exp(rng.uniform(np.log(4), np.log(72))))
            n_classes = int(rng.choice((2, 2, 2, 3, 4, 5, 6, 7, 8, 10, 12, 20, 26)))
            n_rows = int(rng.choice(sizes))
            size = n_rows * (n_classes if most == _MOST_COSTS else 1)
            n_tables = int(np.exp(rng.uniform(np.log(2), np.log(min(120, most // size)))))
            yield n_features, int(rng.choice((12, 16, 32, 64, 100))), n_classes, n_tables, n_rows


def programs() -> Iterator[tuple[str, Program]]:
    """Yield programs by name, so ordered that the first ones are of all kinds."""
    for n, shape in enumerate(shapes()):
        n_features, n_states, n_classes, n_tables, n_rows = shape
        k, is_tree = n // 2, n % 2
        kinds = KINDS[(k + 2 * is_tree) % len(KINDS)]
        make = tree_program if is_tree else cut_program
        grids = {} if is_tree else {"share_of_grids": (0.0, 0.1, 0.4)[k % 3]}
        some = make(
            n_features,
            n_states,
            n_classes,
            n_tables,
            n_rows,
            bits=(3, 3, 4, 2)[k % 4],
            seed=n,
            has_prior=k % 2 == 0,
            **grids,
        )
        rng = np.random.default_rng(n)
        features = tuple(
            _feature(i, kinds[i % len(kinds)], n_states, rng, is_alone=len(kinds) == 1)
            for i in range(n_features)
        )
        what = "trees" if is_tree else "tables"
        name = f"{what} {n_features} {n_classes} {n_tables}x{n_rows} {' '.join(kinds)}"
        name += f" {n}" if n >= 2 * len(TABLES) else ""
        yield name, optimize(replace(some, features=features))[0]


def _feature(
    i: int, kind: str, n_states: int, rng: np.random.Generator, *, is_alone: bool
) -> Feature:
    """Return a feature; where kinds are mixed, missing readings of some have the last state."""
    missing = n_states - 1 if not is_alone and kind != "uint8" and i % 3 == 0 else 0
    n_cuts = n_states - 1 - (missing > 0)
    if kind == "float32":
        cuts = np.unique(rng.normal(0.5, 1, 4 * n_states).astype(np.float32))
        chosen = np.sort(rng.permutation(cuts)[:n_cuts]).astype(float)
        return Feature(f"x{i}", kind, n_states, tuple(chosen.tolist()), missing_state=missing)
    if kind == "high":
        numbers = 256 * (rng.permutation(250)[:n_cuts] - 125) + 255
    else:
        span = {"uint8": 254, "int16": (1 << (8 + 7 * (i % 2))) - 2, "int32": 1 << 20}[kind]
        less = span // 2 if i % 4 == 1 and kind != "uint8" else 0
        numbers = rng.permutation(span)[:n_cuts] - less
    typed = "int16" if kind == "high" else kind
    chosen = tuple(np.sort(numbers).tolist())
    return Feature(f"x{i}", typed, n_states, chosen, missing_state=missing)  # type: ignore[arg-type]


@dataclass(frozen=True, eq=False)
class Case:
    """A layout of a program, and what it compares."""

    model: str
    program: Program
    kernel: Kernel
    compare: Compared

    @property
    def name(self) -> str:
        """Its name among all."""
        return f"{self.model} {self.kernel.family} {self.compare}"

    @cached_property
    def inputs(self) -> tuple[IntArray, FloatArray]:
        """States, each as likely, and readings that have them."""
        rng = np.random.default_rng(len(self.program.tables))
        values = [representatives(feature) for feature in self.program.features]
        R = np.stack([rng.choice(each, N_INPUTS) for each in values], axis=1)
        return states_of_raw(self.program.features, R), R

    @cached_property
    def files(self) -> Mapping[str, str]:
        """Its C, which is the same for all targets."""
        found = replace(candidate(self.program, self.kernel, None), compare=self.compare)
        options = EmitOptions("m", frozenset({"raw"}))
        files = emit_candidate(stand_in(self.program), found, options).files
        return {name: files[name] for name in ("m.c", "m.h")}

    @cached_property
    def terms(self) -> tuple[int, tuple[float, ...], tuple[float, ...]]:
        """Bytes of its constants, terms of work and of code; comparisons are those of inputs."""
        terms = reading_terms(self.program, self.kernel, self.compare)
        if isinstance(self.kernel, BranchKernel):
            visits = visits_of(self.kernel, self.inputs[0])
            terms = tree_terms(self.program, self.kernel, self.compare, visits)
        return terms.rom_bytes, terms.work, terms.code


def visits_of(kernel: BranchKernel, X: IntArray) -> Iterator[Visit]:
    """Yield the nodes that inputs visit."""
    for x in X.tolist():
        for tree in kernel.trees:
            read: set[int] = set()
            while isinstance(tree, Node):
                yield Visit(tree.feature, tree.least, tree.feature not in read, 1 / len(X))
                read.add(tree.feature)
                tree = tree.above if x[tree.feature] >= tree.least else tree.below


def cases() -> Iterator[Case]:
    """Yield one layout of each family of every program, with all that it may compare."""
    for n, (name, some) in enumerate(programs()):
        rng = np.random.default_rng(n)
        for family in sorted(FOR_TREES if has_trees(some) else FOR_CUTS):
            kernels = list(FAMILIES[family](some))
            if not kernels:
                continue
            kernel = kernels[int(rng.integers(len(kernels)))]
            for compare in ("readings", "keys"):
                if is_direct(some, kernel, compare):
                    yield Case(name, some, kernel, compare)


def unmeasured(case: Case, target: str, level: Level) -> Sample:
    """Return a case on a target without its figures."""
    rom_bytes, work, code = case.terms
    return Sample(
        f"{case.name} {target} {level}", "", case.model, case.kernel.family + OF_READINGS, target,
        level, rom_bytes, 0, work, code, None, None, None,
    )  # fmt: skip


def measured(case: Case, target: str, level: Level, before: Mapping[str, Sample]) -> Sample:
    """Measure a case on a target, unless it is known."""
    digest = sha256(case.files["m.c"].encode()).hexdigest()[:16]
    sample = replace(unmeasured(case, target, level), c_digest=digest)
    known = before.get(sample.key)
    if known is not None and known.c_digest == digest:
        return replace(sample, trusted=known.trusted, flash=known.flash)
    (bench,) = find_toolchain(TARGETS[target])
    X, R = case.inputs
    try:
        with Meter(sources(stand_in(case.program), case.files), bench, level) as meter:
            cost = meter.costs(Inputs(X, R))["raw"]
            flash = meter.footprint(("raw",)).flash
    except BnccError as error:
        print(f"{sample.key}: {error}", file=sys.stderr)
        return sample
    assert np.array_equal(cost.classes, decisions(case.program, X)), sample.key
    return replace(sample, trusted=cost.mean, flash=flash)
