"""Tasks of the papers' experiments: all of them, and their cells."""

import pytest

from benchmarks.accuracy.papers_tasks import tasks
from bncc.papers.experiments import MODULES, Request, find_experiment
from tests.folds import write_images, write_papers_files


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
    by_row = ("s3-size", "s3-pareto", "s0-recover-chow-liu")
    whole = {row if task.table in by_row else f"{row} {column}" for row, column in task.cells}
    assert whole <= set(parts)
    assert task.table in by_row or len(parts) == len(task.cells)
