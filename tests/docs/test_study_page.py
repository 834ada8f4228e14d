"""The tables of the study: the trial that represents a family under a budget."""

from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks.accuracy import study_page
from benchmarks.shared.markdown import held, renew, table
from bncc.search.trial_result import Footprint, Point, Rate, Study
from tests import studies

PLAIN = studies.study(1).points[0]
ROOM = 80_000
"""The flash of the target whose times are reported."""


def point(number: int, family: str, validation: float, test: float, flash: int | None) -> Point:
    costs: dict[str, Footprint | str] = {}
    if flash is not None:
        costs[study_page.TARGET] = Footprint(flash, 0, 40, "instructions", 700.0, 700)
        if flash < ROOM:
            costs[study_page.TIMED] = Footprint(flash, 0, 40, "instructions", 900.0, 900)
    return replace(
        PLAIN, number=number, family=family, validation=Rate((validation,), 100),
        test=Rate((test,), 400), costs=costs,
        params={} if family == "naive" else {"classifier": "baseline"},
    )  # fmt: skip


POINTS = (
    point(0, "tree", 0.20, 0.11, 900),
    point(1, "tree", 0.10, 0.12, 1025),
    point(2, "naive", 0.15, 0.14, 1024),
    point(3, "naive", 0.14, 0.10, 99_000),
    point(4, "svm", 0.05, 0.06, None),
)
STUDY = Study("study/some.db", studies.study(1).facts, POINTS, {9: "why"})


def test_a_cell_is_the_test_error_of_the_least_validation_error_that_fits() -> None:
    """
    Networks first; rows without C only in the last column; the least of a column is bold.

    Trial 3 does not fit the target whose times are reported.
    """
    assert study_page.errors(STUDY).splitlines()[2:] == [
        "| naive | 2 | 14.00 (900) | 14.00 (900) | 14.00 (900) | 14.00 (900) | 10.00 |",
        "| svm * | 1 |  |  |  |  | **6.00** |",
        "| tree * | 2 | **11.00** (900) | **12.00** (900) | **12.00** (900) | **12.00** (900) |"
        " 12.00 (900) |",
    ]


def test_of_equal_validation_errors_the_first_trial_counts() -> None:
    twice = (replace(POINTS[1], number=8), replace(POINTS[1], number=7))
    found = study_page.best(twice)
    assert found is not None
    assert found.number == 7
    assert study_page.best(()) is None


def test_counts_tell_trials_what_was_measured_and_the_standard_error() -> None:
    """The standard error of 6 % on 400 rows is 1.19 points."""
    assert study_page.counts([STUDY]).splitlines()[2:] == ["| some | 5 | 4 | 1 | 400 | 1.19 |"]


def test_the_page_has_a_place_for_every_table() -> None:
    text = study_page.PAGE.read_text("utf-8")
    for name in (study_page.COUNTS, *study_page.SETS):
        assert all(line.startswith("|") for line in held(text, name).splitlines())


def test_tables_are_renewed_and_all_else_stays(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    marks = ("<!-- table: a -->\n", "<!-- end of table: a -->\n")
    page.write_text(f"before\n{marks[0]}old\n{marks[1]}after\n")
    renew(page, {"a": table(["x", "y"], [["1", "2"]])})
    new = "| x | y |\n| --- | --: |\n| 1 | 2 |\n"
    assert page.read_text() == f"before\n{marks[0]}{new}{marks[1]}after\n"
    before = page.read_text()
    with pytest.raises(ValueError, match="no place for the table 'b'"):
        renew(page, {"a": "", "b": ""})
    assert page.read_text() == before
