"""Lanes add the program's costs on every input, in words that no sum leaves."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bncc.lower.kernels.lanes.layout import lanes
from bncc.lower.kernels.lanes.schedule import Schedule
from bncc.program.ir import costs, n_levels
from bncc.program.pipeline import optimize, program_of
from tests.strategies import models
from tests.tiers import examples
from tests.unit.lower.by_hand import inputs, program, table
from tests.unit.lower.kernels.word_machine import run


def naive(tables, prior):
    """Return a program with one feature per table."""
    tables = [table([t], rows) for t, rows in enumerate(tables)]
    return program([len(t.costs) for t in tables], prior, tables)


def rows_of(some, kernel, x):
    """Return the row of every table for some states, where a kernel reads it."""
    found = []
    for t, starts in zip(kernel.tables, kernel.starts, strict=True):
        levels = [t.maps[f][x[f]] if f in t.maps else x[f] for f in t.features]
        joint = np.ravel_multi_index(levels, n_levels(t, some.n_states))
        if starts is not None:
            joint = starts[x[t.features[0]]] + levels[1]
        found.append(t.costs[joint])
    return found


def words_of(kernel, t):
    """Return the words of a table's rows, where a kernel reads them."""
    if kernel.dictionary is None:
        return kernel.rows[t]
    return kernel.dictionary.rows[kernel.dictionary.places[t] // kernel.n_words]


def all_costs(some, kernel, X):
    sums = [run(kernel.schedule, rows_of(some, kernel, x), some.prior) for x in X]
    return np.array(sums).reshape(len(X), some.n_classes)


@given(models(max_classes=9), st.sampled_from([8, 16, 32, 64]), st.booleans())
@settings(max_examples=examples(40), deadline=None)
def test_every_layout_is_exact_on_every_input(model, word_bits, is_optimized):
    some = program_of(model)
    if is_optimized:
        some, _ = optimize(some)
    X = inputs(some.n_states)[:40]
    wanted = costs(some, X)
    for kernel in lanes(some, word_bits):
        assert np.array_equal(all_costs(some, kernel, X), wanted)
        assert kernel.largest_sum >= wanted.max()
        for t, rows in enumerate(kernel.rows):
            assert np.array_equal(words_of(kernel, t), rows)


def test_the_layouts_of_a_model_have_fewer_words_first_and_say_what_they_cost():
    rng = np.random.default_rng(3)
    some = naive(rng.integers(0, 16, (6, 4, 10)), rng.integers(0, 16, 10))
    found = list(lanes(some))
    assert [kernel.n_words for kernel in found] == [2, 3, 4, 5, 10]
    assert found[0].flushed_words > 0
    for kernel in found:
        words = len(kernel.tables) * kernel.n_words
        prior = np.count_nonzero(kernel.prior)
        # An addition per word added, except for those that set a sum.
        assert kernel.additions <= words + kernel.flushed_words + prior - kernel.n_words
        assert kernel.rom_bytes == 24 * 4 * kernel.n_words
        above = 4 * kernel.flushed_words
        beyond = [6 * max(0, kernel.n_words - n) for n in (4, 8, 12)]
        unsigned = 0 if kernel.lowest.is_signed else words
        terms = (
            1,
            6,
            0,
            0,
            0,
            words,
            kernel.flushed_words,
            10,
            *beyond,
            unsigned,
            4 * words,
            above,
        )
        assert kernel.work[:-3] == kernel.code[:-3] == terms
        assert kernel.work[-2:] == (10 * 3, 0)
        assert kernel.top is None
        assert kernel.n_classes == 10
        assert kernel.family == "lanes"
        assert kernel.sum_bits == 32
    assert found[1].addend == "words of up to 4 costs"
    assert found[-1].additions == 6 * 10 - 10 + np.count_nonzero(found[-1].prior)


def test_words_of_64_bits_have_twice_the_classes_in_as_wide_lanes():
    rng = np.random.default_rng(3)
    some = naive(rng.integers(0, 16, (6, 4, 10)), rng.integers(0, 16, 10))
    found = list(lanes(some, 64))
    assert [kernel.n_words for kernel in found] == [1, 2, 3, 4, 5, 10]
    assert [kernel.lowest.lane_bits for kernel in found[:3]] == [6, 12, 16]
    assert [kernel.flushed_words for kernel in found] == [4, 0, 0, 0, 0, 0]
    for kernel in found:
        assert kernel.family == "lanes"
        assert kernel.sum_bits == 32
        assert kernel.rom_bytes == 24 * 8 * kernel.n_words
        assert not kernel.is_kept_in_turn
        assert kernel.is_by_word
        is_alone = kernel.n_words == 10
        assert (kernel.work[7], kernel.work[-1]) == ((10, 0) if is_alone else (0, 10))
    # Ten lanes of 6 bits, widened to five of 12; in the end words of single costs.
    assert [kernel.top for kernel in found] == [52, 52, 48, 43, 32, None]


@pytest.mark.parametrize(("most", "top"), [(2047, 43), (4095, 42), (4096, None)])
def test_costs_are_compared_in_their_words_where_all_of_them_can_move_up(most, top):
    """The first and the third share a word: there are 22 bits above the first one's 42."""
    some = naive([[[most, 1, 1], [0, 1, 1]]] * 1024, [0, 0, 0])
    kernel, *_ = lanes(some, 64)
    assert kernel.lowest.lane_bits == 21
    assert kernel.n_words == 1
    assert kernel.top == top


@pytest.mark.parametrize(
    ("n_classes", "word_bits", "is_in_place"), [(15, 32, False), (16, 32, True), (16, 16, False)]
)
def test_costs_of_many_classes_are_compared_in_words_of_32_bits(n_classes, word_bits, is_in_place):
    some = naive([[[3] * n_classes, [0] * n_classes]] * 5, [0] * n_classes)
    for kernel in lanes(some, word_bits):
        shared = len(kernel.highest.words) < n_classes
        assert (kernel.top is not None) == (is_in_place and shared)
        assert kernel.work[-1] == (n_classes if kernel.top else 0)


def test_rows_of_two_states_are_also_found_by_their_addresses():
    read = [0], [0, 1], [0, 1, 2]
    tables = [table(f, [[1, 2]] * n) for f, n in zip(read, (2, 6, 12), strict=True)]
    some = program([2, 3, 2], [0, 0], tables)
    product, pointed, *_ = (kernel for kernel in lanes(some) if kernel.dictionary is None)
    assert product.starts == (None,) * 3
    assert [None if s is None else s.tolist() for s in pointed.starts] == [None, [0, 3], None]
    assert pointed.rom_bytes == product.rom_bytes + 2 * 4
    assert (product.work[2:4], pointed.work[2:4]) == ((3, 0), (2, 1))
    assert all(kernel.starts == (None,) * 3 for kernel in lanes(some, 8))


def test_equal_rows_of_all_tables_are_stored_once():
    rows = [[[1, 2], [3, 0], [1, 2], [1, 2]], [[3, 0], [1, 2], [0, 5], [3, 0]]]
    some = naive(rows, [0, 0])
    apart, once = (kernel for kernel in lanes(some) if kernel.n_words == 2)
    assert apart.dictionary is None
    assert once.dictionary.rows.tolist() == [[0, 5], [1, 2], [3, 0]]
    assert [places.tolist() for places in once.dictionary.places] == [[2, 4, 2, 2], [4, 2, 0, 4]]
    assert once.dictionary.place_bits == 8
    assert (apart.rom_bytes, once.rom_bytes) == (8 * 8, 3 * 8 + 8)
    assert (apart.work[4], once.work[4]) == (0, 2)
    assert once.summary == f"{apart.summary}, equal rows once"
    assert all(kernel.dictionary is None for kernel in lanes(some, 8))


def test_rows_without_an_equal_are_not_numbered():
    some = naive([[[1, 2], [3, 0]], [[0, 1], [2, 2]]], [0, 0])
    assert all(kernel.dictionary is None for kernel in lanes(some))


@pytest.mark.parametrize(("n_rows", "is_once"), [(4095, True), (4096, False), (8000, True)])
def test_equal_rows_that_16_bit_machines_hold_only_in_parts_are_not_numbered(n_rows, is_once):
    """From 65,536 bytes they hold nothing of the kind."""
    row = np.arange(n_rows)
    costs = np.stack([row % 256, row // 256], axis=1)
    some = naive([costs, costs[: n_rows // 2]], [0, 0])
    found = {kernel.dictionary is not None for kernel in lanes(some) if kernel.n_words == 2}
    assert found == ({False, True} if is_once else {False})


def test_many_classes_are_added_in_unsigned_words():
    rng = np.random.default_rng(4)
    some = naive(rng.integers(0, 256, (4, 3, 26)), [0] * 26)
    signs = {kernel.n_words: kernel.lowest.is_signed for kernel in lanes(some)}
    assert signs == dict.fromkeys(signs, False)
    assert max(signs) == 13
    assert {kernel.lowest.is_signed for kernel in lanes(naive([[[1, 2]]], [0, 0]))} == {True}


def test_an_unsigned_layout_takes_over_where_signed_words_are_too_narrow():
    full = (1 << 32) - 1
    some = naive([[[full, 0], [0, full]]], [0, 0])
    (kernel,) = lanes(some)
    assert not kernel.lowest.is_signed
    assert isinstance(kernel.schedule, Schedule)
    assert kernel.sum_bits == 32


@pytest.mark.parametrize(
    ("n_classes", "most", "prior", "spilled"),
    [
        (26, 15, 0, 0),  # 26 sums of a byte
        (27, 15, 0, 6 * 27),
        (8, 63, 1, 0),  # 8 of a byte and 8 of two
        (9, 63, 1, 2 * 2 * 9),  # two flushes to sums of two bytes
        (13, 255, 0, 0),  # 13 of two bytes
        (14, 255, 0, 6 * 2 * 14),
    ],
)
def test_bytes_for_which_there_is_no_register_are_counted(n_classes, most, prior, spilled):
    rng = np.random.default_rng(0)
    rows = rng.integers(0, most + 1, (6, 4, n_classes))
    rows[:, 0] = most
    some = naive(rows, [prior] * n_classes)
    *_, kernel = lanes(some, 8)
    assert kernel.n_words == n_classes
    assert kernel.work[14] == kernel.code[14] == spilled
    assert kernel.work[15] == n_classes * (0 if most == 15 else 1)
    assert kernel.work[12] == 6 * n_classes


def test_long_sums_are_signed_or_left_out():
    """Compilers sort unsigned additions, and keep the rows of many tables on the stack."""
    rng = np.random.default_rng(5)
    some = naive(rng.integers(0, 16, (30, 2, 12)), [0] * 12)
    found = {kernel.n_words: kernel.lowest.is_signed for kernel in lanes(some)}
    assert found[12] is True
    # A cost of 32 bits fits no signed word.
    few = [[[1 << 31, 1]], *[[[1, 1]]] * 100]
    assert {kernel.lowest.is_signed for kernel in lanes(naive(few, [0, 0]))} == {False}
    many = [*few, *[[[1, 1]]] * 50]
    assert list(lanes(naive(many, [0, 0]))) == []


def test_what_states_with_maps_add_to_an_address_counts_as_bytes():
    """Two tables of equal levels share them; an address that is looked up has the outer ones."""
    maps = {0: (0, 0, 1, 1), 1: (0, 1, 1, 1)}
    tables = [table([0, 1], [[r, 0] for r in range(4)], maps=maps)] * 2
    by_product, by_address, *_ = lanes(program([4, 4], [0, 0], tables))
    assert by_product.rom_bytes == by_product.row_bytes + 4 + 4
    assert by_address.rom_bytes == by_address.row_bytes + 2 * 4 * 4 + 4
