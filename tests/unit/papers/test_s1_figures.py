"""Figures 2 to 4 of S1: box plots of runs, and schedules of annealing."""

from functools import partial

import pytest

from bncc.papers import s1_runs
from bncc.papers.experiments import Effort, Request, reproduce
from bncc.papers.s1 import EXPERIMENTS as TABLES
from bncc.papers.s1 import ROWS
from bncc.papers.s1_figures import BOX, EXPERIMENTS, SCHEDULES
from bncc.papers.s1_runs import SEARCHED
from bncc.structure.margin_scores.search import anneal
from tests.folds import small_fold
from tests.s1_files import write_s1_files

s1_figure2, s1_figure3, s1_figure4 = (
    partial(reproduce, EXPERIMENTS[f"s1-figure{k}"]) for k in (2, 3, 4)
)
FOUND = {0: ((0.4, 0.1, 0.3), (900, 500, 700)), 1: ((0.2, 0.3, 0.5), (100, 300, 500))}
"""Errors and evaluations of three runs, by split."""


@pytest.fixture
def folder(tmp_path):
    write_s1_files(tmp_path)
    return tmp_path


@pytest.fixture
def coolings(monkeypatch):
    """Replace searches by known results; return the coolings of their calls."""
    asked = []

    def results(self, calls, advance):
        found = []
        for f, what, how in calls:
            if what == "scale":
                found.append({"lambda": 0.1})
            elif what == "learn":
                asked.append(how[3:])
                found.append({"parents": [f % 2, how[1]], "evaluations": FOUND[f % 2][1][how[1]]})
            else:
                (split, run), _ = how
                found.append({"error": FOUND[split][0][run]})
        return found

    monkeypatch.setattr(s1_runs.Runs, "results", results)
    monkeypatch.setattr("bncc.papers.s1_figures.N_SPLITS", 2)
    return asked


def test_a_box_is_that_of_the_means_over_splits(folder, coolings):
    part = Request(folder, rows=("spambase",), columns=("TAN-SA-MM",), effort=Effort(3))
    (cell,) = s1_figure2(part)
    assert [cell[key] for key in BOX] == pytest.approx([20, 25, 30, 35, 40])
    assert (cell["ours"], cell["evaluations"]) == pytest.approx((30, 500))
    assert cell["note"].startswith("quartiles 25.00 and 35.00, range 20.00 to 40.00, 3 runs; 500")
    assert coolings == [()] * 6
    (cell,) = s1_figure3(part)
    assert (cell["ours"], [cell[key] for key in BOX]) == (500, [400, 450, 500, 550, 600])


def test_each_column_has_its_cooling(folder, coolings):
    columns = ("TAN-SA-CR D 0.5", "TAN-SA-MM D 0.8")
    s1_figure4(Request(folder, rows=("usps",), columns=columns, effort=Effort(1)))
    assert coolings == [(0.5,), ()]
    (cell,) = s1_figure4(Request(folder, rows=("usps",), columns=columns[:1], effort=Effort(1)))
    assert ", 1 run; " in cell["note"]
    assert len(SCHEDULES) == 10


def test_annealing_gets_the_cooling(monkeypatch):
    seen = []

    def spy(tree, schedule, *rest):
        seen.append(schedule.cooling)
        return anneal(tree, schedule, *rest)

    monkeypatch.setattr(s1_runs, "anneal", spy)
    s1_runs.learn(small_fold(), "TAN-SA-CR", 0, None, 0.5)
    s1_runs.learn(small_fold(), "TAN-SA-CR", 0, None)
    assert seen == [0.5, 0.8]


def test_the_runs_are_those_of_the_tables(folder, monkeypatch):
    effort = Effort(2, log=folder / "log")
    part = Request(folder, rows=("usps",), effort=effort, columns=("TAN-SA-CR-ML",))
    (theirs,) = reproduce(TABLES["s1-table1"], part)
    monkeypatch.setitem(s1_runs._DONE, "learn", None)
    (cell,) = s1_figure2(Request(folder, rows=("usps",), effort=effort, columns=("TAN-SA-CR",)))
    assert cell["ours"] == pytest.approx(theirs["ours"])
    assert cell["paper"] is None


def test_what_is_absent_is_said(folder, coolings):
    cells = s1_figure3(Request(folder, effort=Effort(3)))
    assert [(c["row"], c["column"]) for c in cells] == [(r, c) for r in ROWS for c in SEARCHED]
    assert {cell["ours"] is None for cell in cells if cell["row"] == "dcmall"} == {True}
    assert cells[-1]["note"] == "DCMall is not available"
    assert len({tuple(cell) for cell in cells}) == 1
    assert cells[-1]["evaluations"] is None
