"""The tables of all candidates in one tensor: nothing overlaps, and a draw finds its tables."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from bncc.structure.candidates import all_earlier, subset
from bncc.structure.counts import family_rows
from bncc.structure.graph import n_rows
from bncc.structure.orders import earlier, others
from bncc.train.joint.candidate_layout import candidate_layout, count_rows, counted_start
from bncc.train.maximum_likelihood import ml_log_tables

GENERATOR = np.random.default_rng(0)
N_STATES = [3, 2, 4, 2, 3]
X = np.stack([GENERATOR.integers(0, r, 200) for r in N_STATES], axis=1)
Y = GENERATOR.integers(0, 3, 200)
LAYOUT = candidate_layout(all_earlier(np.array([2, 0, 1, 4, 3])), N_STATES)
CHOICE = np.array([1, 0, 0, 4, 2])


@st.composite
def layouts(draw):
    n_states = draw(st.lists(st.integers(1, 5), min_size=1, max_size=7))
    order = np.array(draw(st.permutations(range(len(n_states)))))
    most, seed = draw(st.integers(1, 4)), draw(st.integers(0, 9))
    pool = earlier(order) if draw(st.booleans()) else others(len(order))
    return candidate_layout(subset(pool, most, np.random.default_rng(seed)), n_states)


def test_widths_repeat_all_choices_and_share_their_tables():
    narrow, wide = (candidate_layout(LAYOUT.candidates, N_STATES, w) for w in [(), (2, 5)])
    assert (wide.n_rows, wide.n_choices, wide.n_planes) == (LAYOUT.n_rows, narrow.n_choices, 2)
    for part in ("offset", "n_table_rows", "parent", "stride"):
        assert np.array_equal(getattr(wide, part), np.tile(getattr(narrow, part), 2))
    in_wider = CHOICE + wide.n_choices * np.array([0, 1, 0, 1, 1])
    assert wide.choose(in_wider) == narrow.choose(CHOICE)
    assert wide.widths_of(in_wider) == (2, 5, 2, 5, 5)
    assert narrow.widths_of(CHOICE) == ()
    drawn, before = wide.draw(in_wider), narrow.draw(CHOICE)
    assert np.array_equal(drawn.rows, before.rows)
    assert before.most is None
    for i, width in enumerate(wide.widths_of(in_wider)):
        begin, n = drawn.first[i], wide.n_table_rows[i, CHOICE[i]]
        assert (drawn.most[begin : begin + n] == 2**width - 1).all()


def test_the_first_width_stands_for_all_until_they_differ():
    layout = candidate_layout(LAYOUT.candidates, N_STATES, (1, 2, 3))
    n = layout.n_choices
    assert np.array_equal(layout.is_present(True), layout.n_table_rows > 0)
    assert np.array_equal(layout.is_present(False)[:, :n], layout.n_table_rows[:, :n] > 0)
    assert not layout.is_present(False)[:, n:].any()
    phi = GENERATOR.normal(size=layout.offset.shape)
    first = phi[:, :n].copy()
    layout.spread(phi)
    assert np.array_equal(phi, np.tile(first, 3))


@given(layouts())
def test_tables_fill_the_tensor_and_do_not_overlap(layout):
    taken = np.zeros(layout.n_rows, dtype=int)
    for i, slot in zip(*np.nonzero(layout.n_table_rows), strict=True):
        start = layout.offset[i, slot]
        taken[start : start + layout.n_table_rows[i, slot]] += 1
    assert (taken == 1).all()


@given(layouts(), st.data())
def test_a_draw_is_the_tables_of_its_structure(layout, data):
    slots = [data.draw(st.integers(0, int(row.sum()))) for row in layout.candidates.is_present]
    choice = np.array(slots)
    structure, drawn = layout.candidates.choose(choice), layout.draw(choice)
    n_states = layout.n_states.tolist()
    for i, slot in enumerate(slots):
        n = n_rows(structure, n_states, i)
        begin = layout.offset[i, slot]
        rows = drawn.rows[drawn.first[i] : drawn.first[i] + n]
        assert rows.tolist() == list(range(begin, begin + n))
    assert sum(q * r for q, r in drawn.groups) == len(drawn.rows)
    assert [r for _, r in drawn.groups] == sorted({*n_states})


def test_rows_are_those_of_the_models_tables():
    structure = LAYOUT.candidates.choose(CHOICE)
    assert structure.parents == ((2,), (), (), (4,), (0,))
    for i, slot in enumerate(CHOICE):
        ours = X[:, LAYOUT.parent[i, slot]] * LAYOUT.stride[i, slot] + X[:, i]
        assert np.array_equal(ours, family_rows(X, structure, N_STATES, i))


def test_rows_are_counted_without_a_tensor():
    pairs = sum(N_STATES[i] * N_STATES[j] for i in range(5) for j in range(i))
    assert count_rows(LAYOUT.candidates, N_STATES) == LAYOUT.n_rows == pairs + sum(N_STATES)


def test_the_start_is_the_smoothed_counts_of_every_candidate():
    log_prior, table = counted_start(X, Y, LAYOUT, 3)
    expected = ml_log_tables(X, Y, LAYOUT.candidates.choose(CHOICE), N_STATES, 3)
    assert np.array_equal(log_prior, expected[0])
    for i, slot in enumerate(CHOICE):
        start = LAYOUT.offset[i, slot]
        assert np.array_equal(table[start : start + len(expected[1][i])], expected[1][i])
    assert np.isfinite(table).all()
