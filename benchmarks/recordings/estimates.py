"""
Flash and time of front ends on HAPT, measured and estimated.

    python -m benchmarks.recordings.estimates --data ../shared/data --targets avr,cortex-m0

The front ends compute the same features of one accelerometer axis, or of two and a gyroscope axis,
without and with differences to earlier values. What they cost is what a program with one small
table takes more than that table, the figure by which a search chooses features.
"""

from itertools import product
from pathlib import Path

import click

from benchmarks.recordings.sets import chosen_sets, load, parts
from benchmarks.shared.markdown import table
from bncc.lower.sample_estimate import estimate_samples, shares_code
from bncc.recordings.labeled import dataset_of_windows, front_end_of
from bncc.recordings.signals import signals_of
from bncc.recordings.table import columns_of, feature_table, narrowed
from bncc.resources import Budget
from bncc.search.budget_search import with_held_rows
from bncc.search.front_end_choice import (
    ProgramLimits,
    front_end_cost,
    samples_to_measure,
)
from bncc.targets import find_target
from bncc.train.settings import TrainSettings

SIGNALS = ("acc_x", "acc_x,acc_y,gyro_x")
FEATURES = "sum,min,max,crossings"
OTHERS = (
    "", "lag3", "lag8", "lag3,lag5", "lag3,lag5,lag8", "range,change,haar1",
    "range,change,haar1,haar1/change", "range,change,haar1,haar1/change,haar1/range,range/change",
)  # fmt: skip


@click.command()
@click.option("--data", type=Path, default="../shared/data", help="Folder with `streams`.")
@click.option("--targets", default="avr,cortex-m0", show_default=True, help="With commas.")
def main(data: Path, targets: str) -> None:
    """Print a table for each target."""
    (one,) = chosen_sets("hapt")
    train, _ = next(parts(one.splits[0], load(data, one)))
    base = with_held_rows(TrainSettings())
    for target in targets.split(","):
        rows = []
        for signals, others in product(SIGNALS, OTHERS):
            features = f"{FEATURES},{others}" if others else FEATURES
            chosen = signals_of(signals, train.channels)
            columns = columns_of(features, chosen, train.channels, one.windows)
            known = narrowed(feature_table(train, columns, one.windows))
            front_end, dataset = front_end_of(known), dataset_of_windows(known)
            segments = (e.samples[a:b] for e in train.recordings for a, b in e.segments)
            samples = samples_to_measure(segments, front_end)
            limits = ProgramLimits(Budget(target, None))
            cost, _ = front_end_cost(front_end, dataset, base, limits, samples)
            found = estimate_samples(front_end, find_target(target))
            form = "shared" if shares_code(front_end) else "straight"
            pairs = (cost.flash, found.flash, cost.mean, found.time)
            rows.append([signals, form, others or "-", *(f"{figure:,.0f}" for figure in pairs)])
        unit = find_target(target).unit
        head = ["signals", "code", "others", "flash", "estimate", f"{unit} per sample", "estimate"]
        print(f"{target}\n\n{table(head, rows)}")


if __name__ == "__main__":
    main()
