"""Table 1 of S0: the cells that our data allow, to the printed digit where tables are counted."""

from functools import partial

import pytest

from bncc.errors import DataError, OptionError
from bncc.papers import search as search_module
from bncc.papers.experiments import Effort, Request, reproduce
from bncc.papers.folds import AUTHORS, FILES, FOLDS
from bncc.papers.s0 import BATCH_SIZES, COUNTED, EXPERIMENTS, PAPER, RUNS_AND_EPOCHS
from bncc.papers.search import Found
from tests.folds import write_papers_files

s0_table1 = partial(reproduce, EXPERIMENTS["s0-table1"])
LITTLE = Effort(n_runs=2, epochs=1)


@pytest.fixture
def folder(tmp_path):
    """Return a folder of tiny files laid out as the papers' are."""
    write_papers_files(tmp_path)
    return tmp_path


def by_place(cells):
    return {(cell["row"], cell["column"]): cell for cell in cells}


@pytest.mark.shared
def test_the_maximum_likelihood_cells_are_the_papers(shared_data):
    cells = s0_table1(Request(shared_data / "paper", quick=True))
    assert [(cell["row"], cell["column"]) for cell in cells] == [
        (row, column) for row in AUTHORS for column in COUNTED
    ]
    assert [round(cell["ours"], 2) for cell in cells] == [cell["paper"] for cell in cells]
    assert [cell["n"] for cell in cells] == [6658, 6658, 6411, 6411, 3660, 3660]


def test_a_cell_is_the_mean_over_folds_and_says_so(folder):
    cells = by_place(s0_table1(Request(folder, quick=True)))
    assert cells["satimage", "NB ML"]["n"] == 100
    assert cells["satimage", "NB ML"]["note"] == "ml tables; mean over 5 folds"
    assert cells["letter", "NB ML"] == {
        "row": "letter", "column": "NB ML", "paper": 25.89, "ours": 0.0, "n": 20,
        "note": "ml tables",
    }  # fmt: skip


def test_a_full_run_fills_every_cell_of_the_paper(folder):
    told = []
    cells = s0_table1(Request(folder, effort=LITTLE), lambda done, text: told.append((done, text)))
    assert [*by_place(cells)] == [(row, column) for row in PAPER for column in PAPER[row]]
    for cell in cells:
        assert set(cell) == {"row", "column", "paper", "ours", "n", "note"}
        assert cell["ours"] is not None
        note = cell["note"] or ""
        assert (cell["column"] in COUNTED) != ("chosen of 2 runs by validation rows (" in note)
        assert (cell["column"] in COUNTED) != ("of the 2 learned again" in note)
        assert (cell["column"] in COUNTED) == ("ml tables" in note)
        assert (cell["column"] in COUNTED) != ("; hybrid tables won, lambda" in note)
        assert (cell["row"] == "satimage") == ("5 folds" in note)
        assert (cell["row"] == "mnist") == ("our own preparation" in note)
    assert told[0] == (0.0, "letter NB ML")
    assert [done for done, _ in told] == sorted(done for done, _ in told)


def test_each_row_has_an_effort_of_its_own(folder, monkeypatch):
    asked = {}

    def fake(fold, drawn, *, n_near, **rest):
        asked[fold.name] = (len(drawn) + n_near, drawn[0].epochs, drawn[0].batch_size)
        return Found((drawn[0],), 0.1, 0.2, 0.2, 1, 1, (7,))

    monkeypatch.setattr(search_module, "search", fake)
    s0_table1(Request(folder, columns=("Chow-Liu HYB",)))
    assert asked == {
        f"{FILES[row]} {k}": (*RUNS_AND_EPOCHS[row], BATCH_SIZES[row])
        for row in PAPER
        for k in range(1, FOLDS[row] + 1)
    }
    s0_table1(Request(folder, columns=("NB HYB",)))
    assert asked["letter.npz 1"] == (60, 500, 100)
    assert asked["usps.npz 1"] == (60, 60, 100)
    s0_table1(Request(folder, columns=("NB HYB",), effort=LITTLE))
    assert set(asked.values()) == {(2, 1, batch) for batch in BATCH_SIZES.values()}


def test_rows_and_columns_can_be_asked_for(folder):
    cells = s0_table1(
        Request(folder, rows=("mnist", "letter"), columns=("NB ML", "TAN All"), effort=LITTLE)
    )
    assert [*by_place(cells)] == [("mnist", "NB ML"), ("letter", "NB ML"), ("letter", "TAN All")]
    quick = s0_table1(Request(folder, quick=True, rows=("mnist",)))
    assert [*by_place(quick)] == [("mnist", column) for column in COUNTED]


def test_free_tables_have_columns_of_their_own(folder):
    """They are computed if named, next to the hybrid tables of the same structure."""
    columns = ("NB HYB", "NB free", "TAN Random free")
    found = by_place(s0_table1(Request(folder, rows=("letter",), columns=columns, effort=LITTLE)))
    assert [*found] == [("letter", column) for column in columns]
    assert [cell["paper"] for cell in found.values()] == [12.93, None, None]
    for column, kind in zip(columns, ("hybrid", "free", "free"), strict=True):
        assert f"; {kind} tables won, lambda" in found["letter", column]["note"]
    assert not any(
        "free" in column for _, column in by_place(s0_table1(Request(folder, quick=True)))
    )


@pytest.mark.parametrize(
    ("rows", "columns", "said"),
    [
        (("digits",), (), "no row 'digits'; choose from 'letter', 'satimage'"),
        ((), ("nb hyb",), "no column 'nb hyb'; choose from 'NB ML', "),
        (("usps",), ("TAN All",), "the paper has no TAN All of usps"),
        (("usps",), ("TAN All free",), "the paper has no TAN All free of usps"),
    ],
)
def test_what_the_paper_does_not_have_is_refused(folder, rows, columns, said):
    with pytest.raises(OptionError, match=said):
        s0_table1(Request(folder, rows=rows, columns=columns))


def test_a_folder_without_the_authors_files_is_refused(tmp_path):
    with pytest.raises(DataError, match=r"has no letter\.npz and no satimage\.npz and no usps"):
        s0_table1(Request(tmp_path))


def test_mnist_is_ours_and_may_be_absent_unless_asked_for(folder):
    (folder / "mnist14.npz").unlink()
    cells = by_place(s0_table1(Request(folder, columns=("NB ML",))))
    assert cells["mnist", "NB ML"]["ours"] is None
    assert cells["mnist", "NB ML"]["note"] == "there is no mnist14.npz"
    with pytest.raises(DataError, match=r"no mnist14\.npz"):
        s0_table1(Request(folder, rows=("mnist",)))
