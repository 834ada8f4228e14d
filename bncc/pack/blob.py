"""
Blobs: the format, and a reader that refuses and decides as the C runtime does.

A blob is the layout of the kernel ``cut-packed`` over readings, behind a header of 24 bytes;
`docs/SPEC.md` has the format.
"""

import struct
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from zlib import crc32

import numpy as np

from bncc._types import IntArray
from bncc.errors import BnccError
from bncc.lower.kernels.cut_packed.layout import AGAIN, MARK_BITS, MORE

HEADER = struct.Struct("<IIHHIHHBBH")
"""Magic, CRC, length, offset of rows, base, digest, features, classes, widths, sequence."""
DIGEST_AT, SEQUENCE_AT = 16, 22
"""Offsets of two of them."""
MAGIC = int.from_bytes(b"bnc\x01", "little")
"""The last byte is the version of the format."""
COMMIT_BYTES = 4
"""Bytes at the beginning that an update writes last."""
COVERED = 8
"""Offset of the first byte that the CRC covers."""
MAX_FEATURES, MAX_CLASSES = 64, 32
"""Readings and classes of a runtime without macros."""
MOST_BYTES, MOST_FEATURES, MOST_CLASSES, SEQUENCES = 2**16 - 1, 2**14, 255, 2**16
"""Largest values of fields, and the number of sequence numbers."""
ROUNDS = 8
"""Decisions of the self-test."""
WORD = 2**32


@dataclass(frozen=True)
class Refusal:
    """An error of the loader."""

    name: str  # Behind ``BNCC_ERR_``
    value: int  # What ``bncc_open`` returns
    text: str  # Its meaning


ERRORS = tuple(
    Refusal(name, -1 - k, text)
    for k, (name, text) in enumerate(
        (
            ("MAGIC", "no blob of this version of the format"),
            ("SIZE", "longer than the space that it is in"),
            ("CRC", "truncated or damaged"),
            ("SIGNATURE", "refused by BNCC_VERIFY"),
            ("CAPACITY", "more readings or classes than the firmware has room for"),
            ("TABLES", "an index beyond the readings, the cuts or the rows"),
            ("SELFTEST", "other decisions than those of the model"),
        )
    )
)
"""All errors of the loader."""
OK = 0
CODES = {each.name: each.value for each in ERRORS}
"""Return values of ``bncc_open`` by name."""


class BlobError(BnccError):
    """A blob that the loader refuses; ``code`` is what ``bncc_open`` returns."""

    def __init__(self, name: str) -> None:
        text = next(each.text for each in ERRORS if each.name == name)
        super().__init__(f"the blob is refused: {text}; pack the model again")
        self.code = CODES[name]


@dataclass(frozen=True)
class Header:
    """Fields of a header, apart from the digests and offsets that follow from the rest."""

    base: int  # Added to every limit, modulo 2**32
    sequence: int  # Later models have higher ones, in serial arithmetic
    n_features: int  # Readings
    n_classes: int  # Classes
    cost_bits: int  # 1 .. 8
    entry_bytes: int  # 1 or 2: what a cut reads
    limit_bytes: int  # 1 .. 4: a limit

    @property
    def widths(self) -> int:
        """The last byte of the header."""
        return (self.cost_bits - 1) | (self.limit_bytes - 1) << 3 | (self.entry_bytes - 1) << 7

    @property
    def row_bytes(self) -> int:
        """Bytes of a row."""
        return (self.n_classes * self.cost_bits + 7) // 8


Cut = tuple[int, bool, int]
"""A cut: number of the reading, whether it is a further cut of it, limit."""


@dataclass(frozen=True)
class BlobTable:
    """A table of a blob."""

    cuts: tuple[Cut, ...]
    rows: bytes


@dataclass(frozen=True)
class Blob:
    """A blob whose every index has been checked."""

    header: Header
    tables: tuple[BlobTable, ...]

    def costs(self, x: Sequence[int]) -> list[int]:
        """Return the cost of every class for readings in 32 bits."""
        total = [0] * self.header.n_classes
        n, bits = self.header.row_bytes, self.header.cost_bits
        mask = (1 << bits) - 1
        for table in self.tables:
            row, size, row_before, size_before = 0, 1, 0, 1
            for feature, is_further, limit in table.cuts:
                if not is_further:
                    row_before, size_before = row, size
                row += row_before + (x[feature] > limit)
                size += size_before
            word = int.from_bytes(table.rows[row * n : row * n + n], "little")
            for c in range(len(total)):
                total[c] += word & mask
                word >>= bits
        return total

    def decide(self, x: Sequence[int]) -> int:
        """Return the class of least cost, the smallest index on ties."""
        total = self.costs(x)
        return total.index(min(total))

    def decisions(self, readings: IntArray) -> IntArray:
        """
        Return the class of each row.

        Shapes: `readings` (n, n_features) int, in 32 bits; returns (n,) int64.
        """
        return np.array([self.decide(x) for x in readings.tolist()], dtype=np.int64)

    @cached_property
    def digest(self) -> int:
        """Digest of the decisions of the self-test."""
        x, digest = [0] * self.header.n_features, WORD - 1
        for _ in range(ROUNDS):
            for table in self.tables:
                for feature, _, limit in table.cuts:
                    digest = _crc_step(digest, 0)
                    if digest & 1:
                        x[feature] = signed(limit + (digest >> 1 & 1))
            digest = _crc_step(digest, self.decide(x))
        return digest & 0xFFFF


def signed(word: int) -> int:
    """Return the number in 32 bits that is equal modulo 2**32."""
    return (word + WORD // 2) % WORD - WORD // 2


def _crc_step(crc: int, byte: int) -> int:
    """Return the register of CRC-32 after a byte more."""
    return (crc >> 8) ^ _CRC_TABLE[(crc ^ byte) & 0xFF]


_CRC_TABLE = tuple(crc32(bytes([k]), WORD - 1) ^ (WORD - 1) for k in range(256))
"""Register after a byte from a register of 0; zlib inverts it before and after."""


def written(header: Header, cuts: bytes, rows: bytes) -> bytes:
    """Return a blob; digest and CRC are computed."""
    rows_at = HEADER.size + len(cuts)
    head = HEADER.pack(
        MAGIC, 0, rows_at + len(rows), rows_at, header.base, 0,
        header.n_features, header.n_classes, header.widths, header.sequence,
    )  # fmt: skip
    return with_digests(with_crc(head + cuts + rows))


def with_crc(blob: bytes) -> bytes:
    """Return a blob with the CRC of its content."""
    return blob[:4] + struct.pack("<I", crc32(blob[COVERED:])) + blob[COVERED:]


def with_digests(blob: bytes) -> bytes:
    """Return a blob with the digest of its decisions and its CRC; its indices are in bounds."""
    digest = parsed(blob, MOST_FEATURES, MOST_CLASSES)[0].digest
    field = struct.pack("<H", digest)
    return with_crc(blob[:DIGEST_AT] + field + blob[DIGEST_AT + len(field) :])


def read(blob: bytes, max_features: int = MAX_FEATURES, max_classes: int = MAX_CLASSES) -> Blob:
    """Return a blob in bytes that may follow each other beyond it; raise `BlobError` as the C."""
    found, digest = parsed(blob, max_features, max_classes)
    if found.digest != digest:
        raise BlobError("SELFTEST")
    return found


def newer(slot0: bytes, slot1: bytes) -> int:
    """Return the slot of two whose model is used: the later one of those that are accepted."""
    found: list[Blob | BlobError] = []
    for slot in (slot0, slot1):
        try:
            found.append(read(slot))
        except BlobError as error:
            found.append(error)
    first, second = found
    if isinstance(second, BlobError):
        if isinstance(first, BlobError):
            raise first
        return 0
    if isinstance(first, BlobError):
        return 1
    ahead = (second.header.sequence - first.header.sequence) % SEQUENCES
    return int(0 < ahead < SEQUENCES // 2)


def parsed(blob: bytes, max_features: int, max_classes: int) -> tuple[Blob, int]:
    """Return a blob and the digest that its decisions should have."""
    if len(blob) < HEADER.size:
        raise BlobError("SIZE")
    magic, crc, length, rows_at, base, digest, n_features, n_classes, widths, sequence = (
        HEADER.unpack_from(blob)
    )
    if magic != MAGIC:
        raise BlobError("MAGIC")
    if not HEADER.size <= length <= len(blob):
        raise BlobError("SIZE")
    if crc32(blob[COVERED:length]) != crc:
        raise BlobError("CRC")
    if n_features > max_features or not 1 <= n_classes <= max_classes:
        raise BlobError("CAPACITY")
    header = Header(
        base, sequence, n_features, n_classes, (widths & 7) + 1, (widths >> 7) + 1,
        (widths >> 3 & 3) + 1,
    )  # fmt: skip
    if not HEADER.size < rows_at <= length:
        raise BlobError("TABLES")
    tables = tuple(_tables(header, blob[HEADER.size : rows_at], blob[rows_at:length]))
    return Blob(header, tables), digest


def _tables(header: Header, cuts: bytes, rows: bytes) -> Iterable[BlobTable]:
    """Yield the tables; every reading, cut and row is within bounds."""
    step = header.entry_bytes + header.limit_bytes
    found: list[Cut] = []
    at, n_rows, before = 0, 1, 1
    for k in range(0, len(cuts), step):
        if k + step > len(cuts):
            raise BlobError("TABLES")
        entry = int.from_bytes(cuts[k : k + header.entry_bytes], "little")
        limit = int.from_bytes(cuts[k + header.entry_bytes : k + step], "little")
        is_further = bool(entry & AGAIN)
        before = before if is_further else n_rows
        n_rows += before
        n_bytes = n_rows * header.row_bytes
        feature = entry >> MARK_BITS
        if feature >= header.n_features or at + n_bytes > len(rows):
            raise BlobError("TABLES")
        found.append((feature, is_further, signed(header.base + limit)))
        if not entry & MORE:
            yield BlobTable(tuple(found), rows[at : at + n_bytes])
            at += n_bytes
            found, n_rows, before = [], 1, 1
    if found or at != len(rows):
        raise BlobError("TABLES")
