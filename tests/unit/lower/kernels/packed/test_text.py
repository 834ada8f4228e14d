"""The packed kernel as C: its arrays equal those of the layout."""

import re

import numpy as np
import pytest

from bncc.lower.kernels.packed.layout import packed
from bncc.lower.kernels.packed.text import packed_text
from bncc.lower.kernels.shared.packing import Packing
from bncc.program.pipeline import program_of
from tests import models as hand
from tests.agreement.large import three_cost_arrays, two_cost_arrays
from tests.unit.lower.by_hand import program, table


def printed(some, packing, *, is_shared=False):
    """Return the first kernel with a packing, and its text."""
    kernel = next(
        kernel
        for kernel in packed(some)
        if kernel.packing == packing and (kernel.rows.index is not None) == is_shared
    )
    return kernel, packed_text(some, kernel, "m", 8)


def naive(costs, prior):
    """Return a program with one feature per table."""
    tables = [table([t], rows) for t, rows in enumerate(costs)]
    return program([len(t.costs) for t in tables], prior, tables)


def numbers(array):
    """Return the entries of an array as printed, without comments."""
    text = re.sub(r"/\*.*?\*/", " ", " ".join(array.lines))
    return [int(word, 0) for word in text.replace("U,", " ").split()]


def test_words_are_printed_plane_by_plane_below_their_tables():
    some = naive([[[1, 2, 3], [0, 1, 0]], [[3, 3, 1]]], [0, 0, 0])
    _, text = printed(some, Packing(4, 8))
    (words,) = text.arrays
    assert (words.type, words.name, words.length, words.n_bytes) == ("uint8_t", "words", 6, 6)
    assert words.lines == (
        "/* Classes 0 to 1: x0 */",
        "0x21U, 0x10U,",
        "/* Classes 0 to 1: x1 */",
        "0x33U,",
        "/* Class 2: x0 */",
        "0x03U, 0x00U,",
        "/* Class 2: x1 */",
        "0x01U,",
    )
    assert words.comment == (
        "Costs of 4 bits, 2 per byte, the first in the lowest bits: "
        "for the first 2 classes a byte per row, then for the next."
    )
    assert text.table_bytes == 6
    assert text.template == "lower/kernels/packed.c.j2"
    assert not text.decides


def test_a_row_in_one_word_and_a_cost_in_one_word_are_described_shorter():
    some = naive([[[1, 2, 3], [0, 1, 0]]], [0, 0, 0])
    _, one = printed(some, Packing(2, 16))
    assert (
        one.arrays[0].comment == "Costs of 2 bits, a 16-bit word per row, the first class lowest."
    )
    assert one.arrays[0].lines == ("/* Classes 0 to 2: x0 */", "0x0039U, 0x0004U,")
    _, alone = printed(some, Packing(8, 8))
    assert alone.arrays[0].comment == "Costs, class by class: a byte per row."
    assert alone.arrays[0].lines[:2] == ("/* Class 0: x0 */", "1U, 0U,")


def test_different_rows_stand_apart_from_their_indices():
    some = naive([[[1, 2], [0, 1], [1, 2]], [[0, 1]]], [0, 0])
    _, text = printed(some, Packing(2, 8), is_shared=True)
    index, words = text.arrays
    assert (index.type, index.name, index.length, index.n_bytes) == ("uint8_t", "index", 4, 4)
    assert index.lines == ("/* x0 */", "1U, 0U, 1U,", "/* x1 */", "0U,")
    assert words.lines == ("/* Classes 0 to 1 */", "0x04U, 0x09U,")
    assert "a byte per distinct row" in words.comment
    assert text.context["row_id_type"] == "uint8_t"
    assert text.table_bytes == 6


def test_the_prior_is_as_wide_as_it_needs():
    some = naive([[[0, 1], [1, 0]]], [0, 256])
    _, text = printed(some, Packing(1, 8))
    prior = text.arrays[-1]
    assert (prior.type, prior.name, prior.lines) == ("uint16_t", "prior", ("0U, 256U,",))
    assert text.context["prior_type"] == "uint16_t"
    _, without = printed(naive([[[0, 1], [1, 0]]], [0, 0]), Packing(1, 8))
    assert without.context["prior_type"] == ""


def test_what_finds_rows_is_printed_with_the_form():
    pair = table([1, 0], [[0, 1]] * 6)
    own = program([2, 3], [0, 0], [table([1], [[0, 1], [1, 0], [0, 0]]), pair])
    _, text = printed(own, Packing(1, 8))
    assert {a.name: numbers(a) for a in text.arrays[1:]} == {"feature": [1, 0], "parent": [1, 1]}
    assert (text.context["form"], text.context["has_own"]) == ("parent", True)
    assert text.context["has_roots"]
    _, text = printed(program([2, 3], [0, 0], [pair]), Packing(1, 8))
    assert text.context["has_own"] is False
    assert not text.context["has_roots"]
    wide = program([2, 3, 2], [0, 0], [table([1, 2, 0], [[0, 1], [1, 0]] * 6), pair])
    _, text = printed(wide, Packing(1, 8))
    found = {a.name: numbers(a) for a in text.arrays[1:]}
    assert found == {"feature": [1, 2, 0, 1, 0], "arity": [3, 2]}
    assert text.context["form"] == "parents"
    assert text.context["place_type"] == "uint8_t"


@pytest.mark.parametrize("is_shared", [False, True])
@pytest.mark.parametrize("make", [*hand.NAMED.values(), two_cost_arrays, three_cost_arrays])
def test_all_words_are_printed_once_in_whole_tables(make, is_shared):
    some = program_of(make())
    for kernel in packed(some):
        if (kernel.rows.index is not None) != is_shared:
            continue
        text = packed_text(some, kernel, "m", 8)
        parts = [a for a in text.arrays if a.name.startswith("words")]
        planes = [np.array(numbers(a)).reshape(kernel.n_planes, -1) for a in parts]
        assert np.array_equal(np.concatenate(planes, axis=1), kernel.words)
        assert sum(a.n_bytes for a in text.arrays) == kernel.rom_bytes
        assert [p["n_rows"] for p in text.context["parts"]] == [p.shape[1] for p in planes]
        assert text.context["parts"][-1]["end"] == len(kernel.tables)


def test_words_that_fill_several_arrays_say_which_tables_are_where():
    some = program_of(two_cost_arrays())
    kernel = next(k for k in packed(some) if k.packing == Packing(8, 8) and k.rows.index is None)
    text = packed_text(some, kernel, "m", 8)
    first, second = text.arrays[:2]
    assert (first.name, second.name) == ("words1", "words2")
    assert first.comment.endswith(" This array has tables 0 to 6.")
    assert second.comment.endswith(" This array has tables 7 to 8.")
    assert [(p["first"], p["end"]) for p in text.context["parts"]] == [(0, 7), (7, 9)]
