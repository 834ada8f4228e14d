"""The kernel of cuts in lanes as C: the text of its arrays and the additions of a row."""

from bncc.lower.kernels.cut_lanes.layout import cut_lanes
from bncc.lower.kernels.cut_lanes.text import StraightShape, cut_lanes_text
from tests.cut_programs import cut_program
from tests.unit.lower.by_hand import program, table

MAPS = {0: (0, 0, 1, 1), 1: (0, 1, 1, 1)}
OF_TWO = table([0, 1], [[0, 3], [1, 0], [2, 0], [0, 1]], maps=MAPS)


def texts_of(some):
    return [cut_lanes_text(some, kernel, "m", 8) for kernel in cut_lanes(some)]


def test_rows_are_words_and_cuts_are_two_lists():
    loop, straight = texts_of(program([4, 4], [0, 5], [OF_TWO]))
    words, shapes, features, leasts = loop.arrays
    assert (words.type, words.name, words.length, words.n_bytes) == ("uint8_t", "words0", 4, 4)
    assert words.lines[:2] == ("/* x0, x1 */", "/* 0-1,0 */ 0x0CU,")
    assert words.comment == (
        "Costs of classes 0 to 1, 2 bits each, the first in the lowest bits: one table per "
        "heading, one entry per joint state."
    )
    assert (shapes.type, shapes.lines) == ("uint8_t", ("4U, 4U, 2U, 1U, 0U,",))
    assert (features.name, features.lines) == ("features", ("/* x0, x1 */", "0U, 1U,"))
    assert (leasts.name, leasts.lines) == ("leasts", ("/* x0, x1 */", "2U, 1U,"))
    assert loop.table_bytes == 4
    assert loop.context["straight"] == ()
    assert loop.context["results"] == ["part0 & 0x3U", "5U + (part0 >> 2)"]
    assert [each.name for each in straight.arrays] == ["words0", "features", "leasts"]
    assert straight.context["straight"] == (StraightShape((2, 1), 4, 2),)
    assert straight.context["n_shapes"] == 0


def test_a_word_of_three_bytes_is_joined_from_two_arrays():
    some = cut_program(10, 8, 8, 20, 8, bits=3)
    text = texts_of(some)[0]
    assert [(each.name, each.type) for each in text.arrays[:2]] == [
        ("words0", "uint16_t"), ("words0_high", "uint8_t"),
    ]  # fmt: skip
    assert text.arrays[1].comment == "Bits from 16 on of each entry of words0."
    assert text.context["row_lines"][:2] == [
        "word = m_rom_uint16(&m_words0[at])",
        "    | ((uint32_t)m_rom_uint8(&m_words0_high[at]) << 16U);",
    ]
    assert text.context["has_word"]


def test_a_last_class_alone_is_added_without_a_mask():
    text = texts_of(cut_program(10, 8, 11, 5, 8, bits=3))[0]
    assert text.arrays[1].comment.startswith("Costs of class 10, 3 bits each")
    assert text.context["row_lines"][-1] == "part2 += m_rom_uint8(&m_words1[at]);"


def test_a_table_ends_where_the_list_of_its_shape_does():
    some = cut_program(20, 16, 4, 30, 8, share_of_grids=0.4)
    texts = texts_of(some)
    kernel = next(cut_lanes(some))
    assert len(kernel.shapes) > 2
    last = texts[len(texts) // 2 - 1] if len(texts) % 2 == 0 else texts[-1]
    ends = [each.end for each in last.context["straight"]]
    assert ends == sorted(ends)
    assert ends[-1] == kernel.n_cuts
