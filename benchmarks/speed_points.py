"""
Sums of tables that decide in few instructions: four points of error, bytes and instructions.

    python -m benchmarks.speed_points --data ../shared/data

Each is a form chosen by rows held out (`benchmarks.peers.peer_points`), learned from all rows of
the papers' fold 1 with three seeds. Flash is that of `predict` on a Cortex-M4 at -Os, instructions
those of `predict_trusted` on a Cortex-M0 at -O2, mean of 100 test rows.
"""

from dataclasses import dataclass

import click
import numpy as np

from benchmarks.peers.peer_forms import title_of
from benchmarks.peers.peer_points import Ours, emissions
from benchmarks.shared.markdown import table
from bncc.cli.console import Console
from bncc.cli.inputs import rows_to_classify, training_parts
from bncc.device.on_target import bench_inputs
from bncc.search.ensemble_configs import EnsembleConfig
from bncc.search.trial import measured_rows
from bncc.train.settings import TrainSettings
from bncc.train.train_model import train_model

SEEDS = (0, 1, 2)


@dataclass(frozen=True)
class Point:
    """
    A form, and what it is to keep within.

    Parameters
    ----------
    name : str
        Data set.
    form : EnsembleConfig
        Of its tables.
    n_tables : int
        How many.
    error : float
        Most, in percent of test rows, mean of the seeds.
    flash, instructions : int
        Most of any seed.
    """

    name: str
    form: EnsembleConfig
    n_tables: int
    error: float
    flash: int
    instructions: int

    def is_kept(self, found: list[Ours]) -> bool:
        """Return whether all seeds stay within, the error in the mean."""
        error = float(np.mean([one.error for one in found]))
        flash = max(one.flash for one in found)
        instructions = max(one.instructions for one in found)
        return error <= self.error and flash <= self.flash and instructions <= self.instructions


POINTS = (
    Point("usps", EnsembleConfig(rows=32), 12, 6.9, 2560, 430),
    Point("satimage", EnsembleConfig(rows=16), 20, 9.3, 2765, 470),
    Point("letter", EnsembleConfig(rows=128, bits=2), 8, 13.3, 10240, 400),
    Point("letter", EnsembleConfig(rows=32), 30, 7.4, 15872, 2900),
)


def measured(data: str, point: Point, seed: int, console: Console) -> Ours:
    """Train with a seed and measure the C that is made for a balance."""
    path = f"{data}/paper/{point.name}.npz"
    train, test = training_parts(path, None, 1, console)
    readings = measured_rows(rows_to_classify(path, None, 1, console))
    settings = point.form.settings(TrainSettings(seed=seed, validation=0.0), point.n_tables)
    model = train_model(train, settings, test=test).model
    ones = emissions(
        title_of(point.form, point.n_tables), 0.0, model, bench_inputs(model, readings)
    )
    return next(one for one in ones if one.optimize == "balanced")


@click.command()
@click.option("--data", default="../shared/data", help="Holds `paper/letter.npz`, ...")
def main(data: str) -> None:
    """Train, measure, and print the table."""
    console, rows = Console(quiet=True), []
    for point in POINTS:
        found = [measured(data, point, seed, console) for seed in SEEDS]
        rows.append(
            (
                point.name,
                title_of(point.form, point.n_tables),
                f"{np.mean([one.error for one in found]):.2f} ({point.error})",
                f"{max(one.flash for one in found):,} ({point.flash:,})",
                f"{max(one.instructions for one in found):,.0f} ({point.instructions:,})",
                "yes" if point.is_kept(found) else "no",
            )
        )
    print(table(("set", "sum", "error (most)", "flash (most)", "instr. (most)", "kept"), rows))


if __name__ == "__main__":
    main()
