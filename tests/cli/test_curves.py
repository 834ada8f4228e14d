"""The figures of S1 and S3: the positions of cells, and ``bncc reproduce --plot``."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result

from bncc.papers import experiments
from bncc.papers.experiments import Cell, Experiment, Request
from bncc.report.curves import Line, Point, bits_chart, missing_chart, pareto_chart, size_chart

Run = Callable[..., Result]
RunJson = Callable[..., dict[str, Any]]
Refused = Callable[..., str]


def cell(row: str, column: str, ours: float, **more: object) -> Cell:
    return {
        "row": row, "column": column, "paper": None, "ours": ours, "n": 9, "note": None, **more,
    }  # fmt: skip


BITS_CELLS = (
    cell("letter", "NB float", 13.0, bits=None),
    cell("letter", "NB 1 bit", 35.0, bits=1),
    cell("letter", "NB 2 bits", 21.0, bits=2),
    cell("letter", "TAN 2 bits", 17.0, bits=2),
    cell("usps", "TAN float", 3.0, bits=None),
)
SIZE_CELLS = (
    cell("letter", "NB", 13.0, entries=40, is_on_front=True),
    cell("letter", "size weight 1", 14.0, entries=80, is_on_front=False),
    cell("letter", "TAN Subset", 9.0, entries=400, is_on_front=True),
    cell("letter", "size weight 0.1", 11.0, entries=60, is_on_front=True),
)


PARETO_CELLS = (
    cell("usps", "CNN relu 4x", 3.0, operations=10_000, is_on_front=True),
    cell("usps", "NB 3 bits", 5.0, operations=2570, is_on_front=True),
    cell("usps", "TAN 3 bits", 4.0, operations=2570, is_on_front=True),
    cell("usps", "NB 1 bit", 6.0, operations=2570, is_on_front=False),
    cell("usps", "FC sign 1 bit", 9.0, operations=900, is_on_front=True),
)
MISSING_CELLS = (
    cell("usps, 0 missing", "NB-ML", 13.0, data="usps", missing=0),
    cell("usps, 9 missing", "NB-ML", 14.0, data="usps", missing=9),
    cell("usps, 0 missing", "SVM", 3.0, data="usps", missing=0),
)


def test_errors_are_drawn_over_missing_features() -> None:
    absent = {**cell("spambase", "NB-ML", 0.0, data="spambase", missing=None), "ours": None}
    (panel,) = missing_chart((*MISSING_CELLS, absent)).panels
    assert panel.title == "usps"
    assert panel.lines == (
        Line("NB-ML", (Point(0, 13.0), Point(9, 14.0))),
        Line("SVM", (Point(0, 3.0),)),
    )


def test_models_on_the_front_are_drawn_over_operations_by_their_class() -> None:
    (panel,) = pareto_chart(PARETO_CELLS).panels
    assert panel.lines == (
        Line("Bayesian network", (Point(2570, 5.0), Point(2570, 4.0)), is_joined=False),
        Line("fully connected network", (Point(900, 9.0),), is_joined=False),
        Line("convolutional network", (Point(10_000, 3.0),), is_joined=False),
    )


def test_errors_are_drawn_over_bits_and_floats_as_levels() -> None:
    letter, usps = bits_chart(BITS_CELLS).panels
    assert (letter.title, usps.title) == ("letter", "usps")
    assert letter.lines == (
        Line("naive Bayes", (Point(1, 35.0), Point(2, 21.0)), level=13.0),
        Line("TAN", (Point(2, 17.0),)),
    )
    assert usps.lines == (Line("naive Bayes", ()), Line("TAN", (), level=3.0))


def test_the_front_is_joined_by_size_and_the_ends_are_named() -> None:
    (panel,) = size_chart(SIZE_CELLS).panels
    front, ends, others = panel.lines
    assert front.points == (Point(40, 13.0), Point(60, 11.0), Point(400, 9.0))
    assert ends.points == (Point(40, 13.0, "NB"), Point(400, 9.0, "TAN"))
    assert others.points == (Point(80, 14.0),)
    assert [line.is_joined for line in panel.lines] == [True, False, False]


@pytest.mark.parametrize(
    ("table", "cells"),
    [
        ("s1-missing", MISSING_CELLS),
        ("s3-bits", BITS_CELLS),
        ("s3-size", SIZE_CELLS),
        ("s3-pareto", PARETO_CELLS),
    ],
)
def test_the_figure_is_written_beside_the_cells(
    run_json: RunJson, refused: Refused, monkeypatch: pytest.MonkeyPatch, tmp_path: Path,
    table: str, cells: tuple[Cell, ...],
) -> None:  # fmt: skip
    asked: list[Request] = []

    def fake(_: Experiment[Any], request: Request, advance: object) -> tuple[Cell, ...]:
        asked.append(request)
        return cells

    monkeypatch.setattr(experiments, "reproduce", fake)
    picture = tmp_path / "figure.svg"
    found = run_json("reproduce", table, "--quick", "--plot", picture)
    assert found == {"cells": list(cells)}
    svg = picture.read_text("utf-8")
    assert svg.startswith("<svg")
    title = cells[0].get("data", cells[0]["row"])
    assert svg.count(f"{title}</text>") == 1
    assert "exists; give --force" in refused("reproduce", table, "--plot", picture)
    assert len(asked) == 1
    run_json("reproduce", table, "--plot", picture, "--force")
    assert picture.read_text("utf-8") == svg


def test_what_has_no_figure_is_refused_before_any_work(refused: Refused, tmp_path: Path) -> None:
    said = refused("reproduce", "s3-size", "--plot", tmp_path / "figure.png")
    assert "--plot writes SVG; name a file such as figure.svg" in said
    said = refused("reproduce", "s0-table1", "--plot", tmp_path / "figure.svg")
    assert (
        "--plot draws s1-missing, s3-bits, s3-size, s3-pareto; leave it out for s0-table1" in said
    )
