"""Planes of bits sum to the program's costs on every input, prior included."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bncc.lower.kernels.bit_slice.layout import bit_slice
from bncc.program.ir import costs, n_levels
from bncc.program.pipeline import FLOWS, optimize, program_of
from bncc.program.ranges import largest_cost
from tests.strategies import models
from tests.tiers import examples
from tests.unit.lower.by_hand import inputs, program, table
from tests.unit.lower.kernels.bit_machine import run, totals


def sums(some, kernel, X):
    """Return all costs of some inputs, (n, n_classes)."""
    rows = []
    for t, words, starts in zip(kernel.tables, kernel.rows, kernel.starts, strict=True):
        levels = [np.array(t.maps[f])[X[:, f]] if f in t.maps else X[:, f] for f in t.features]
        joint = np.ravel_multi_index(tuple(levels), n_levels(t, some.n_states))
        if starts is not None:
            joint = starts[X[:, t.features[0]]] + levels[1]
        rows.append(words[joint])
    values = run(kernel.steps, rows, kernel.word_bits, kernel.half_bits)
    return totals(values, kernel.n_levels, kernel.n_classes)


def check(some):
    """Compare all layouts with the interpreter; return how many there are."""
    X = inputs(some.n_states, most=60)
    wanted = costs(some, X)
    kernels = list(bit_slice(some))
    for kernel in kernels:
        assert np.array_equal(sums(some, kernel, X), wanted)
        assert wanted.max() <= kernel.largest_sum < 1 << kernel.n_levels
        assert kernel.largest_sum < 1 << kernel.sum_bits
        assert all(a.shape[1] <= b.shape[1] for a, b in pairwise(kernel.rows))
    return len(kernels)


def random_program(seed, n_classes, n_features=9, most_bits=3, tree=True):
    """Return a program of few bits, some tables with fewer than others."""
    rng = np.random.default_rng(seed)
    n_states = rng.integers(1, 5, n_features).tolist()
    tables = []
    for f in range(n_features):
        read = [int(rng.integers(f)), f] if tree and f and rng.integers(3) else [f]
        n_rows = int(np.prod([n_states[g] for g in read]))
        largest = 1 << int(rng.integers(0, most_bits + 1))
        tables.append(table(read, rng.integers(0, largest, (n_rows, n_classes)).tolist()))
    prior = rng.integers(0, rng.choice([1, 2, 12]), n_classes)
    return program(n_states, prior.tolist(), tables)


@given(st.integers(0, 2**32 - 1), st.integers(1, 32))
@settings(max_examples=examples(60), deadline=None)
def test_every_layout_is_exact_on_every_input(seed, n_classes):
    some = random_program(seed, n_classes)
    n_layouts = check(some)
    summed = [t for t in some.tables if t.costs.any()]
    largest = max((int(t.costs.max()) for t in summed), default=0)
    n_addressed = 1 + any(len(t.features) > 1 for t in summed)
    assert n_layouts == n_addressed * ((largest > 0) + (largest > 1 and n_classes <= 16))


@given(models(max_features=5, max_states=3, max_bits=3), st.sampled_from(sorted(FLOWS)))
@settings(max_examples=examples(15), deadline=None)
def test_models_of_few_bits_keep_their_costs(model, flow):
    some, _ = optimize(program_of(model), flow)
    check(some)


def ones(n_tables, n_classes=3, most=1):
    return [table([t], [[most] * n_classes, [0] * n_classes]) for t in range(n_tables)]


@pytest.mark.parametrize(("n_tables", "n_levels"), [(1, 1), (3, 2), (4, 3), (7, 3), (8, 4)])
def test_there_are_as_many_levels_as_the_largest_sum_has_bits(n_tables, n_levels):
    (kernel,) = bit_slice(program([2] * n_tables, [0] * 3, ones(n_tables)))
    assert kernel.n_levels == n_levels
    assert check(program([2] * n_tables, [0] * 3, ones(n_tables))) == 1


def test_the_proved_bound_counts_and_not_the_sum_of_all_largest():
    # Both tables read one feature, and never have their 3 in the same row.
    tables = [table([0], [[3, 0], [0, 0]]), table([0], [[0, 0], [3, 0]])]
    some = program([2], [0, 0], tables)
    assert largest_cost(some) == 3
    assert {kernel.n_levels for kernel in bit_slice(some)} == {2}
    assert check(some) == 2


@pytest.mark.parametrize(
    ("n_classes", "widths"),
    [
        (2, [(8, 4), (8, 0)]),
        (4, [(8, 4), (8, 0)]),
        (5, [(16, 8), (8, 0)]),
        (8, [(16, 8), (8, 0)]),
        (9, [(32, 16), (16, 0)]),
        (16, [(32, 16), (16, 0)]),
        (17, [(32, 0)]),
        (32, [(32, 0)]),
        (33, []),
    ],
)
def test_words_are_as_narrow_as_the_classes_allow(n_classes, widths):
    some = program([2] * 3, [0] * n_classes, ones(3, n_classes, most=2))
    assert [(kernel.word_bits, kernel.half_bits) for kernel in bit_slice(some)] == widths
    assert check(some) == len(widths)


def test_a_single_bit_shares_no_word():
    assert [k.half_bits for k in bit_slice(program([2] * 3, [0] * 3, ones(3)))] == [0]


@pytest.mark.parametrize(("most", "n_words"), [(1, 1), (3, 2), (7, 4), (8, None), (0, None)])
def test_rows_have_a_power_of_two_of_words_and_entries_three_bits(most, n_words):
    layouts = list(bit_slice(program([2], [0, 1], ones(1, 2, most))))
    if n_words is None:
        assert layouts == []
    else:
        assert layouts[-1].rows[0].shape == (2, n_words)


def test_a_row_of_two_planes_apart_and_together():
    some = program([2], [0, 0, 0], [table([0], [[3, 2, 1], [0, 1, 0]])])
    together, apart = bit_slice(some)
    assert apart.rows[0].tolist() == [[0b101, 0b011], [0b010, 0]]
    assert together.rows[0].tolist() == [[0b0011_0101], [0b010]]


def test_tables_of_zeros_are_left_out_and_those_of_fewer_bits_come_first():
    tables = [table([0], [[3, 1]]), table([1], [[0, 0]]), table([2], [[1, 0]])]
    kernel = list(bit_slice(program([1] * 3, [0, 0], tables)))[-1]
    assert [t.features for t in kernel.tables] == [(2,), (0,)]


def test_what_it_says_of_its_size_and_work():
    tables = [*ones(2), table([2, 0], [[3, 0, 1], [1, 1, 1], [0, 1, 2], [0, 0, 0]])]
    together, _, apart, pointed = bit_slice(program([2, 2, 2], [0, 0, 1], tables))
    assert apart.rom_bytes == 2 + 2 + 8
    assert pointed.rom_bytes == apart.rom_bytes + 2 * 4
    assert together.rom_bytes == 2 + 2 + 4
    # Two words to the prior's, whose carry is sum1; the third word, and then two words to sum1.
    assert apart.additions == 3
    assert apart.work == apart.code == (1, 3, 1, 0, 4, 3, 4)
    assert pointed.work == pointed.code == (1, 3, 0, 1, 4, 3, 4)
    assert apart.addend == "words with a bit of every class's cost"
    assert apart.sum_bits == 32
