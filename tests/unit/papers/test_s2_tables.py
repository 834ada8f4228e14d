"""Tables of S2: cells, ours compared with the paper's."""

from functools import partial

import pytest

from bncc.errors import DataError, OptionError
from bncc.papers import s2
from bncc.papers.experiments import Effort, Request, reproduce
from bncc.papers.s2 import COLUMNS, EXPERIMENTS, TABLES, Row, row_cells
from bncc.papers.s2_data import Protocol
from bncc.papers.s2_study import SetResult
from tests.uci import write_set

RUN = {name: partial(reproduce, experiment) for name, experiment in EXPERIMENTS.items()}


def result(etan, tan):
    """Return a result in which two learners have these values for every measure."""
    values = {"ETAN": etan, "TAN": tan, "ETAN 20 % missing": tan, "TAN 20 % missing": etan}
    return SetResult(100, 10, values, values, values, {})


RESULTS = [result(3.0, 5.0), result(4.0, 4.0), result(2.0, 2.5), result(6.0, 5.0)]


def test_a_row_has_a_cell_for_each_column():
    cells = row_cells(Row("ETAN", "TAN", "error", (1, 2, 3, None, 0.5)), RESULTS)
    assert [cell["column"] for cell in cells] == list(COLUMNS)
    assert {cell["row"] for cell in cells} == {"ETAN vs TAN zero-one"}
    assert [cell["paper"] for cell in cells] == [1, 2, 3, None, 0.5]
    assert [cell["ours"] for cell in cells] == [2, 1, 1, -0.25, 0.375]
    assert {cell["n"] for cell in cells} == {4}
    notes = [None, None, None, "percentage points", "that ETAN has less"]
    assert [cell["note"] for cell in cells] == notes


def test_a_score_is_won_by_the_greater_and_says_of_how_many_folds_it_holds():
    cells = row_cells(Row("ETAN", "TAN", "bdeu", (None,) * 5), RESULTS)
    assert [cell["ours"] for cell in cells[:3]] == [1, 1, 2]
    assert cells[2]["note"] == "nor in any of 40 folds"
    assert cells[4]["note"] == "that ETAN has less"


def test_missing_cells_have_losses_of_their_own():
    row = Row("ETAN", "TAN", "log_loss", (None,) * 5, percent=20)
    cells = row_cells(row, RESULTS)
    assert cells[0]["row"] == "ETAN vs TAN 20 % missing log loss"
    assert [cell["ours"] for cell in cells[:3]] == [1, 1, 2]


def test_losses_that_differ_by_rounding_are_ties():
    results = [result(0.5, 0.5 + 1e-12), result(0.2, 0.1)]
    assert row_cells(Row("ETAN", "TAN", "log_loss", (None,) * 5), results)[1]["ours"] == 1
    assert row_cells(Row("ETAN", "TAN", "error", (None,) * 5), results)[1]["ours"] == 0


def test_the_papers_counts_sum_to_its_sixty_sets():
    for rows in TABLES.values():
        for row in rows:
            assert sum(row.paper[:3]) == 60, row.name
        assert len({row.name for row in rows}) == len(rows)


@pytest.mark.parametrize("table", TABLES)
def test_each_table_is_one_study(table, tmp_path):
    for k, name in enumerate(("iris", "mine")):
        write_set(tmp_path / f"{name}.arff", seed=k, n_rows=40)
    log = tmp_path / "log"
    effort = Effort(log=log)
    cells = RUN[table](Request(tmp_path, effort=effort))
    names = [row.name for row in TABLES[table]]
    assert [(cell["row"], cell["column"]) for cell in cells] == [
        (name, column) for name in names for column in COLUMNS
    ]
    assert all(cell["n"] == 2 for cell in cells)
    text = log.read_text()
    for other in RUN.values():
        other(Request(tmp_path, effort=effort))
    assert log.read_text() == text, "the others cost nothing"
    quick = RUN[table](Request(tmp_path, quick=True, effort=effort))
    assert all(cell["n"] == 1 for cell in quick)
    assert log.read_text() == text


def test_a_part_is_asked_for_and_runs_are_repeats(tmp_path, monkeypatch):
    write_set(tmp_path / "mine.arff", n_rows=40)
    asked = []
    study = s2.study
    monkeypatch.setattr(s2, "study", lambda *args: asked.append(args) or study(*args))
    rows = ("S-ETAN vs AODE log loss", "S-ETAN vs NB zero-one")
    request = Request(tmp_path, rows=rows, columns=("p",), effort=Effort(n_runs=2))
    cells = RUN["s2-table2"](request)
    assert [(cell["row"], cell["column"]) for cell in cells] == [(row, "p") for row in rows]
    assert asked[0][1] == Protocol(n_repeats=2)
    with pytest.raises(OptionError, match="s2-table2 has no row 'letter'"):
        RUN["s2-table2"](Request(tmp_path, rows=("letter",)))
    with pytest.raises(OptionError, match="s2-table2 has no column 'NB ML'"):
        RUN["s2-table2"](Request(tmp_path, columns=("NB ML",)))


def test_a_folder_without_sets_is_refused(tmp_path):
    with pytest.raises(DataError, match="has no ARFF files"):
        RUN["s2-table1"](Request(tmp_path))
