"""Archives of readings hold the same rows and bytes as the papers' archives of states."""

import numpy as np

from benchmarks.peers.uint8_sets import SETS, archive_of, fold_of, write_sets
from bncc.data.readers import read_table
from bncc.data.target import fold_parts


def test_columns_are_readings_with_the_bytes_of_the_fold(tmp_path):
    rng = np.random.default_rng(0)
    (tmp_path / "paper").mkdir()
    for name in SETS:
        arrays = {
            "x_tr_fold1": rng.integers(1, 9, (20, 3)), "t_tr_fold1": np.arange(20) % 3,
            "x_te_fold1": rng.integers(1, 9, (10, 3)), "t_te_fold1": np.arange(10) % 3,
        }  # fmt: skip
        bytes_of = {key: value.astype(np.uint8) for key, value in arrays.items()}
        np.savez(tmp_path / "paper" / f"{name}.npz", **bytes_of)
    folder = tmp_path / "new"
    write_sets(tmp_path, folder)
    fold = fold_of(tmp_path, "usps")
    train, test = fold_parts(read_table(archive_of(folder, "usps"), fold=1), None, 1)
    for part, X, y in ((train, fold.X, fold.y), (test, fold.X_test, fold.y_test)):
        assert {column.kind for column in part.table.columns} == {"integer"}
        assert (np.column_stack([column.values for column in part.table.columns]) == X).all()
        assert (part.y == y).all()
    before = archive_of(folder, "usps").read_bytes()
    write_sets(tmp_path, tmp_path / "again")
    assert archive_of(tmp_path / "again", "usps").read_bytes() == before
