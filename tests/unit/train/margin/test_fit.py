"""Maximum-margin parameters: gain, stopping, and parts that stay unchanged."""

from dataclasses import replace

import numpy as np
import pytest

from bncc.papers.training import decide
from bncc.structure.graph import Structure, forest
from bncc.train.margin import fit as margin_fit
from bncc.train.margin.fit import MarginDescent, Samples, margin_layout_of, margin_log_tables
from bncc.train.margin.settings import MarginSettings
from bncc.train.maximum_likelihood import ml_log_tables

FEW = MarginSettings(lambdas=(0.1, 0.3), most_iterations=20)


def double_counting(n=600, seed=0):
    """Return eight copies of a weak witness, and two strong ones that they outvote."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)

    def witness(share):
        return np.where(rng.random(n) < share, y, 1 - y)

    X = np.column_stack([*[witness(0.7)] * 8, witness(0.85), witness(0.85)])
    return X, y, forest([None] * 10), [2] * 10, 2


def error(data, tables, test=None):
    X, y, structure, n_states, _ = data if test is None else test
    return float((decide(X, structure, n_states, tables) != y).mean())


def test_what_naive_bayes_counts_eight_times_is_weighed_down():
    data, test = double_counting(), double_counting(seed=1)
    counted, margin = ml_log_tables(*data), margin_log_tables(*data, FEW)
    assert error(data, counted, test) > 0.25
    assert error(data, margin, test) < 0.15


def test_tables_stay_distributions():
    prior, tables = margin_log_tables(*double_counting(), FEW)
    assert np.exp(prior).sum() == pytest.approx(1.0)
    for table in tables:
        assert np.exp(table).sum(axis=0) == pytest.approx(1.0)
        assert (table <= 0).all()


def test_the_same_seed_gives_the_same_tables_bit_for_bit():
    data = double_counting()
    first, second = (margin_log_tables(*data, FEW) for _ in range(2))
    assert np.array_equal(first[0], second[0])
    assert all(map(np.array_equal, first[1], second[1]))


@pytest.mark.parametrize("parents", [((), (0,), (1,)), ((1,), (0,), (0, 1))])
def test_the_slope_is_that_of_differences(parents):
    """The slope for a tree, and for arcs that form a cycle."""
    rng = np.random.default_rng(3)
    n_states = [2, 3, 4]
    X = np.column_stack([rng.integers(0, r, 60) for r in n_states])
    y, weights = rng.integers(0, 3, 60), rng.random(60) + 0.5
    layout = margin_layout_of(Structure(parents, (True, True, True)), n_states)
    descent = MarginDescent(layout, Samples(layout.reads(X), X, y, weights), 3)
    at = descent.begin + rng.normal(size=descent.begin.shape)
    _, slope = descent.loss(at, 0.4, 5.0)
    step = 1e-6
    for k in range(len(at)):
        move = np.eye(len(at))[k] * step
        above, below = (descent.loss(each, 0.4, 5.0)[0] for each in (at + move, at - move))
        assert slope[k] == pytest.approx((above - below) / (2 * step), abs=1e-8)


def test_the_loss_is_the_hinge_of_the_classifier_that_the_tables_are():
    """By hand: one feature, three rows of four right, lambda 1, so every loss is 1 - t or less."""
    X, y = np.array([[0], [0], [1], [1]]), np.array([0, 0, 1, 0])
    layout = margin_layout_of(forest([None]), [2])
    descent = MarginDescent(layout, Samples(layout.reads(X), X, y, None), 2)
    prior, theta = np.log([0.75, 0.25]), np.log([[3 / 5, 1 / 3], [2 / 5, 2 / 3]])
    of_0, of_1 = (prior + row for row in theta)
    t = np.array([of_0[0] - of_0[1]] * 2 + [of_1[1] - of_1[0], of_1[0] - of_1[1]])
    expected = np.where(t > 1.5, 0, np.where(t < 0.5, 1 - t, (1.5 - t) ** 2 / 2)).mean()
    assert descent.loss(descent.begin, 1.0, 10.0)[0] == pytest.approx(expected)


def test_the_fewest_iterations_of_equals_are_made_then_the_largest_lambda(monkeypatch):
    """Cross-validation sees the same rates at 3 of lambda 0.1, and at 2 of 0.3 and of 0.5."""
    rates = {0.1: [1, 1, 1, 4, 4], 0.3: [1, 1, 4, 4, 4], 0.5: [1, 1, 4, 1, 1]}
    monkeypatch.setattr(margin_fit, "_course", lambda *a: np.array(rates[a[2]], dtype=float))
    made = []
    run = MarginDescent.run
    monkeypatch.setattr(MarginDescent, "run", lambda *a: made.append(a[1:4]) or run(*a))
    settings = MarginSettings(lambdas=(0.1, 0.3, 0.5), most_iterations=4, eta=7.0)
    margin_log_tables(*double_counting(100), settings)
    assert made == [(0.5, 7.0, 2)]


def test_where_no_iteration_helps_the_tables_stay_as_counted():
    """A lambda of 0 requires no margin."""
    data = double_counting(100)
    counted, found = ml_log_tables(*data), margin_log_tables(*data, replace(FEW, lambdas=(0.0,)))
    assert np.array_equal(counted[0], found[0])
    assert all(map(np.array_equal, counted[1], found[1]))


def test_each_row_is_held_out_once_by_tables_that_never_saw_it(monkeypatch):
    X, y, structure, n_states, n_classes = double_counting(100)
    X[:, 0] = 0
    numbered = np.column_stack([X, np.arange(100)])
    n_states, structure = [*n_states, 100], forest([None] * 11)
    seen = []

    def course(descent, held, *_):
        seen.append((descent._samples.X[:, -1].tolist(), held.X[:, -1].tolist()))
        return np.zeros(FEW.most_iterations + 1)

    monkeypatch.setattr(margin_fit, "_course", course)
    margin_log_tables(numbered, y, structure, n_states, n_classes, replace(FEW, lambdas=(0.1,)))
    assert len(seen) == 5
    assert sorted(row for _, held in seen for row in held) == list(range(100))
    assert all(sorted(rest + held) == list(range(100)) for rest, held in seen)


def test_one_class_leaves_nothing_to_learn():
    X = np.array([[0], [1], [1]])
    data = X, np.array([1, 1, 1]), forest([None]), [2], 2
    counted, found = ml_log_tables(*data), margin_log_tables(*data, FEW)
    assert np.array_equal(counted[0], found[0])
    assert np.array_equal(counted[1][0], found[1][0])


def test_a_class_without_rows_stays_as_counted():
    X, y, structure, n_states, _ = double_counting()
    prior, tables = margin_log_tables(X, 2 * y, structure, n_states, 3, FEW)
    two_prior, two = margin_log_tables(X, y, structure, n_states, 2, FEW)
    assert prior.tolist() == [two_prior[0], -np.inf, two_prior[1]]
    assert all(np.array_equal(a[:, [0, 2]], b) for a, b in zip(tables, two, strict=True))
    assert all(np.exp(table[:, 1]).tolist() == [0.5, 0.5] for table in tables)


def test_a_class_of_one_row_is_absent_from_a_fold():
    X, y, structure, n_states, _ = double_counting(60)
    y = np.where(np.arange(60) == 0, 2, y)
    prior, tables = margin_log_tables(X, y, structure, n_states, 3, FEW)
    assert np.isfinite(prior).all()
    assert all(np.isfinite(table).all() for table in tables)


def test_two_rows_of_two_classes_make_two_folds_of_one_class():
    data = np.array([[0], [1]]), np.array([0, 1]), forest([None]), [2], 2
    found, counted = margin_log_tables(*data, FEW), ml_log_tables(*data)
    assert np.array_equal(found[1][0], counted[1][0])


def test_a_constant_feature_changes_nothing():
    X, y, structure, n_states, n_classes = double_counting()
    wider = np.column_stack([X, np.zeros(len(X), dtype=int)])
    plain = margin_log_tables(X, y, structure, n_states, n_classes, FEW)
    found = margin_log_tables(wider, y, forest([None] * 11), [*n_states, 1], n_classes, FEW)
    assert np.array_equal(plain[0], found[0])
    assert all(map(np.array_equal, plain[1], found[1][:-1]))
    assert found[1][-1].tolist() == [[0.0, 0.0]]


def test_constant_features_alone_leave_the_prior():
    X, y = np.zeros((30, 2), dtype=int), np.arange(30) % 3 // 2
    prior, tables = margin_log_tables(X, y, forest([None, 0]), [1, 1], 2, FEW)
    assert prior[0] > prior[1]
    assert [table.tolist() for table in tables] == [[[0.0, 0.0]]] * 2


def test_a_table_without_the_class_stays_as_counted():
    X, y, _, n_states, n_classes = double_counting()
    structure = Structure(((), (0,), *((),) * 8), (True, False, *(True,) * 8))
    data = X, y, structure, n_states, n_classes
    counted, found = ml_log_tables(*data), margin_log_tables(*data, FEW)
    assert np.array_equal(counted[1][1], found[1][1])
    assert not np.array_equal(counted[1][0], found[1][0])


def test_a_row_of_weight_two_is_two_rows_to_a_descent():
    """Smoothing differs, so the loss is compared at the same logits."""
    X, y, structure, n_states, _ = double_counting(50)
    layout = margin_layout_of(structure, n_states)
    weights = 1.0 + (np.arange(50) % 2)
    twice = np.repeat(np.arange(50), weights.astype(int))
    weighted = MarginDescent(layout, Samples(layout.reads(X), X, y, weights), 2)
    repeated = MarginDescent(layout, Samples(layout.reads(X[twice]), X[twice], y[twice], None), 2)
    at = repeated.begin
    ours, theirs = weighted.loss(at, 0.5, 10.0), repeated.loss(at, 0.5, 10.0)
    assert ours[0] == pytest.approx(theirs[0])
    assert ours[1] == pytest.approx(theirs[1])
    held = Samples(layout.reads(X), X, y, weights)
    assert weighted.right(at, held) == repeated.right(
        at, Samples(layout.reads(X[twice]), X[twice], y[twice], None)
    )


def test_a_descent_begins_with_counts_of_weighted_rows():
    X, y, structure, n_states, n_classes = double_counting(50)
    weights = 1.0 + (np.arange(50) % 2)
    layout = margin_layout_of(structure, n_states)
    descent = MarginDescent(layout, Samples(layout.reads(X), X, y, weights), n_classes)
    counted = ml_log_tables(X, y, structure, n_states, n_classes, weights=weights / weights.mean())
    assert descent.begin == pytest.approx(layout.pack(counted))
    for ours, theirs in zip(descent.tables(descent.begin)[1], counted[1], strict=True):
        assert ours == pytest.approx(theirs)


def test_a_descent_that_ends_by_itself_stays_where_it_is():
    """Two different rows are soon far apart; all validation rows are then decided wrongly."""
    X, y = np.array([[0], [1]]), np.array([0, 1])
    layout = margin_layout_of(forest([None]), [2])
    descent = MarginDescent(layout, Samples(layout.reads(X), X, y, None), 2)
    held = Samples(layout.reads(X), X, 1 - y, None)
    held_rightly = Samples(layout.reads(X), X, y, None)
    steps = []
    settings = MarginSettings(most_iterations=200)
    course = margin_fit._course(descent, held, 1.0, settings, steps.append)
    assert len(course) == 201
    assert len(steps) < 100
    assert course[-1] == 0
    assert margin_fit._course(descent, held_rightly, 1.0, settings, steps.append)[-1] == 2


def test_progress_ends_within_all_descents():
    told = []
    margin_log_tables(*double_counting(100), FEW, told=lambda *a: told.append(a))
    shares = [share for share, _ in told]
    assert shares == sorted(shares)
    assert shares[0] == 1 / 220
    assert 10 / 11 < shares[-1] <= 1
    assert told[-1][1] == "margin, descent 11 of 11"


def test_without_features_that_tell_the_classes_apart_the_prior_alone_is_learned():
    """Lambdas that leave all as it is tie, and a descent may still be made."""
    X, y = np.zeros((40, 2), np.int64), np.repeat([0, 1], [30, 10])
    prior, tables = margin_log_tables(X, y, forest([None, None]), (1, 1), 2, MarginSettings())
    assert prior[0] > prior[1]
    assert [table.tolist() for table in tables] == [[[0.0, 0.0]], [[0.0, 0.0]]]
    layout = margin_layout_of(forest([None, None]), [1, 1])
    assert layout.unpack(np.zeros(2))[1] == {}
