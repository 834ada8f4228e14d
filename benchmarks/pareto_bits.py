"""Error against table bytes for 1 to 8 bits per cost, as a table and as docs/pareto.svg.

Measured on the bundled robot data: 8 quantile bins per sensor, hybrid loss with quantization in
the loop, a random third of the rows held out for the test error, the place of the binary point
chosen on validation rows. Bytes are those of the model's costs at B bits each. Takes some five
minutes:

    .venv/bin/python benchmarks/pareto_bits.py
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import ceil, log10
from pathlib import Path

from bncc.data.catalog import bundled_path
from bncc.data.dataset import Dataset
from bncc.data.readers import read_table
from bncc.data.splits import stratified_holdout
from bncc.data.target import dataset_of
from bncc.model.card import model_facts
from bncc.train.pipeline import train_model
from bncc.train.settings import TrainSettings

PICTURE = Path(__file__).resolve().parent.parent / "docs" / "pareto.svg"
STRUCTURES = {"naive": "naive Bayes", "chow-liu": "TAN (Chow-Liu)"}
COLORS = {"naive": "#c2410c", "chow-liu": "#1d4ed8"}

WIDTH, HEIGHT = 720, 400
LEFT, RIGHT, TOP, BOTTOM = 70, 24, 44, 56


@dataclass(frozen=True)
class Point:
    """One trained model: its bits per cost, bytes of all tables, test error in percent."""

    bits: int
    table_bytes: int
    error: float


def split() -> tuple[Dataset, Dataset]:
    """Return the robot data as two thirds to train on and a third to test on."""
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
    """Return the picture as SVG text, the same for the same figures."""
    points = [point for row in series.values() for point in row]
    sizes = [point.table_bytes for point in points]
    low, high = log10(min(sizes)) - 0.1, log10(max(sizes)) + 0.1
    top_error = 5 * ceil(max(point.error for point in points) / 5)

    def x(table_bytes: float) -> float:
        return LEFT + (log10(table_bytes) - low) / (high - low) * (WIDTH - LEFT - RIGHT)

    def y(error: float) -> float:
        return HEIGHT - BOTTOM - error / top_error * (HEIGHT - TOP - BOTTOM)

    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" '
        'font-family="sans-serif" font-size="13">',
        "<title>Test error against table bytes, 1 to 8 bits per cost</title>",
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#ffffff"/>',
    ]
    for error in range(0, top_error + 1, 5):
        lines += [
            f'<path d="M{LEFT} {y(error):.1f}H{WIDTH - RIGHT}" stroke="#e5e7eb"/>',
            f'<text x="{LEFT - 8}" y="{y(error) + 4:.1f}" text-anchor="end">{error} %</text>',
        ]
    for size in ticks(min(sizes), max(sizes)):
        lines.append(
            f'<text x="{x(size):.1f}" y="{HEIGHT - BOTTOM + 20}" text-anchor="middle">{size}</text>'
        )
    lines += [
        f'<text x="{(LEFT + WIDTH - RIGHT) / 2:.0f}" y="{HEIGHT - 12}" text-anchor="middle">'
        "bytes of all tables at B bits per cost (logarithmic)</text>",
        f'<text x="{LEFT}" y="22" fill="#374151">test error on the robot data; '
        "the number beside a point is B</text>",
    ]
    for row, (structure, measured) in enumerate(series.items()):
        lines += curve(structure, [(x(p.table_bytes), y(p.error), p.bits) for p in measured], row)
    return "\n".join([*lines, "</svg>"]) + "\n"


def ticks(least: int, most: int) -> Iterator[int]:
    """Yield 1, 2 and 5 times every power of ten in a range."""
    for exponent in range(7):
        for digit in (1, 2, 5):
            if least <= digit * 10**exponent <= most:
                yield digit * 10**exponent


def curve(structure: str, places: Sequence[tuple[float, float, int]], row: int) -> list[str]:
    """Return one line of points with its bits and its entry in the legend."""
    color = COLORS[structure]
    path = "L".join(f"{px:.1f} {py:.1f}" for px, py, _ in places)
    legend = WIDTH - RIGHT - 130
    lines = [
        f'<path d="M{path}" fill="none" stroke="{color}" stroke-width="2"/>',
        f'<circle cx="{legend}" cy="{TOP + 12 + 20 * row}" r="4" fill="{color}"/>',
        f'<text x="{legend + 10}" y="{TOP + 16 + 20 * row}">{STRUCTURES[structure]}</text>',
    ]
    for px, py, bits in places:
        lines += [
            f'<circle cx="{px:.1f}" cy="{py:.1f}" r="4" fill="{color}"/>',
            f'<text x="{px:.1f}" y="{py - 9:.1f}" fill="{color}" text-anchor="middle">'
            f"{bits}</text>",
        ]
    return lines


def main() -> None:
    series = {structure: measure(structure) for structure in STRUCTURES}
    print("| structure | B | table bytes | test error % |\n|---|---|---|---|")
    for structure, points in series.items():
        for point in points:
            print(f"| {structure} | {point.bits} | {point.table_bytes} | {point.error:.2f} |")
    PICTURE.write_text(draw(series), encoding="utf-8")


if __name__ == "__main__":
    main()
