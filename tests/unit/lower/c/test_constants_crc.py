"""The CRC of all constants: over the printed values, in any form."""

from zlib import crc32

from bncc.lower.c.c99 import ArrayText, array
from bncc.lower.c.constants import crc_of, label_bytes, summed_arrays


def test_numbers_are_read_back_from_their_text():
    lines = ("/* a, 7 */ 0x0FU, 2U,", "-3, INT32_MIN, /* 9", " * more */ 0x0AL,")
    (found,) = summed_arrays([ArrayText("int32_t", "a", 5, "", lines, 20)])
    assert found.values() == [15, 2, -3, -(2**31), 10]
    assert (found.bits, found.reader, found.base) == (32, "int32", "")


def test_addresses_count_bytes_from_the_rows_they_point_into():
    rows = array("table1", 16, range(9), "")
    pointers = ArrayText("uint16_t *const", "rows1", 2, "", ("&m_table1[0], &m_table1[4],",), 4)
    _, found = summed_arrays([rows, pointers])
    assert found.values() == [0, 8]
    assert (found.bits, found.reader, found.base) == (32, "row", "m_table1")


def test_the_lowest_byte_of_an_entry_is_the_first():
    arrays = summed_arrays([array("a", 16, [1, 0x203], ""), array("b", 8, [255], "")])
    assert crc_of(arrays, ["x"]) == crc32(b"\x01\x00\x03\x02\xffx\x00\x00")


def test_labels_end_in_a_zero():
    assert label_bytes(["a", "\u00fc"]) == b"a\x00\xc3\xbc\x00"
