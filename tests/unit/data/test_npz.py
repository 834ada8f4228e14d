"""NumPy archives: the three layouts, folds, and hostile files."""

import io
import struct
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bncc.data import files, npz
from bncc.data.npz import read_npz
from bncc.errors import DataError


def _save(tmp_path: Path, **arrays: Any) -> Path:
    np.savez(tmp_path / "a.npz", **arrays)
    return tmp_path / "a.npz"


def _paper(n_folds: int = 1, start: int = 1) -> dict[str, Any]:
    arrays: dict[str, Any] = {"n_folds": n_folds}
    for k in range(1, n_folds + 1):
        arrays |= {
            f"x_tr_fold{k}": np.array([[0, 2], [k, 0], [0, 1]], dtype=np.uint8) + start,
            f"t_tr_fold{k}": np.array([0, 1, 1], dtype=np.uint8),
            f"x_te_fold{k}": np.array([[1, 1]], dtype=np.uint8) + start,
            f"t_te_fold{k}": np.array([7], dtype=np.uint8),
        }
    return arrays


def test_a_matrix_with_labels(tmp_path: Path) -> None:
    """The type of X decides the kind; the class comes last."""
    table = read_npz(_save(tmp_path, X=np.array([[1, 2], [3, 4]]), y=np.array([5, 6])))
    assert table.names == ("x0", "x1", "class")
    assert [column.kind for column in table.columns] == ["integer"] * 3
    assert [column.values.tolist() for column in table.columns] == [[1, 3], [2, 4], [5, 6]]
    assert table.train_rows is None
    table = read_npz(_save(tmp_path, X=np.array([[1.0, np.nan]]), y=np.array(["cat"])))
    assert [column.kind for column in table.columns] == ["float", "float", "category"]
    assert table.columns[1].missing.tolist() == [True]


@pytest.mark.parametrize("start", [0, 1])
def test_states_of_the_papers_start_at_zero_or_one(start: int, tmp_path: Path) -> None:
    """Either way they start at 0 in the table; training rows come before test rows."""
    table = read_npz(_save(tmp_path, **_paper(start=start)))
    assert [column.kind for column in table.columns] == ["state", "state", "integer"]
    assert table.columns[0].values.tolist() == [0, 1, 0, 1]
    assert table.columns[1].values.tolist() == [2, 0, 1, 1]
    assert table.columns[2].values.tolist() == [0, 1, 1, 7]
    assert table.train_rows is not None
    assert table.test_rows is not None
    assert (table.train_rows.tolist(), table.test_rows.tolist()) == ([0, 1, 2], [3])


def test_a_fold_is_chosen_by_number(tmp_path: Path) -> None:
    """With several folds the number is needed."""
    path = _save(tmp_path, **_paper(n_folds=3))
    assert read_npz(path, fold=3).columns[0].values.tolist() == [0, 3, 0, 1]
    with pytest.raises(DataError, match="has the folds 1, 2, 3; choose one with --fold"):
        read_npz(path)
    with pytest.raises(DataError, match="has no fold 4; it has 1, 2, 3"):
        read_npz(path, fold=4)


def test_a_fold_may_lack_test_rows(tmp_path: Path) -> None:
    """Then there are training rows alone."""
    arrays = _paper()
    del arrays["x_te_fold1"], arrays["t_te_fold1"]
    table = read_npz(_save(tmp_path, **arrays), fold=1)
    assert table.test_rows is not None
    assert (table.n_rows, len(table.test_rows)) == (3, 0)


def test_folds_by_row_numbers(tmp_path: Path) -> None:
    """``x, t`` keep their rows, the fold says which are for training."""
    arrays = {"x": np.array([[300], [2], [1]]), "t": [0, 1, 0], "idx_tr_fold1": [2, 0]}
    table = read_npz(_save(tmp_path, **arrays, idx_te_fold1=[1]), fold=1)
    assert table.columns[0].kind == "integer"
    assert table.columns[0].values.tolist() == [300, 2, 1]
    assert table.train_rows is not None
    assert table.test_rows is not None
    assert (table.train_rows.tolist(), table.test_rows.tolist()) == ([2, 0], [1])
    without_test = read_npz(_save(tmp_path, **arrays)).test_rows
    assert without_test is not None
    assert without_test.tolist() == []


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({"X": [[1]], "y": [1, 2]}, "holds 1 rows of readings but 2 labels"),
        ({"X": [1], "y": [1]}, "array 'X' of .* has 1 dimensions; 2 are needed"),
        ({"X": [[1]], "y": [[1]]}, "array 'y' of .* has 2 dimensions; 1 are needed"),
        ({"X": [[np.inf]], "y": [1]}, "column 'x0' holds an infinite number in row 1"),
        ({"X": [[1j]], "y": [1]}, "column 'x0' is of type complex128, which is no reading"),
        ({"X": np.zeros((0, 2)), "y": np.zeros(0)}, "holds no rows"),
        ({"X": np.zeros((2, 0)), "y": np.zeros(2)}, "holds no columns"),
        ({"X": [[1]]}, "holds the arrays 'X'; save it with X and y"),
        ({}, "holds the arrays none"),
        ({"idx_tr_fold1": [0]}, "holds the arrays 'idx_tr_fold1'; save it"),
        ({"x_tr_fold1": [[1]]}, "lacks the array 't_tr_fold1'"),
        ({"x_tr_fold1": [[1]], "t_tr_fold1": [1, 2]}, "holds 1 rows of readings but 2 labels"),
        ({"x_tr_fold1": [[0.5]], "t_tr_fold1": [1]}, "must hold states: whole numbers"),
        ({"x_tr_fold1": [[-1]], "t_tr_fold1": [1]}, "must hold states: whole numbers"),
        ({"x_tr_fold1": [[np.inf]], "t_tr_fold1": [1]}, "must hold states: whole numbers"),
        ({"x_tr_fold1": [["a"]], "t_tr_fold1": [1]}, "must hold states: whole numbers"),
        (
            {"x_tr_fold1": np.zeros((0, 1)), "t_tr_fold1": np.zeros(0)},
            "fold 1 of .* holds no rows or no columns",
        ),
        (
            {"x_tr_fold1": [[1]], "t_tr_fold1": [1], "x_te_fold1": [[1, 2]], "t_te_fold1": [1]},
            "differ in width",
        ),
        (
            {"x": [[1]], "t": [1], "idx_tr_fold1": [1], "idx_te_fold1": [0]},
            r"'idx_tr_fold1' of .* must hold row numbers in 0 \.\. 0",
        ),
        ({"x": [[1]], "t": [1], "idx_tr_fold1": [0.0]}, "must hold row numbers"),
        (
            {"x": [[1]], "t": [1], "idx_tr_fold1": [0], "idx_te_fold1": [0]},
            "rows that are both training and test",
        ),
    ],
)
def test_other_contents_are_refused_in_one_sentence(
    arrays: dict[str, Any], message: str, tmp_path: Path
) -> None:
    """Each error names the requirement."""
    with pytest.raises(DataError, match=message) as error:
        read_npz(_save(tmp_path, **arrays))
    assert "\n" not in str(error.value)


def test_a_matrix_has_no_folds(tmp_path: Path) -> None:
    """Asking for one is an error."""
    with pytest.raises(DataError, match="has no folds, so fold 2 cannot be read; drop --fold"):
        read_npz(_save(tmp_path, X=[[1]], y=[1]), fold=2)


def test_objects_are_never_unpickled(tmp_path: Path) -> None:
    """The array is refused by its declared type."""
    path = _save(tmp_path, X=np.array([[{}]], dtype=object), y=[1])
    with pytest.raises(DataError, match="holds Python objects, which are never unpickled"):
        read_npz(path)
    path = _save(tmp_path, X=np.zeros((1, 1), dtype=[("a", "i4")]), y=[1])
    with pytest.raises(DataError, match="never unpickled"):
        read_npz(path)


def _zip(path: Path, **members: bytes) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(f"{name}.npy", content)
    return path


def _npy(header: str, body: bytes = b"", version: bytes = b"\x01\x00") -> bytes:
    text = header.encode("latin-1")
    return b"\x93NUMPY" + version + struct.pack("<H", len(text)) + text + body


def _header(shape: object) -> str:
    return f"{{'descr': '<i8', 'fortran_order': False, 'shape': {shape}, }}\n"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (_npy(_header((2**40, 2**20))), "declares 9223372036854775808 bytes, more than 1024 MiB"),
        (_npy(_header((2**26, 2)), b""), "declares 1073741824 bytes|more than 67108864 cells"),
        (_npy(_header((2, 2)), b"12345678"), "is damaged"),
        (_npy(_header((1, 1)), bytes(16)), "its size is not what its header says"),
        (_npy(_header((-1, 2))), "is damaged"),
        (_npy("((((((" * 300), "is damaged"),
        (_npy("{}"), "is damaged"),
        (_npy(_header((1, 1)), bytes(8), b"\x09\x00"), "is damaged"),
        (b"soup", "is damaged"),
        (b"", "is damaged"),
    ],
)
def test_hostile_arrays_are_refused(content: bytes, message: str, tmp_path: Path) -> None:
    """Declared sizes are checked before memory is allocated."""
    with pytest.raises(DataError, match=message) as error:
        read_npz(_zip(tmp_path / "a.npz", X=content, y=content))
    assert "\n" not in str(error.value)


def test_a_zip_bomb_is_refused_by_its_declared_size(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Zeros that compress a thousandfold are not decompressed."""
    monkeypatch.setattr(files, "MAX_BYTES", 2**20)
    monkeypatch.setattr(npz, "MAX_BYTES", 2**20)
    path = tmp_path / "a.npz"
    np.savez_compressed(path, X=np.zeros((2**10, 2**10)), y=np.zeros(2**10))
    assert path.stat().st_size < 2**20
    with pytest.raises(DataError, match="declares 8388608 bytes, more than 1 MiB"):
        read_npz(path)


def test_newer_headers_are_read(tmp_path: Path) -> None:
    """Version 2 of the header differs in the width of its length alone."""
    stream = io.BytesIO()
    np.lib.format.write_array(stream, np.array([[1, 2]]), version=(2, 0))
    y = io.BytesIO()
    np.lib.format.write_array(y, np.array([3]))
    table = read_npz(_zip(tmp_path / "a.npz", X=stream.getvalue(), y=y.getvalue()))
    assert table.names == ("x0", "x1", "class")


def test_damaged_archives_are_refused(tmp_path: Path) -> None:
    """Cut short, flipped, empty, of another format, a folder."""
    path = tmp_path / "a.npz"
    np.savez_compressed(path, X=np.arange(2000).reshape(-1, 2), y=np.arange(1000))
    whole = path.read_bytes()
    flipped = bytearray(whole)
    flipped[len(whole) // 4] ^= 0xFF
    for content in (whole[: len(whole) // 2], bytes(flipped), b"", b"a,b\n1,2\n"):
        path.write_bytes(content)
        with pytest.raises(DataError, match=r"is not a whole npz file|is damaged"):
            read_npz(path)
    (tmp_path / "b.npz").mkdir()
    with pytest.raises(DataError, match="is a folder"):
        read_npz(tmp_path / "b.npz")


@pytest.mark.shared
@pytest.mark.parametrize(
    ("name", "fold", "n_train", "n_test", "n_columns"),
    [
        ("letter", None, 13342, 6658, 16),
        ("usps", 1, 7340, 3660, 256),
        ("satimage", 5, 5151, 1284, 36),
        ("mnist14", None, 46669, 23331, 196),
    ],
)
def test_archives_of_the_papers(
    name: str, fold: int | None, n_train: int, n_test: int, n_columns: int, shared_data: Path
) -> None:
    """Sizes as documented with the data."""
    table = read_npz(shared_data / "paper" / f"{name}.npz", fold=fold)
    assert table.train_rows is not None
    assert table.test_rows is not None
    assert (len(table.train_rows), len(table.test_rows)) == (n_train, n_test)
    assert len(table.columns) == n_columns + 1
    assert min(int(column.values.min()) for column in table.columns) == 0
