"""ARFF files of the UCI collection and their oddities."""

import csv
import gzip
from pathlib import Path

import pytest

from bncc.data.arff import read_arff
from bncc.data.dataset import Table
from bncc.data.target import dataset_of
from bncc.errors import DataError


def _read(tmp_path: Path, header: str, rows: str) -> Table:
    path = tmp_path / "a.arff"
    text = f"% comment\n@relation 'a b'\n{header}\n@data\n{rows}\n"
    path.write_text(text, encoding="utf-8", newline="")
    return read_arff(path)


def _column(tmp_path: Path, declaration: str, *cells: str) -> tuple[str, list[object]]:
    table = _read(tmp_path, f"@attribute {declaration}", "\n".join(cells))
    column = table.columns[0]
    values = [
        None if gap else value
        for value, gap in zip(column.values.tolist(), column.missing, strict=True)
    ]
    return column.name, [column.kind, *values]


@pytest.mark.parametrize(
    ("declaration", "cells", "expected"),
    [
        ("a numeric", ("1", "?", "3"), ("a", ["integer", 1, None, 3])),
        ("a REAL", ("1", "2.5"), ("a", ["float", 1.0, 2.5])),
        ("a INTEGER [0,9]", ("1", "9"), ("a", ["integer", 1, 9])),
        ("a integer[0,9]", ("2.5",), ("a", ["float", 2.5])),
        ("a\treal", ("7",), ("a", ["integer", 7])),
        ("a real % unit: mm", ("7",), ("a", ["integer", 7])),
        ("'a b' real", ("7",), ("a b", ["integer", 7])),
        ("'it\\'s' real", ("7",), ("it's", ["integer", 7])),
        ('"a b" {x, y}', ("x", "?"), ("a b", ["category", "x", None])),
        ("a{x,y}", ("y",), ("a", ["category", "y"])),
        ("'a' { 'x y', 'z', w }", ("'x y'", "z", "w"), ("a", ["category", "x y", "z", "w"])),
        ("a {'?','b'}", ("'?'", "b", "?"), ("a", ["category", "?", "b", None])),
        ("a {'<50','>50_1'}", ("'<50'", "'>50_1'"), ("a", ["category", "<50", ">50_1"])),
        ("a {2, 1}", ("1", " 2 "), ("a", ["category", "1", "2"])),
        ("a {50%, é}", ("'50%'", "é"), ("a", ["category", "50%", "é"])),
        ("a string", ("'x y'", "?", "z"), ("a", ["category", "x y", None, "z"])),
        ("a string", ("1", "2"), ("a", ["integer", 1, 2])),
        ("a real", ("?", "?"), ("a", ["category", None, None])),
    ],
)
def test_declarations_and_cells(
    declaration: str, cells: tuple[str, ...], expected: tuple[str, list[object]], tmp_path: Path
) -> None:
    """Numbers, ranges, quotes, blanks, comments, and a quoted question mark."""
    assert _column(tmp_path, declaration, *cells) == expected


def test_line_ends_comments_and_compression(tmp_path: Path) -> None:
    """CRLF, comments between rows, gzip and 8-bit characters."""
    text = "% é\r\n@RELATION x\r\n@ATTRIBUTE ä {b,c}\r\n\r\n@DATA\r\n% none\r\nb\r\n\r\nc\r\n%\r\n"
    path = tmp_path / "a.arff.gz"
    path.write_bytes(gzip.compress(text.encode("latin-1")))
    table = read_arff(path)
    assert table.names == ("ä",)
    assert table.columns[0].values.tolist() == ["b", "c"]


def test_sparse_rows_are_filled_with_zeros(tmp_path: Path) -> None:
    """By the format an index without a value is 0."""
    table = _read(tmp_path, "@attribute a real\n@attribute b real", "{0 5}\n{1 7}")
    assert [column.values.tolist() for column in table.columns] == [[5, 0], [0, 7]]


@pytest.mark.parametrize(
    ("header", "rows", "message"),
    [
        ("@attribute a real", "", "has no rows under @data"),
        ("", "1", "has no columns"),
        ("@attribute a date", "1", "line 3: unsupported attribute"),
        ("@attribute a", "1", "'.*', line 3: unsupported attribute"),
        ("@attribute 'a real", "1", "line 3: unsupported attribute"),
        ("@attribute a {x,'y}", "x", "'.*', line 3: unsupported attribute"),
        ("@attribute a real\n@attribute a real", "1,2", "two columns named 'a'"),
        ("@attribute '' real", "1", "column 1 of .* has no name"),
        ("@attribute a real\nsoup", "1", "no @data line ends its header"),
        ("@attribute a real", "1,2", "violates the ARFF format"),
        ("@attribute a real\n@attribute b real", "1", "violates the ARFF format"),
        ("@attribute a real", "'x", "violates the ARFF format"),
        ("@attribute a real", "inf", "'a' contains an infinite number in row 1"),
        ("@attribute a real", "1\nsoup", "attribute 'a' is numeric but contains 'soup' in row 2"),
        ("@attribute a {x,y}", "x\nz", "'a' contains 'z' in row 2, which is not a declared label"),
    ],
)
def test_broken_files_are_refused_in_one_sentence(
    header: str, rows: str, message: str, tmp_path: Path
) -> None:
    """Each names the place."""
    with pytest.raises(DataError, match=message) as error:
        _read(tmp_path, header, rows)
    assert "\n" not in str(error.value)


def test_a_csv_under_the_name_of_an_arff_is_refused(tmp_path: Path) -> None:
    """Its header is invalid."""
    (tmp_path / "a.arff").write_text("a,b\n1,2\n")
    with pytest.raises(DataError, match="is not an ARFF file, as no @data line"):
        read_arff(tmp_path / "a.arff")
    (tmp_path / "a.arff").write_text("% only comments\n\n")
    with pytest.raises(DataError, match="is not an ARFF file, as no @data line"):
        read_arff(tmp_path / "a.arff")


def test_a_long_nominal_declaration_is_read_at_once(tmp_path: Path) -> None:
    """No regular expression backtracks."""
    labels = [f"label {i}" for i in range(20_000)]
    declaration = ", ".join(f"'{label}'" for label in labels)
    assert _column(tmp_path, f"a {{{declaration}}}", "'label 7'") == ("a", ["category", "label 7"])
    with pytest.raises(DataError, match="unsupported attribute"):
        _column(tmp_path, f"a {{{declaration}, '}}", "'label 7'")


@pytest.mark.no_cover
@pytest.mark.shared
def test_every_file_of_the_collection_has_the_size_its_manifest_says(shared_data: Path) -> None:
    """Rows, classes, numeric and nominal columns of all files."""
    checked = 0
    with (shared_data / "manifest.csv").open(encoding="utf-8", newline="") as stream:
        for entry in csv.DictReader(stream):
            if not entry["file"].endswith(".arff.gz") or not entry["class_column"]:
                continue
            table = read_arff(shared_data / entry["file"])
            dataset = dataset_of(table, entry["class_column"])
            kinds = [column.kind for column in dataset.table.columns]
            # hypothyroid and sick declare a numeric column that no row fills.
            n_empty = sum(bool(column.missing.all()) for column in dataset.table.columns)
            assert table.n_rows == int(entry["rows"]), entry["file"]
            assert len(dataset.classes) == int(entry["classes"]), entry["file"]
            assert kinds.count("category") - int(entry["nominal"]) in (0, n_empty), entry["file"]
            checked += 1
    assert checked > 60
