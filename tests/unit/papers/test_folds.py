"""The papers' data sets, read in folds."""

from dataclasses import replace

import numpy as np
import pytest

from bncc.errors import DataError
from bncc.papers.folds import AUTHORS, FILES, check_files, read_folds, rows_at
from tests.folds import small_fold, write_papers_files


def test_every_fold_is_read_as_states_counted_from_zero(tmp_path):
    write_papers_files(tmp_path)
    folds = read_folds(tmp_path, "satimage")
    assert [fold.name for fold in folds] == [f"satimage.npz {k}" for k in range(1, 6)]
    assert [len(fold.y) for fold in folds] == [40] * 5
    assert [len(fold.y_test) for fold in folds] == [20] * 5
    assert folds[0].n_states == [2, 2, 2, 2]
    assert folds[0].n_classes == 2
    assert folds[0].X[:, 0].tolist() == folds[0].y.tolist()


def test_mnists_readings_are_cut_by_training_rows_alone(tmp_path):
    write_papers_files(tmp_path)
    (fold,) = read_folds(tmp_path, "mnist")
    assert (len(fold.y), len(fold.y_test)) == (60, 30)
    assert fold.n_states[0] == 2
    assert fold.X[:, 0].tolist() == fold.y.tolist()
    assert set(fold.X_test[:, 0].tolist()) == {0}, "readings far below all training rows"


def test_absent_files_are_named(tmp_path):
    write_papers_files(tmp_path)
    check_files(tmp_path, tuple(FILES))
    (tmp_path / "letter.npz").unlink()
    (tmp_path / "mnist14.npz").unlink()
    check_files(tmp_path, ("satimage", "usps"))
    with pytest.raises(
        DataError, match="has no letter\\.npz; name the folder of the papers' data with --data"
    ):
        check_files(tmp_path, AUTHORS)
    with pytest.raises(DataError, match=r"has no letter\.npz and no mnist14\.npz"):
        check_files(tmp_path, tuple(FILES))


def test_only_mnist_may_be_absent(tmp_path):
    write_papers_files(tmp_path)
    assert rows_at(tmp_path, tuple(FILES), ()) == tuple(FILES)
    (tmp_path / "mnist14.npz").unlink()
    assert rows_at(tmp_path, tuple(FILES), ()) == AUTHORS
    assert rows_at(tmp_path, ("usps",), ("usps",)) == ("usps",)
    with pytest.raises(DataError, match=r"has no mnist14\.npz"):
        rows_at(tmp_path, ("usps", "mnist"), ("mnist",))
    (tmp_path / "usps.npz").unlink()
    with pytest.raises(DataError, match=r"has no usps\.npz"):
        rows_at(tmp_path, tuple(FILES), ())


def test_a_file_without_test_rows_is_refused(tmp_path):
    write_papers_files(tmp_path)
    arrays = dict(np.load(tmp_path / "letter.npz"))
    arrays["x_te_fold1"], arrays["t_te_fold1"] = arrays["x_te_fold1"][:0], arrays["t_te_fold1"][:0]
    np.savez(tmp_path / "letter.npz", **arrays)
    with pytest.raises(DataError, match="has no test rows"):
        read_folds(tmp_path, "letter")


def test_a_digest_tells_rows_from_others():
    fold = small_fold()
    changed = [
        replace(fold, **{name: getattr(fold, name)[::-1]})
        for name in ("X", "y", "X_test", "y_test")
    ]
    digests = {other.digest for other in (fold, *changed, replace(fold, n_states=[2, 2, 3]))}
    assert len(digests) == 6
    assert replace(fold, name="another").digest == fold.digest
