"""The packed kernel of cuts as C: the text of its arrays and its function."""

import numpy as np
import pytest

from bncc.lower.kernels.cut_packed.layout import cut_packed
from bncc.lower.kernels.cut_packed.text import cut_packed_text
from tests.cut_programs import letter_like
from tests.unit.lower.by_hand import program, table

MAPS = {0: (0, 0, 1, 1), 1: (0, 1, 1, 1)}
OF_TWO = table([0, 1], [[0, 3], [1, 0], [2, 0], [0, 1]], maps=MAPS)


def text_of(some, which=0):
    return cut_packed_text(some, list(cut_packed(some))[which], "m", 8)


def test_rows_are_bytes_and_cuts_are_numbers():
    rows, cuts = text_of(program([4, 4], [0, 0], [OF_TWO])).arrays
    assert (rows.type, rows.name, rows.length, rows.n_bytes) == ("uint8_t", "rows", 4, 4)
    assert rows.lines[:2] == ("/* x0, x1 */", "/* 0-1,0 */ 0x0CU,")
    assert rows.comment == (
        "Costs of 2 bits without gaps, first class lowest: one table per heading, 1 byte per "
        "joint state."
    )
    assert (cuts.type, cuts.length) == ("uint8_t", 2)
    assert cuts.lines == ("/* x0, x1 */", "0x0AU, 0x14U,")


def test_a_number_finds_one_of_the_distinct_rows_by_shifts():
    few = np.eye(26, dtype=np.int64)[:8] * 7
    some = letter_like(20, 16)
    rng = np.random.default_rng(0)
    tables = [
        table(t.features, few[rng.integers(0, 8, len(t.costs))], 8, t.maps) for t in some.tables
    ]
    text = text_of(program(some.n_states, [0] * 26, tables), 1)
    assert [each.name for each in text.arrays] == ["rows", "numbers", "cuts"]
    assert text.context["scaled"] == "(number << 3U) + m_apart((uint_fast16_t)(number << 1U))"
    assert (text.context["step"], text.context["number_type"]) == (1, "uint8_t")
    assert text.table_bytes == 8 * 10 + sum(len(t.costs) for t in tables)


@pytest.mark.parametrize(
    ("prior", "names"), [(0, ["rows", "cuts"]), (5, ["rows", "prior", "cuts"])]
)
def test_a_prior_is_an_array(prior, names):
    text = text_of(program([4, 4], [0, prior], [OF_TWO]))
    assert [each.name for each in text.arrays] == names
    assert text.context["prior_type"] == ("uint8_t" if prior else "")


def test_a_layout_says_how_its_rows_lie():
    kernel = next(iter(cut_packed(program([4, 4], [0, 0], [OF_TWO]))))
    assert kernel.summary == (
        "rows of 2 costs of 2 bits without a gap, summed one by one, found by 2 comparisons in a "
        "loop"
    )
