"""The reader of blobs: what it refuses, and how it decides."""

import numpy as np
import pytest

from bncc.pack.blob import (
    CODES,
    HEADER,
    MAGIC,
    BlobError,
    Header,
    parsed,
    read,
    with_crc,
    with_digests,
    written,
)

HEAD = Header(
    base=100, sequence=7, n_features=2, n_classes=2, cost_bits=4, entry_bytes=1, limit_bytes=1
)
# A table of three rows: two cuts of reading 0 at 100 and 110. One of four: readings 0 and 1.
CUTS = bytes([0b010, 0, 0b001, 10, 0b010, 5, 0b100, 0])
ROWS = bytes([0x11, 0x03, 0x52, 0x00, 0x30, 0x04, 0x11])
GOOD = written(HEAD, CUTS, ROWS)


def code(blob: bytes, **limits: int) -> int:
    """Return what the loader returns for a blob."""
    try:
        read(blob, **limits)
    except BlobError as error:
        return error.code
    return 0


def changed(at: int, value: int, n_bytes: int = 1) -> bytes:
    """Return the blob with another number in some bytes, and the right CRC."""
    return with_crc(GOOD[:at] + value.to_bytes(n_bytes, "little") + GOOD[at + n_bytes :])


def test_a_blob_has_the_fields_that_it_was_written_with():
    """Beyond its length there may be other bytes, as in a slot of flash."""
    found = read(GOOD + b"\xff" * 9)
    assert found.header == HEAD
    assert [table.cuts for table in found.tables] == [
        ((0, False, 100), (0, True, 110)),
        ((0, False, 105), (1, False, 100)),
    ]
    assert [table.rows for table in found.tables] == [ROWS[:3], ROWS[3:]]
    assert GOOD[:4] == b"bnc\x01"
    assert HEADER.unpack_from(GOOD)[0] == MAGIC


@pytest.mark.parametrize(
    ("x", "costs"),
    [
        ((100, 100), [1 + 0, 1 + 0]),
        ((101, 101), [3 + 0, 0 + 3]),
        ((106, 100), [3 + 4, 0 + 0]),
        ((111, 101), [2 + 1, 5 + 1]),
    ],
)
def test_costs_are_the_sums_of_a_row_of_each_table(x, costs):
    """A reading reaches a cut if it exceeds the limit; rows pack the first class lowest."""
    assert read(GOOD).costs(x) == costs


def test_ties_go_to_the_smallest_class():
    """Both classes cost 1."""
    assert read(GOOD).costs((100, 100)) == [1, 1]
    assert read(GOOD).decide((100, 100)) == 0
    assert read(GOOD).decisions(np.array([[106, 100], [111, 101]])).tolist() == [1, 0]


@pytest.mark.parametrize(
    ("blob", "name"),
    [
        (b"", "SIZE"),
        (GOOD[:23], "SIZE"),
        (GOOD[:-1], "SIZE"),
        (changed(0, 0), "MAGIC"),
        (changed(3, 2), "MAGIC"),
        (changed(8, 23, 2), "SIZE"),
        (changed(8, len(GOOD) + 1, 2), "SIZE"),
        (GOOD[:4] + b"\x00" + GOOD[5:], "CRC"),
        (GOOD[:-1] + b"\x00", "CRC"),
        (changed(18, 65, 2), "CAPACITY"),
        (changed(20, 33), "CAPACITY"),
        (changed(20, 0), "CAPACITY"),
        (changed(18, 1, 2), "TABLES"),  # reading 1 of 1
        (changed(10, 24, 2), "TABLES"),  # no cuts
        (changed(10, len(GOOD) + 1, 2), "TABLES"),  # rows behind the end
        (changed(10, 31, 2), "TABLES"),  # half a cut
        (changed(30, 0b110), "TABLES"),  # the last table has more
        (changed(30, 0b101), "TABLES"),  # rows that no table takes
        (changed(26, 0b000), "TABLES"),  # tables of more rows than there are
        (changed(16, 0, 2), "SELFTEST"),
    ],
)
def test_a_blob_is_refused_by_the_first_check_that_fails(blob, name):
    """The code is the one that the C returns."""
    assert code(blob) == CODES[name]


def test_capacity_is_that_of_the_firmware():
    """The limits of a runtime are macros."""
    assert code(GOOD, max_features=1) == CODES["CAPACITY"]
    assert code(GOOD, max_classes=1) == CODES["CAPACITY"]
    assert code(GOOD, max_features=2, max_classes=2) == 0


def test_an_error_has_a_remedy():
    """It is one sentence."""
    with pytest.raises(BlobError, match="truncated or damaged; pack the model again"):
        read(GOOD[:-1] + b"\x00")


def test_digests_can_be_written_again():
    """A blob with other rows has other decisions, and is then accepted as such."""
    other = with_crc(GOOD[: -len(ROWS)] + bytes([0x1F] * len(ROWS)))
    assert parsed(other, 2, 2)[0].digest != parsed(GOOD, 2, 2)[0].digest
    assert code(other) == CODES["SELFTEST"]
    assert code(with_digests(other)) == 0


def test_limits_wrap_around_as_words_of_32_bits():
    """No sum of base and limit is beyond what C defines for unsigned numbers."""
    wrapped = with_digests(changed(12, 2**31 - 5, 4))
    assert [cut[2] for cut in read(wrapped).tables[0].cuts] == [2**31 - 5, -(2**31) + 5]
