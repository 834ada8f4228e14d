"""Tables of results as CSV and Parquet."""

import builtins
import io

import numpy as np
import pandas as pd
import pytest

from bncc.errors import OptionError
from bncc.report.table_files import flattened, form_of, table_bytes

RECORDS = [
    {"row": "a, b", "ours": 1.5, "n": 3, "q": None, "won": True, "mixed": 1, "some": 2},
    {"row": None, "ours": None, "n": None, "q": {"int": 2, "frac": -1}, "won": False, "mixed": "x"},
    {"row": 'q"', "ours": 2, "n": 2**60, "q": {"int": 3, "frac": 0}, "won": None, "mixed": 2.5},
]


def test_mappings_become_columns():
    assert [list(record) for record in flattened(RECORDS)][:2] == [
        ["row", "ours", "n", "won", "mixed", "some"],
        ["row", "ours", "n", "q_int", "q_frac", "won", "mixed"],
    ]


def test_csv_has_all_columns_and_empty_cells():
    lines = table_bytes(RECORDS, "csv").decode().split("\r\n")
    assert lines == [
        "row,ours,n,won,mixed,some,q_int,q_frac",
        '"a, b",1.5,3,True,1,2,,',
        ",,,False,x,,2,-1",
        f'"q""",2,{2**60},,2.5,,3,0',
        "",
    ]


def test_parquet_keeps_whole_numbers_and_nulls():
    frame = pd.read_parquet(io.BytesIO(table_bytes(RECORDS, "parquet")), dtype_backend="pyarrow")
    assert list(frame) == ["row", "ours", "n", "won", "mixed", "some", "q_int", "q_frac"]
    assert {name: str(kind) for name, kind in frame.dtypes.items()} == {
        "row": "string[pyarrow]", "ours": "double[pyarrow]", "n": "int64[pyarrow]",
        "won": "bool[pyarrow]", "mixed": "string[pyarrow]", "some": "int64[pyarrow]",
        "q_int": "int64[pyarrow]", "q_frac": "int64[pyarrow]",
    }  # fmt: skip
    assert frame["n"].tolist()[2] == 2**60
    assert frame["ours"].isna().tolist() == [False, True, False]
    assert frame["mixed"].tolist() == ["1", "x", "2.5"]


def test_both_formats_have_the_same_values():
    read = pd.read_csv(io.BytesIO(table_bytes(RECORDS, "csv")))
    also = pd.read_parquet(io.BytesIO(table_bytes(RECORDS, "parquet")))
    assert read["ours"].tolist()[::2] == also["ours"].tolist()[::2] == [1.5, 2.0]
    assert list(read) == list(also)


def test_a_key_may_be_a_mapping_in_one_record_and_a_number_in_another():
    records = [{"q": {"int": 2}}, {"q": 3}, {"q": None}, {"q": {}}]
    assert flattened(records) == [{"q_int": 2}, {"q": 3}, {}, {}]
    assert table_bytes(records, "csv").decode().split("\r\n")[:3] == ["q_int,q", "2,", ",3"]


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ([np.int64(3), None, 4], "int64"),
        ([np.uint8(3), np.int64(4)], "int64"),
        ([np.float64(1.5), 2.5], "double"),
        ([np.float32(1.5), np.int64(2), None], "double"),
        ([np.bool_(True), False], "bool"),
        ([True, 1], "string"),
        ([np.int64(1), "x"], "string"),
        ([None, None], "null"),
    ],
)
def test_numbers_of_numpy_stay_numbers_in_parquet(values, kind):
    written = table_bytes([{"a": value} for value in values], "parquet")
    frame = pd.read_parquet(io.BytesIO(written), dtype_backend="pyarrow")
    assert str(frame["a"].dtype) == f"{kind}[pyarrow]"
    if kind != "string":
        assert [None if each is pd.NA else each for each in frame["a"]] == values


def test_text_that_is_no_utf_8_is_escaped():
    odd = [{"study": "\udcff.db"}]
    assert b"\\udcff.db" in table_bytes(odd, "csv")
    frame = pd.read_parquet(io.BytesIO(table_bytes(odd, "parquet")))
    assert frame["study"].tolist() == ["\\udcff.db"]


def test_a_table_without_rows_is_a_file():
    assert pd.read_parquet(io.BytesIO(table_bytes([], "parquet"))).empty


@pytest.mark.parametrize(("name", "form"), [("a.csv", "csv"), ("b.PARQUET", "parquet")])
def test_the_suffix_selects_the_format(name, form):
    assert form_of(name) == form


def test_other_suffixes_are_refused():
    with pytest.raises(OptionError, match=r"as \.csv or \.parquet, not as 'r\.xlsx'.* r\.csv"):
        form_of("r.xlsx")


def test_parquet_without_pyarrow_is_one_sentence(monkeypatch):
    real = builtins.__import__

    def without(name, *rest, **more):
        if name.startswith("pyarrow"):
            raise ImportError(name)
        return real(name, *rest, **more)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(OptionError, match="Parquet files need pyarrow; run `pip install"):
        form_of("r.parquet")
    assert form_of("r.csv") == "csv"
