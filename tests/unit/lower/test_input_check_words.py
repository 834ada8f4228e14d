"""Packed input checks: exact for every possible state, on the targets that benefit."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bncc._types import IntArray
from bncc.lower.input_check import StateWords, Word, state_words
from bncc.targets import TARGETS

UNEVEN = (5, 1, 4, 3, 8, 5, 127, 128)


def words_of(*n_states: int, target: str = "x86") -> StateWords:
    words = state_words(n_states, target)
    assert words is not None
    return words


def refused(words: StateWords, x: IntArray) -> bool:
    """Truncate like a machine: carries out of a word are dropped."""
    for word in words.words:
        states = x[word.first : word.first + words.n_lanes].tolist()
        w = sum(state << (words.lane_bits * lane) for lane, state in enumerate(states))
        if (w | ((w + word.addend) % (1 << words.bits))) & words.highest:
            return True
    return False


@pytest.mark.parametrize("target", ["x86", "cortex-m4"])
@pytest.mark.parametrize("most", [255, 65535])
@given(data=st.data())
def test_they_refuse_what_is_not_a_state_and_nothing_else(
    target: str, most: int, data: st.DataObject
) -> None:
    """Next to the limits most of all, with several bad states in a word as well."""
    half = (most + 1) // 2
    few = st.sampled_from([1, 2, 3, 5, half - 1, half]) | st.integers(1, half)
    n_states = data.draw(st.lists(few, min_size=8, max_size=20))
    n_states[-1] = half  # so that states are as wide as most
    ends = [0, half - 1, half, half + 1, most]
    near = [st.sampled_from([n - 1, n, most + 1 - n, *ends]) | st.just(0) for n in n_states]
    x = np.array(data.draw(st.tuples(*near)))
    words = words_of(*n_states, target=target)
    assert words.features == set(range(len(n_states)))
    assert refused(words, x) == bool((x >= n_states).any())


@pytest.mark.parametrize("target", ["x86", "cortex-m4"])
def test_every_state_of_every_feature_is_told_apart(target: str) -> None:
    """Combined with zeros, with the largest states, and with the words that carry most."""
    words = words_of(*UNEVEN, target=target)
    for others in (np.zeros(len(UNEVEN), dtype=np.int64), np.array(UNEVEN) - 1):
        for f, n in enumerate(UNEVEN):
            for state in range(256):
                x = others.copy()
                x[f] = state
                assert refused(words, x) == (state >= n), (f, state)


def test_two_bad_states_do_not_hide_each_other() -> None:
    """A state that carries into the next is refused on its own, whatever the next one is."""
    words = words_of(5, 3, 5, 5, target="cortex-m4")
    for first in range(128, 256):
        for second in range(256):
            assert refused(words, np.array([first, second, 0, 0]))
            assert refused(words, np.array([0, 0, second, first]))


def test_an_addend_lacks_the_largest_states() -> None:
    words = words_of(5, 1, 128, 12, target="cortex-m4")
    assert words == StateWords(32, 8, (Word(0, 0x74007F7B),))
    assert (words.n_lanes, words.highest) == (4, 0x80808080)


def test_the_last_word_ends_with_the_last_state() -> None:
    assert [word.first for word in words_of(*[5] * 36).words] == [0, 8, 16, 24, 28]
    assert [word.first for word in words_of(*[5] * 16).words] == [0, 8]
    assert [word.first for word in words_of(*[5] * 9, target="cortex-m7").words] == [0, 4, 5]


def test_states_without_a_spare_bit_are_in_no_word() -> None:
    words = words_of(*[5] * 9, 129, *[5] * 7, 255, *[128] * 8)
    assert [word.first for word in words.words] == [0, 1, 18]
    assert words.features == {*range(9), *range(18, 26)}


def test_words_are_as_wide_as_states_fill_them() -> None:
    assert (words_of(*[5] * 7).bits, words_of(*[5] * 8).bits) == (32, 64)
    assert state_words([5] * 3, "x86") is None
    assert state_words([5, 5, 129, 5, 5, 5], "x86") is None


def test_wide_states_have_wide_lanes() -> None:
    words = words_of(5, 32768, 300, 2)
    assert (words.bits, words.lane_bits) == (64, 16)
    assert words.words == (Word(0, 0x7FFE_7ED4_0000_7FFB),)
    assert words_of(300, 5, 2, target="cortex-m3").words == (
        Word(0, 0x7FFB_7ED4),
        Word(1, 0x7FFE_7FFB),
    )


def test_only_machines_that_load_words_from_anywhere_have_words() -> None:
    loading = {target for target in (*TARGETS, None, "host") if state_words([5] * 36, target)}
    later = {target for target in TARGETS if target.startswith("cortex-m")} - {"cortex-m0"}
    assert loading == {"x86", *later} >= {"x86", "cortex-m3", "cortex-m4", "cortex-m7"}
