"""Steps, trees and look-up tables: every form finds the state of the feature's rule."""

import struct
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from bncc.data.dataset import Column
from bncc.discretize.feature import Feature
from bncc.discretize.float_order import float_bits, float_key
from bncc.lower.discretizers.steps import FIRST, LARGEST, steps_of
from bncc.lower.discretizers.trees import (
    MAX_ENTRIES,
    MAX_RUN,
    Branch,
    Guide,
    Run,
    guides_of,
    mean_comparisons,
    nodes,
    state_at,
    table_of,
    tree_of,
)

TINY = struct.unpack("<f", b"\x01\0\0\0")[0]
HUGE = float(np.finfo(np.float32).max)
INF = float("inf")
ORDERED = [-INF, -HUGE, -1.0, -TINY, -0.0, 0.0, TINY, 1.0, HUGE, INF]
floats = st.floats(width=32, allow_nan=False)


def rule(feature, value):
    """Return the state that bncc.discretize gives a reading; infinities included."""
    is_float = feature.kind == "float32"
    if is_float and np.isinf(value):
        return sum(value > t for t in feature.thresholds)
    missing = np.isnan(value) if is_float else False
    cells = np.array([0.0 if missing else value], dtype=float if is_float else np.int64)
    column = Column("a", "float" if is_float else "integer", cells, np.array([missing]))
    return int(feature.states(column)[0])


def reading(kind, integer):
    """Return the reading of an integer."""
    if kind != "float32":
        return integer
    return struct.unpack("<f", struct.pack("<i", integer))[0]


@st.composite
def numeric(draw, max_cuts=8):
    """Draw a numeric feature, its thresholds often near each other or at the ends."""
    kind = draw(st.sampled_from(["int8", "uint8", "int16", "int32", "float32"]))
    if kind == "float32":
        one = st.floats(width=32, allow_nan=False, allow_infinity=False)
        one = (one | st.sampled_from(ORDERED[1:-1])).map(lambda t: t + 0.0)
    else:
        least, most = FIRST[kind], LARGEST[kind]
        ends = st.integers(least, least + 2) | st.integers(most - 2, most)
        one = st.integers(least, most) | st.integers(max(-3, least), min(260, most)) | ends
    cuts = sorted(draw(st.lists(one, max_size=max_cuts, unique=True)))
    missing_state = draw(st.integers(0, len(cuts) + (kind != "uint8")))
    n_states = max(len(cuts), missing_state) + 1
    return Feature("a", kind, n_states, thresholds=tuple(cuts), missing_state=missing_state)


def integers_of(feature):
    """Return the integers at which a rule could change, their neighbors, and the ends."""
    least, most = FIRST[feature.kind], LARGEST[feature.kind]
    middle = [float_bits(v) for v in ORDERED] if feature.kind == "float32" else [0]
    of_cuts = [float_bits(t) for t in feature.thresholds] if feature.kind == "float32" else []
    around = [*middle, *of_cuts, *(feature.thresholds if not of_cuts else ()), least, most]
    return sorted({i + d for i in map(int, around) for d in (-1, 0, 1) if least <= i + d <= most})


@given(numeric(), st.lists(st.integers(-(2**31), 2**31 - 1), max_size=20))
def test_steps_tree_and_table_give_every_reading_the_state_of_its_rule(feature, others):
    least, most = FIRST[feature.kind], LARGEST[feature.kind]
    steps = steps_of(feature)
    tree = tree_of(steps)
    table = table_of(steps) if feature.kind != "float32" else None
    guides = [guide for guide, _ in guides_of(steps, feature.kind)]
    for i in [*integers_of(feature), *(max(min(i, most), least) for i in others)]:
        state = rule(feature, reading(feature.kind, i))
        assert next(step.state for step in steps if i <= step.last) == state
        assert state_at(tree, i) == state
        assert table is None or state_at(table, i) == state
        assert all(state_at(guide, i) == state for guide in guides)


@given(numeric())
def test_steps_ascend_to_the_largest_integer_and_neighbors_differ(feature):
    steps = steps_of(feature)
    assert all(a.last < b.last and a.state != b.state for a, b in pairwise(steps))
    assert steps[-1].last == LARGEST[feature.kind]
    assert steps[0].last >= FIRST[feature.kind]


@given(numeric())
def test_a_tree_compares_once_less_than_there_are_steps(feature):
    steps = steps_of(feature)
    found = list(nodes(tree_of(steps)))
    branches = [node for node in found if isinstance(node, Branch)]
    assert [node.bound for node in branches] != [] or len(steps) == 1
    assert sorted(node.bound.last for node in branches) == [step.last for step in steps[:-1]]
    assert len(found) == 2 * len(steps) - 1


def cuts(*thresholds, kind="int16", missing_state=0):
    return Feature(
        "a", kind, len(thresholds) + 1, thresholds=thresholds, missing_state=missing_state
    )


def test_eight_equal_steps_take_three_comparisons():
    # the missing reading shares the first state
    assert mean_comparisons(steps_of(cuts(*range(0, 70, 10)))) == 3


def test_a_missing_reading_costs_only_those_beside_it_a_comparison():
    # states 0, 1, 2, 3: the comparison with INT16_MIN is below that of state 0
    assert mean_comparisons(steps_of(cuts(0, 10, 20, missing_state=2))) == (3 + 2 + 2 + 2) / 4


def test_a_constant_feature_takes_none():
    steps = steps_of(cuts())
    assert tree_of(steps) == 0
    assert mean_comparisons(steps) == 0
    assert table_of(steps) is None


def test_a_table_holds_the_integers_between_the_outer_thresholds():
    table = table_of(steps_of(cuts(10, 12, 15, missing_state=3)))
    (run,) = (node for node in nodes(table) if isinstance(node, Run))
    assert run == Run(11, (1, 1, 2, 2, 2))
    assert [state_at(table, i) for i in (-(2**15), 10, 11, 15, 16)] == [3, 0, 1, 2, 3]


def test_one_threshold_leaves_nothing_to_look_up():
    assert table_of(steps_of(cuts(10, missing_state=1))) is None


@pytest.mark.parametrize(("n", "exists"), [(MAX_RUN, True), (MAX_RUN + 1, False)])
def test_a_table_has_at_most_255_entries(n, exists):
    assert (table_of(steps_of(cuts(-9, n - 9, kind="int32"))) is not None) is exists


def test_the_states_of_the_longest_run_fit_in_a_byte():
    table = table_of(steps_of(cuts(*range(MAX_RUN + 1))))
    (run,) = (node for node in nodes(table) if isinstance(node, Run))
    assert max(run.states) == 255


@given(floats, floats)
@example(-0.0, 0.0)
@example(TINY, -TINY)
@example(INF, HUGE)
@example(-INF, -HUGE)
def test_keys_order_like_floats(a, b):
    if a == b:
        assert abs(float_key(a) - float_key(b)) <= (struct.pack("<f", a) != struct.pack("<f", b))
    else:
        assert (float_key(a) < float_key(b)) == (a < b)
    assert -(2**31) <= float_key(a) < 2**31


def test_special_values_ascend_and_minus_zero_lies_just_below_zero():
    keys = [float_key(value) for value in ORDERED]
    assert all(low < high for low, high in pairwise(keys))
    assert float_key(-0.0) == -1
    assert float_key(0.0) == 0


@pytest.mark.parametrize("bits", [0x7F800001, 0x7FC00000, 0x7FFFFFFF, -0x7FFFFF, -1, -0x400000])
def test_every_nan_lies_outside_the_infinities(bits):
    nan = struct.unpack("<f", struct.pack("<i", bits))[0]
    assert nan != nan
    # NaN is no argument of float_key; the C sees the same bits for any payload
    key = bits if bits >= 0 else bits ^ 0x7FFFFFFF
    assert key > float_key(INF) or key < float_key(-INF)


@given(numeric())
def test_entries_of_a_guide_lie_within_the_integers_of_the_kind(feature):
    for guide, use in guides_of(steps_of(feature), feature.kind):
        end = guide.first + (len(guide.entries) << guide.shift)
        low = 0 if feature.kind == "float32" else -LARGEST[feature.kind] - 1
        assert low <= guide.first < end <= LARGEST[feature.kind] + 1
        assert len(guide.entries) <= MAX_ENTRIES
        assert 0 <= use.inside <= 1


def test_a_guide_has_a_bound_to_a_group_and_reaches_as_far_again_on_both_sides():
    near, far = (guide for guide, _ in guides_of(steps_of(cuts(100, 116, 132)), "int16"))
    assert near == Guide(101, 4, ((116, 1), (132, 2)), near.beyond)
    assert far.first == 69
    assert far.entries[:3] == ((84, 0), (100, 0), (116, 1))
    assert [state_at(far, i) for i in (68, 69, 100, 101, 164, 165)] == [0, 0, 0, 1, 3, 3]


def test_a_guide_of_floats_begins_at_a_number_of_eight_bits_and_zeros():
    feature = cuts(1.1, 1.7, 2.9, 9.3, kind="float32")
    for guide, _ in guides_of(steps_of(feature), "float32"):
        assert guide.first % 2**23 == 0
        assert guide.first <= float_bits(1.1) + 1


@pytest.mark.parametrize(
    "feature",
    [
        cuts(10),  # one bound needs no LUT
        cuts(1, 2, 3, 300_000_000, kind="int32"),  # two near bounds, one far away
        cuts(-3.0, -2.0, -1.0, kind="float32"),  # states descend
        cuts(*range(0, 1000, 2), kind="int32"),  # states of more than a byte
        cuts(32766, 32767),  # nothing above the last bound
    ],
)
def test_no_guide_where_none_is_of_use(feature):
    assert list(guides_of(steps_of(feature), feature.kind)) == []


def test_what_is_expected_of_a_state_is_divided_among_its_steps():
    # -0.0 .. -1.5 and 0.0 .. 0.5 are one state, missing readings another
    feature = cuts(-1.5, 0.5, kind="float32", missing_state=3)
    steps = steps_of(feature, np.array([0.2, 0.5, 0.25, 0.05]))
    weights = [(step.state, step.weight) for step in steps]
    assert weights == [(1, 2500), (0, 2000), (3, 0), (1, 2500), (2, 2500), (3, 500)]


def test_a_state_that_hardly_occurs_is_still_expected_before_a_missing_reading():
    steps = steps_of(cuts(0, 10, missing_state=1), np.array([0.0, 1.0, 0.0]))
    assert [(step.state, step.weight) for step in steps] == [(1, 0), (0, 1), (1, 10000), (2, 1)]
