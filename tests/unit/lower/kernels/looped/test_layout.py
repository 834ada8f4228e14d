"""The looped kernel, run as the C runs it with every lane checked, against the interpreter."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bncc.lower.kernels.looped.layout import LEAST_RUN, looped
from bncc.lower.kernels.shared.packing import SUM_BITS, Packing
from bncc.program.ir import costs
from bncc.program.pipeline import FLOWS, optimize, program_of
from tests import models as hand
from tests.strategies import models
from tests.tiers import examples
from tests.unit.lower.by_hand import inputs, program, table


def places(kernel, X):
    """Yield where each table's row begins, by input."""
    finder, first = kernel.finder, 2 - kernel.finder.is_own
    for t, known in enumerate(finder.entries.tolist()):
        own = X[:, t if finder.is_own else known[1]]
        at = known[0] + (own if finder.row_length == 1 else finder.multiples[own])
        for f, place in zip(known[first::2], known[first + 1 :: 2], strict=True):
            at = at + finder.multiples[X[:, f] + place]
        assert at.max() < finder.n_words < 1 << finder.entry_bits
        yield at


def run(kernel, X):
    """Sum the costs of some inputs in the lanes of their classes."""
    words = np.concatenate([t.costs.ravel() for t in kernel.tables])
    assert words.max() < 1 << kernel.packing.word_bits
    cost = np.tile(kernel.program.prior, (len(X), 1))
    rows = list(places(kernel, X))
    for first in range(0, len(rows), kernel.run):
        for part in kernel.parts:
            sums = np.zeros(len(X), dtype=np.int64)
            for at in rows[first : first + kernel.run]:
                sums += words[at + part.word] >> part.shift & mask(kernel, part)
            n_lanes = len(part.classes)
            for lane, c in enumerate(part.classes):
                moved = sums >> (lane * part.lane_bits)
                is_last = lane == n_lanes - 1
                cost[:, c] += moved if is_last else moved & ((1 << part.lane_bits) - 1)
            assert sums.max() < 1 << (SUM_BITS if kernel.has_lanes else kernel.sum_bits)
    return cost


def mask(kernel, part):
    entry = (1 << kernel.packing.entry_bits) - 1
    masked = sum(entry << lane * part.lane_bits for lane in range(len(part.classes)))
    if part.is_rest:
        everything = (1 << kernel.packing.word_bits) - 1
        words = np.concatenate([t.costs[:, part.word] for t in kernel.tables])
        assert (words >> part.shift & masked == words >> part.shift & everything).all()
    return masked


def assert_exact(some):
    X = inputs(some.n_states, most=100)
    wanted = costs(some, X)
    found = list(looped(some))
    for kernel in found:
        assert np.array_equal(run(kernel, X), wanted)
        assert wanted.max() <= kernel.largest_sum < 1 << kernel.sum_bits
    return found


@given(models(max_classes=9, max_states=3), st.sampled_from(sorted(FLOWS)))
@settings(max_examples=examples(20), deadline=None)
def test_every_layout_is_exact_on_every_input(model, flow):
    some, _ = optimize(program_of(model), flow)
    found = assert_exact(some)
    assert bool(found) == all(t.features for t in some.tables)


@pytest.mark.parametrize("name", hand.NAMED)
def test_every_layout_of_a_hand_built_model_is_exact(name):
    assert_exact(program_of(hand.NAMED[name]()))


def naive(costs, prior):
    """Return a program with one feature per table."""
    tables = [table([t], rows) for t, rows in enumerate(costs)]
    return program([len(t.costs) for t in tables], prior, tables)


@given(st.integers(0, 2**32 - 1), st.integers(2, 9), st.integers(1, 6))
@settings(max_examples=examples(20), deadline=None)
def test_the_worst_states_of_many_tables_stay_in_their_lanes(seed, n_classes, bits):
    rng = np.random.default_rng(seed)
    rows = rng.integers(0, 1 << bits, (30, 2, n_classes))
    rows[:, 1] = (1 << bits) - 1
    assert assert_exact(naive(rows, rng.integers(0, 9, n_classes)))


def test_a_run_longer_by_one_table_overflows():
    some = naive([[[15] * 9]] * 40, [0] * 9)
    kernel = next(k for k in looped(some) if k.run < 40)
    assert kernel.run == 17  # 17 times 15 is 255
    X = np.zeros((1, 40), dtype=np.int64)
    assert run(kernel, X).tolist() == [[600] * 9]
    assert run(replace(kernel, run=18), X).tolist() != [[600] * 9]


def test_parts_grow_in_number_until_a_run_has_all_tables():
    found = list(looped(naive([[[3] * 8, [0, 1, 0, 1, 0, 1, 0, 1]]] * 30, [0] * 8)))
    words = [k for k in found if k.packing == Packing(2, 16)]
    # lanes of 4 bits hold 5 rows of 3, too few; 6 bits hold 21, 8 bits all 30
    assert [(k.n_parts, k.run) for k in words] == [(3, 21), (4, 30)]
    assert min(k.run for k in found) >= LEAST_RUN


def test_costs_one_by_one_need_no_run():
    some = naive([[[255] * 3]] * 20, [0] * 3)
    (alone,) = [k for k in looped(some) if k.packing == Packing(8, 8)]
    assert (alone.n_parts, alone.run, alone.n_runs) == (1, 20, 1)
    assert not alone.has_lanes
    assert alone.summary == "one cost of 8 bits in 8, summed one by one, 20 tables at a time"


def test_a_table_without_features_has_no_layout():
    assert list(looped(program([2], [0, 0], [table([], [[1, 2]])]))) == []


def test_what_a_layout_says_it_costs():
    tables = [table([0], [[1, 2, 3], [3, 0, 0]]), table([0, 1], [[1, 2, 3]] * 6)]
    some = program([2, 3], [1, 0, 0], tables)
    kernel = next(k for k in looped(some) if k.packing == Packing(2, 8))
    assert (kernel.n_parts, kernel.run, kernel.n_words) == (2, 2, 1)
    # 8 rows of a byte; start, other feature and place of 2 tables; multiples 0 3 and 0 0
    assert kernel.rom_bytes == 8 + 2 * 3 + 4
    assert kernel.work[:7] == (1, 2, 2, 2, 4, 6, 0)
    # bytes of words and of sums of 32 bits, shifts of such bytes; classes emptied and their bytes
    assert kernel.part_bits == 32
    assert kernel.work[7:] == (2, 16, 16, 3, 12)
    assert kernel.code == (1, 1, 1, 2, 3, 3, 0)
    assert kernel.additions == 2 * 2 + 3
    assert kernel.family == "looped"
    many = naive([[[15] * 9]] * 40, [0] * 9)
    kernel = next(k for k in looped(many) if k.run < 40 and k.packing.word_bits == 16)
    assert "4 costs of 4 bits in 16, summed in lanes of 8 bits, 17 tables" in kernel.summary
    assert kernel.code[-1] == 9
    bytes_alone = next(k for k in looped(naive([[[255] * 9]], [0] * 9)))
    assert bytes_alone.work[6] == 1  # the ninth sum has no register


def test_state_maps_are_undone():
    mapped = table([1, 0], [[1, 2], [3, 0], [0, 9], [7, 7]], maps={0: (0, 1, 0), 1: (1, 0)})
    found = assert_exact(program([3, 2], [0, 4], [mapped]))
    assert {len(kernel.tables[0].costs) for kernel in found} == {6}
