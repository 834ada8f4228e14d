"""Lanes add the program's costs on every input, in words that no sum leaves."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bncc.compiler.importer import program_of
from bncc.compiler.interpreter import costs
from bncc.compiler.kernels.lane_layout import lowest_level
from bncc.compiler.kernels.lane_schedule import Schedule, schedule
from bncc.compiler.kernels.lanes import lanes
from bncc.compiler.pipeline import optimize
from tests.strategies import models
from tests.unit.compiler.by_hand import inputs, program, table
from tests.unit.compiler.kernels.word_machine import LaneError, run


def naive(tables, prior):
    """Return a program with one feature per table."""
    tables = [table([t], rows) for t, rows in enumerate(tables)]
    return program([len(t.costs) for t in tables], prior, tables)


def rows_of(some, tables, x):
    """Return the row of every table that some states choose."""
    found = []
    for t in tables:
        shape = [some.n_states[f] for f in t.features]
        found.append(t.costs[np.ravel_multi_index([x[f] for f in t.features], shape)])
    return found


def all_costs(some, kernel, X):
    sums = [run(kernel.schedule, rows_of(some, kernel.tables, x), some.prior) for x in X]
    return np.array(sums).reshape(len(X), some.n_classes)


@given(models(max_classes=9), st.sampled_from([8, 16, 32]), st.booleans())
@settings(max_examples=80, deadline=None)
def test_every_layout_is_exact_on_every_input(model, word_bits, is_optimized):
    some = program_of(model)
    if is_optimized:
        some, _ = optimize(some)
    X = inputs(some.n_states)[:40]
    wanted = costs(some, X)
    for kernel in lanes(some, word_bits):
        assert np.array_equal(all_costs(some, kernel, X), wanted)
        assert kernel.largest_sum >= wanted.max()


@given(st.integers(0, 2**32 - 1), st.integers(2, 12), st.integers(1, 5), st.booleans())
@settings(max_examples=120, deadline=None)
def test_the_worst_rows_of_a_schedule_stay_in_their_lanes(seed, n_classes, bits, is_signed):
    """Every table's largest costs at once, more than any input reaches."""
    rng = np.random.default_rng(seed)
    largest = list(rng.integers(0, 1 << bits, (int(rng.integers(1, 40)), n_classes)))
    prior = rng.integers(0, 1 << bits, n_classes)
    high = prior + sum(largest)
    n_words = int(rng.integers(1, n_classes + 1))
    per_word = -(-n_classes // n_words)
    lane_bits = int(rng.integers(1, 32 // per_word + 1))
    lowest = lowest_level(32, lane_bits, n_words, n_classes, is_signed=is_signed)
    plan = schedule(lowest, largest, prior, high)
    if plan is None:
        return
    assert run(plan, largest, prior) == list(high)
    assert [step.number for step in plan.steps if step.kind == "row"] == [*range(len(largest))]


def test_a_schedule_without_one_of_its_flushes_overflows():
    """The schedule has no flush to spare."""
    largest = [np.full(4, 3)] * 20
    high = sum(largest)
    plan = schedule(lowest_level(32, 8, 1, 4), largest, np.zeros(4, dtype=np.int64), high)
    assert plan is not None
    assert len(plan.levels) == 1  # 60 fits
    narrow = schedule(lowest_level(32, 4, 1, 4), largest, np.zeros(4, dtype=np.int64), high)
    assert narrow is not None
    flushes = [k for k, step in enumerate(narrow.steps) if step.kind == "flush"]
    assert len(flushes) == 4  # each behind five rows of 3, which fill 15
    for k in flushes[:-1]:
        steps = list(narrow.steps)
        del steps[k]
        # What came behind the flush no longer starts its sums anew.
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
    rows = [np.array([200, 0]), np.array([200, 0])]
    assert schedule(lowest, rows, prior, np.array([400, 0])) is None


def test_the_layouts_of_a_model_have_fewer_words_first_and_say_what_they_cost():
    rng = np.random.default_rng(3)
    some = naive(rng.integers(0, 16, (6, 4, 10)), rng.integers(0, 16, 10))
    found = list(lanes(some))
    assert [kernel.n_words for kernel in found] == [2, 3, 4, 5, 10]
    assert found[0].flushed_words > 0
    for kernel in found:
        words = len(kernel.tables) * kernel.n_words
        prior = np.count_nonzero(kernel.prior)
        # An addition per word added, but for those that set a sum.
        assert kernel.additions <= words + kernel.flushed_words + prior - kernel.n_words
        assert kernel.rom_bytes == 24 * 4 * kernel.n_words
        assert kernel.work == kernel.code == (1, 6, words, kernel.flushed_words, 10)
        assert kernel.n_classes == 10
        assert kernel.family == "lanes"
        assert kernel.sum_bits == 32
    assert found[1].addend == "words of up to 4 costs"
    assert found[-1].additions == 6 * 10 - 10 + np.count_nonzero(found[-1].prior)


def test_many_classes_are_added_in_unsigned_words():
    rng = np.random.default_rng(4)
    some = naive(rng.integers(0, 256, (4, 3, 26)), [0] * 26)
    signs = {kernel.n_words: kernel.lowest.is_signed for kernel in lanes(some)}
    assert signs == dict.fromkeys(signs, False)
    assert max(signs) == 26
    assert {kernel.lowest.is_signed for kernel in lanes(naive([[[1, 2]]], [0, 0]))} == {True}


def test_an_unsigned_layout_takes_over_where_signed_words_are_too_narrow():
    full = (1 << 32) - 1
    some = naive([[[full, 0], [0, full]]], [0, 0])
    (kernel,) = lanes(some)
    assert not kernel.lowest.is_signed
    assert isinstance(kernel.schedule, Schedule)
    assert kernel.sum_bits == 32
