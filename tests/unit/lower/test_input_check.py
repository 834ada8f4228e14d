"""The input check: exact for every possible state, and cheap."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bncc._types import IntArray
from bncc.lower.input_check import TOGETHER, Comparison, InputCheck, input_check, state_words

UNEVEN = (5, 1, 4, 3, 8, 5, 4, 256)


def speedy(*n_states: int) -> InputCheck:
    return input_check(n_states, optimize="speed", rom_bytes=0)


def refused(check: InputCheck, x: IntArray) -> bool:
    """Execute the comparisons."""
    return any(
        int(np.bitwise_or.reduce(x[list(each.features)])) > each.last for each in check.comparisons
    )


@pytest.mark.parametrize("bits", [8, 16])
@given(data=st.data())
def test_it_refuses_what_is_not_a_state_and_nothing_else(bits: int, data: st.DataObject) -> None:
    """Next to the limits most of all."""
    most = {8: 255, 16: 65535}[bits]
    few = st.sampled_from([1, 2, 3, 4, 7, 8, 9, 128, most])
    n_states = data.draw(st.lists(few | st.integers(1, most), min_size=1, max_size=12))
    near = [st.sampled_from([0, n - 1, n, most]) | st.integers(0, most) for n in n_states]
    x = np.array(data.draw(st.tuples(*near)))
    assert refused(speedy(*n_states), x) == bool((x >= n_states).any())


def test_every_state_of_every_feature_is_told_apart() -> None:
    check = speedy(*UNEVEN)
    for f, n in enumerate(UNEVEN):
        for state in range(1024):
            x = np.zeros(len(UNEVEN), dtype=np.int64)
            x[f] = state
            assert refused(check, x) == (state >= n), (f, state)


def test_states_up_to_all_ones_are_compared_together() -> None:
    assert speedy(4, 3, 4, 3, 4, 4, 4, 1).comparisons == (
        Comparison(0, (7,)),
        Comparison(2, (1,)),
        Comparison(2, (3,)),
        Comparison(3, (0, 2, 4, 5)),
        Comparison(3, (6,)),
    )


@given(st.lists(st.integers(1, 65535), min_size=1, max_size=40))
def test_every_feature_is_compared_once(n_states: list[int]) -> None:
    comparisons = speedy(*n_states).comparisons
    assert sorted(f for each in comparisons for f in each.features) == list(range(len(n_states)))
    assert all(len(each.features) <= TOGETHER for each in comparisons)
    assert all(one.last <= other.last for one, other in pairwise(comparisons))


def test_for_size_it_is_a_loop_unless_there_are_few_features() -> None:
    for n_states in ([5] * 20, [5, 6] * 10):
        check = input_check(n_states, optimize="size", rom_bytes=10**6)
        assert check.comparisons == ()
    assert input_check([5], optimize="size", rom_bytes=0).comparisons == (Comparison(4, (0,)),)


def test_a_loop_reads_an_array_where_limits_differ() -> None:
    loop = input_check([5] * 20, optimize="size", rom_bytes=0)
    assert loop == InputCheck(20, 4)
    assert not loop.reads_last_states
    assert input_check([5, 6] * 10, optimize="size", rom_bytes=0) == InputCheck(20, None)
    assert InputCheck(20, None).reads_last_states
    assert not speedy(5, 6).reads_last_states


def test_a_balance_spends_a_share_of_the_constants() -> None:
    """20 states one by one: 60 instructions, 240 bytes where a loop and its array take 24 + 20."""
    n_states = [5, 6] * 10
    assert speedy(*n_states).code == 240 - 24
    more = 240 - 24 - 20
    balanced = input_check(n_states, optimize="balanced", rom_bytes=64 * more)
    assert balanced == speedy(*n_states)
    assert not input_check(n_states, optimize="balanced", rom_bytes=64 * more - 1).comparisons
    wide = [300, 400] * 10  # whose array has entries of 16 bits
    assert input_check(wide, optimize="balanced", rom_bytes=64 * (more - 20)).comparisons


def test_states_that_are_in_no_word_are_compared() -> None:
    n_states = [5] * 8 + [200, 4, 4, 200]
    check = input_check(n_states, optimize="speed", rom_bytes=0, target="x86")
    assert check.words == state_words(n_states, "x86")
    assert check.comparisons == (
        Comparison(3, (9, 10)),
        Comparison(199, (8,)),
        Comparison(199, (11,)),
    )
    assert speedy(*n_states).words is None


def test_words_are_chosen_as_comparisons_are() -> None:
    wide, many = [300, 400] * 4, [5, 6] * 20
    for optimize in ("size", "balanced"):
        assert input_check(wide, optimize=optimize, rom_bytes=0, target="x86").is_loop
        assert input_check(many, optimize=optimize, rom_bytes=0, target="x86").words is None
    assert input_check(many, optimize="balanced", rom_bytes=10**4, target="x86").words
    straight = input_check(wide, optimize="speed", rom_bytes=0, target="x86")
    assert straight.words
    assert not straight.is_loop
    assert not straight.reads_last_states


def test_work_and_code_grow_with_what_is_compared() -> None:
    assert InputCheck(20, None).work == 140
    assert InputCheck(20, None).code == 0
    assert (speedy(5).work, speedy(5).code) == (3, 12 - 24)
    assert (speedy(4, 4, 4, 4).work, speedy(4, 4, 4, 4).code) == (9, 36 - 24)


def test_words_are_tested_four_at_a_time() -> None:
    for n_words, work in ((1, 7), (4, 22), (5, 29)):
        check = input_check([5] * 8 * n_words, optimize="speed", rom_bytes=0, target="x86")
        tests = work - 5 * n_words
        assert (check.work, check.code) == (work, 28 * n_words + 4 * tests - 24)
        half = input_check([5] * 4 * n_words, optimize="speed", rom_bytes=0, target="cortex-m4")
        assert (half.work, half.code) == (work, 20 * n_words + 4 * tests - 24)
