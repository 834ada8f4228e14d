"""Runs of tasks: hours, resuming, and smaller runs."""

from dataclasses import replace

import pytest

from benchmarks.accuracy import papers_run
from benchmarks.accuracy.papers_run import hours_of, is_too_long, read_seconds, run, write_seconds
from benchmarks.accuracy.papers_tasks import Task

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
