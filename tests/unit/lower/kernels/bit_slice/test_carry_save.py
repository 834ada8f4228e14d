"""Carry-save adders sum all columns for any words, and lose no carry."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bncc.lower.kernels.bit_slice.carry_save import Constant, RowWord, Step, add_up
from tests.tiers import examples
from tests.unit.lower.kernels.bit_machine import run, totals


def words_of(costs, n_words):
    """Return a row of costs as planes."""
    return [sum(int(cost >> w & 1) << c for c, cost in enumerate(costs)) for w in range(n_words)]


@given(
    st.lists(st.integers(1, 4), max_size=40).map(sorted),
    st.integers(0, 4),
    st.integers(1, 32),
    st.integers(0, 2**32 - 1),
)
@settings(max_examples=examples(60), deadline=None)
def test_columns_are_summed_in_as_few_levels_as_the_largest_needs(bits, prior_bits, n, seed):
    rng = np.random.default_rng(seed)
    rows = [rng.integers(0, 1 << b, n) for b in bits]
    prior = rng.integers(0, 1 << prior_bits, n)
    wanted = prior + sum(rows)
    n_levels = max([int(wanted.max()).bit_length(), prior_bits, *bits, 1])
    adders = add_up(bits, 1, words_of(prior, prior_bits), n_levels)
    words = [words_of(row, b) for row, b in zip(rows, bits, strict=True)]
    values = run(adders.steps, words, 32)
    assert np.array_equal(totals(values, n_levels, n), wanted)


@given(st.integers(1, 60), st.integers(0, 2**32 - 1))
@settings(max_examples=examples(30), deadline=None)
def test_a_full_adder_stands_for_two_words(n_tables, seed):
    """No more adders than counting needs: a word and its carries at half the price each."""
    rng = np.random.default_rng(seed)
    rows = rng.integers(0, 2**32, (n_tables, 1)).tolist()
    n_levels = n_tables.bit_length()
    adders = add_up([1] * n_tables, 1, [], n_levels)
    counted = [sum(row[0] >> c & 1 for row in rows) for c in range(32)]
    assert totals(run(adders.steps, rows, 32), n_levels, 32).tolist() == counted
    n_adders = sum(step.into is not None for step in adders.steps)
    assert n_adders <= n_tables + n_levels


def test_the_steps_of_four_tables_of_one_bit():
    adders = add_up([1, 1, 1, 1], 1, [0], 3)
    assert adders.steps == [
        Step("sum0", None, (RowWord(0, 0),)),
        Step("sum1", "sum0", (RowWord(1, 0), RowWord(2, 0))),
        Step("held0", None, (RowWord(3, 0),)),
        Step("held1", "sum0", ("held0",)),
        Step("sum2", "sum1", ("held1",)),
    ]


def test_the_highest_level_has_no_carry():
    adders = add_up([1, 1, 1], 1, [], 1)
    assert [step.target for step in adders.steps] == ["sum0", "sum0"]
    assert adders.steps[1] == Step("sum0", "sum0", (RowWord(1, 0), RowWord(2, 0)))


def test_a_level_that_nothing_is_added_to_is_zero():
    adders = add_up([1], 1, [], 2)
    assert adders.steps[-1] == Step("sum1", None, (Constant(0),))


def test_a_prior_comes_first_and_its_zero_planes_not_at_all():
    adders = add_up([1], 1, [0, 5], 3)
    assert adders.steps[0] == Step("sum1", None, (Constant(5),))


def test_tables_of_as_many_words_are_added_in_pairs():
    steps = add_up([1, 1, 2, 2, 2], 1, [1, 0], 4).steps
    pairs = {tuple(w.table for w in step.operands if isinstance(w, RowWord)) for step in steps} - {
        ()
    }
    assert pairs == {(0, 1), (2, 3), (4,)}


@pytest.mark.parametrize("n_levels", [1, 2, 3])
def test_a_level_too_few_drops_a_carry(n_levels):
    """Seven ones need three levels."""
    adders = add_up([1] * 7, 1, [], n_levels)
    values = run(adders.steps, [[1]] * 7, 8)
    assert (totals(values, n_levels, 1) == 7).all() == (n_levels == 3)


def test_every_carry_counts():
    """With one of them cleared, the sum of ones is wrong."""
    steps = add_up([1] * 15, 1, [], 4).steps
    rows = [[0xFF]] * 15
    assert (totals(run(steps, rows, 8), 4, 8) == 15).all()
    carrying = [k for k, step in enumerate(steps) if step.into not in (None, step.target)]
    assert len(carrying) == 7 + 3 + 1
    for k in carrying:
        cleared = Step(steps[k].target, None, (Constant(0),))
        values = run([*steps[: k + 1], cleared, *steps[k + 1 :]], rows, 8)
        assert (totals(values, 4, 8) < 15).all()
