"""Table 1 of S0: the cells that our data allow, to the printed digit."""

import numpy as np
import pytest

from bncc.bench.request import Effort, Request
from bncc.bench.s0_table1 import COLUMNS, FOLDS, PAPER, TRAINED, s0_table1
from bncc.bench.search import decide
from bncc.errors import DataError
from bncc.structure.graph import forest


@pytest.fixture
def small_folder(tmp_path):
    """Return a folder of tiny files laid out as the authors' are."""
    generator = np.random.default_rng(0)
    for name, folds in FOLDS.items():
        arrays = {}
        for fold in range(1, folds + 1):
            for part, n in (("tr", 40), ("te", 20)):
                t = np.arange(n, dtype=np.uint8) % 2
                noise = generator.integers(0, 2, (n, 3), dtype=np.uint8)
                arrays[f"x_{part}_fold{fold}"] = np.column_stack([t, noise]) + np.uint8(1)
                arrays[f"t_{part}_fold{fold}"] = t
        np.savez(tmp_path / f"{name}.npz", **arrays)
    return tmp_path


@pytest.mark.shared
def test_the_maximum_likelihood_cells_are_the_papers(shared_data):
    cells = s0_table1(Request(shared_data / "paper", quick=True))
    assert [(cell["row"], cell["column"]) for cell in cells] == [
        (row, column) for row in ("letter", "satimage", "usps") for column in COLUMNS[:2]
    ]
    assert [round(cell["ours"], 2) for cell in cells] == [cell["paper"] for cell in cells]
    assert [cell["n"] for cell in cells] == [6658, 6658, 6411, 6411, 3660, 3660]


def test_a_cell_is_the_mean_over_folds_and_says_so(small_folder):
    cells = {(c["row"], c["column"]): c for c in s0_table1(Request(small_folder, quick=True))}
    assert cells["satimage", "NB ML"]["n"] == 100
    assert cells["satimage", "NB ML"]["note"] == "mean over 5 folds"
    assert cells["letter", "NB ML"] == {
        "row": "letter", "column": "NB ML", "paper": 25.89, "ours": 0.0, "n": 20, "note": None,
    }  # fmt: skip


def test_a_full_run_lists_every_cell_of_the_paper_and_why_ours_is_absent(small_folder):
    told = []
    cells = s0_table1(
        Request(small_folder, effort=Effort(n_runs=2, epochs=1)),
        lambda done, text: told.append((done, text)),
    )
    assert len(cells) == sum(value is not None for row in PAPER.values() for value in row)
    for cell in cells:
        assert set(cell) == {"row", "column", "paper", "ours", "n", "note"}
        assert (cell["ours"] is None) == (cell["row"] == "mnist")
        trained = cell["column"] in TRAINED and cell["row"] != "mnist"
        assert trained == ("chosen of 2 runs by validation" in (cell["note"] or ""))
    assert told[0] == (0.0, "letter NB ML")
    assert [done for done, _ in told] == sorted(done for done, _ in told)


def test_a_folder_without_the_files_is_refused(tmp_path):
    with pytest.raises(DataError, match=r"holds no letter\.npz and no satimage\.npz and no usps"):
        s0_table1(Request(tmp_path))


def test_a_file_without_test_rows_is_refused(small_folder):
    arrays = dict(np.load(small_folder / "letter.npz"))
    arrays["x_te_fold1"], arrays["t_te_fold1"] = arrays["x_te_fold1"][:0], arrays["t_te_fold1"][:0]
    np.savez(small_folder / "letter.npz", **arrays)
    with pytest.raises(DataError, match="has no test rows"):
        s0_table1(Request(small_folder, quick=True))


def test_decisions_take_the_smallest_class_on_ties():
    tables = (np.zeros(3), (np.array([[-1.0, 0.0, 0.0], [0.0, -1.0, 0.0]]),))
    assert decide(np.array([[0], [1]]), forest([None]), [2], tables).tolist() == [1, 0]
