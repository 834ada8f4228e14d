"""
Possible savings of early exit: the number of tables read until nothing can change a decision.

After every table the class of least cost so far is compared with each other class. The decision is
settled if the gap exceeds the most that any class can gain on it in the remaining tables, row by
row. Tables are read in the order of the spread of their costs. The check itself is free here; real
code would need about one argmin each time.

    .venv/bin/python -m benchmarks.code.early_exit --data ../shared/data
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from benchmarks.shared.reference_models import PAPER_SETS, STRUCTURES, Recipe, reference, some_rows
from bncc._types import FloatArray
from bncc.discretize.feature import states_of
from bncc.program.ir import Program, unmapped
from bncc.program.pipeline import optimize, program_of

WIDTHS = (1, 2, 4, 8)
N_ROWS = 300


def shares_read(program: Program, X: np.ndarray) -> FloatArray:
    """
    Return the share of the tables that each decision reads, (n,) float64, 0 if the prior decides.

    The program has no state maps; X is (n, n_features) int64.
    """
    spreads = [
        -np.abs(t.costs - t.costs.mean(axis=1, keepdims=True)).mean() for t in program.tables
    ]
    tables = [program.tables[t] for t in np.argsort(spreads)]
    gains = [(t.costs[:, :, None] - t.costs[:, None, :]).max(axis=0) for t in tables]
    left = np.cumsum(gains[::-1], axis=0)[::-1]
    sums = np.broadcast_to(program.prior, (len(X), program.n_classes))
    depth = np.full(len(X), len(tables))
    for t, table in enumerate(tables):
        best = sums.argmin(axis=1)
        gap = sums - np.take_along_axis(sums, best[:, None], axis=1)
        settled = gap > left[t][best]
        np.put_along_axis(settled, best[:, None], True, axis=1)
        depth = np.minimum(depth, np.where(settled.all(axis=1), t, len(tables)))
        shape = [program.n_states[f] for f in table.features]
        rows = np.ravel_multi_index(tuple(X[:, f] for f in table.features), shape)
        sums = sums + table.costs[rows]
    return depth / len(tables)


def main(words: Sequence[str] | None = None) -> int:
    """Print the mean share of every reference model."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--data", type=Path, required=True, help="folder with paper/")
    options = parser.parse_args(words)
    for data_set in PAPER_SETS:
        for structure in STRUCTURES:
            for bits in WIDTHS:
                recipe = Recipe(data_set, structure, bits)
                found = reference(recipe, options.data)
                program, _ = optimize(program_of(found.model))
                X = states_of(found.model.features, some_rows(found.test, N_ROWS))
                share = shares_read(unmapped(program), X).mean()
                print(f"{recipe}: {share:.0%} of the tables read", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
