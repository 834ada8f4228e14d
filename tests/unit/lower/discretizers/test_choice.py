"""The choice of discretizers: possible forms, the cheapest, and those that fit in flash."""

import numpy as np
import pytest

from bncc.discretize.feature import Feature
from bncc.lower.discretizers.choice import (
    MAX_TREE,
    choose_discretizers,
    every_own_way,
    in_lines,
    searched,
    ways,
)
from bncc.lower.discretizers.rates import RATES, Rates, rates_of

# line, call, turn, linear, binary, tree, table, nibble, guide, guide32, half, word
ROUND = Rates(
    (3, 10), (10, 20), (20, 60), (6, 30), (8, 50), (2, 6), (9, 30), (4, 10), (7, 25), (8, 28),
    (1, 4), (2, 8),
)  # fmt: skip


def cuts(*thresholds, kind="int16", missing_state=0, name="a"):
    n_states = max(len(thresholds), missing_state) + 1
    return Feature(name, kind, n_states, thresholds=thresholds, missing_state=missing_state)


CODE = Feature("c", "state", 4)
EVEN = cuts(10, 20, 30)
WIDE = cuts(*range(0, 6000, 500))
MANY = cuts(*range(0, 3000, 10))


def methods(feature, search="linear"):
    return list(dict.fromkeys(way.method for way in ways(feature, search, ROUND)))


def test_a_narrow_sensor_can_be_looked_up():
    assert methods(EVEN) == ["linear", "tree", "bytes", "nibbles", "guided"]
    assert methods(EVEN, None) == ["tree", "bytes", "nibbles", "guided"]


def test_sixteen_states_need_more_than_a_nibble():
    assert "nibbles" in methods(cuts(*range(0, 32, 2)))
    assert "nibbles" not in methods(cuts(*range(0, 34, 2)))


def test_a_wide_sensor_and_a_float_have_no_table():
    assert methods(WIDE) == ["linear", "tree", "guided"]
    assert methods(cuts(1.0, 2.0, 3.0, kind="float32"), "binary") == ["binary", "tree", "guided"]


def test_a_tree_has_at_most_256_steps():
    assert methods(cuts(*range(0, 1000 * MAX_TREE - 1000, 1000), kind="int32"))[1] == "tree"
    assert methods(cuts(*range(0, 1000 * MAX_TREE, 1000), kind="int32")) == ["linear"]


@pytest.mark.parametrize(
    ("feature", "expected"),
    [
        # 3 thresholds: 2.25 compared, or 2 halvings; a tree of three comparisons, two of them met
        (
            EVEN,
            {
                "linear": (3 + 10 + 2.25 * 6, 10 + 20 + 6),
                "binary": (3 + 10 + 2 * 8, 10 + 20 + 6),
                "tree": (3 + 2 * 2, 10 + 3 * 6),
                "bytes": (3 + 9, 10 + 30 + 20),
                "nibbles": (3 + 9 + 4, 10 + 30 + 10 + 10),
            },
        ),
        # two of the three comparisons with more than a byte
        (
            cuts(-10, 20, 300),
            {"tree": (3 + 2 * (2 + 2 / 3), 10 + 3 * 6 + 2 * 4)},
        ),
        (
            cuts(10, 20, 30, kind="int32"),
            {
                "linear": (3 + 10 + 2.25 * 8, 10 + 20 + 12),
                "tree": (3 + 2 * (2 + 2), 10 + 3 * (6 + 8)),
                "bytes": (3 + 9 + 2 * 2, 10 + 30 + 20 + 2 * 8),
            },
        ),
        (cuts(), {"tree": (3, 10)}),
        # three of five states are between the outer thresholds, others take one comparison more
        (
            cuts(1000, 2000, 3000, 4000, kind="int32"),
            {"guided": (3 + 3 / 5 * 8 + 2 / 5 * (2 + 2 + 2), 10 + 28 + 6 + 8 + 4 * 6)},
        ),
    ],
)
def test_costs_add_up(feature, expected):
    found = {
        way.method: (way.instructions, way.flash)
        for search in ("linear", "binary")
        for way in reversed(ways(feature, search, ROUND))
    }
    for method, cost in expected.items():
        assert found[method] == pytest.approx(cost)


def test_a_loop_costs_its_turns_its_arrays_and_the_function():
    plan = searched((EVEN, cuts(5)), "linear", ROUND)
    assert plan.is_loop
    assert plan.methods == ("linear", "linear")
    assert plan.instructions == 2 * 20 + (2.25 + 1) * 6
    assert plan.flash == 60 + 30 + 2 * 2 + (3 + 1) * 2


def test_a_search_is_priced_by_the_states_that_are_frequent():
    first, last = (np.array(each) for each in ([1.0, 0, 0, 0], [0, 0, 0, 1.0]))
    prices = [
        searched((EVEN,), "linear", ROUND, (), (often,)).instructions for often in (first, last)
    ]
    assert prices == [20 + 6, 20 + 3 * 6]
    (early, *_), (late, *_) = (ways(EVEN, "linear", ROUND, often) for often in (first, last))
    assert (early.instructions, late.instructions) == (3 + 10 + 6, 3 + 10 + 3 * 6)


def test_readings_of_several_types_are_searched_in_lines():
    plan = searched((EVEN, CODE, cuts(1, kind="int32")), "binary", ROUND)
    assert not plan.is_loop
    assert plan.methods == ("binary", None, "binary")
    # a function for each of the two kinds
    assert plan.flash == 2 * 50 + 2 * (10 + 20) + 3 * 2 + 4


@pytest.mark.parametrize(("wide", "is_loop"), [(255, True), (256, False)])
def test_codes_of_one_width_are_a_loop(wide, is_loop):
    codes = (Feature("a", "category", 4, categories=("x", "y")), Feature("b", "state", wide))
    for optimize in ("size", "speed", "balanced"):
        plan = choose_discretizers(codes, optimize=optimize)
        assert (plan.is_loop, plan.methods) == (is_loop, (None, None))


def test_lines_that_search_nothing_need_no_function():
    (_, tree, *_) = ways(EVEN, "linear", ROUND)
    assert in_lines((EVEN,), "linear", ROUND, {0: tree}).flash == tree.flash
    assert in_lines((EVEN,), None, ROUND, {0: tree}).search == "linear"


def test_speed_takes_the_fewest_instructions_of_each_feature():
    features = (EVEN, WIDE, CODE)
    plan = choose_discretizers(features, optimize="speed")
    for feature, method in zip(features, plan.methods, strict=True):
        if feature.is_numeric:
            every = ways(feature, "binary", rates_of(None))
            assert method == min(every, key=lambda way: way.instructions).method
    assert not plan.is_loop


def test_speed_keeps_to_its_budget(monkeypatch):
    """If trees for all features exceed the budget, some features use a search."""
    monkeypatch.setattr("bncc.lower.discretizers.choice.SPEED_BUDGET", 6000)
    features = (cuts(*range(0, 250 * 100, 100)),) * 10
    plan = choose_discretizers(features, optimize="speed")
    plain = searched(features, "linear", rates_of(None))
    assert set(plan.methods) == {"tree", "binary"}
    assert plain.flash < plan.flash <= plain.flash + 6000


def test_size_takes_a_loop_for_many_and_a_tree_for_one():
    assert choose_discretizers((cuts(5),), optimize="size").methods == ("tree",)
    many = choose_discretizers((cuts(*range(0, 9000, 300)),) * 9, optimize="size")
    assert many.is_loop
    assert many.search == "linear"


def test_balanced_grows_with_what_the_rest_takes():
    """More of 40 features have a tree where five percent of the total are more bytes."""
    features = tuple(cuts(*range(k, 9000 + k, 900)) for k in range(40))
    plain = searched(features, "linear", rates_of(None))
    n_trees = []
    for other in (0, 20_000, 200_000):
        plan = choose_discretizers(features, other_bytes=other)
        assert plan.flash <= plain.flash + 0.05 * (plain.flash + other)
        n_trees.append(40 - plan.trees.count(None))
    assert n_trees[0] < n_trees[1] <= n_trees[2] == 40


def test_thresholds_too_many_for_a_tree_are_searched():
    assert choose_discretizers((MANY,), optimize="speed").search == "binary"
    assert set(choose_discretizers((MANY,), optimize="speed").methods) == {"binary"}


@pytest.mark.parametrize("target", RATES)
def test_every_rate_is_there_and_none_is_negative(target):
    assert all(min(pair) >= 0 for pair in vars(rates_of(target)).values())


def test_an_unknown_machine_has_the_rates_of_the_generic_one():
    assert rates_of("big-endian") == rates_of(None) == RATES["cortex-m0"]


def test_frequent_states_make_a_tree_cheaper():
    (even,) = (way for way in ways(WIDE, None, ROUND) if way.method == "tree")
    often = np.array([0.9, *[0.1 / 12] * 12])
    (tree,) = (way for way in ways(WIDE, None, ROUND, often) if way.method == "tree")
    assert tree.instructions < 0.6 * even.instructions
    assert tree.flash == even.flash
    own = every_own_way((CODE, WIDE), None, (np.ones(4) / 4, often))
    plan = choose_discretizers((CODE, WIDE), own, optimize="speed")
    assert plan.trees == (None, tree.tree)
