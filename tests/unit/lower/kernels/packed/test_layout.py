"""The packed words, read as in the C, compared with the interpreter; and their size."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bncc.lower.c.constants import MOST_IN_ALL, MOST_IN_ARRAY
from bncc.lower.kernels.packed.layout import packed
from bncc.lower.kernels.shared.packing import Packing, Rows
from bncc.program.ir import costs
from bncc.program.pipeline import FLOWS, optimize, program_of
from tests import models as hand
from tests.agreement.large import three_cost_arrays, two_cost_arrays
from tests.strategies import models
from tests.tiers import examples
from tests.unit.lower.by_hand import inputs, margins, program, table


def rows_of(kernel, X):
    """Walk the tables and yield the number of the row that each contributes to every input."""
    walk, n_states = kernel.walk, kernel.program.n_states
    start = place = 0
    for t in range(len(kernel.tables)):
        if walk.form == "parents":
            reads = walk.reads[place : place + walk.arities[t]].tolist()
            place += len(reads)
        else:
            own = t if walk.own is None else int(walk.own[t])
            parent = own if walk.parents is None else int(walk.parents[t])
            reads = [own] if parent == own else [parent, own]
        at, n_rows = np.zeros(len(X), dtype=np.int64), 1
        for f in reads:
            at = at * n_states[f] + X[:, f]
            n_rows *= n_states[f]
        yield start + at
        start += n_rows
    assert start == kernel.n_rows < 1 << kernel.offset_bits


def run(kernel, X):
    """Sum the costs of some inputs, checking every width."""
    packing, index = kernel.packing, kernel.rows.index
    assert 0 <= kernel.words.min() <= kernel.words.max() < 1 << packing.word_bits
    assert kernel.words.size + kernel.words.shape[1] < 1 << kernel.offset_bits
    assert index is None or index.max() < 1 << kernel.rows.index_bits
    n_classes = kernel.program.n_classes
    total = np.zeros((len(X), n_classes), dtype=np.int64)
    total += 0 if kernel.prior is None else kernel.prior
    for row in rows_of(kernel, X):
        stored = row if index is None else index[row]
        for c in range(n_classes):
            plane, place = divmod(c, packing.per_word)
            moved = kernel.words[plane, stored] >> (place * packing.entry_bits)
            total[:, c] += moved & ((1 << packing.entry_bits) - 1)
    assert total.max() <= kernel.largest_sum < 1 << kernel.sum_bits
    return total


def assert_exact(some):
    """Compare every layout of a program with the interpreter; return the layouts."""
    X = inputs(some.n_states)
    wanted = margins(costs(some, X))
    found = list(packed(some))
    for kernel in found:
        assert (margins(run(kernel, X)) == wanted).all()
    return found


@given(models(max_classes=9), st.sampled_from(sorted(FLOWS)))
@settings(max_examples=examples(60), deadline=None)
def test_every_layout_is_exact_on_every_input(model, flow):
    some, _ = optimize(program_of(model), flow)
    assert assert_exact(some)


@pytest.mark.parametrize("name", hand.NAMED)
def test_every_layout_of_a_hand_built_model_is_exact(name):
    assert assert_exact(program_of(hand.NAMED[name]()))


def test_a_word_that_lost_a_bit_is_noticed():
    """The comparison of layouts with the interpreter can fail."""
    some = program([2], [0, 0], [table([0], [[1, 2], [3, 0]])])
    kernel = next(packed(some))
    wrong = replace(kernel, rows=Rows(kernel.rows.costs ^ [[0, 0], [1, 0]]))
    X = np.array([[0], [1]])
    assert (run(kernel, X) != run(wrong, X)).any(axis=1).tolist() == [False, True]


def tan():
    """Return the costs of a root and its child, two classes of 3 bits."""
    tables = [table([0], [[0, 7], [1, 0]]), table([0, 1], [[0, 1], [2, 0], [0, 1], [0, 7]])]
    return program([2, 2], [0, 0], tables)


def test_all_packings_of_all_rows_and_of_different_rows_are_offered():
    found = assert_exact(tan())
    plain = [kernel for kernel in found if kernel.rows.index is None]
    assert len(plain) * 2 == len(found)
    assert [k.packing for k in plain] == [
        Packing(3, 8), Packing(3, 16), Packing(3, 32), Packing(4, 8), Packing(8, 8)
    ]  # fmt: skip
    assert [k.n_planes for k in plain] == [1, 1, 1, 1, 2]
    assert {kernel.family for kernel in found} == {"packed"}
    assert {kernel.addend for kernel in found} == {"costs"}


def test_bytes_of_rows_indices_prior_and_addresses():
    plain, shared = list(packed(tan()))[:2]
    # 6 rows of a byte; the other feature of two tables
    assert plain.rom_bytes == 6 + 2
    # rows 0 7, 1 0, 0 1 and 2 0 once each, and 6 indices
    assert len(shared.rows.costs) == 4
    assert shared.rom_bytes == 4 + 6 + 2
    kernel = next(packed(replace(tan(), prior=np.array([0, 256]))))
    assert kernel.rom_bytes == 6 + 2 + 2 * 2


def test_work_and_code_count_what_the_loop_does():
    plain, shared = list(packed(tan()))[:2]
    # one parent of two states; sums of 32 bits; 3 bits of a byte for each cost
    assert plain.work == (1, 2, 0, 0, 1, 1, 2, 2, 2, 0, 0, 8, 6)
    assert shared.work == (1, 2, 2, 0, 1, 1, 2, 2, 2, 0, 0, 8, 6)
    assert plain.additions == 2  # the first row sets the sums
    assert plain.code == (1, 1, 0, 0, 0, 0, 0)
    assert shared.code == (1, 1, 1, 0, 0, 0, 0)
    wide = program([2], [1, 0, 0, 0], [table([0], [[0, 7, 7, 7], [1, 0, 0, 0]])])
    kernel = next(packed(wide))
    assert kernel.packing == Packing(3, 8)
    assert kernel.work == (1, 1, 0, 0, 0, 0, 2, 4, 4, 4, 0, 16, 12)
    assert kernel.code == (1, 0, 0, 0, 1, 1, 0)
    three = program([2], [0] * 4, [table([0], [[0, 31, 3, 7], [1, 0, 0, 0]])])
    counted = [k for k in packed(three) if k.packing == Packing(5, 16) and k.rows.index is None]
    assert counted[0].code == (1, 0, 0, 0, 0, 1, 1)


def test_a_prior_that_is_zero_again_is_left_out():
    """The minimum of a column moves to the prior, so entries get narrower."""
    some = program([2], [0, 0], [table([0], [[5, 4], [4, 5]])])
    found = assert_exact(some)
    assert {kernel.packing.entry_bits for kernel in found} == {1, 2, 3, 4, 8}
    narrow = next(kernel for kernel in found if kernel.packing.entry_bits == 1)
    assert narrow.prior is None
    assert narrow.rows.costs.tolist() == [[1, 0], [0, 1]]


def test_the_prior_takes_over_what_all_rows_have():
    some = program([2], [1, 0], [table([0], [[5, 0], [4, 1]])])
    lifted = [kernel for kernel in assert_exact(some) if kernel.packing.entry_bits == 1]
    assert lifted[0].prior.tolist() == [5, 0]
    assert lifted[0].rows.costs.tolist() == [[1, 0], [0, 1]]


@pytest.mark.parametrize("make", [two_cost_arrays, three_cost_arrays])
def test_rows_that_16_bit_machines_hold_in_parts_are_all_stored(make):
    """Only whole tables are divided among arrays, which different rows do not belong to."""
    some = program_of(make())
    widest = [k for k in packed(some) if k.packing.word_bits // k.packing.per_word >= 8]
    for kernel in widest:
        size = kernel.words.size * kernel.packing.word_bits // 8
        assert kernel.rows.index is None or size <= MOST_IN_ARRAY or kernel.rom_bytes > MOST_IN_ALL
    assert any(k.words.size * k.packing.word_bits // 8 > MOST_IN_ARRAY for k in widest)


def test_words_behind_the_last_row_have_numbers_too():
    """The index of a word, one plane after the last included, decides the width."""
    rows = [[0, 0, 255]] * 16384
    found = list(packed(program([16384], [0, 0, 0], [table([0], rows)])))
    by_packing = {k.packing: k for k in found if k.rows.index is None}
    assert by_packing[Packing(8, 8)].offset_bits == 32  # 4 times 16,384
    assert by_packing[Packing(8, 32)].offset_bits == 16  # 2 times 16,384


def test_the_width_of_the_sums_is_never_below_the_program_s():
    for bits in (8, 32):
        some = program([2], [0, 0], [table([0], [[0, 200], [1, 0]])], cost_bits=bits)
        assert {kernel.sum_bits for kernel in packed(some)} == {bits}
    some = program([2], [0, 57], [table([0], [[0, 200], [1, 0]])], cost_bits=8)
    assert {kernel.sum_bits for kernel in packed(some)} == {16}
    assert {kernel.largest_sum for kernel in packed(some)} == {257}
