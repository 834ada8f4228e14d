"""Schedules widen lanes before a sum could leave them, and a plan without a flush overflows."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from bncc.lower.kernels.lanes.schedule import lowest_level, schedule
from tests.tiers import examples
from tests.unit.lower.kernels.word_machine import LaneError, run


@given(
    st.integers(0, 2**32 - 1),
    st.integers(2, 12),
    st.integers(1, 5),
    st.booleans(),
    st.sampled_from([32, 64]),
)
@settings(max_examples=examples(160), deadline=None)
def test_the_worst_rows_of_a_schedule_stay_in_their_lanes(
    seed, n_classes, bits, is_signed, word_bits
):
    """Every table's largest costs at once, more than any input reaches."""
    rng = np.random.default_rng(seed)
    largest = list(rng.integers(0, 1 << bits, (int(rng.integers(1, 40)), n_classes)))
    prior = rng.integers(0, 1 << bits, n_classes)
    high = prior + sum(largest)
    n_words = int(rng.integers(1, n_classes + 1))
    per_word = -(-n_classes // n_words)
    lane_bits = int(rng.integers(1, word_bits // per_word + 1))
    lowest = lowest_level(word_bits, lane_bits, n_words, n_classes, is_signed=is_signed)
    plan = schedule(lowest, largest, prior, high)
    assume(plan is not None)
    assert run(plan, largest, prior) == list(high)
    assert [step.number for step in plan.steps if step.kind == "row"] == [*range(len(largest))]


@pytest.mark.parametrize("word_bits", [32, 64])
def test_a_schedule_without_one_of_its_flushes_overflows(word_bits):
    """The schedule has no flush to spare."""
    largest = [np.full(4, 3)] * 20
    high = sum(largest)
    plan = schedule(lowest_level(word_bits, 8, 1, 4), largest, np.zeros(4, dtype=np.int64), high)
    assert plan is not None
    assert len(plan.levels) == 1  # 60 fits
    narrow = schedule(lowest_level(word_bits, 4, 1, 4), largest, np.zeros(4, dtype=np.int64), high)
    assert narrow is not None
    flushes = [k for k, step in enumerate(narrow.steps) if step.kind == "flush"]
    assert len(flushes) == 4  # each after five rows of 3, which fill 15
    for k in flushes[:-1]:
        steps = list(narrow.steps)
        del steps[k]
        # The steps after the flush no longer start their sums again.
        behind = next(i for i in range(k, len(steps)) if steps[i].kind == "row")
        steps[behind] = replace(steps[behind], is_first=False)
        if narrow.steps[k].is_first:
            later = next(i for i in range(k, len(steps)) if steps[i].kind == "flush")
            steps[later] = replace(steps[later], is_first=True)
        with pytest.raises(LaneError):
            run(replace(narrow, steps=tuple(steps)), largest, np.zeros(4, dtype=np.int64))


def test_lanes_are_widened_twice_where_once_is_too_little():
    largest = [np.full(8, 1)] * 100
    prior = np.zeros(8, dtype=np.int64)
    plan = schedule(lowest_level(32, 3, 1, 8), largest, prior, sum(largest))
    assert plan is not None
    assert [level.lane_bits for level in plan.levels] == [3, 6, 12]
    assert [len(level.words) for level in plan.levels] == [1, 2, 4]
    assert run(plan, largest, prior) == [100] * 8


def test_a_sum_that_reaches_the_sign_bit_starts_below_zero():
    largest = [np.array([100, 1 << 14]), np.array([100, 1 << 14])]
    prior = np.array([5, 0])
    high = prior + sum(largest)
    lowest = lowest_level(32, 16, 1, 2, is_signed=True)
    plan = schedule(lowest, largest, prior, high)
    assert plan is not None
    assert plan.is_biased == (True,)
    assert run(plan, largest, prior) == [205, 1 << 15]
    with pytest.raises(LaneError):
        run(replace(plan, is_biased=(False,)), largest, prior)
    below = schedule(lowest, [largest[0]], prior, prior + largest[0])
    assert below is not None
    assert below.is_biased == (False,)


def test_a_sum_that_fills_64_bits_starts_below_zero():
    """A prior in the sign bit too; the lane of a row is one bit narrower."""
    prior = np.array([5, 1 << 31])
    largest = [np.array([100, (1 << 31) - 1])]
    high = prior + sum(largest)
    lowest = lowest_level(64, 32, 1, 2, is_signed=True)
    plan = schedule(lowest, largest, prior, high)
    assert plan is not None
    assert plan.is_biased == (True,)
    assert run(plan, largest, prior) == [105, (1 << 32) - 1]
    assert lowest.pack(high[None]).tolist() == [[((1 << 32) - 1) << 32 | 105]]
    with pytest.raises(LaneError):
        run(replace(plan, is_biased=(False,)), largest, prior)
    assert schedule(lowest, [np.array([0, 1 << 31])], 0 * prior, high) is None


def test_no_lane_is_asked_for_more_bits_than_a_cost_has():
    lowest = lowest_level(64, 40, 2, 3)
    assert lowest.capacity(3, is_top=True).tolist() == [32, 24, 32]


def test_a_row_in_the_sign_bit_is_only_added_unsigned():
    largest = [np.array([1, 1 << 15])]
    prior = np.zeros(2, dtype=np.int64)
    signed, unsigned = (lowest_level(32, 16, 1, 2, is_signed=flag) for flag in (True, False))
    assert schedule(signed, largest, prior, largest[0]) is None
    assert schedule(unsigned, largest, prior, largest[0]) is not None


def test_costs_too_large_for_a_lane_have_no_schedule():
    prior = np.zeros(2, dtype=np.int64)
    lowest = lowest_level(8, 8, 2, 2)
    assert schedule(lowest, [np.array([256, 0])], prior, np.array([256, 0])) is None
    half = np.array([1 << 31, 0])
    assert schedule(lowest_level(32, 32, 2, 2), [half, half], prior, 2 * half) is None


def test_bytes_of_one_class_are_widened_until_the_result_fits():
    prior = np.zeros(2, dtype=np.int64)
    lowest = lowest_level(8, 8, 2, 2)
    for n_tables, widths in ((2, [8]), (50, [8, 16]), (3000, [8, 16, 32])):
        largest = [np.array([100, 7])] * n_tables
        plan = schedule(lowest, largest, prior, sum(largest))
        assert plan is not None
        assert [level.word_bits for level in plan.levels] == widths
        assert [level.lane_bits for level in plan.levels] == widths
        assert run(plan, largest, prior) == [100 * n_tables, 7 * n_tables]


def test_bytes_of_several_classes_are_split_before_they_are_widened():
    largest = [np.array([3, 3, 1])] * 100
    prior = np.zeros(3, dtype=np.int64)
    plan = schedule(lowest_level(8, 2, 1, 3), largest, prior, sum(largest))
    assert plan is not None
    layout = [(level.word_bits, level.lane_bits, len(level.words)) for level in plan.levels]
    assert layout == [(8, 2, 1), (8, 4, 2), (8, 8, 3), (16, 16, 3)]
    assert run(plan, largest, prior) == [300, 300, 100]


def test_rows_that_fill_a_byte_are_added_to_wider_sums_at_once():
    """Nothing is gained by a byte's sum of one row."""
    wide, narrow = np.array([200, 9]), np.array([3, 9])
    prior = np.array([1, 2])
    largest = [wide, wide, narrow, narrow, wide]
    plan = schedule(lowest_level(8, 8, 2, 2), largest, prior, prior + sum(largest))
    assert plan is not None
    assert [(step.kind, step.number, step.level, step.is_first) for step in plan.steps] == [
        ("row", 0, 1, True),
        ("row", 1, 0, True),
        ("row", 2, 0, False),
        ("row", 3, 0, False),
        ("flush", 0, 1, False),
        ("row", 4, 1, False),
    ]
    assert plan.used == (0, 1)
    assert run(plan, largest, prior) == [607, 47]
    only = schedule(lowest_level(8, 8, 2, 2), [wide] * 3, prior, prior + 3 * wide)
    assert only is not None
    assert only.used == (1,)


def test_a_row_waits_in_its_byte_while_wider_sums_are_flushed():
    largest = [np.array([200, 7])] * 400
    prior = np.zeros(2, dtype=np.int64)
    plan = schedule(lowest_level(8, 8, 2, 2), largest, prior, sum(largest))
    assert plan is not None
    assert plan.used == (0, 1, 2)
    (byte,) = [k for k, step in enumerate(plan.steps) if step.kind == "row" and not step.level]
    behind = [(step.kind, step.number) for step in plan.steps[byte + 1 : byte + 3]]
    assert behind == [("flush", 1), ("flush", 0)]
    assert run(plan, largest, prior) == [80_000, 2_800]


def test_lanes_that_share_a_word_have_no_way_around_its_sums():
    largest = [np.array([3, 3])] * 9
    prior = np.zeros(2, dtype=np.int64)
    plan = schedule(lowest_level(8, 2, 1, 2), largest[:1], prior, np.array([3, 3]))
    assert plan is not None
    # The upper lane has six bits, the lower one is full after every row.
    plan = schedule(lowest_level(8, 2, 1, 2), largest, prior, sum(largest))
    assert plan is not None
    assert [step.kind for step in plan.steps] == ["row", "flush"] * 9
    assert run(plan, largest, prior) == [27, 27]
