"""
Test error against table bytes for 1 to 8 bits per cost, as a table and as docs/pareto.svg.

Measured on the bundled robot data: 8 quantile bins per sensor, hybrid loss with quantization in
the loop, a random third of the rows as test set, the place of the binary point selected on
validation rows. Bytes are those of the model's costs at B bits each. Takes some seconds:

    .venv/bin/python -m benchmarks.accuracy.pareto_bits
"""

from dataclasses import dataclass
from math import ceil
from pathlib import Path

from bncc.data.dataset import Dataset
from bncc.data.readers import bundled_path, read_table
from bncc.data.splits import stratified_holdout
from bncc.data.target import dataset_of
from bncc.model.card import model_facts
from bncc.report import curves as chart
from bncc.train.settings import TrainSettings
from bncc.train.train_model import train_model

PICTURE = Path(__file__).resolve().parents[2] / "docs" / "pareto.svg"
STRUCTURES = {"naive": "naive Bayes", "chow-liu": "TAN (Chow-Liu)"}


@dataclass(frozen=True)
class Point:
    """One trained model: its bits per cost, bytes of all tables, test error in percent."""

    bits: int
    table_bytes: int
    error: float


def split() -> tuple[Dataset, Dataset]:
    """Return the robot data as two thirds training rows and one third test rows."""
    dataset = dataset_of(read_table(bundled_path("robot")))
    train, test = stratified_holdout(dataset.y, 1 / 3, seed=0)
    return dataset.take(train), dataset.take(test)


def measure(structure: str) -> list[Point]:
    """Train one model per number of bits."""
    train, test = split()
    points = []
    for bits in range(1, 9):
        settings = TrainSettings(structure=structure, discretize="quantile", bits=bits)
        facts = model_facts(train_model(train, settings, test=test).model)
        points.append(Point(bits, ceil(facts["table_bits"] / 8), 100 * facts["error_test"]))
    return points


def draw(series: dict[str, list[Point]]) -> str:
    """Return the plot as SVG text, the same for the same figures."""
    lines = tuple(
        chart.Line(
            STRUCTURES[structure],
            tuple(chart.Point(p.table_bytes, p.error, str(p.bits)) for p in points),
        )
        for structure, points in series.items()
    )
    return chart.svg_of(
        chart.Chart(
            title="Error on test rows of the robot data; the number at a point is B",
            x_title="bytes of all tables at B bits per cost",
            y_title="test error, percent",
            panels=(chart.Panel("", lines),),
            is_log=True,
        )
    )


def main() -> None:
    series = {structure: measure(structure) for structure in STRUCTURES}
    print("| structure | B | table bytes | test error % |\n|---|---|---|---|")
    for structure, points in series.items():
        for point in points:
            print(f"| {structure} | {point.bits} | {point.table_bytes} | {point.error:.2f} |")
    PICTURE.write_text(draw(series), encoding="utf-8")


if __name__ == "__main__":
    main()
