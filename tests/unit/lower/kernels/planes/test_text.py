"""The kernels of planes as C: the addition of a word, and the final subtraction."""

from bncc.lower.kernels.planes.layout import columns, planes
from bncc.lower.kernels.planes.text import planes_text
from bncc.lower.kernels.shared.packing import Packing
from tests.unit.lower.by_hand import program, table


def printed(some, packing, layouts=planes):
    """Return the text of the layout with a packing."""
    kernel = next(kernel for kernel in layouts(some) if kernel.packing == packing)
    return planes_text(some, kernel, "m", 8)


def naive(costs, prior):
    """Return a program with one feature per table."""
    tables = [table([t], rows) for t, rows in enumerate(costs)]
    return program([len(t.costs) for t in tables], prior, tables, cost_bits=16)


ROWS = [[[255, 1, 2, 3, 4, 5, 6, 7, 8, 9], [0] * 10]] * 3


def test_row_by_row_every_plane_is_added_and_corrected():
    text = printed(naive(ROWS, [0, 7, *[0] * 8]), Packing(8, 32))
    assert text.template == "lower/kernels/planes.c.j2"
    assert text.context["row_lines"] == [
        "word = m_rom_uint32(&m_words[at]);",
        "part0 += word;",
        "part1 += (word >> 8) & 0x00FF00FFU;",
        "word = m_rom_uint32(&m_words[at + 6U]);",
        "part2 += word;",
        "part3 += (word >> 8) & 0x00FF00FFU;",
        "word = m_rom_uint16(&m_last[at]);",
        "part4 += word;",
        "part5 += word >> 8;",
    ]
    assert text.context["ends"] == [
        "part0 -= part1 << 8;",
        "part2 -= part3 << 8;",
        "part4 -= part5 << 8;",
    ]
    assert text.context["results"] == [
        "part0",
        "7U + part2",
        "part1",
        "part3",
        "part0 >> 16",
        "part2 >> 16",
        "part1 >> 16",
        "part3 >> 16",
        "part4",
        "part5",
    ]
    words, last, known = text.arrays
    assert words.lines[:2] == ("/* Classes 0, 2, 4, 6: x0 */", "0x060402FFU, 0x00000000U,")
    assert words.lines[6] == "/* Classes 1, 3, 5, 7: x0 */"
    assert words.comment == (
        "Costs of 8 bits, 4 per 32-bit word, the first in the lowest bits: "
        "for some classes a word per row, then for others."
    )
    assert last.lines[:2] == ("/* Classes 8 to 9: x0 */", "0x0908U, 0x0000U,")
    assert (last.type, last.n_bytes, words.n_bytes) == ("uint16_t", 12, 48)
    assert known.lines == ("0U, 2U, 4U,",)
    assert known.comment == "Per table: its first row."
    assert text.table_bytes == 60


def test_plane_by_plane_a_loop_hands_out_classes_that_lie_apart():
    text = printed(naive(ROWS, [0, 7, *[0] * 8]), Packing(8, 32), columns)
    assert text.template == "lower/kernels/columns.c.j2"
    assert text.context["n_full"] == 2
    assert text.context["full"] == {
        "n_parts": 2,
        "lines": [
            "word = m_rom_uint32(&plane[m_wide(row[t])]);",
            "part0 += word;",
            "part1 += (word >> 8) & 0x00FF00FFU;",
        ],
        "ends": ["part0 -= part1 << 8;"],
        "results": {
            "c": "m_rom_uint8(&m_prior[c]) + part0",
            "c + 2U": "m_rom_uint8(&m_prior[c + 2U]) + part1",
            "c + 4U": "m_rom_uint8(&m_prior[c + 4U]) + (part0 >> 16)",
            "c + 6U": "m_rom_uint8(&m_prior[c + 6U]) + (part1 >> 16)",
        },
    }
    assert text.context["rest"]["lines"] == [
        "word = m_rom_uint16(&m_last[at]);",
        "part0 += word;",
        "part1 += word >> 8;",
    ]
    assert text.context["rest"]["results"] == {
        "8": "m_rom_uint8(&m_prior[8]) + part0",
        "9": "m_rom_uint8(&m_prior[9]) + part1",
    }
    assert [a.name for a in text.arrays] == ["words", "last", "prior", "table"]
    assert text.table_bytes == 70


def test_a_last_plane_as_wide_as_the_others_lies_among_them():
    some = naive([[[255, *range(7, 17)]]] * 3, [0] * 11)
    text = printed(some, Packing(8, 32), columns)
    assert [a.name for a in text.arrays] == ["words", "table"]
    assert text.context["rest"]["lines"][0] == "word = m_rom_uint32(&m_words[at + 6U]);"
    assert text.context["rest"]["results"] == {
        "8": "part0",
        "9": "part1",
        "10": "part0 >> 16",
    }


def test_planes_that_are_all_full_have_no_rest():
    text = printed(naive([[[255] * 8]] * 3, [0] * 8), Packing(8, 32), columns)
    assert text.context["rest"] is None
    assert text.context["full"]["results"]["c + 2U"] == "part1"


def test_a_word_that_is_not_taken_apart_is_added_at_once():
    text = printed(naive([[[1, 0] * 5]], [0] * 10), Packing(1, 16))
    assert text.context["row_lines"] == ["part0 += m_rom_uint16(&m_words[at]);"]
    assert text.context["ends"] == []
    assert text.context["results"][1] == "(part0 >> 1) & 0x1U"


def test_a_class_alone_in_the_last_plane_is_named_so():
    text = printed(naive([[[255] * 9]] * 3, [0] * 9), Packing(8, 32))
    assert text.arrays[1].lines[0] == "/* Class 8: x0 */"
    assert text.context["row_lines"][-1] == "part4 += m_rom_uint8(&m_last[at]);"
