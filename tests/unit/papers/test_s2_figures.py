"""Figures 3 to 6 of S2: quantiles of losses over folds."""

from functools import partial

import pytest

from bncc.errors import OptionError
from bncc.papers.experiments import Effort, Request, reproduce
from bncc.papers.s2_figures import COLUMNS, EXPERIMENTS, FIGURES, cells_of
from bncc.papers.s2_study import SetResult
from tests.uci import write_set

BY_FOLD = {
    "ETAN": [[10.0, 0.5], [20.0, 0.7], [30.0, 0.9]],
    "TAN": [[20.0, 0.4], [0.0, 0.8], [20.0, 0.4]],
}


def test_ratios_leave_out_folds_without_errors():
    result = SetResult(9, 3, {}, {}, {}, BY_FOLD)
    cells = cells_of(FIGURES["s2-figure3"], "some", result, ("least", "median", "most"))
    assert [cell["ours"] for cell in cells] == [0.5, 1.0, 1.5]
    assert {cell["n"] for cell in cells} == {2}
    assert cells[0]["note"] == "without 1 fold in which TAN has no errors"
    none = SetResult(9, 1, {}, {}, {}, {"ETAN": [[9.0, 1.0]], "TAN": [[0.0, 1.0]]})
    assert cells_of(FIGURES["s2-figure3"], "some", none, ("median",))[0]["ours"] is None


def test_differences_keep_all_folds():
    result = SetResult(9, 3, {}, {}, {}, BY_FOLD)
    cells = cells_of(FIGURES["s2-figure4"], "some", result, tuple(COLUMNS))
    assert [cell["ours"] for cell in cells] == pytest.approx([-0.1, 0.0, 0.1, 0.3, 0.5])
    assert {cell["note"] for cell in cells} == {None}


@pytest.mark.parametrize("figure", FIGURES)
def test_each_set_has_a_row_over_its_folds(figure, tmp_path):
    for name in ("iris", "vote"):
        write_set(tmp_path / f"{name}.arff", n_rows=40)
    run = partial(reproduce, EXPERIMENTS[figure])
    log = tmp_path / "log"
    cells = run(Request(tmp_path, effort=Effort(2, log=log)))
    assert [(c["row"], c["column"]) for c in cells] == [
        (row, column) for row in ("iris", "vote") for column in COLUMNS
    ]
    values = [cell["ours"] for cell in cells[:5]]
    assert values == sorted(values)
    part = Request(tmp_path, rows=("vote",), columns=("median",), effort=Effort(2, log=log))
    assert run(part) == (cells[7],)
    with pytest.raises(OptionError, match="has no row 'wine'"):
        run(Request(tmp_path, rows=("wine",)))
