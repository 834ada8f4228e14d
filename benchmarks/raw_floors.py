"""How far `raw` is beyond the textbook classifier: from sensor readings to the class.

Letter, satimage and usps as their readings came, in data/raw; thresholds by MDL; naive Bayes and
Chow-Liu TAN with tables by counting. Instructions of `raw` with what is chosen for speed at -O2,
against the better of the textbook's -O2 and -O3, which scans thresholds one after the other.

    .venv/bin/python benchmarks/raw_floors.py --data ../shared/data
"""

import argparse
import sys
from collections import Counter
from collections.abc import Sequence
from math import prod
from pathlib import Path

from benchmarks.reference_models import STRUCTURES
from bncc.bench.measurement import measure_ours, measure_textbook
from bncc.bench.on_target import bench_inputs
from bncc.build.cross import find_bench
from bncc.build.targets import TARGETS
from bncc.data.readers import read_table
from bncc.data.splits import stratified_holdout
from bncc.data.target import dataset_of
from bncc.emit.emitter import EmitOptions, emit_c
from bncc.train.pipeline import train_model
from bncc.train.settings import TrainSettings

SETS = {"letter": "letter", "satimage": "satimage", "usps": "usps_all"}
"""Files in data/raw."""
MACHINES = ("cortex-m0", "cortex-m4")
WIDTHS = (2, 4)
FLOOR = 3
N_ROWS = 5


def ratio(data: Path, name: str, structure: str, bits: int, machine: str) -> float:
    """Measure one model on one machine and say what was found."""
    whole = dataset_of(read_table(data / "raw" / f"{SETS[name]}.csv.gz"))
    rest, held = stratified_holdout(whole.y, 1 / 3, seed=0)
    train, test = whole.take(rest), whole.take(held)
    settings = TrainSettings(structure=structure, parameters="ml", bits=bits, discretize="mdl")
    model = train_model(train, settings).model
    inputs = bench_inputs(model, test.table, n_rows=N_ROWS)
    (bench,) = find_bench(TARGETS[machine])
    options = EmitOptions("m", optimize="speed", target=machine)
    emission = emit_c(model, options)
    ours = measure_ours(model, bench, inputs, options=options, emission=emission)
    book, reason = measure_textbook(model, bench, inputs)
    if book is None:
        raise SystemExit(f"{name} {structure} B={bits}: no textbook: {reason}")
    raw, theirs = ours.costs["raw"].mean, book.costs["raw"].mean
    kinds = ", ".join(f"{n} {kind}" for kind, n in Counter(f.kind for f in model.features).items())
    print(
        f"{name} {structure} B={bits} {machine}: {raw:,.0f} instructions, textbook {theirs:,.0f} "
        f"(x{theirs / raw:.2f}); kernel {emission.kernel}, readings {kinds}",
        flush=True,
    )
    return theirs / raw


def main(words: Sequence[str] | None = None) -> int:
    """Measure, print geometric means, and fail below the floor."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--data", type=Path, required=True, help="folder with raw/")
    parser.add_argument("--dataset", action="append", choices=SETS, help="repeatable")
    options = parser.parse_args(words)
    reached = True
    for machine in MACHINES:
        for bits in WIDTHS:
            found = [
                ratio(options.data, name, structure, bits, machine)
                for name in options.dataset or SETS
                for structure in STRUCTURES
            ]
            mean = prod(found) ** (1 / len(found))
            reached &= mean >= FLOOR
            print(f"{machine} B={bits}: geometric mean {mean:.2f}, least {min(found):.2f}")
    return int(not reached)


if __name__ == "__main__":
    sys.exit(main())
