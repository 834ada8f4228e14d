"""Choice of the reader for a file."""

import gzip
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from bncc.data.readers import bundled_names, bundled_path, read_table
from bncc.data.target import dataset_of
from bncc.errors import DataError


def test_the_suffix_chooses_the_reader(tmp_path: Path) -> None:
    """All formats give the same numbers."""
    (tmp_path / "a.csv").write_text("x0,class\n1,0\n2,1\n")
    (tmp_path / "a.tsv").write_text("x0\tclass\n1\t0\n2\t1\n")
    (tmp_path / "a.csv.gz").write_bytes(gzip.compress(b"x0,class\n1,0\n2,1\n"))
    arff = "@relation r\n@attribute x0 real\n@attribute class real\n@data\n1,0\n2,1\n"
    (tmp_path / "a.arff").write_text(arff)
    np.savez(tmp_path / "a.npz", X=[[1], [2]], y=[0, 1])
    names = ["a.csv", "a.tsv", "a.csv.gz", "a.arff", "a.npz"]
    if pytest.importorskip("pyarrow"):
        pd.DataFrame({"x0": [1, 2], "class": [0, 1]}).to_parquet(tmp_path / "a.parquet")
        names.append("a.parquet")
    for name in names:
        table = read_table(tmp_path / name)
        assert table.names == ("x0", "class")
        assert [column.values.tolist() for column in table.columns] == [[1, 2], [0, 1]]
        assert {column.kind for column in table.columns} == {"integer"}


def test_unknown_suffixes_list_the_known(tmp_path: Path) -> None:
    """A missing file and a folder have their own errors."""
    (tmp_path / "a.xlsx").write_text("x")
    with pytest.raises(
        DataError, match="no suffix of a supported table format; pass a file in \\.csv, \\.tsv"
    ):
        read_table(tmp_path / "a.xlsx")
    with pytest.raises(DataError, match="is a folder; name a file in it"):
        read_table(tmp_path)
    with pytest.raises(DataError, match="does not exist; check the path"):
        read_table(tmp_path / "none.csv")


def test_only_archives_have_folds(tmp_path: Path) -> None:
    """Asking another file for one is an error."""
    (tmp_path / "a.csv").write_text("a,b\n1,0\n")
    with pytest.raises(DataError, match="has no folds, so --fold 1 does not apply; drop --fold"):
        read_table(tmp_path / "a.csv", fold=1)


def test_reading_csv_does_not_wait_for_pandas(tmp_path: Path) -> None:
    """Importing pandas takes longer than reading most files."""
    (tmp_path / "a.csv").write_text("a,b\n1,0\n")
    code = (
        "import sys; from bncc.data.readers import read_table; "
        f"read_table({str(tmp_path / 'a.csv')!r}); sys.exit('pandas' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.parametrize(
    ("name", "n_rows", "n_columns", "n_classes"), [("robot", 5456, 24, 4), ("wifi", 2000, 7, 4)]
)
def test_bundled_data_are_readable(name: str, n_rows: int, n_columns: int, n_classes: int) -> None:
    """They ship with the package."""
    dataset = dataset_of(read_table(bundled_path(name)))
    assert (dataset.n_rows, len(dataset.table.columns)) == (n_rows, n_columns)
    assert len(dataset.classes) == n_classes
    assert name in bundled_names()


def test_an_unknown_bundled_name_lists_the_known() -> None:
    """There are two."""
    with pytest.raises(DataError, match="no bundled data set 'soup'; choose from robot, wifi"):
        bundled_path("soup")
