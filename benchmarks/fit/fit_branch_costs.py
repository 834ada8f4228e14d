"""
Measure the kernel of branches and fit the cost model's weights to it.

Random programs of decision trees, of the shapes that boosting trains: instructions of `trusted`
(cycles on AVR) and bytes of flash of `predict`, compiled with -O2 and with -Os. The comparisons of
a sample are those of its inputs. The fit is that of `benchmarks.fit.fit_cost_model`.

    .venv/bin/python -m benchmarks.fit.fit_branch_costs

Every measurement is one line of build/branch_costs.jsonl; run the command again to resume.
"""

import argparse
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path

import numpy as np

from benchmarks.fit.cost_samples import LEVELS, SMALL, Sample, check_bytes, digest_of
from benchmarks.fit.cost_samples import known_samples as known
from benchmarks.fit.fit_cost_model import fit
from benchmarks.fit.weight_files import write
from benchmarks.shared.log import appending
from bncc._types import IntArray
from bncc.device.cross import find_toolchain
from bncc.device.meter import Inputs, Meter
from bncc.device.sources import sources
from bncc.emit.emitter import EmitOptions
from bncc.lower.cost_model import Level
from bncc.lower.kernels.branches.layout import BranchKernel
from bncc.lower.kernels.branches.trees import Node
from bncc.lower.kernels.families import FAMILIES
from bncc.program.ir import Program, decisions
from bncc.program.pipeline import optimize
from bncc.targets import TARGETS
from tests.cut_programs import emitted, stand_in
from tests.tree_programs import tree_program

MACHINES = ("cortex-m0", "cortex-m4", "avr")
N_INPUTS = 12
N_LAYOUTS = 3
SHAPES = {
    "one": (16, 16, 5, ((1, 8), (1, 32), (1, 128))),
    "two": (57, 255, 2, ((4, 8), (12, 16), (30, 16), (10, 64))),
    "four": (24, 32, 4, ((3, 8), (10, 16), (30, 16), (12, 32))),
    "six": (36, 64, 6, ((4, 16), (15, 16), (30, 8), (20, 32))),
    "ten": (100, 16, 10, ((5, 16), (20, 16))),
    "letter": (16, 16, 26, ((5, 32), (15, 16))),
}
"""Features, their states, classes, and the number of trees and maximum leaves of each program."""


def programs() -> Iterator[tuple[str, Program]]:
    """Yield programs by name."""
    seed = 0
    for name, (n_features, n_states, n_classes, sizes) in SHAPES.items():
        for n_trees, n_leaves in sizes:
            seed += 1
            some = tree_program(
                n_features,
                n_states,
                n_classes,
                n_trees,
                n_leaves,
                bits=(4, 4, 3, 6)[seed % 4],
                seed=seed,
                has_prior=seed % 2 == 0,
            )
            yield f"{name} {n_trees}x{n_leaves}", optimize(some)[0]


def compared(kernel: BranchKernel, X: IntArray) -> tuple[float, float]:
    """Return the mean comparisons of inputs, and those of features far behind the first."""
    from bncc.lower.kernels.branches.layout import NEAR

    total = far = 0
    for x in X.tolist():
        for tree in kernel.trees:
            while isinstance(tree, Node):
                total += 1
                far += tree.feature >= NEAR
                tree = tree.above if x[tree.feature] >= tree.least else tree.below
    return total / len(X), far / len(X)


def samples(target: str, level: Level, before: dict[str, Sample]) -> Iterator[Sample]:
    """Yield the measurements of layouts of all programs on a target."""
    (bench,) = find_toolchain(TARGETS[target])
    options = EmitOptions("m", frozenset({"trusted"}), target=target)
    for name, some in programs():
        rng = np.random.default_rng(len(some.tables))
        X = rng.integers(0, some.n_states, (N_INPUTS, len(some.n_states)))
        for i, kernel in enumerate(list(FAMILIES["branches"](some))[:N_LAYOUTS]):
            assert isinstance(kernel, BranchKernel)
            emission = emitted(some, kernel, options)
            key, digest = f"{name} {target} {level} branches {i}", digest_of(emission)
            first, trees, _, _, *others = kernel.work
            work = (first, trees, *compared(kernel, X), *others)
            found = Sample(
                key, digest, name, "branches", target, level, kernel.rom_bytes,
                check_bytes(emission), work, kernel.code, None, None, None,
            )  # fmt: skip
            if key in before and before[key].c_digest == digest:
                same = before[key]
                yield replace(found, trusted=same.trusted, predict=same.predict, flash=same.flash)
                continue
            with Meter(sources(stand_in(some), emission.files), bench, level) as meter:
                costs = meter.costs(Inputs(X))
                flash = meter.footprint(("predict",)).flash
            assert np.array_equal(costs["trusted"].classes, decisions(some, X)), key
            predict = costs["predict"].mean
            yield replace(found, trusted=costs["trusted"].mean, predict=predict, flash=flash)


def main(words: Sequence[str] | None = None) -> int:
    """Measure, fit, print and write."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--log", type=Path, default=Path("build/branch_costs.jsonl"))
    options = parser.parse_args(words)
    before, found = known(options.log), []
    with appending(options.log) as append:
        for target, level in product(MACHINES, LEVELS):
            if level == "-Os" and target not in SMALL:
                continue
            for sample in samples(target, level, before):
                found.append(sample)
                if sample != before.get(sample.key):
                    append(sample)
    write(fit(found))
    return 0


if __name__ == "__main__":
    sys.exit(main())
