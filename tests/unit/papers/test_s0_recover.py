"""S0's section 4.6: likelihood alone finds the Chow-Liu tree again."""

from functools import partial

import numpy as np
import pytest

from bncc.errors import DataError
from bncc.papers import s0
from bncc.papers.experiments import Request, reproduce
from bncc.papers.folds import AUTHORS, FOLDS
from bncc.papers.s0 import EXPERIMENTS
from bncc.structure.graph import forest

s0_recover_chow_liu = partial(reproduce, EXPERIMENTS["s0-recover-chow-liu"])


@pytest.fixture
def small_folder(tmp_path):
    """Return a folder of small files laid out as the authors' are: a chain, and a constant."""
    generator = np.random.default_rng(0)
    for name in AUTHORS:
        arrays = {}
        for fold in range(1, FOLDS[name] + 1):
            for part, n in (("tr", 300), ("te", 20)):
                columns = [generator.integers(1, 4, n)]
                for keep in (0.9, 0.7):
                    noise = generator.integers(1, 4, n)
                    columns.append(np.where(generator.random(n) < keep, columns[-1], noise))
                columns.append(np.ones(n, dtype=int))
                arrays[f"x_{part}_fold{fold}"] = np.column_stack(columns).astype(np.uint8)
                arrays[f"t_{part}_fold{fold}"] = (np.arange(n) % 2).astype(np.uint8)
        np.savez(tmp_path / f"{name}.npz", **arrays)
    return tmp_path


def test_every_parent_is_found_again_and_one_that_tells_nothing_is_not_missed(small_folder):
    cells = {cell["row"]: cell for cell in s0_recover_chow_liu(Request(small_folder))}
    assert [cell["ours"] for cell in cells.values()] == [100.0, 100.0, 100.0, None]
    assert [cell["n"] for cell in cells.values()] == [3, 15, 3, None]
    assert cells["satimage"]["note"] == "over 5 folds"
    assert cells["letter"]["note"] is None
    assert "mnist" in cells["mnist"]["note"]


def test_a_parent_that_tells_less_is_not_the_trees(small_folder, monkeypatch):
    told = []
    monkeypatch.setattr(s0, "chow_liu_tree", lambda *_: forest([None, 0, 0, 0]))
    request = Request(small_folder, quick=True)
    cells = s0_recover_chow_liu(request, lambda done, text: told.append((done, text)))
    assert [(cell["row"], cell["n"]) for cell in cells] == [("letter", 3), ("satimage", 15)]
    assert cells[0]["ours"] == pytest.approx(200 / 3)
    assert [done for done, _ in told] == sorted(done for done, _ in told)
    assert told[0] == (0.0, "letter")
    assert told[1][1].startswith("letter fold 1, loss ")
    assert told[-1][0] == pytest.approx(1.0)


def test_a_folder_without_the_files_is_refused(tmp_path):
    with pytest.raises(DataError, match=r"has no letter\.npz"):
        s0_recover_chow_liu(Request(tmp_path))


@pytest.mark.slow
@pytest.mark.shared
def test_letter_and_satimage_recover_their_trees(shared_data):
    cells = s0_recover_chow_liu(Request(shared_data / "paper", quick=True))
    assert [cell["ours"] for cell in cells] == [100.0, 100.0]
