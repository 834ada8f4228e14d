"""Counted operations of discretizers: each way, whole plans, and what they share."""

import numpy as np
import pytest

from bncc.discretize.feature import Feature
from bncc.lower.discretizers.choice import in_lines, searched, ways
from bncc.lower.discretizers.counts import (
    CODE,
    WORK,
    Counts,
    constant_counts,
    looks_of,
    search_counts,
    total,
)
from bncc.lower.discretizers.rates import rates_of

RATES = rates_of(None)
OFTEN = np.array([0.5, 0.25, 0.25, 0.0])
"""Frequencies of the states of three thresholds."""


def cuts(*thresholds, kind="int16", name="a"):
    return Feature(name, kind, len(thresholds) + 1, thresholds=thresholds)


EVEN = cuts(10, 20, 30)
FLAT = cuts()
CODED = Feature("c", "state", 4)


def counted(feature, method, frequencies=None, search="linear"):
    return next(
        way.counts for way in ways(feature, search, RATES, frequencies) if way.method == method
    )


def nonzero(numbers):
    return {name: number for name, number in numbers.items() if number}


def test_a_linear_search_compares_one_threshold_more_than_are_passed_unless_all_are():
    assert looks_of("linear", 3) == (1, 2, 3, 3)
    assert looks_of("linear", 0) == (0,)
    assert search_counts(EVEN, "linear", None, is_loop=True).work["thresholds"] == 2.25
    assert search_counts(EVEN, "linear", OFTEN, is_loop=True).work["thresholds"] == 1.75


def test_a_binary_search_halves_until_one_state_is_left():
    assert looks_of("binary", 0) == (0,)
    assert looks_of("binary", 3) == (2, 2, 2, 2)
    assert looks_of("binary", 4) == (3, 3, 2, 2, 2)


def test_states_that_never_occur_count_as_equally_frequent():
    none = search_counts(EVEN, "linear", np.zeros(4), is_loop=True)
    assert none.work["thresholds"] == 2.25


@pytest.mark.parametrize(
    ("kind", "work", "code", "n_bytes"),
    [
        ("uint8", {}, {}, 3),
        ("int16", {"markers": 1}, {"calls with a marker": 1}, 6),
        (
            "int32",
            {"markers": 1, "thresholds of 32 bits": 2.25},
            {"calls with a marker": 1, "linear calls of 32 bits": 1},
            12,
        ),
        (
            "float32",
            {"keys of floats": 1, "thresholds of 32 bits": 2.25},
            {"calls with a marker": 1, "linear calls of 32 bits": 1},
            12,
        ),
    ],
)
def test_a_called_search_has_the_operations_of_its_type(kind, work, code, n_bytes):
    found = counted(cuts(10, 20, 30, kind=kind), "linear")
    assert nonzero(found.work) == {"linear calls": 1, "thresholds": 2.25, **work}
    assert nonzero(found.code) == {"linear calls": 1, **code}
    assert found.rom_bytes == n_bytes


def test_a_tree_has_every_comparison_and_meets_some():
    found = counted(cuts(-10, 20, 300), "tree")
    assert nonzero(found.code) == {"lines": 1, "halves compared": 2, "bytes compared": 1}
    assert found.work["halves compared"] == pytest.approx(4 / 3)
    assert found.work["bytes compared"] == pytest.approx(2 / 3)
    assert nonzero(counted(cuts(1.0, kind="float32"), "tree").work)["bits of floats"] == 1


def test_tables_have_a_byte_or_a_nibble_for_each_integer():
    table, nibbles = (counted(EVEN, method) for method in ("bytes", "nibbles"))
    assert (table.rom_bytes, nibbles.rom_bytes) == (20, 10)
    assert nonzero(table.work) == {"lines": 1, "bytes compared": 2, "look-ups": 1}
    assert nonzero(table.code) == {"lines": 1, "bytes compared": 2, "look-ups": 1}
    assert nibbles.work == {**table.work, "nibbles": 1}
    assert nibbles.code == {**table.code, "nibbles": 1}


def test_a_guide_is_used_as_often_as_its_integers_occur():
    feature = cuts(1000, 2000, 3000, 4000, kind="int32")
    found = counted(feature, "guided")
    assert found.work["guides of 32 bits"] == pytest.approx(3 / 5)
    assert found.code["guides of 32 bits"] == 1
    assert found.rom_bytes % 4 == 0


def test_neighboring_constants_are_stored_together():
    assert constant_counts([]).work == {"constants": 0, "stores of constants": 0}
    assert constant_counts(range(8)).code == {"constants": 8, "stores of constants": 2}
    # 3; 4 .. 7; 8 and 9; 11
    found = constant_counts([3, 4, 5, 6, 7, 8, 9, 11])
    assert found.work == {"constants": 8, "stores of constants": 4}


def test_a_loop_has_a_turn_for_each_feature_and_one_function():
    plan = searched((EVEN, cuts(5)), "linear", RATES, (), (OFTEN, np.array([1.0, 0.0])))
    assert nonzero(plan.counts.work) == {"turns": 2, "markers": 2, "thresholds": 1.75 + 1}
    assert nonzero(plan.counts.code) == {
        "loop": 1,
        "linear search": 1,
        "search with a marker": 1,
    }
    assert plan.counts.rom_bytes == 2 * (3 + 1) + 2 * 2


def test_lines_count_codes_constants_and_functions():
    features = (EVEN, FLAT, cuts(1.0, kind="float32"), CODED)
    found = searched(features, "binary", RATES, unread=(2,)).counts
    assert nonzero(found.code) == {
        "binary search": 1,
        "search with a marker": 1,
        "binary calls": 2,
        "calls with a marker": 2,
        "constants": 1,
        "stores of constants": 1,
        "codes": 1,
        "function of codes": 1,
        "states in memory": 3,
    }
    (tree,) = (way for way in ways(FLAT, None, RATES) if way.method == "tree")
    plan = in_lines((FLAT, FLAT), None, RATES, {0: tree, 1: tree})
    assert nonzero(plan.counts.work) == {"constants": 2, "stores of constants": 1}


def test_codes_of_one_width_are_a_loop():
    found = searched((CODED, CODED), "linear", RATES).counts
    assert nonzero(found.work) == {"turns": 2}
    assert nonzero(found.code) == {"function of codes": 1, "loop of codes": 1}
    assert found.rom_bytes == 4


def test_every_operation_has_a_weight():
    kinds = ("uint8", "int16", "int32", "float32")
    features = [cuts(10, 20, 30, kind=kind) for kind in kinds] + [FLAT, CODED]
    plans = [
        searched(some, search, RATES)
        for some in (features, features[:1], [CODED])
        for search in ("linear", "binary")
    ]
    every = [way.counts for f in features[:4] for way in ways(f, "binary", RATES)]
    found = total([*every, *(plan.counts for plan in plans), Counts()])
    assert found.work.keys() <= set(WORK)
    assert found.code.keys() <= set(CODE)
