"""Orders, stages and segments of a curriculum by hand."""

import numpy as np
import pytest

from bncc.structure.dags.curriculum import pair_information, stages_of, unfixing_order
from tests.unit.structure.dags.rows import columns, oracle_columns

INFORMATION = np.array(
    [
        [9.0, 0.1, 0.4, 0.0, 0.0],
        [0.1, 9.0, 0.2, 0.6, 0.0],
        [0.4, 0.2, 9.0, 0.5, 0.1],
        [0.0, 0.6, 0.5, 9.0, 0.1],
        [0.0, 0.0, 0.1, 0.1, 9.0],
    ]
)


def test_the_order_by_hand():
    # Sums .5 .9 1.2 1.2 .2: 2 before 3. Then 3 (.5), 1 (.2 + .6), 0 (.4 + .1), 4.
    assert unfixing_order(INFORMATION) == (2, 3, 1, 0, 4)


def test_of_equals_the_smallest_comes_first():
    assert unfixing_order(np.zeros((4, 4))) == (0, 1, 2, 3)
    assert unfixing_order(np.ones((1, 1))) == (0,)


def test_information_of_pairs_is_in_nats():
    data = columns([[0, 0, 0], [1, 1, 0], [0, 0, 1], [1, 1, 1]] * 3)
    assert pair_information(data) == pytest.approx(np.log(2) * np.array([
        [1, 1, 0], [1, 1, 0], [0, 0, 1]]))  # fmt: skip


@pytest.mark.parametrize(
    ("step", "sizes"), [(0, [7]), (1, [3, 4, 5, 6, 7]), (2, [3, 5, 7]), (3, [3, 6, 7]), (9, [3, 7])]
)
def test_stages_begin_with_three_variables_and_grow_by_the_step(step, sizes):
    X = np.random.default_rng(1).integers(0, 2, (400, 7))
    stages = stages_of(columns(X), (6, 5, 4, 3, 2, 1, 0), step)
    assert [len(stage.variables) for stage in stages] == sizes
    assert stages[-1].segments is None
    assert stages[0].variables == ((6, 5, 4) if step else (6, 5, 4, 3, 2, 1, 0))


def test_segments_are_the_joint_states_of_the_fixed_variables():
    data = oracle_columns()
    first, second, _ = stages_of(data, (0, 1, 2, 3, 4), 1)
    pairs = {tuple(row) for row in data.states[[3, 4]].T.tolist()}
    assert first.n_segments == len(pairs)
    assert second.n_segments == 3
    same = (data.states[:, :, None] == data.states[:, None, :])[[3, 4]].all(axis=0)
    index = first.segments.index
    assert np.array_equal(index[:, None] == index[None, :], same)


def test_a_stage_whose_segments_hardly_change_is_left_out():
    rng = np.random.default_rng(3)
    X = rng.integers(0, 2, (500, 7))
    X[:, 3] = 0  # unfixing it joins no segments
    sizes = [len(s.variables) for s in stages_of(columns(X, (2,) * 7), tuple(range(7)), 1)]
    assert sizes == [3, 5, 6, 7]


def test_segment_keys_are_not_ambiguous():
    """11 then 1 and 1 then 11 are two segments, as the published code has them not."""
    X = np.zeros((2, 5), int)
    X[0, 3:], X[1, 3:] = (11, 1), (1, 11)
    stages = stages_of(columns(X, (2, 2, 2, 12, 12)), (0, 1, 2, 3, 4), 2)
    assert stages[0].n_segments == 2


def test_up_to_three_variables_have_one_stage():
    for n in (0, 1, 3):
        data = columns(np.zeros((4, n), int), (2,) * n)
        (stage,) = stages_of(data, tuple(range(n)), 1)
        assert (len(stage.variables), stage.n_segments) == (n, 1)
