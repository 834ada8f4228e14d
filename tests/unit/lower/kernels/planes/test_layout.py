"""The kernels of planes, run as the C runs them in 32 bits, against the interpreter."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bncc.lower.kernels.planes.layout import MOST_SCRATCH, columns, planes
from bncc.lower.kernels.shared.packing import Packing
from bncc.program.ir import costs
from bncc.program.pipeline import FLOWS, optimize, program_of
from tests import models as hand
from tests.agreement.large import two_cost_arrays
from tests.strategies import models
from tests.tiers import examples
from tests.unit.lower.by_hand import inputs, program, table


def rows_of(kernel, X):
    """Return the number of each table's row, (n_tables, n_inputs)."""
    finder, first, found = kernel.finder, 2 - kernel.finder.is_own, []
    for t, known in enumerate(finder.entries.tolist()):
        at = known[0] + X[:, t if finder.is_own else known[1]]
        for f, place in zip(known[first::2], known[first + 1 :: 2], strict=True):
            at = at + finder.multiples[X[:, f] + place]
        assert at.max() < kernel.n_rows < 1 << finder.entry_bits
        found.append(at)
    return np.array(found)


def run(kernel, X):
    """Sum the costs of some inputs: whole words first, then the other lanes are subtracted."""
    words, rows = kernel.words, rows_of(kernel, X)
    assert words[: kernel.n_alike].max() < 1 << kernel.packing.word_bits
    assert words[kernel.n_alike :].max(initial=0) < 1 << kernel.last_bits
    cost = np.tile(kernel.program.prior, (len(X), 1))
    for plane in range(kernel.n_planes):
        parts = [part for part in kernel.parts if part.word == plane]
        sums = [words[plane][rows].sum(axis=0)]
        for part in parts[1:]:
            sums.append((words[plane][rows] >> part.shift & mask(kernel, part)).sum(axis=0))
            sums[0] -= sums[-1] << part.shift
        for part, total in zip(parts, sums, strict=True):
            total %= 1 << 32
            for lane, c in enumerate(part.classes):
                moved, is_last = total >> (lane * part.lane_bits), c == part.classes[-1]
                cost[:, c] += moved if is_last else moved & ((1 << part.lane_bits) - 1)
    return cost


def mask(kernel, part):
    """Return the bits of a shifted word that the C keeps: its lanes, or all remaining ones."""
    if part.is_rest:
        return (1 << kernel.packing.word_bits) - 1
    entry = (1 << kernel.packing.entry_bits) - 1
    return sum(entry << lane * part.lane_bits for lane in range(len(part.classes)))


def assert_exact(some):
    X = inputs(some.n_states, most=100)
    wanted = costs(some, X)
    found = [*planes(some), *columns(some)]
    for kernel in found:
        assert np.array_equal(run(kernel, X), wanted)
        assert sorted(kernel.classes) == list(range(some.n_classes))
        assert wanted.max() <= kernel.largest_sum < 1 << kernel.sum_bits
    return found


@given(models(max_classes=9, max_states=3), st.sampled_from(sorted(FLOWS)))
@settings(max_examples=examples(20), deadline=None)
def test_every_layout_is_exact_on_every_input(model, flow):
    some, _ = optimize(program_of(model), flow)
    found = assert_exact(some)
    bits = max(1, *(int(table.costs.max()).bit_length() for table in some.tables))
    is_packed = bits <= 16 and bits * some.n_classes > 8
    assert bool(found) == (is_packed and all(table.features for table in some.tables))


@pytest.mark.parametrize("name", hand.NAMED)
def test_every_layout_of_a_hand_built_model_is_exact(name):
    assert_exact(program_of(hand.NAMED[name]()))


def naive(costs, prior):
    """Return a program with one feature per table."""
    tables = [table([t], rows) for t, rows in enumerate(costs)]
    return program([len(t.costs) for t in tables], prior, tables)


@given(st.integers(0, 2**32 - 1), st.integers(2, 19), st.integers(1, 8))
@settings(max_examples=examples(30), deadline=None)
def test_the_worst_states_of_many_tables_stay_in_their_lanes(seed, n_classes, bits):
    rng = np.random.default_rng(seed)
    rows = rng.integers(0, 1 << bits, (30, 2, n_classes))
    rows[:, 1] = (1 << bits) - 1
    found = assert_exact(naive(rows, rng.integers(0, 9, n_classes)))
    assert bool(found) == (n_classes * bits > 8)


def the(some, packing, layouts=planes):
    """Return the layout with a packing."""
    return next(kernel for kernel in layouts(some) if kernel.packing == packing)


def test_with_a_part_less_a_lane_would_overflow():
    some = naive([[[15] * 9]] * 40, [0] * 9)
    kernel = the(some, Packing(4, 32))
    assert kernel.n_parts == 4  # 40 times 15 needs 10 bits; of 3 lanes of 12 one would have 8
    X = np.zeros((1, 40), dtype=np.int64)
    assert run(kernel, X).tolist() == [[600] * 9]
    assert run(replace(kernel, n_parts=3), X).tolist() != [[600] * 9]


def test_the_last_plane_takes_the_least_that_holds_its_costs():
    kernel = the(naive([[[255] * 26]] * 3, [0] * 26), Packing(8, 32))
    assert (kernel.n_planes, kernel.n_full, kernel.n_alike, kernel.last_bits) == (7, 6, 6, 16)
    assert kernel.rom_bytes == 3 * 26 + 3
    kernel = the(naive([[[255] * 7]] * 3, [0] * 7), Packing(8, 32))
    assert (kernel.n_planes, kernel.n_full, kernel.n_alike, kernel.last_bits) == (2, 1, 2, 32)
    kernel = the(naive([[[255] * 8]] * 3, [0] * 8), Packing(8, 32))
    assert (kernel.n_planes, kernel.n_full, kernel.n_alike, kernel.last_bits) == (2, 2, 2, 32)


def test_classes_of_a_full_word_lie_apart():
    kernel = the(naive([[[255] * 10]] * 3, [0] * 10), Packing(8, 32))
    assert kernel.classes == (0, 2, 4, 6, 1, 3, 5, 7, 8, 9)
    assert [part.classes for part in kernel.parts] == [(0, 4), (2, 6), (1, 5), (3, 7), (8,), (9,)]


def test_columns_have_several_full_planes_and_rows_that_fit_the_stack():
    few = naive([[[255] * 5]] * 3, [0] * 5)
    assert [kernel.packing for kernel in planes(few)] == [Packing(8, 16), Packing(8, 32)]
    assert [kernel.packing for kernel in columns(few)] == [Packing(8, 16)]
    most = naive([[[255, 0] * 4]] * MOST_SCRATCH, [0] * 8)
    assert {kernel.scratch_bytes for kernel in columns(most)} == {MOST_SCRATCH}
    assert {kernel.scratch_bytes for kernel in planes(most)} == {0}
    more = naive([[[255, 0] * 4]] * (MOST_SCRATCH + 1), [0] * 8)
    assert list(columns(more)) == []


def test_planes_that_16_bit_machines_hold_only_in_parts_are_left_out():
    some = program_of(two_cost_arrays())
    n_rows = sum(len(t.costs) for t in some.tables)
    assert 2 * 13 * n_rows > 32767
    assert list(planes(some)) == []


def test_a_table_without_features_has_no_layout():
    assert list(planes(program([2], [0, 0], [table([], [[1, 2]])]))) == []


def test_what_a_layout_says_it_costs():
    tables = [table([0], [[15, 2, 3] * 3, [3, 0, 0] * 3]), table([0, 1], [[1, 2, 3] * 3] * 6)]
    some = program([2, 3], [1, 0, 0] * 3, tables)
    kernel = the(some, Packing(4, 16))
    assert (kernel.n_planes, kernel.n_parts, kernel.last_bits) == (3, 2, 8)
    # 8 rows of 5 bytes; start, other feature and place of 2 tables; multiples 0 3 and 0 0
    assert kernel.rom_bytes == 8 * 5 + 2 * 3 + 4
    # 2 tables of 3 words; of two words each a shift, a mask and an addition
    assert kernel.work == (1, 2, 2, 6, 12, 0, 3, 9)
    assert kernel.code == (1, 1, 3, 6, 9, 2)
    assert kernel.additions == 2 * 5 + 9
    assert kernel.summary == (
        "4 costs of 4 bits in 16 and 8, 3 planes, summed row by row in lanes of 8 bits"
    )
    column_wise = the(some, Packing(4, 16), columns)
    assert (column_wise.family, kernel.family) == ("columns", "planes")
    assert column_wise.code == (1, 1, 2, 3, 5, 2)
    assert column_wise.scratch_bytes == 2
    assert column_wise.rom_bytes == kernel.rom_bytes + 9
    assert "3 planes, summed plane by plane" in column_wise.summary
    many = naive([[[255] * 20]] * 3, [0] * 20)
    assert the(many, Packing(8, 32)).work[5] == 3 * (10 - 8)
    assert the(many, Packing(8, 32), columns).work[5] == 0


def test_state_maps_are_undone():
    rows = [[1, 2] * 2, [3, 0] * 2, [0, 9] * 2, [7, 7] * 2]
    mapped = table([1, 0], rows, maps={0: (0, 1, 0), 1: (1, 0)})
    found = assert_exact(program([3, 2], [0, 4] * 2, [mapped]))
    assert {kernel.n_rows for kernel in found} == {6}
