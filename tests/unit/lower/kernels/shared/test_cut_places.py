"""State maps that are lists of cuts, and tables in an order that suits them."""

import numpy as np
import pytest

from bncc.lower.kernels.shared.cut_places import (
    FeatureCuts,
    cuts_of,
    in_groups,
    is_of_cuts,
    most_levels_first,
)
from bncc.program.ir import costs
from tests.cut_programs import cut_program
from tests.unit.lower.by_hand import program, table


@pytest.mark.parametrize(
    ("maps", "wanted"),
    [
        ({0: (0, 0, 1, 2)}, True),
        ({0: (0, 0, 0, 1), 1: (0, 1)}, False),  # of a feature that it does not read
        ({0: (0, 2, 1, 1)}, False),
        ({0: (1, 1, 0, 0)}, False),
        ({}, False),
    ],
)
def test_only_maps_that_ascend_by_ones_from_zero_are_cuts(maps, wanted):
    n_rows = max(maps.get(0, (3,))) + 1
    some = table([0], [[0, 1]] * n_rows, maps={f: m for f, m in maps.items() if f == 0})
    without = table([1], [[0, 1]] * 2)
    tables = [some, without] if 1 in maps else [some]
    assert is_of_cuts(program([4, 2], [0, 0], tables)) is wanted


def test_a_level_is_how_many_least_states_are_reached():
    some = table([1, 0], [[0, 1]] * 6, maps={1: (0, 1, 1, 2), 0: (0, 0, 0, 1)})
    assert cuts_of(some) == (FeatureCuts(1, (1, 3)), FeatureCuts(0, (3,)))
    assert [each.n_levels for each in cuts_of(some)] == [3, 2]


def test_the_feature_of_most_levels_comes_first_and_costs_stay():
    some = cut_program(5, 9, 4, 12, 24, share_of_grids=0.6)
    turned = [most_levels_first(each, some.n_states) for each in some.tables]
    for each in turned:
        counts = [cut.n_levels for cut in cuts_of(each)]
        assert counts == sorted(counts, reverse=True)
    assert any(a.features != b.features for a, b in zip(turned, some.tables, strict=True))
    X = np.random.default_rng(0).integers(0, 9, (200, 5))
    again = program(some.n_states, some.prior, turned)
    assert np.array_equal(costs(again, X), costs(some, X))


def test_tables_that_fit_a_lane_together_follow_each_other():
    def of(*most):
        return table([0], [most, [0, 0]], maps={0: (0, 1)})

    large, small, other, tiny = of(7, 7), of(3, 4), of(4, 3), of(1, 0)
    ordered = in_groups([small, tiny, large, other], 7)
    assert ordered == [large, small, other, tiny]
    assert in_groups([of(4, 4), of(3, 3), of(4, 0), of(0, 4)], 7)[1].costs.max() == 3
