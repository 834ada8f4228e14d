"""The data sets of S1: sizes, folders, and descriptions."""

import gzip

import numpy as np
import pytest

from bncc.errors import DataError
from bncc.papers.s1_runs import _drawn, s1_folds, s1_path
from bncc.structure.graph import forest, free_parameters
from tests.s1_files import write_s1_files


@pytest.fixture
def folder(tmp_path):
    write_s1_files(tmp_path)
    return tmp_path


@pytest.mark.no_cover
@pytest.mark.shared
def test_usps_has_the_papers_sizes_and_almost_its_6089_free_parameters(shared_data):
    """The paper's cuts are those of other training rows."""
    (fold,) = s1_folds(shared_data, "usps")
    assert (len(fold.y), len(fold.y_test), fold.X.shape[1]) == (8000, 3000, 256)
    assert free_parameters(forest([None] * 256), fold.n_states, 10) == 6019


@pytest.mark.shared
def test_spambase_is_five_halves(shared_data):
    folds = s1_folds(shared_data, "spambase")
    assert [(len(fold.y), len(fold.y_test)) for fold in folds] == [(2301, 2300)] * 5
    assert len({fold.digest for fold in folds}) == 5


def test_each_split_has_every_row_once_and_is_drawn_by_its_number(folder):
    folds = s1_folds(folder, "spambase", 3)
    assert [(len(fold.y), len(fold.y_test)) for fold in folds] == [(61, 60)] * 3
    assert len({fold.y.tobytes() for fold in folds}) == 3
    again = s1_folds(folder, "spambase", 1)[0]
    assert again.digest == folds[0].digest
    for fold in folds:
        assert np.bincount(fold.y).sum() + np.bincount(fold.y_test).sum() == 121
        assert np.bincount(fold.y)[1] + np.bincount(fold.y_test)[1] == sum(
            np.bincount(part)[1] for part in (folds[0].y, folds[0].y_test)
        )


def test_usps_is_cut_on_its_training_rows(folder):
    """Test rows change neither cuts nor states, however large their pixels are."""
    (fold,) = s1_folds(folder, "usps")
    assert (len(fold.y), len(fold.y_test)) == (43, 17)
    assert fold.n_states[0] == 2
    assert (fold.X[:, 0] == fold.y).all()
    assert (fold.X_test[:, 0] == fold.y_test).all()
    path = folder / "raw" / "usps_all.csv.gz"
    lines = gzip.decompress(path.read_bytes()).decode().splitlines()
    tested = np.flatnonzero(~_drawn(60, 43, 0))
    for k in tested:
        lines[1 + k] = ",".join(["250"] * 4 + [lines[1 + k][-1]])
    path.write_bytes(gzip.compress("\n".join(lines).encode()))
    (again,) = s1_folds(folder, "usps")
    assert again.n_states == fold.n_states
    assert np.array_equal(again.X, fold.X)
    assert not np.array_equal(again.X_test, fold.X_test)


def test_mnist_is_split_as_it_says(folder):
    (fold,) = s1_folds(folder, "mnist14")
    assert (len(fold.y), len(fold.y_test)) == (60, 30)
    assert fold.y_test.tolist() == [k % 2 for k in range(2, 90, 3)]


@pytest.mark.parametrize("place", [".", "paper", "raw"])
def test_the_folder_of_all_or_one_within_will_do(folder, place):
    for row in ("mnist14", "usps", "spambase"):
        assert s1_path(folder / place, row) is not None


def test_absent_files_are_one_sentence(tmp_path):
    with pytest.raises(DataError, match=r"has no spambase.csv.gz.* with --data"):
        s1_folds(tmp_path, "spambase")


def test_an_archive_without_mnists_split_is_refused(folder):
    path = folder / "paper" / "mnist14.npz"
    with np.load(path) as archive:
        arrays = {name: archive[name] for name in archive if name != "orig_is_test"}
    np.savez(path, **arrays)
    with pytest.raises(DataError, match="'orig_is_test'"):
        s1_folds(folder, "mnist14")
