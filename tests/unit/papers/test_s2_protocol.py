"""S2's folds: preprocessing learned from training rows alone, and edge cases."""

import numpy as np
import pytest

from bncc.errors import DataError
from bncc.papers.s2_data import Protocol, parts_of
from tests.uci import built_set

TWO = Protocol(n_folds=2)


def all_states(dataset, part):
    """Return the states of one fold in the order of the data set's rows."""
    X = np.full((dataset.n_rows, len(part.fold.n_states)), -1)
    X[part.test_rows] = part.fold.X_test
    X[np.setdiff1d(np.arange(dataset.n_rows), part.test_rows)] = part.fold.X
    return X


def test_every_row_is_tested_once_in_each_repeat_and_repeats_differ():
    dataset = built_set([("a", np.arange(40.0).tolist())], [0, 1] * 20)
    dealt = []
    for repeat in (0, 1):
        parts = list(parts_of(dataset, Protocol(n_repeats=2), repeat))
        dealt.append([part.test_rows.tolist() for part in parts])
        assert sorted(row for rows in dealt[-1] for row in rows) == list(range(40))
        for part in parts:
            assert sorted(part.fold.y_test.tolist()) == [0, 0, 1, 1], "stratified"
            assert part.fold.y_test.tolist() == dataset.y[part.test_rows].tolist()
            assert (len(part.fold.X), len(part.fold.y)) == (36, 36)
    assert dealt[0] != dealt[1]
    again = [part.test_rows.tolist() for part in parts_of(dataset, Protocol(), 0)]
    assert again == dealt[0]


def test_a_number_is_cut_at_the_median_of_the_training_rows():
    values = [0.0, 1.0, 2.0, 3.0, 100.0, 101.0, 102.0, 103.0]
    dataset = built_set([("a", values)], [0] * 4 + [1] * 4)
    for part in parts_of(dataset, TWO, 0):
        assert part.fold.n_states == [2]
        assert np.bincount(part.fold.X[:, 0]).tolist() == [2, 2]
    whole = [all_states(dataset, part) for part in parts_of(dataset, Protocol(1, 2, 0, True), 0)]
    assert whole[0].tolist() == whole[1].tolist() == [[0]] * 4 + [[1]] * 4


@pytest.mark.parametrize(
    ("values", "state"), [([0.0] * 5 + [9.0, None], 1), ([0.0] + [9.0] * 5 + [None], 0)]
)
def test_a_missing_number_is_the_mean(values, state):
    dataset = built_set([("a", values)], [0] * 7)
    part = next(parts_of(dataset, Protocol(1, 2, 0, True), 0))
    assert all_states(dataset, part)[6, 0] == state, "1.5 lies above 0, and 7.5 below 9"


def test_the_mean_is_that_of_the_training_rows():
    dataset = built_set([("a", [None, 0.0, 10.0])], [0, 0, 0])
    for part in parts_of(dataset, Protocol(n_folds=3), 0):
        X = all_states(dataset, part)[:, 0].tolist()
        assert X == ([0, 0, 1] if 0 in part.test_rows else [0, 0, 0])
        assert part.fold.n_states == ([2] if 0 in part.test_rows else [1])


def test_a_missing_category_is_the_most_frequent_of_the_training_rows():
    dataset = built_set([("a", ["x", None, "x", *"yyyyyyyyy"])], [0, 1] * 6)
    for part in parts_of(dataset, TWO, 0):
        assert all_states(dataset, part)[:3, 0].tolist() == [0, 1, 0]
    tied = built_set([("a", ["x", "y", None, None])], [0, 0, 1, 1])
    whole = next(parts_of(tied, Protocol(1, 2, 0, True), 0))
    assert all_states(tied, whole)[2:, 0].tolist() == [0, 0], "the first of equals"


def test_a_label_of_test_rows_alone_has_a_state_of_its_own():
    dataset = built_set([("a", ["x", "x", "y", "x", "x", "x"])], [0, 1] * 3)
    parts = list(parts_of(dataset, Protocol(n_folds=3), 0))
    assert [part.fold.n_states for part in parts] == [[2]] * 3
    alone = next(part for part in parts if 2 in part.test_rows)
    assert set(alone.fold.X[:, 0].tolist()) == {0}
    assert alone.fold.X_test[:, 0].tolist().count(1) == 1


@pytest.mark.parametrize("whole", [False, True])
def test_columns_that_say_nothing_have_one_state(whole):
    columns = [("same", [7.0] * 6), ("empty", [None] * 6), ("label", ["x"] * 6)]
    dataset = built_set(columns, [0, 1] * 3)
    for part in parts_of(dataset, Protocol(1, 3, 0, whole), 0):
        assert part.fold.n_states == [1, 1, 1]
        assert not part.fold.X.any()
        assert not part.fold.X_test.any()


def test_a_column_without_training_readings_is_no_error():
    dataset = built_set([("a", [None, None, None, 5.0]), ("b", ["?", None, None, None])], [0] * 4)
    for part in parts_of(dataset, Protocol(n_folds=4), 0):
        X = all_states(dataset, part)
        assert (X < np.array(part.fold.n_states)).all()
        assert (X >= 0).all()


def test_a_class_of_one_row_keeps_its_number_in_the_fold_that_lacks_it():
    dataset = built_set([("a", np.arange(11.0).tolist())], [0] * 10 + [1])
    parts = list(parts_of(dataset, Protocol(n_folds=5), 0))
    assert {part.fold.n_classes for part in parts} == {2}
    assert [1 in part.fold.y for part in parts].count(False) == 1


def test_fewer_rows_than_folds_are_refused():
    with pytest.raises(DataError, match="4 rows are too few for 10 folds; take the file out"):
        list(parts_of(built_set([("a", [1.0] * 4)], [0, 1, 0, 1]), Protocol(), 0))


def test_a_set_of_classes_alone_is_refused():
    with pytest.raises(DataError, match="no column but the class is left"):
        list(parts_of(built_set([], [0, 1] * 10), Protocol(), 0))
