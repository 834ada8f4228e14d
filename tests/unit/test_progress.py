"""Parts of a piece of work report their shares of the whole, and end with it."""

import pytest

from bncc.progress import Watch, nth_part, part_of


def test_a_part_reports_its_share_of_the_whole():
    told = []
    part = part_of(lambda *step: told.append(step), 0.5, 0.75)
    part(0.0, "begun")
    part(1.0, "done")
    assert told == [(0.5, "begun"), (0.75, "done")]


def test_parts_that_are_alike_report_in_turn():
    told = []
    for k in range(2):
        nth_part(lambda *step: told.append(step), k, 2)(0.5, "half")
    nth_part(lambda *step: told.append(step), 1, 4, "fold 2")(0.0, "")
    assert told == [(0.25, "half"), (0.75, "half"), (0.25, "fold 2")]


@pytest.mark.parametrize(("asked", "left"), [(False, [True, True, False]), (True, [False] * 3)])
def test_work_goes_on_until_its_last_step_or_an_early_end(asked, left):
    told = []
    watch = Watch(lambda *step: told.append(step), lambda: asked).part(0.0, 0.5)
    assert [watch.goes_on("row", k, 3) for k in (1, 2, 3)] == left
    assert [share for share, _ in told] == pytest.approx([1 / 6, 2 / 6, 3 / 6])
    assert told[0][1] == "row 1 of 3"


def test_whoever_is_not_told_is_not_asked():
    assert Watch().goes_on("row", 1, 2)
    assert not Watch().goes_on("row", 2, 2)
