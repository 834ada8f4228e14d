"""The README's table of trees and forests follows from the pages of both comparisons."""

from benchmarks.peers.equal_resources import (
    Pair,
    Point,
    against_papers,
    equal,
    frontier,
    sensors,
    summary,
)

LETTER = """\
<!-- table: letter -->
| peer | by | error | flash | instr. | bncc | error | flash | instr. |
| --- | --: | --: | --: | --: | --: | --: | --: | --: |
| **rf10** | emlearn | 7.00 | 1,600 | 600 | 9 tables | 7.00 | 950 | 640 |
| rf20 | emlearn | 9.00 | 1,600 | 600 | 9 tables | 4.00 | 950 | 640 |
| **dt8** | emlearn | 22.00 | 2,420 | 341 | none; least error: 6 tables | 22.50 | 2,372 | 324 |
| **dt4** | emlearn | 37.50 | 668 | 334 | none is as small and as quick |  |  |  |
| **lr** | by hand | 25.00 | 596 | 3,176 | none; least error: 3 tables | 49.00 | 524 | 1,708 |
<!-- end of table: letter -->
"""
SENSORS = """\
<!-- table: sets -->
| set | rows | features | classes | error | flash | instr. | ... | ... | ... | ... | ... | ... |
| --- | --: | --: | --: | --: | --: | --: | --: | --: | --: | --: | --: | --: |
| one | 9 | 7 | 4 | 2.00 | 4,087 | 20,291 | 3.00 | 500 | 118 | 1.00 | 3,864 | 20,291 | win | loss |
| two | 9 | 7 | 4 | 2.00 | 1,015 | 987 | 2.00 | 500 | 118 | 1.50 | 3,864 | 1,831 | tie | loss |
<!-- end of table: sets -->
"""
OTHERS = "".join(LETTER.replace("letter", name) for name in ("satimage", "usps"))


def test_only_the_frontier_of_a_kind_counts():
    (forest,) = frontier(LETTER, "letter", ("rf", "et"))
    assert forest == Pair("rf10", Point(7.0, 1600, 600), Point(7.0, 950, 640))
    assert [pair.name for pair in frontier(LETTER, "letter", ("dt",))] == ["dt8", "dt4"]


def test_losses_and_baselines_without_a_fit_are_shown():
    trees = list(frontier(LETTER, "letter", ("dt",)))
    assert summary(trees) == ("0 of 2", "22.00 / 22.50", "22.00 / 22.50", "1")
    assert summary(list(frontier(LETTER, "letter", ("rf",)))) == (
        "1 of 1", "7.00 / 7.00", "none", "0"
    )  # fmt: skip


def test_instructions_limit_the_sensor_sets_only_where_they_are_asked_for():
    assert [pair.is_as_accurate for pair in sensors(SENSORS, "tree", is_timed=False)] == [True] * 2
    assert [pair.ours for pair in sensors(SENSORS, "tree", is_timed=True)] == [None, None]
    forests = list(sensors(SENSORS, "forest", is_timed=True))
    assert summary(forests) == ("0 of 2", "1.25 / 2.00", "1.00 / 2.00, 1.50 / 2.00", "0")


def test_nothing_that_fits_has_no_median():
    assert summary([Pair("tree", Point(1.0, 1, 1), None)]) == ("0 of 1", "", "none", "1")


def test_every_part_is_a_row():
    lines = equal(LETTER + OTHERS, SENSORS).splitlines()
    assert len(lines) == 2 + len(against_papers(LETTER + OTHERS)) + 4
    assert lines[2].startswith("| letter | trees | flash, instructions | 0 of 2 |")
