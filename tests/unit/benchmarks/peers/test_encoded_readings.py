"""Encoding of readings as numbers of one type for trees, as precise as the type allows."""

import numpy as np
import pytest

from benchmarks.peers.encoded_readings import encodings
from bncc.data.dataset import Column, Table


def column(name, values, missing=()):
    kinds = {int: ("integer", np.int64), float: ("float", np.float64), str: ("category", object)}
    kind, dtype = kinds[type(values[0])]
    absent = np.isin(np.arange(len(values)), missing)
    return Column(name, kind, np.array(values, dtype=dtype), absent)


def types(table):
    return [{style.c_type for style in one.styles} for one in encodings(table)]


@pytest.mark.parametrize(
    ("values", "c_types"),
    [
        ([0, 254], [{"uint8_t", "int16_t"}]),
        ([0, 255], [{"int16_t"}]),
        ([-32767, 32767], [{"int16_t"}]),
        ([-32768, 0], [{"int16_t"}, {"float"}]),
        ([0.5, 1.0], [{"int16_t"}, {"float"}]),
    ],
)
def test_the_narrowest_type_that_holds_them_and_floats_where_it_loses(values, c_types):
    assert types(Table((column("a", values),))) == c_types


def test_whole_numbers_stay_as_they_are():
    table = Table((column("a", [-3, 12, 200]), column("b", [0, 1, 0])))
    (one,) = encodings(table)
    assert one.numbers(table).tolist() == [[-3, 0], [12, 1], [200, 0]]


def test_other_numbers_are_spread_over_the_int16s_and_beyond_them_cut_off():
    narrow, _ = encodings(Table((column("a", [1.0, 1.25, 2.0]),)))
    later = Table((column("a", [1.0, 1.5, 2.0, 9.0]),))
    assert narrow.numbers(later)[:, 0].tolist() == [-32767, 0, 32767, 32767]


def test_a_missing_reading_and_an_unknown_category_lie_below_all_others():
    table = Table((column("a", [0.5, 1.5, 2.5], missing=[1]), column("b", ["x", "y", "x"])))
    narrow, exact = encodings(table)
    later = Table((column("a", [0.5, 2.5]), column("b", ["z", "y"])))
    assert narrow.numbers(table)[1].tolist() == [-32768, 1]
    assert narrow.numbers(later)[0].tolist() == [-32767, -32768]
    found = exact.numbers(table)
    assert found[1, 0] < found[[0, 2], 0].min()
    assert exact.numbers(later)[0, 1] < 0


def test_floats_are_what_a_float_of_the_device_holds():
    table = Table((column("a", [0.1, 0.7]),))
    _, exact = encodings(table)
    assert exact.numbers(table)[:, 0].tolist() == np.float32([0.1, 0.7]).tolist()
