"""CSV and TSV files, well formed and otherwise."""

import csv
import gzip
import io
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bncc.data.csv import read_csv
from bncc.data.dataset import Table
from bncc.errors import DataError
from tests.counted import calls


def _read(tmp_path: Path, text: str, name: str = "a.csv") -> Table:
    path = tmp_path / name
    path.write_text(text, encoding="utf-8", newline="")
    return read_csv(path)


def _cells(table: Table) -> dict[str, list[object]]:
    return {
        column.name: [
            None if gap else value
            for value, gap in zip(column.values.tolist(), column.missing, strict=True)
        ]
        for column in table.columns
    }


def test_columns_are_typed(tmp_path: Path) -> None:
    """Whole numbers, fractions, labels, missing cells."""
    table = _read(tmp_path, "a,b,c\n1,0.5,x\n?,,y\n3,NaN,?\n")
    assert [column.kind for column in table.columns] == ["integer", "float", "category"]
    assert _cells(table) == {"a": [1, None, 3], "b": [0.5, None, None], "c": ["x", "y", None]}
    assert table.train_rows is None
    assert table.test_rows is None


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_line_ends_empty_lines_and_blanks_do_not_matter(end: str, tmp_path: Path) -> None:
    """Nor a missing end of the last line."""
    table = _read(tmp_path, end.join(["a, b", "", "1, x", "  ", "2,y "]))
    assert _cells(table) == {"a": [1, 2], "b": ["x", "y"]}


@pytest.mark.parametrize("name", ["a.tsv", "a.tab", "a.TSV"])
def test_tabs_separate_cells_of_a_tsv(name: str, tmp_path: Path) -> None:
    """Commas are ordinary there."""
    assert _cells(_read(tmp_path, "a,b\tc\n1\tx,y\n", name)) == {"a,b": [1], "c": ["x,y"]}


def test_a_gzip_file_is_read(tmp_path: Path) -> None:
    """The separator is that of the inner suffix."""
    (tmp_path / "a.tsv.gz").write_bytes(gzip.compress(b"a\tb\n1\t2\n"))
    assert _cells(read_csv(tmp_path / "a.tsv.gz")) == {"a": [1], "b": [2]}


def test_a_single_column_may_have_empty_cells_but_not_empty_lines(tmp_path: Path) -> None:
    """A quoted empty cell is missing; an empty line is no row."""
    assert _cells(_read(tmp_path, 'a\n1\n\n""\n')) == {"a": [1, None]}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is empty"),
        ("a,b\n", "has no rows under its header"),
        ("a,b,a\n1,2,3\n", "two columns named 'a'"),
        ("1,2,2\n3,4,5\n", "is the first line really a header"),
        (",a\n0,1\n", "column 1 of '.*' has no name"),
        ("a,b\n1\n", "'.*', row 1: expected 2 cells, found 1"),
        ("a,b\n1,2\n1,2,3\n", "'.*', row 2: expected 2 cells, found 3"),
        ('a,b\n1,"2\n', "'.*', line 2: .*; fix the quotes"),
        ('a,b\n"1"x,2\n', "'.*', line 2:"),
        ("a;b;c\n1;2;3\n", "separated by semicolons; use commas"),
        ("a\tb\n1\t2\n", "separated by tabs"),
        ("a,b\n1,inf\n", "column 'b' contains an infinite number in row 1"),
        ("a,b\n1," + "9" * 200_000 + "\n", "field larger than field limit"),
    ],
)
def test_irregular_files_are_refused_in_one_sentence(
    text: str, message: str, tmp_path: Path
) -> None:
    """Each names the place and the remedy."""
    with pytest.raises(DataError, match=message) as error:
        _read(tmp_path, text)
    assert "\n" not in str(error.value)


def test_commas_in_a_tsv_are_pointed_out(tmp_path: Path) -> None:
    """The suffix is wrong then."""
    with pytest.raises(DataError, match="separated by commas"):
        _read(tmp_path, "a,b\n1,2\n", "a.tsv")


def test_hostile_names_and_labels_survive(tmp_path: Path) -> None:
    """Quotes, line breaks, comment ends and other scripts."""
    names = ['say "hi"', "two\nlines", "*/ int x; /*", "größe", "漢字", "int", "a,b", "%d"]
    stream = io.StringIO()
    writer = csv.writer(stream)
    writer.writerow(names)
    writer.writerow([f"<{name}>" for name in names])
    table = _read(tmp_path, stream.getvalue())
    assert _cells(table) == {name: [f"<{name}>"] for name in names}


def test_the_work_for_a_column_does_not_grow_with_their_number(tmp_path: Path) -> None:
    """Ten times as many columns take ten times as many calls."""
    n_calls = []
    for n in (1000, 10_000):
        header, row = (",".join(f"{c}{i}" for i in range(n)) for c in ("c", ""))
        text = "\n".join([header] + [row] * 10)
        table = _read(tmp_path, text)
        assert (len(table.columns), table.n_rows) == (n, 10)
        n_calls.append(calls(_read, tmp_path, text))
    assert n_calls[1] < 11 * n_calls[0]


@given(
    st.lists(st.tuples(st.text(min_size=1, max_size=5), st.integers(-9, 9)), min_size=1, max_size=6)
)
def test_what_the_standard_writer_writes_is_read(
    tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[str, int]]
) -> None:
    """Any label but NUL and lone surrogates, quoted where it must be."""
    labels = [label.replace("\0", "_") or "_" for label, _ in rows]
    labels = [label.encode("utf-8", "replace").decode() + "." for label in labels]
    stream = io.StringIO()
    writer = csv.writer(stream, quoting=csv.QUOTE_ALL)
    writer.writerow(["label", "number"])
    writer.writerows([label, number] for label, (_, number) in zip(labels, rows, strict=True))
    path = tmp_path_factory.mktemp("csv") / "a.csv"
    path.write_text(stream.getvalue(), encoding="utf-8", newline="")
    table = read_csv(path)
    assert table.columns[1].values.tolist() == [number for _, number in rows]
    assert not np.any(table.columns[1].missing)
    if table.columns[0].kind == "category":
        assert table.columns[0].values.tolist() == [label.strip() for label in labels]
