"""
Speed of `raw`, from sensor readings to the class, relative to the textbook classifier.

Data sets with their original readings, in data/raw: three of whole numbers, two of floats.
Thresholds by MDL; naive Bayes and Chow-Liu TAN with tables by counting. Instructions of `raw` with
--optimize speed at -O2, against the better of the textbook's -O2 and -O3, which scans thresholds
one after the other.

    .venv/bin/python -m benchmarks.code.raw_floors --data ../shared/data

Every figure is one line of build/raw_floors.jsonl and is kept as long as both programs are the
same; run the command again to resume. From nothing it takes some minutes.
"""

import argparse
import json
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256
from math import prod
from pathlib import Path

from benchmarks.shared.log import appending, last_results
from benchmarks.shared.reference_models import STRUCTURES
from bncc.data.dataset import Dataset
from bncc.data.readers import read_table
from bncc.data.splits import stratified_holdout
from bncc.data.target import dataset_of
from bncc.device.cross import find_toolchain
from bncc.device.measure import bench_inputs
from bncc.emit.emitter import EmitOptions, emit_c
from bncc.emit.textbook import textbook_c
from bncc.on_device import measure_ours, measure_textbook
from bncc.targets import TARGETS
from bncc.train.settings import TrainSettings
from bncc.train.train_model import train_model

SETS = {
    "letter": "letter", "satimage": "satimage", "usps": "usps_all", "htru2": "htru2",
    "dry_bean": "dry_bean",
}  # fmt: skip
"""Files in data/raw."""
MACHINES = ("cortex-m0", "cortex-m4")
WIDTHS = (2, 4)
FLOOR = 3
N_ROWS = 100
"""Number of inputs; the comparisons made depend on the reading."""


@dataclass(frozen=True)
class RawFigure:
    """Measurement of one model on one target."""

    key: str
    digest: str  # Digest of both programs
    kernel: str  # Kernel of bncc's program
    readings: str  # Number of readings by kind
    ours: float  # Mean instructions of ``raw``, as of textbook
    textbook: float

    @property
    def ratio(self) -> float:
        """The textbook's instructions divided by bncc's."""
        return self.textbook / self.ours

    def __str__(self) -> str:
        return (
            f"{self.key}: {self.ours:,.0f} instructions, textbook {self.textbook:,.0f} "
            f"(x{self.ratio:.2f}); kernel {self.kernel}, readings {self.readings}"
        )


@lru_cache(maxsize=1)
def _parts(path: Path) -> tuple[Dataset, Dataset]:
    whole = dataset_of(read_table(path))
    rest, held = stratified_holdout(whole.y, 1 / 3, seed=0)
    return whole.take(rest), whole.take(held)


def figure(
    path: Path, structure: str, bits: int, machine: str, known: Mapping[str, RawFigure]
) -> RawFigure:
    """Measure one model on one target, or return the known figure of the same programs."""
    name = path.name.split(".", maxsplit=1)[0]
    key = f"{name} {structure} B={bits} {machine}"
    train, test = _parts(path)
    settings = TrainSettings(structure=structure, parameters="ml", bits=bits, discretize="mdl")
    model = train_model(train, settings).model
    options = EmitOptions("m", optimize="speed", target=machine)
    emission = emit_c(model, options)
    texts = json.dumps([dict(emission.files), dict(textbook_c(model, "m").files)], sort_keys=True)
    digest = sha256(texts.encode()).hexdigest()[:16]
    if key in known and known[key].digest == digest:
        return known[key]
    inputs = bench_inputs(model, test.table, n_rows=N_ROWS)
    (bench,) = find_toolchain(TARGETS[machine])
    ours = measure_ours(model, bench, inputs, options=options, emission=emission)
    book, reason = measure_textbook(model, bench, inputs)
    if book is None:
        raise SystemExit(f"{key}: no textbook: {reason}")
    kinds = Counter(feature.kind for feature in model.features)
    readings = ", ".join(f"{n} {kind}" for kind, n in kinds.items())
    both = ours.costs["raw"].mean, book.costs["raw"].mean
    return RawFigure(key, digest, emission.kernel, readings, *both)


def main(words: Sequence[str] | None = None) -> int:
    """Measure unknown figures, print geometric means, and fail if one is below the floor."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--data", type=Path, required=True, help="folder with raw/")
    parser.add_argument("--dataset", action="append", choices=SETS, help="repeatable")
    parser.add_argument("--structure", action="append", choices=STRUCTURES, help="repeatable")
    parser.add_argument("--bits", action="append", type=int, choices=WIDTHS, help="repeatable")
    parser.add_argument("--machine", action="append", choices=MACHINES, help="repeatable")
    parser.add_argument("--log", type=Path, default=Path("build/raw_floors.jsonl"))
    options = parser.parse_args(words)
    if not (options.data / "raw").is_dir():
        parser.error(f"there is no folder raw in '{options.data}'; name the data with --data")
    known = last_results(options.log, RawFigure)
    found: dict[tuple[str, int], list[RawFigure]] = {}
    with appending(options.log) as append:
        for name in options.dataset or SETS:
            path = options.data / "raw" / f"{SETS[name]}.csv.gz"
            for structure in options.structure or STRUCTURES:
                for bits in options.bits or WIDTHS:
                    for machine in options.machine or MACHINES:
                        one = figure(path, structure, bits, machine, known)
                        if one != known.get(one.key):
                            append(one)
                        print(one, flush=True)
                        found.setdefault((machine, bits), []).append(one)
    reached = True
    for (machine, bits), figures in found.items():
        mean = prod(one.ratio for one in figures) ** (1 / len(figures))
        least = min(figures, key=lambda one: one.ratio)
        print(
            f"{machine} B={bits}: geometric mean {mean:.2f}, least {least.ratio:.2f}, {least.key}"
        )
        reached &= mean >= FLOOR
    return int(not reached)


if __name__ == "__main__":
    sys.exit(main())
