"""
Throughput of bncc on arrays of inputs on the host, compared with the usual methods in Python.

Letter, satimage and usps; naive Bayes and Chow-Liu TAN; tables by counting at --bits. One process,
one core, the same rows for all: `bncc.device.batch`, called through CFFI; scikit-learn's
`CategoricalNB.predict`, which has no structure and is compared only with naive models; and the sum
of gathered rows in numpy, table by table. All decisions are equal, except for CategoricalNB, whose
probabilities are not rounded. Each figure is the best of --repeat.

    .venv/bin/python -m benchmarks.speed.host_batch --data ../shared/data
"""

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from time import perf_counter

import numpy as np
from sklearn.naive_bayes import CategoricalNB

from benchmarks.shared.reference_models import PAPER_SETS, STRUCTURES, Recipe, Reference, reference
from bncc._types import IntArray
from bncc.discretize.feature import states_of
from bncc.model.reference import predict
from bncc.on_device import batch_of
from bncc.program.ir import Program
from bncc.program.pipeline import program_of

N_ROWS = 100_000
FLOORS = {"CategoricalNB": 50, "numpy": 20}
"""Required speed-up over each baseline."""


def gather_sum(program: Program, rows: IntArray) -> IntArray:
    """Decide as the program does, with one gather per table."""
    cost = np.broadcast_to(program.prior.astype(np.int32), (len(rows), program.n_classes)).copy()
    for table in program.tables:
        row = rows[:, table.features[0]].astype(np.intp)
        for f in table.features[1:]:
            row = row * program.n_states[f] + rows[:, f]
        cost += table.costs.astype(np.int32)[row]
    return cost.argmin(axis=1)


def seconds(answer: Callable[[], object], repeat: int) -> float:
    """Return the shortest time of several runs."""
    best = float("inf")
    for _ in range(repeat):
        start = perf_counter()
        answer()
        best = min(best, perf_counter() - start)
    return best


def rates(found: Reference, repeat: int, data: Path, recipe: Recipe) -> dict[str, float]:
    """Return inputs per second of every method."""
    model = found.model
    rng = np.random.default_rng(0)
    states = states_of(model.features, found.test)
    rows = np.ascontiguousarray(states[rng.integers(0, len(states), N_ROWS)], dtype=np.uint8)
    program = program_of(model)
    answers: dict[str, Callable[[], IntArray]] = {}
    with batch_of(model) as batch:
        answers["bncc"] = lambda: batch.predict(rows)
        answers["numpy"] = lambda: gather_sum(program, rows)
        wanted = predict(model, rows.astype(np.int64))
        for name, answer in answers.items():
            if not np.array_equal(answer(), wanted):
                raise SystemExit(f"{recipe}: {name} decides otherwise than the model")
        if recipe.structure == "naive":
            book = CategoricalNB(min_categories=list(model.n_states))
            book.fit(states, predict(model, states.astype(np.int64)))
            answers["CategoricalNB"] = lambda: book.predict(rows)
        return {name: N_ROWS / seconds(answer, repeat) for name, answer in answers.items()}


def main(words: Sequence[str] | None = None) -> int:
    """Measure and print; fail if a floor is not reached."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--data", type=Path, required=True, help="folder with paper/")
    parser.add_argument("--bits", type=int, default=4)
    parser.add_argument("--repeat", type=int, default=5)
    options = parser.parse_args(words)
    os.environ["OMP_NUM_THREADS"] = "1"
    reached = True
    for name in PAPER_SETS:
        for structure in STRUCTURES:
            recipe = Recipe(name, structure, options.bits)
            found = rates(reference(recipe, options.data), options.repeat, options.data, recipe)
            ours = found.pop("bncc")
            parts = [f"{recipe}: {ours / 1e6:.2f} million inputs per second"]
            for other, rate in found.items():
                reached &= ours >= FLOORS[other] * rate
                parts.append(f"{other} {rate / 1e6:.3f} (x{ours / rate:.0f})")
            print(", ".join(parts), flush=True)
    return int(not reached)


if __name__ == "__main__":
    sys.exit(main())
