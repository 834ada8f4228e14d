"""The figures of S1 and S3 as charts of the cells that were measured."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from bncc.cli.chart import Chart, Line, Panel, Point

Cell = Mapping[str, Any]
"""As `bncc.papers.experiments.Cell`, which only ``bncc reproduce`` loads."""
ERROR = "test error, percent"
FAMILIES = {"NB": "naive Bayes", "TAN": "TAN"}
"""In the words of the legend, by how their columns begin."""
CLASSES = {
    "Bayesian network": ("NB", "TAN"), "fully connected network": ("FC",),
    "convolutional network": ("CNN",),
}  # fmt: skip
"""How columns begin, by the words of the legend of figure 7."""


def bits_chart(cells: Sequence[Cell]) -> Chart:
    """Return figure 6: errors over bits, a level for floats."""
    return Chart("Error of integer models", "bits per cost", ERROR, _panels(cells, _over_bits))


def size_chart(cells: Sequence[Cell]) -> Chart:
    """Return figure 5: errors over table entries."""
    title = "Error over table entries; the front is that of validation errors"
    return Chart(title, "table entries", ERROR, _panels(cells, _over_entries), is_log=True)


def pareto_chart(cells: Sequence[Cell]) -> Chart:
    """Return figure 7: errors over operations of the models on the front."""
    title = "Models that no other one betters in error, bits of memory and operations"
    return Chart(title, "operations", ERROR, _panels(cells, _over_operations), is_log=True)


def missing_chart(cells: Sequence[Cell]) -> Chart:
    """Return figure 5 of S1: errors over the number of missing features."""
    title = "Error where features are missing, mean over draws of them"
    cells = [{**cell, "row": cell["data"]} for cell in cells if cell["ours"] is not None]
    return Chart(title, "missing features", ERROR, _panels(cells, _over_missing))


CHARTS: Mapping[str, Callable[[Sequence[Cell]], Chart]] = {
    "s1-missing": missing_chart,
    "s3-bits": bits_chart,
    "s3-size": size_chart,
    "s3-pareto": pareto_chart,
}
"""By the name that ``bncc reproduce`` takes."""


def _panels(
    cells: Sequence[Cell], lines_of: Callable[[Sequence[Cell]], tuple[Line, ...]]
) -> tuple[Panel, ...]:
    rows = dict.fromkeys(cell["row"] for cell in cells)
    return tuple(
        Panel(row, lines_of([cell for cell in cells if cell["row"] == row])) for row in rows
    )


def _over_missing(cells: Sequence[Cell]) -> tuple[Line, ...]:
    return tuple(
        Line(
            name,
            tuple(Point(cell["missing"], cell["ours"]) for cell in cells if cell["column"] == name),
        )
        for name in dict.fromkeys(cell["column"] for cell in cells)
    )


def _over_bits(cells: Sequence[Cell]) -> tuple[Line, ...]:
    lines = []
    for family, name in FAMILIES.items():
        mine = [cell for cell in cells if cell["column"].split()[0] == family]
        level = next((cell["ours"] for cell in mine if cell["bits"] is None), None)
        points = (Point(cell["bits"], cell["ours"]) for cell in mine if cell["bits"] is not None)
        lines.append(Line(name, tuple(points), level=level))
    return tuple(lines)


def _over_entries(cells: Sequence[Cell]) -> tuple[Line, ...]:
    by_size = sorted(cells, key=lambda cell: (cell["entries"], -cell["ours"]))
    is_end = {"NB": "NB", "TAN Subset": "TAN"}
    return (
        Line("front", tuple(_point(cell) for cell in by_size if cell["is_on_front"])),
        Line(
            "without a price",
            tuple(
                _point(cell, is_end[cell["column"]]) for cell in by_size if cell["column"] in is_end
            ),
            is_joined=False,
        ),
        Line(
            "not on the front",
            tuple(_point(cell) for cell in by_size if not cell["is_on_front"]),
            is_joined=False,
        ),
    )


def _over_operations(cells: Sequence[Cell]) -> tuple[Line, ...]:
    best = sorted(
        (cell for cell in cells if cell["is_on_front"]), key=lambda cell: cell["operations"]
    )
    return tuple(
        Line(
            name,
            tuple(
                Point(cell["operations"], cell["ours"])
                for cell in best
                if cell["column"].split()[0] in begins
            ),
            is_joined=False,
        )
        for name, begins in CLASSES.items()
    )


def _point(cell: Cell, tag: str = "") -> Point:
    return Point(cell["entries"], cell["ours"], tag)
