"""All experiments of the papers as tasks: their cells, hours, runs and page."""

import csv
from dataclasses import replace

import pytest

from benchmarks.accuracy import papers_page, papers_run
from benchmarks.accuracy.papers_page import RESULTS, add_results, page_tables, read_results
from benchmarks.accuracy.papers_run import hours_of, is_too_long, read_seconds, run, write_seconds
from benchmarks.accuracy.papers_tasks import Task, tasks
from bncc.papers.experiments import MODULES, Request, find_experiment
from tests.folds import write_images, write_papers_files

TASK = Task(
    "s0-table1", "some", (("letter", "NB HYB"), ("letter", "TAN All")), ("--row", "letter"), "s0",
    ("s0-table1", "--row", "letter"), 100.0, 0.5,
)  # fmt: skip


@pytest.fixture
def called(monkeypatch):
    """Replace calls of the command line, and return them."""
    called = []

    def fake(table, options, data, *more):
        called.append((table, options, more))
        if "-o" in more:
            with open(more[more.index("-o") + 1], "w", encoding="utf-8") as file:  # noqa: PTH123
                file.write("table\n")

    monkeypatch.setattr(papers_run, "call", fake)
    return called


def test_every_experiment_has_a_task_and_names_are_unique():
    every = tasks()
    assert {task.table for task in every} == set(MODULES)
    assert len({task.name for task in every}) == len(every)
    assert all(task.quick[0] in MODULES and task.ratio > 0 < task.largest <= 1 for task in every)


@pytest.mark.parametrize("task", [t for t in tasks() if t.folder == "paper"], ids=lambda t: t.name)
def test_rows_and_columns_are_those_of_the_experiment(task, tmp_path):
    """The cells of a search are its parts; other experiments have parts of several cells."""
    write_papers_files(tmp_path)
    write_images(tmp_path)
    pairs = list(zip(task.options[::2], task.options[1::2], strict=True))
    rows, columns = (tuple(v for k, v in pairs if k == name) for name in ("--row", "--column"))
    parts = find_experiment(task.table).parts(Request(tmp_path, rows=rows, columns=columns))
    if task.table not in ("s3-size", "s3-pareto", "s0-recover-chow-liu"):
        assert sorted(parts) == sorted(f"{row} {column}" for row, column in task.cells)
    quick = dict(zip(task.quick[1::2], task.quick[2::2], strict=False))
    if "--column" in quick:
        asked = Request(tmp_path, rows=(quick["--row"],), columns=(quick["--column"],))
        assert find_experiment(task.quick[0]).parts(asked)


def test_committed_results_are_those_of_tasks():
    known = {(task.table, *cell) for task in tasks() for cell in task.cells}
    assert set(read_results(RESULTS)) <= known


def test_the_page_shows_each_cell_of_the_tables():
    tables = page_tables()
    assert "| dcmall | NB-ML |  | 18.93 |  |  |  | data cannot be had |" in tables["s1-table1"]
    assert "| letter | TAN All |" in tables["s0-table1"]
    assert "bncc reproduce s0-figure3 --row mnist" in tables["tasks"]
    assert "hours on one core" in tables["hours"]
    text = papers_page.PAGE.read_text("utf-8")
    assert all(f"<!-- table: {name} -->\n{shown}" in text for name, shown in tables.items())


def test_the_last_result_of_a_cell_counts(tmp_path):
    results, cells = tmp_path / "results.csv", tmp_path / "cells.csv"
    results.write_text(
        f"{','.join(papers_page.HEAD)}\ns0-table1,letter,NB HYB,13.1,old,60 x 500,page\n"
    )
    with cells.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["table", "row", "column", "paper", "ours", "n", "note"])
        writer.writerow(["s0-table1", "letter", "NB HYB", 12.93, 12.6614598, 6658, "hybrid won"])
        writer.writerow(["s0-table1", "letter", "TAN All", 8.76, "", "", "absent"])
    assert add_results(cells, "make papers", "60 x 500", results) == 1
    ((place, result),) = read_results(results).items()
    assert place == ("s0-table1", "letter", "NB HYB")
    assert result == (12.6614598, "hybrid won", "60 x 500", "make papers")


def test_hours_are_those_of_the_quick_cell():
    assert hours_of(TASK, 72.0) == 2.0
    assert not is_too_long(TASK, 72.0 * 12)
    assert is_too_long(TASK, 72.0 * 12.1)


def test_seconds_persist(tmp_path):
    write_seconds({"a --b": 1.25}, tmp_path / "seconds.csv")
    assert read_seconds(tmp_path / "seconds.csv") == {"a --b": 1.25}
    assert read_seconds(tmp_path / "none.csv") == {}


def test_a_task_runs_once(called, tmp_path):
    assert run(TASK, 1.0, tmp_path, tmp_path, 2) == "done"
    (table, options, more) = called[0]
    assert (table, options) == ("s0-table1", ("--row", "letter"))
    assert more == (
        "--checkpoint", f"{tmp_path}/s0.jsonl", "--jobs", "2", "-o", f"{tmp_path}/some.csv",
    )  # fmt: skip
    assert run(TASK, 1.0, tmp_path, tmp_path, 2) == "is there"
    assert len(called) == 1


def test_a_task_of_days_runs_a_smaller_one_or_none(called, tmp_path):
    days = 72.0 * 20
    assert "left out" in run(TASK, days, tmp_path, tmp_path, 1)
    assert called == []
    small = replace(TASK, smaller=("--row", "letter", "--runs", "1"))
    assert run(small, days, tmp_path, tmp_path, 1) == "done, a smaller run"
    assert called[0][1] == small.smaller
    assert called[0][2][-1].endswith("some.smaller.csv")
    assert run(small, days, tmp_path, tmp_path, 1) == "is there, a smaller run"


def test_the_quick_cell_is_timed_twice(called, tmp_path):
    assert papers_run.quick_seconds(TASK, tmp_path) == papers_run.FASTEST
    assert [table for table, _, _ in called] == ["s0-table1"] * 2
    assert called[0] == called[1]
