"""Error over bits: the integer models that are tried, and their cells."""

from dataclasses import replace
from functools import partial

import pytest

from bncc.errors import DataError, OptionError
from bncc.papers import search as search_module
from bncc.papers.experiments import Effort, Request, reproduce
from bncc.papers.folds import AUTHORS, FILES, FOLDS
from bncc.papers.s3 import (
    BITS,
    BITS_COLUMNS,
    BITS_RUNS_AND_EPOCHS,
    EXPERIMENTS,
    INT_BITS,
    QUICK_RUNS,
    bits_column,
    in_bits,
)
from bncc.papers.search import Found
from bncc.train.settings import TrainSettings
from tests.folds import write_papers_files

s3_bits = partial(reproduce, EXPERIMENTS["s3-bits"])
LITTLE = Effort(n_runs=2, epochs=1)
DRAWN = tuple(TrainSettings(float_=True, lr=0.01, seed=seed) for seed in range(30))


@pytest.fixture
def folder(tmp_path):
    """Return a folder of tiny files laid out as the papers' are."""
    write_papers_files(tmp_path)
    return tmp_path


@pytest.mark.parametrize("bits", [1, 4, 8])
def test_every_place_of_the_binary_point_is_tried(bits):
    tried = in_bits(DRAWN, bits)
    assert {settings.int_bits for settings in tried} == set(INT_BITS)
    assert {settings.total_bits for settings in tried} == {bits}
    assert len({settings.lr for settings in tried}) == 30
    assert [settings.seed for settings in tried] == list(range(30))
    assert not any(settings.float_ for settings in tried)


def test_more_runs_begin_with_the_same_ones():
    assert in_bits(DRAWN[:5], 3) == in_bits(DRAWN, 3)[:5]


def test_columns_are_named_by_bits():
    assert [bits_column("NB", bits) for bits in (None, 1, 8)] == [
        "NB float",
        "NB 1 bit",
        "NB 8 bits",
    ]
    assert len(BITS_COLUMNS) == 2 * len(BITS) == 18


def test_cells_of_all_sets(folder):
    columns = ("NB float", "NB 1 bit", "TAN 8 bits")
    told = []
    cells = s3_bits(
        Request(folder, columns=columns, effort=LITTLE),
        lambda done, text: told.append((done, text)),
    )
    assert [(c["row"], c["column"]) for c in cells] == [(r, c) for r in FILES for c in columns]
    assert [cell["n"] for cell in cells[::3]] == [20, 100, 20, 30]
    assert [cell["paper"] for cell in cells[:3]] == [12.93, None, None]
    assert [cell["bits"] for cell in cells[:3]] == [None, 1, 8]
    assert cells[0]["q_format"] is None
    for cell in cells[1:3]:
        q_format = cell["q_format"]
        assert q_format["int_bits"] + q_format["frac_bits"] == cell["bits"]
        assert cell["note"].startswith(f"UQ{q_format['int_bits']}.{q_format['frac_bits']}; chosen")
    assert [cell["operations"] for cell in cells[:2]] == [2 * (1 + 4)] * 2
    assert cells[0]["entries"] == 2 + 4 * 2 * 2 < cells[2]["entries"]
    assert ["our own preparation" in cell["note"] for cell in cells[::3]] == [False] * 3 + [True]
    assert told[0] == (0.0, "letter NB float")
    assert [done for done, _ in told] == sorted(done for done, _ in told)


def test_each_row_has_an_effort_of_its_own(folder, monkeypatch):
    asked = {}

    def fake(fold, drawn, *, n_near, **rest):
        asked[fold.name] = (len(drawn) + n_near, drawn[0].epochs)
        return Found((drawn[0],), 0.1, 0.2, 0.2, 1, 1, (7,))

    monkeypatch.setattr(search_module, "search", fake)
    s3_bits(Request(folder, columns=("NB 2 bits",)))
    assert asked == {
        f"{FILES[row]} {k}": BITS_RUNS_AND_EPOCHS[row]
        for row in FILES
        for k in range(1, FOLDS[row] + 1)
    }
    s3_bits(Request(folder, columns=("NB 2 bits",), rows=("letter",), quick=True))
    assert asked[FILES["letter"] + " 1"] == (QUICK_RUNS, BITS_RUNS_AND_EPOCHS["letter"][1])


def test_free_tables_have_columns_of_their_own(folder):
    columns = ("NB float", "NB float free", "NB 2 bits free")
    cells = s3_bits(Request(folder, rows=("letter",), columns=columns, effort=LITTLE))
    assert [cell["column"] for cell in cells] == list(columns)
    assert [cell["paper"] for cell in cells] == [12.93, None, None]
    assert [cell["bits"] for cell in cells] == [None, None, 2]
    for cell, kind in zip(cells, ("hybrid", "free", "free"), strict=True):
        assert f"; {kind} tables won, lambda" in cell["note"]


def test_each_fold_may_have_a_binary_point_of_its_own(folder):
    part = Request(folder, rows=("satimage",), columns=("NB 2 bits",), effort=LITTLE)
    (cell,) = s3_bits(part)
    points = cell["note"].split(";")[0].split(", ")
    assert len(points) == 5
    assert (cell["q_format"] is None) == (len(set(points)) > 1)


def test_quick_is_naive_bayes_on_letter(folder):
    cells = s3_bits(Request(folder, quick=True, effort=LITTLE))
    assert {cell["row"] for cell in cells} == {"letter"}
    assert [cell["column"] for cell in cells] == [bits_column("NB", bits) for bits in BITS]


def test_mnist_may_be_absent_unless_it_is_named(folder):
    (folder / FILES["mnist"]).unlink()
    asked = Request(folder, columns=("NB 1 bit",), effort=LITTLE)
    assert [cell["row"] for cell in s3_bits(asked)] == list(AUTHORS)
    with pytest.raises(DataError, match=r"has no mnist14\.npz"):
        s3_bits(replace(asked, rows=("mnist",)))


def test_unknown_rows_and_columns_are_refused(folder):
    with pytest.raises(OptionError, match="s3-bits has no row 'mnist14'; choose from 'letter'"):
        s3_bits(Request(folder, rows=("mnist14",)))
    with pytest.raises(OptionError, match="s3-bits has no column 'NB 9 bits'"):
        s3_bits(Request(folder, columns=("NB 9 bits",)))


def test_a_folder_without_the_files_is_refused(tmp_path):
    with pytest.raises(DataError, match=r"has no letter\.npz"):
        s3_bits(Request(tmp_path, quick=True))
