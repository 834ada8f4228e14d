"""Bytes and text of data files: decompressed, decoded, of a bearable size, made fit to show."""

import gzip
import hashlib
import io
import zlib
from pathlib import Path

from bncc._types import StrPath
from bncc.errors import DataError


def printable(text: str) -> str:
    """Return a text on one line, safe for a terminal."""
    return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)


MAX_BYTES = 2**30
"""Largest file, after decompression, that a reader takes: 1 GiB."""

MAX_CELLS = 2**26
"""Most cells of one table; each takes 8 bytes or more in memory."""

_GZIP_MAGIC = b"\x1f\x8b"
_UTF16_MARKS = (b"\xff\xfe", b"\xfe\xff")


def suffix_of(path: StrPath) -> str:
    """Return the lower-case suffix that tells the format, without a final ``.gz``."""
    name = Path(path)
    if name.suffix.lower() == ".gz":
        name = name.with_suffix("")
    return name.suffix.lower()


def check_cells(path: StrPath, n_rows: int, n_columns: int) -> None:
    """Reject a table of absurd size before memory is allocated for it."""
    if n_rows * n_columns > MAX_CELLS:
        raise DataError(
            f"'{path}' holds {n_rows} rows of {n_columns} columns, more than {MAX_CELLS} cells; "
            "keep fewer rows or columns"
        )


def read_bytes(path: StrPath, most: int | None = None, remedy: str = "keep fewer rows") -> bytes:
    """Read a file whole; gzip is recognized by its first bytes."""
    most = MAX_BYTES if most is None else most
    try:
        with Path(path).open("rb") as stream:
            content = stream.read(most + 1)
    except FileNotFoundError:
        raise DataError(f"'{path}' does not exist; check the path") from None
    except IsADirectoryError:
        raise DataError(f"'{path}' is a folder; name a file in it") from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise DataError(f"'{path}' cannot be read ({reason}); check the path") from None
    if content.startswith(_GZIP_MAGIC):
        content = _gunzip(path, content, most)
    elif Path(path).suffix.lower() == ".gz":
        raise DataError(f"'{path}' is not gzip data; drop .gz from its name or compress it")
    if len(content) > most:
        raise DataError(f"'{path}' holds more than {most >> 20} MiB; {remedy}")
    return content


def file_digest(path: StrPath) -> str:
    """
    Return the sha256 of a file as it is stored, 64 hexadecimal digits, as sha256sum prints.

    Raises a DataError where it cannot be read.
    """
    try:
        with Path(path).open("rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()
    except OSError as error:
        raise DataError(f"'{path}' cannot be read ({error.strerror}); check the path") from None


def _gunzip(path: StrPath, content: bytes, most: int) -> bytes:
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(content)) as stream:
            return stream.read(most + 1)
    except (EOFError, OSError, zlib.error):
        raise DataError(f"'{path}' is damaged or cut short gzip data; get it again") from None


def read_text(path: StrPath) -> str:
    """Read a text file: UTF-8 with or without byte-order mark, UTF-16 with one, else Latin-1."""
    content = read_bytes(path)
    try:
        encoding = "utf-16" if content.startswith(_UTF16_MARKS) else "utf-8-sig"
        text = content.decode(encoding)
    except UnicodeDecodeError:
        text = content.decode("latin-1")
    if "\0" in text:
        raise DataError(f"'{path}' is not text; name a file of the format its suffix says")
    if not text.strip():
        raise DataError(f"'{path}' is empty; it needs a header line and rows")
    return text
