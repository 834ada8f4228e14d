"""The page of all cells: its tables, and the results behind them."""

import csv

from benchmarks.accuracy import papers_page
from benchmarks.accuracy.papers_page import RESULTS, add_results, page_tables, read_results
from benchmarks.accuracy.papers_tasks import tasks


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
