"""Axes, tables and files of a report whose study has times and energies of a part."""

from dataclasses import replace
from math import log

import pytest

from bncc.report.formats import trial_records
from bncc.report.page_data import _costs
from bncc.report.panels import axes_of, box_of, hypervolume, known_of_part, panels_of
from bncc.report.sheets import front_grid, sheets_of
from bncc.search.trial_result import Footprint, Point
from tests import studies

STUDY = studies.study(3)
TARGET = next(iter(STUDY.points[0].costs))


def timed(point: Point, k: int) -> Point:
    """Return a point with cycles, time and energy."""
    cost = Footprint(
        500 + k, 0, 40, "cycles", 240.0 + k, 300, microseconds=10.0 + k, microjoules=0.2 + 0.1 * k
    )
    return replace(point, costs={TARGET: cost})


POINTS = tuple(timed(point, k) for k, point in enumerate(STUDY.points))


def test_a_part_adds_two_axes() -> None:
    assert known_of_part(STUDY.points, TARGET) == ()
    assert [axis.key for axis in axes_of(POINTS, TARGET)] == [
        "flash", "time", "microseconds", "microjoules", "bits",
    ]  # fmt: skip
    _, time, _, energy, _ = axes_of(POINTS, TARGET)
    assert time.noun == "cycles"
    assert energy.of(POINTS[0]) == 0.2
    assert (time.words(240.4), energy.words(0.2004)) == ("240 cycles", "0.2 microjoules")


def test_costs_below_one_have_a_hypervolume() -> None:
    """Their logarithms differ, so that a small cost is worth more than a large one."""
    energy = next(axis for axis in axes_of(POINTS, TARGET) if axis.key == "microjoules")
    some = [
        replace(point, validation=replace(point.validation, errors=(error,)))
        for point, error in zip(POINTS, (0.2, 0.1, 0.15), strict=True)
    ]
    box = box_of(some, energy)
    assert box is not None
    assert (box.least, box.most) == pytest.approx((0.2, 0.4))
    share = (log(0.4) - log(0.3)) / (log(0.4) - log(0.2))
    assert hypervolume(some, energy, box) == pytest.approx(0.5 * share)
    assert panels_of(some, TARGET)[3].axis.key == "microjoules"


def test_tables_and_files_have_time_and_energy() -> None:
    study = replace(STUDY, points=POINTS)
    sheets = sheets_of([study])
    grid = front_grid(sheets[0].views[0])
    assert [head.text for head in grid.heads if head.text.startswith("Micro")] == [
        "Microseconds", "Microjoules",
    ]  # fmt: skip
    assert {"10", "11", "12"} & set(grid.lines[0])
    head = list(trial_records([sheet.study for sheet in sheets])[0])
    assert f"microseconds_{TARGET}" in head
    assert _costs(POINTS, TARGET)["microjoules"][0] == 0.2
    plain = list(trial_records([STUDY])[0])
    assert not any("microseconds" in name for name in plain)
    assert "microjoules" not in _costs(STUDY.points, TARGET)


def test_a_footprint_without_a_part_has_no_such_keys() -> None:
    point = STUDY.points[0]
    cost = point.footprint(TARGET)
    assert cost is not None
    assert not {"microseconds", "microjoules"} & cost.to_json().keys()
    assert Point.from_json(point.to_json()) == point
    assert Point.from_json(POINTS[0].to_json()) == POINTS[0]
