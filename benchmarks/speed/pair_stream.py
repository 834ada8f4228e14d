"""
Seconds and memory to learn Chow-Liu and ETAN from a file that is read in parts.

Samples --rows rows of 50 features of 4 states and 2 classes into a Parquet or CSV file, a part at
a time, unless the file exists. Then a separate process, whose peak memory is reported, counts all
pairs. CSV is read by pandas, Parquet by pyarrow.

    OMP_NUM_THREADS=1 .venv/bin/python -m benchmarks.speed.pair_stream rows.parquet
"""

import argparse
import resource
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from time import perf_counter

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from bncc._types import IntArray
from bncc.structure.learners.etan import best_forest
from bncc.structure.scores import (
    bdeu_families_of_sums,
    information_of_sums,
    log_gamma_term,
    log_likelihood_term,
)
from bncc.structure.spanning_trees import maximum_spanning_forest
from bncc.structure.streamed_counts import count_pairs

N_FEATURES, N_STATES, N_CLASSES, CLASS = 50, 4, 2, "y"
PART = 100_000
"""Number of rows at a time."""
FLOORS = {"seconds": 180.0, "MB": 1000.0}


def draw(path: Path, n_rows: int) -> None:
    """Write rows of a chain of features, some of which depend on the class too."""
    rng, writer = np.random.default_rng(0), None
    for begin in range(0, n_rows, PART):
        n = min(PART, n_rows - begin)
        y = rng.integers(0, N_CLASSES, n, dtype=np.uint8)
        X = rng.integers(0, N_STATES, (n, N_FEATURES), dtype=np.uint8)
        for i in range(1, N_FEATURES):
            copied = rng.random(n) < 0.4
            X[copied, i] = (X[copied, i - 1] + y[copied] * (i % 3 == 0)) % N_STATES
        frame = pd.DataFrame(X, columns=[f"x{i}" for i in range(N_FEATURES)]).assign(**{CLASS: y})
        if path.suffix == ".csv":
            frame.to_csv(path, mode="a", header=begin == 0, index=False)
            continue
        batch = pa.Table.from_pandas(frame, preserve_index=False)
        writer = writer or pq.ParquetWriter(path, batch.schema)
        writer.write_table(batch)
    if writer is not None:
        writer.close()


def parts(path: Path) -> Iterator[tuple[IntArray, IntArray]]:
    """Read a file a part at a time."""
    if path.suffix == ".csv":
        frames: Iterator[pd.DataFrame] = iter(
            pd.read_csv(path, chunksize=PART, dtype=np.uint8, engine="c")
        )
    else:
        with pq.ParquetFile(path) as file:
            for batch in file.iter_batches(PART):
                columns = [np.asarray(column) for column in batch.columns]
                yield np.stack(columns[:-1], axis=1), columns[-1]
        return
    for frame in frames:
        values = frame.to_numpy()
        yield values[:, :-1], values[:, -1]


def learn(path: Path) -> bool:
    """Count, learn, print, and return whether the floors hold."""
    begin = perf_counter()
    counts = count_pairs(parts(path), [N_STATES] * N_FEATURES, N_CLASSES)
    counted = perf_counter()
    (sums,) = counts.sums((log_likelihood_term(),), with_marginal=False)
    tree = maximum_spanning_forest(information_of_sums(sums, counts.n_samples))
    (gammas,) = counts.sums((log_gamma_term(2.0),))
    found = best_forest(bdeu_families_of_sums(gammas))
    end = perf_counter()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"rows       {counts.n_samples:,} x {N_FEATURES} in {path.stat().st_size / 1e6:,.0f} MB")
    print(f"read       {counted - begin:.1f} s with counting")
    n_arcs, n_with_class = N_FEATURES - tree.count(None), sum(found.class_is_parent)
    print(f"learned    {end - counted:.2f} s: Chow-Liu {n_arcs} arcs,")
    print(f"           ETAN {found.n_edges} arcs, {n_with_class} features with the class")
    print(f"peak       {peak:,.0f} MB of memory")
    return end - begin < FLOORS["seconds"] and peak < FLOORS["MB"]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("path", type=Path, help="a .parquet or .csv file")
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--only-learn", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.only_learn:
        return 0 if learn(given.path) else 1
    if not given.path.exists():
        draw(given.path, given.rows)
    # A separate process, so that sampling does not count.
    return subprocess.call(
        [sys.executable, "-m", "benchmarks.speed.pair_stream", str(given.path), "--only-learn"]
    )


if __name__ == "__main__":
    raise SystemExit(main())
