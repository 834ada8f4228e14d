"""Size of tables: the trainer's rule equals the result of the compiler's passes."""

from functools import reduce

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bncc.fixed_point import QFormat
from bncc.program.ir import with_tables
from bncc.program.passes.drop_constant import drop_constant
from bncc.program.passes.normalize_rows import normalize_rows
from bncc.program.passes.shrink_width import shrink_width
from bncc.program.pipeline import program_of
from bncc.program.tables import packed_bits
from bncc.structure.candidates import all_earlier
from bncc.train.joint.candidate_layout import candidate_layout, entries_of, flash_bits_of
from tests.models import feature, model_of

B = 6
PASSES = (normalize_rows, drop_constant, shrink_width)
N_STATES, C = [2, 3, 2, 4], 3
CANDIDATES = all_earlier(np.arange(4))


def left_by_the_compiler(structure, tables):
    """Return the bits of a model's tables after the passes."""
    features = [feature(f"x{i}", r) for i, r in enumerate(N_STATES)]
    model = model_of(features, structure, QFormat(B, 0), [0] * C, [t.tolist() for t in tables])
    program = reduce(lambda program, rewrite: rewrite(program), PASSES, program_of(model))
    return packed_bits(with_tables(program, program.tables, np.zeros(C, dtype=np.int64)))


def tables_of(layout, costs, choice):
    """Return the tables of a choice, bounded by the widths of its slots."""
    for i, (slot, plane) in enumerate(zip(choice, layout.plane[choice], strict=True)):
        begin = layout.offset[i, slot]
        table = costs[begin : begin + layout.n_table_rows[i, slot]]
        if layout.widths:
            bound = table.min(axis=1, keepdims=True) + 2 ** layout.widths[plane] - 1
            table = np.minimum(table, bound)
        yield table


@st.composite
def tensors(draw, n_rows):
    """Return costs of all tables, with rows that are constant, equal, and of few bits."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    largest = rng.choice([0, 1, 3, 7, 20, 2**B - 1], size=(n_rows, 1))
    costs = rng.integers(0, largest + 1, (n_rows, C))
    if draw(st.booleans()):
        costs[:] = costs[0]
    return np.minimum(costs + rng.integers(0, 20, (n_rows, 1)), 2**B - 1)


@pytest.mark.parametrize("widths", [(), (1, 4), (2,)], ids=str)
@given(data=st.data())
def test_the_bits_of_a_structure_are_those_that_the_compilers_passes_leave(widths, data):
    layout = candidate_layout(CANDIDATES, N_STATES, widths)
    costs = data.draw(tensors(layout.n_rows))
    slots = [np.flatnonzero(n) for n in layout.n_table_rows]
    choice = np.array([data.draw(st.sampled_from(some.tolist())) for some in slots])
    # The compiler keeps the last table where it would drop all: this one is not to be dropped.
    begin = layout.offset[3, choice[3]]
    costs[begin : begin + 2] = [[0, 1, 0], [1, 0, 0]]
    tables = list(tables_of(layout, costs, choice))
    bits = flash_bits_of(layout, costs)
    expected = left_by_the_compiler(layout.choose(choice), tables)
    assert bits[np.arange(4), choice].sum() == expected


@pytest.mark.parametrize("widths", [(), (1, 2, 3)], ids=str)
def test_an_absent_slot_takes_nothing(widths):
    layout = candidate_layout(CANDIDATES, N_STATES, widths)
    costs = np.tile([[0, 40, 3], [0, 0, 1]], (layout.n_rows, 1))[: layout.n_rows]
    is_there = layout.n_table_rows > 0
    for sizes in (entries_of(layout, C), flash_bits_of(layout, costs)):
        assert np.array_equal(sizes > 0, is_there)


def test_a_narrow_table_takes_fewer_bits():
    layout = candidate_layout(CANDIDATES, N_STATES, (2, 4, 6))
    costs = np.tile([[0, 40, 3], [0, 0, 1]], (layout.n_rows, 1))[: layout.n_rows]
    bits = flash_bits_of(layout, costs)
    assert np.array_equal(bits, entries_of(layout, C) * np.repeat([2, 4, 6], layout.n_choices))
