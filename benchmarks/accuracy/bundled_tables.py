"""
Tables of docs/bundled.md: errors, verified inputs and the footprint of a decision per target.

A random third of the rows of the bundled data is the test set. The C is verified on the host and
on every other target that `bncc targets` lists as ready. The second table is `bncc bench` of the
robot of the firmware example, at -Os. Takes some two minutes and needs the tools that its lines
name. Prints the tables, or updates the page:

    .venv/bin/python -m benchmarks.accuracy.bundled_tables --write
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import click

from benchmarks.shared.markdown import renew, table
from bncc.data.dataset import Dataset, Table
from bncc.data.readers import bundled_path, read_table
from bncc.data.splits import stratified_holdout
from bncc.data.target import dataset_of
from bncc.device.agreement import Agreement, combine
from bncc.device.measure import bench_inputs
from bncc.emit.emitter import emit_c
from bncc.model.file import load_model
from bncc.model.model import Model
from bncc.on_device import TargetReport, bench_target, verify
from bncc.targets import TARGETS
from bncc.train.settings import TrainSettings
from bncc.train.train_model import train_model

ROWS = (
    ("robot", TrainSettings(structure="naive", discretize="quantile")),
    ("robot", TrainSettings(structure="chow-liu", discretize="quantile")),
    ("wifi", TrainSettings(structure="naive")),
    ("wifi", TrainSettings(structure="chow-liu")),
)
VERIFIED = ("avr", "cortex-m0", "cortex-m3", "cortex-m4", "cortex-m7", "rv32", "big-endian")
SHOWN = {"avr": "AVR", "cortex-m0": "Cortex-M0", "cortex-m4": "Cortex-M4", "rv32": "RV32IMC"}
ROOT = Path(__file__).resolve().parents[2]
ROBOT = ROOT / "firmware_examples" / "uno_robot" / "robot.bncc"
PAGE = ROOT / "docs" / "bundled.md"


@dataclass(frozen=True)
class Figures:
    """One row of the table."""

    data: str
    structure: str
    error: float
    table_bytes: int

    def cells(self) -> list[str]:
        """Return the cells that need no compiler."""
        return [self.data, self.structure, f"{self.error:.2f} %", f"{self.table_bytes:,}"]


def train(data: str, settings: TrainSettings) -> tuple[Model, Dataset]:
    """Return the model of two thirds of the rows, and the other third."""
    dataset = dataset_of(read_table(bundled_path(data)))
    rest, held = stratified_holdout(dataset.y, 1 / 3, seed=0)
    test = dataset.take(held)
    return train_model(dataset.take(rest), settings, test=test).model, test


def figures(data: str, settings: TrainSettings, model: Model) -> Figures:
    """Return the figures that need no compiler."""
    error = 100 * model.training["error_test"]
    return Figures(data, settings.structure, error, emit_c(model).table_bytes)


def verified(model: Model, table: Table) -> Agreement:
    """Return the outcome on the host, built by gcc and by clang, and on all targets."""
    host = [verify(model, table=table, compiler=compiler) for compiler in ("gcc", "clang")]
    return combine(host + [verify(model, target, table=table) for target in VERIFIED])


def reports(compiler: str | None = None) -> Iterator[TargetReport]:
    """Measure the robot on every target of the table, or on those that one compiler builds for."""
    model = load_model(ROBOT)
    inputs = bench_inputs(model, read_table(bundled_path("robot")))
    for target in SHOWN:
        if compiler in (None, *TARGETS[target].flags):
            yield bench_target(model, TARGETS[target], inputs, opt_level="-Os")


def cells_of(report: TargetReport) -> list[str]:
    """Return the row of one target."""
    ours, textbook = report.ours, report.baseline
    cells = [SHOWN[report.target]]
    assert textbook is not None
    cells.append(f"{ours.flash:,} / {textbook.flash:,} B")
    cells.append(f"{ours.stack} / {textbook.stack} B")
    for entry in ("raw", "predict"):
        pair = (measured.costs[entry].mean for measured in (ours, textbook))
        cells.append(" / ".join(f"{mean:,.0f}" for mean in pair) + f" {report.unit}")
    return cells


def costs() -> str:
    """Return the table of the footprint of a decision."""
    head = ["target", "flash", "stack", "from readings", "from states"]
    return table(head, map(cells_of, reports()))


def errors() -> str:
    """Return the table of errors and verified inputs."""
    head = ["data", "structure", "test error", "table bytes", "inputs verified", "differences"]
    rows = []
    for data, settings in ROWS:
        model, test = train(data, settings)
        outcome = verified(model, test.table)
        each = f"{outcome.checked // outcome.n_builds:,} in each of {outcome.n_builds} builds"
        rows.append([*figures(data, settings, model).cells(), each, f"{outcome.mismatches}"])
    return table(head, rows)


@click.command()
@click.option("--write", "is_written", is_flag=True, help="Update the page.")
def main(is_written: bool) -> None:
    """Measure both tables."""
    tables = {"costs": costs(), "errors": errors()}
    print("\n".join(tables.values()))
    if is_written:
        renew(PAGE, tables)


if __name__ == "__main__":
    main()
