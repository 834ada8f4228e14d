"""Reading bytes and text: compression, encodings, and invalid files."""

import gzip
from pathlib import Path

import pytest

from bncc.data import files
from bncc.data.files import check_cells, read_bytes, read_text, suffix_of
from bncc.errors import DataError


@pytest.mark.parametrize(
    ("name", "suffix"),
    [("a.csv", ".csv"), ("b/c.ARFF.GZ", ".arff"), ("x.tar.gz", ".tar"), ("x", ""), ("x.gz", "")],
)
def test_the_suffix_does_not_count_gz(name: str, suffix: str) -> None:
    """Nor case."""
    assert suffix_of(name) == suffix


def test_gzip_is_recognized_by_content(tmp_path: Path) -> None:
    """A compressed file need not end in .gz."""
    for name in ("a.csv", "a.csv.gz"):
        (tmp_path / name).write_bytes(gzip.compress(b"hello"))
        assert read_bytes(tmp_path / name) == b"hello"


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ("é,b".encode(), "é,b"),
        ("é,b".encode("utf-8-sig"), "é,b"),
        ("é,b".encode("utf-16"), "é,b"),
        ("é,b".encode("latin-1"), "é,b"),
    ],
    ids=["utf-8", "byte-order mark", "utf-16", "latin-1"],
)
def test_text_is_decoded(content: bytes, text: str, tmp_path: Path) -> None:
    """UTF-8 first, marks honored, Latin-1 at last."""
    (tmp_path / "a.csv").write_bytes(content)
    assert read_text(tmp_path / "a.csv") == text


@pytest.mark.parametrize("content", [b"", b"  \n\n", b"\xef\xbb\xbf"])
def test_an_empty_file_is_an_error(content: bytes, tmp_path: Path) -> None:
    """Also one of blanks alone."""
    (tmp_path / "a.csv").write_bytes(content)
    with pytest.raises(DataError, match="is empty; it needs a header line and rows"):
        read_text(tmp_path / "a.csv")


@pytest.mark.parametrize("content", [b"\x7fELF\0\0\1", b"\xff\xfe\0", bytes(range(256))])
def test_garbage_is_not_text(content: bytes, tmp_path: Path) -> None:
    """A zero byte is the sign."""
    (tmp_path / "a.csv").write_bytes(content)
    with pytest.raises(DataError, match="is not text"):
        read_text(tmp_path / "a.csv")


def test_damaged_gzip_is_an_error(tmp_path: Path) -> None:
    """Cut short, and with a flipped bit."""
    whole = gzip.compress(b"a,b\n" + bytes(str(list(range(999))), "ascii"))
    path = tmp_path / "a.csv.gz"
    flipped = bytearray(whole)
    flipped[len(whole) // 2] ^= 0x10
    for content in (whole[: len(whole) // 2], whole[:11], bytes(flipped)):
        path.write_bytes(content)
        with pytest.raises(DataError, match="damaged or cut short gzip data; get it again"):
            read_bytes(path)


def test_what_ends_in_gz_must_be_gzip(tmp_path: Path) -> None:
    """The message has the remedy."""
    (tmp_path / "a.csv.gz").write_text("a,b\n1,2\n")
    with pytest.raises(DataError, match=r"is not gzip data; drop \.gz from its name"):
        read_bytes(tmp_path / "a.csv.gz")


def test_missing_files_and_folders_are_errors(tmp_path: Path) -> None:
    """One sentence each, without a traceback."""
    with pytest.raises(DataError, match="does not exist; check the path"):
        read_bytes(tmp_path / "none.csv")
    with pytest.raises(DataError, match="is a folder; name a file in it"):
        read_bytes(tmp_path)
    with pytest.raises(DataError, match="cannot be read"):
        read_bytes("a\0b.csv")
    (tmp_path / "file").write_text("x")
    with pytest.raises(DataError, match="cannot be read"):
        read_bytes(tmp_path / "file" / "a.csv")


def test_a_gzip_bomb_stops_at_the_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No more than the limit is ever decompressed."""
    monkeypatch.setattr(files, "MAX_BYTES", 2**20)
    (tmp_path / "a.csv.gz").write_bytes(gzip.compress(bytes(2**24)))
    with pytest.raises(DataError, match="holds more than 1 MiB; keep fewer rows"):
        read_bytes(tmp_path / "a.csv.gz")


def test_absurd_tables_are_refused() -> None:
    """They are refused before memory is allocated."""
    check_cells("a.csv", 2**13, 2**13)
    with pytest.raises(DataError, match="holds 8193 rows of 8192 columns, more than 67108864"):
        check_cells("a.csv", 2**13 + 1, 2**13)
