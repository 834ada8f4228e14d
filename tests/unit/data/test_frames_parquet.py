"""Parquet files, and the absence of a reader."""

import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from bncc.data import files
from bncc.data.frames import read_parquet
from bncc.errors import DataError

pytest.importorskip("pyarrow")


def test_columns_keep_their_types(tmp_path: Path) -> None:
    """Integers with missing cells stay integers; an index is no column."""
    frame = pd.DataFrame(
        {
            "i": pd.array([1, None], dtype="Int32"),
            "f": [1.0, np.nan],
            "c": pd.Series(["x", None]).astype("category"),
            "s": ["y", None],
        }
    )
    frame.index = pd.Index(["first", "second"])
    frame.to_parquet(tmp_path / "a.parquet")
    table = read_parquet(tmp_path / "a.parquet")
    assert table.names == ("i", "f", "c", "s")
    assert [column.kind for column in table.columns] == ["integer", "float", "category", "category"]
    assert [column.missing.tolist() for column in table.columns] == [[False, True]] * 4
    assert [column.values[0] for column in table.columns] == [1, 1.0, "x", "y"]


def test_nested_columns_are_refused(tmp_path: Path) -> None:
    """A cell is one reading."""
    pd.DataFrame({"a": [[1, 2]]}).to_parquet(tmp_path / "a.pq")
    with pytest.raises(DataError, match=r"column 'a' of .* is nested; keep one reading per cell"):
        read_parquet(tmp_path / "a.pq")


def test_damaged_files_are_refused(tmp_path: Path) -> None:
    """Cut short, empty, of another format, absent."""
    path = tmp_path / "a.parquet"
    pd.DataFrame({"a": range(1000)}).to_parquet(path)
    whole = path.read_bytes()
    for content in (whole[:-20], whole[:100], b"", b"a,b\n1,2\n"):
        path.write_bytes(content)
        with pytest.raises(DataError, match="is not a whole Parquet file") as error:
            read_parquet(path)
        assert "\n" not in str(error.value)
    with pytest.raises(DataError, match="is not a whole Parquet file"):
        read_parquet(tmp_path / "none.parquet")


def test_text_that_is_no_utf_8_is_refused(tmp_path: Path) -> None:
    """A byte of a cell that was flipped; readers meet it where they read the cell."""
    path = tmp_path / "a.parquet"
    frame = pd.DataFrame({"a": [f"w\u00f6rd {k}" for k in range(50)]})
    frame.to_parquet(path, compression=None)
    for text, damaged in (
        ("w\u00f6rd 7", b"w\xc3\xc3rd 7"),
        ("w\u00f6rd 49", b"\xff\xc3\xb6rd 49"),
    ):
        assert path.read_bytes().count(text.encode())
        path.write_bytes(path.read_bytes().replace(text.encode(), damaged))
        with pytest.raises(DataError, match="is not a whole Parquet file") as error:
            read_parquet(path)
        assert "\n" not in str(error.value)
        frame.to_parquet(path, compression=None)


def test_absurd_sizes_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Sizes are checked in the file's metadata."""
    pd.DataFrame({"a": range(1000)}).to_parquet(tmp_path / "a.parquet")
    monkeypatch.setattr(files, "MAX_CELLS", 999)
    with pytest.raises(DataError, match="holds 1000 rows of 1 columns"):
        read_parquet(tmp_path / "a.parquet")


def test_without_pyarrow_the_remedy_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is an extra of the package."""
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(DataError, match=r"run `pip install -e '\.\[parquet\]'`"):
        read_parquet(tmp_path / "a.parquet")
