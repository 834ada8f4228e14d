"""A front: sure leaves decide as the tables do, and the sum decides as both in turn."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bncc.boosting import front as module
from bncc.boosting.boost import boost
from bncc.boosting.front import UNSURE, fit_front, with_front
from bncc.boosting.learn import refit, samples_of
from bncc.boosting.settings import BoostSettings, recipe_of
from bncc.boosting.sums import Learned
from bncc.errors import OptionError
from bncc.structure.decision_tables import BranchingTable, TableEnsemble
from tests.tiers import examples
from tests.unit.boosting.samples import few_samples

SETTINGS = BoostSettings(
    n_tables=6, rows=6, engine="numpy", float_epochs=2, quantized_epochs=3, batch_size=64
)
FORMS = {"products": {}, "trees": {"leaves": 6, "bits": 4}}


def refitted(samples, asked):
    recipe = recipe_of(asked, samples.X.shape[1], samples.n_classes)
    return refit(boost(samples, asked, recipe), samples, asked, recipe)


def learned(asked, samples=None):
    """Learn tables without a front, and the same ones with it."""
    samples = samples or few_samples(2000)
    return refitted(samples, replace(asked, front=0)), refitted(samples, asked)


def first_table(learned):
    """Return the decision of each leaf of the first table, a front."""
    costs = learned.tables[0]
    return np.where(costs.any(axis=1), costs.argmin(axis=1), UNSURE)


def check(plain, fronted):
    """Verify a sum with a front, and return the share of some rows that its sure leaves decide."""
    assert fronted.grids.tables[1:] == plain.grids.tables
    pairs = zip(fronted.tables[1:], plain.tables, strict=True)
    assert all(np.array_equal(one, other) for one, other in pairs)
    assert np.array_equal(fronted.prior, plain.prior)
    rng = np.random.default_rng(0)
    n_features = 1 + max(plain.grids.features)
    X = rng.integers(0, 320, (3000, n_features)) % np.resize([5, 7, 2, 320, 3], n_features)
    tree = fronted.grids.tables[0]
    assert isinstance(tree, BranchingTable)
    found = first_table(fronted)[tree.rows(X)]
    alone = plain.costs(X).argmin(axis=1)
    wanted = np.where(found == UNSURE, alone, found)
    assert np.array_equal(fronted.costs(X).argmin(axis=1), wanted)
    # The cost of a sure leaf is more than others can add up to, whatever rows they read.
    reached = sum(int(part.max()) for part in (plain.prior, *plain.tables))
    assert set(np.unique(fronted.tables[0])) == {0, reached + 1}
    zeros = (fronted.tables[0] == 0).sum(axis=1)
    assert set(zeros.tolist()) <= {1, fronted.tables[0].shape[1]}
    assert fronted.grids.used_cuts == plain.grids.used_cuts
    return float((found != UNSURE).mean())


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("leaves", [8, 32])
def test_the_sum_decides_as_the_front_and_then_as_the_tables(form, leaves):
    plain, fronted = learned(replace(SETTINGS, front=leaves, **FORMS[form]))
    assert 2 <= len(fronted.tables[0]) <= leaves
    assert check(plain, fronted) > 0.1


@given(
    seed=st.integers(0, 2**32 - 1),
    n=st.integers(1, 300),
    n_classes=st.integers(2, 4),
    leaves=st.sampled_from([2, 5, 40]),
    is_tree=st.booleans(),
    is_weighted=st.booleans(),
)
@settings(max_examples=examples(60))
def test_any_tables_behind_a_front_decide_as_both_in_turn(
    seed, n, n_classes, leaves, is_tree, is_weighted
):
    rng = np.random.default_rng(seed)
    n_states = [4, 30, 3]
    X = np.stack([rng.integers(0, r, n) for r in n_states], axis=1)
    y = (X[:, 1] // 11 + rng.integers(0, 2, n) * (X[:, 0] == 3)) % n_classes
    weights = rng.uniform(0.1, 5, n) if is_weighted else None
    samples = samples_of(X, y, n_states, n_classes, weights)
    costs = rng.integers(0, 8, (6, n_classes))
    tree = BranchingTable((1, 0), (10, 1), (-1, -2), (1, -3))
    grids = (tree, replace(tree, cuts=(21, 2)))
    costs[:, :] -= costs.min(axis=1, keepdims=True)
    plain = Learned(TableEnsemble(grids), (costs[:3], costs[3:]), np.arange(n_classes), 2)
    asked = replace(SETTINGS, front=leaves, leaves=6 * is_tree, seed=seed)
    fronted = with_front(plain, samples, asked)
    assert (fronted.front is None) == (fronted is plain)
    if fronted is not plain:
        check(plain, fronted)
        record = fronted.front
        decided = first_table(fronted)
        assert record["leaves"] == len(decided) <= leaves
        assert record["sure"] == (decided != UNSURE).sum() > 0
        read = decided[fronted.grids.tables[0].rows(X)]
        assert record["answers"] == round(float((read != UNSURE).mean()), 6)
        assert 0 <= record["differing"] <= module.MOST_DIFFERING


def test_without_the_option_nothing_changes():
    plain, _ = learned(SETTINGS)
    assert plain.front is None
    assert len(plain.tables) == 6


def test_the_same_rows_give_the_same_front():
    asked = replace(SETTINGS, front=16)
    (_, first), (_, second) = learned(asked), learned(asked)
    assert first.grids == second.grids
    assert first.front == second.front
    assert np.array_equal(first.tables[0], second.tables[0])


def test_siblings_that_decide_alike_are_one_leaf():
    _, fronted = learned(replace(SETTINGS, front=64))
    tree, decided = fronted.grids.tables[0], first_table(fronted)
    below, above = np.array(tree.below[1:]), np.array(tree.above[1:])
    both = (below < 0) & (above < 0)
    assert both.any()
    assert (decided[-1 - below[both]] != decided[-1 - above[both]]).all()


def test_a_single_decision_needs_no_front():
    samples = few_samples(500)
    plain, _ = learned(SETTINGS)
    ahead = replace(plain, prior=np.array([0, 999, 999]))
    assert fit_front(ahead, samples, replace(SETTINGS, front=8)) is None


def test_the_root_stays_even_where_both_sides_decide_alike():
    """Class 1 is decided in three rows only, which two leaves cannot separate."""
    cells = [(0, 0, 1000), (0, 1, 500), (1, 0, 500), (1, 1, 3)]
    X = np.concatenate([np.tile([a, b], (n, 1)) for a, b, n in cells])
    tree = BranchingTable((0, 1), (0, 0), (-1, -2), (1, -3))
    plain = Learned(
        TableEnsemble((tree,)), (np.array([[0, 1], [0, 1], [1, 0]]),), np.zeros(2, dtype=int), 0
    )
    samples = samples_of(X, np.zeros(len(X), dtype=int), [2, 2], 2)
    found = fit_front(plain, samples, replace(SETTINGS, front=2))
    assert found.tree.n_rows == 2
    assert found.decisions.tolist() == [0, 0]
    assert found.record == {"leaves": 2, "sure": 2, "answers": 1.0, "differing": 0.001498}


def noisy(n, seed):
    """Return rows whose classes are noise: leaves are pure by chance alone."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 16, (n, 12))
    return samples_of(X, rng.integers(0, 2, n), [16] * 12, 2)


NOISE = replace(SETTINGS, n_tables=20, rows=16, dropout=0.0, front=256)


def test_the_guard_refuses_leaves_that_are_sure_by_chance(monkeypatch):
    samples, unseen = noisy(1500, 1), noisy(4000, 2)
    plain = refitted(samples, replace(NOISE, front=0))

    def differing():
        """Return the share of unseen rows that a front decides otherwise than the tables."""
        fronted = with_front(plain, samples, NOISE)
        decisions = [one.costs(unseen.X).argmin(axis=1) for one in (plain, fronted)]
        return float((decisions[0] != decisions[1]).mean())

    assert differing() < 0.01
    monkeypatch.setattr(module, "MOST_DIFFERING", 1.0)
    assert differing() > 0.02


def test_another_guard_can_be_asked_for():
    samples = noisy(1500, 1)
    plain = refitted(samples, replace(NOISE, front=0))
    answers = []
    for share in (0.0, 0.3):
        front = with_front(plain, samples, replace(NOISE, front_differing=share)).front
        answers.append(front["answers"] if front else 0.0)
        assert front is None or front["differing"] <= share
    assert answers[0] < answers[1]


def test_variants_of_a_row_do_not_hide_what_is_sure_by_chance():
    """Leaves that are pure by chance are pure in copies too, which random folds would mix."""
    one = noisy(150, 1)
    plain = refitted(one, replace(NOISE, front=0))
    X, y = np.tile(one.X, (10, 1)), np.tile(one.y, 10)
    apart, mixed = (samples_of(X, y, [16] * 12, 2, None, n_copies) for n_copies in (10, 1))
    assert with_front(plain, mixed, NOISE).front["answers"] == 1.0
    assert with_front(plain, apart, NOISE).front is None


def test_few_rows_have_no_front():
    for n in (1, 2, 3, 9):
        samples = few_samples(n)
        plain, _ = learned(SETTINGS)
        assert with_front(plain, samples, replace(SETTINGS, front=8)) is plain


def test_one_heavy_row_does_not_make_a_leaf_sure():
    n = 600
    rng = np.random.default_rng(5)
    X = np.stack([rng.integers(0, 2, n), rng.integers(0, 2, n)], axis=1)
    X[0] = 2
    weights = np.ones(n)
    weights[0] = 1e4
    tree = BranchingTable((0, 1, 0), (1, 0, 0), (1, -1, -2), (-4, 2, -3))
    costs = np.array([[0, 9, 9], [9, 0, 9], [0, 9, 9], [9, 9, 0]])
    plain = Learned(TableEnsemble((tree,)), (costs,), np.zeros(3, dtype=int), 0)
    samples = samples_of(X, np.zeros(n, dtype=int), [3, 3], 3, weights)
    asked = replace(SETTINGS, front=8)
    found = fit_front(plain, samples, asked)
    assert found is None or 2 not in found.decisions
    equal = samples_of(X, np.zeros(n, dtype=int), [3, 3], 3)
    assert {0, 1} <= set(fit_front(plain, equal, asked).decisions.tolist())


@pytest.mark.parametrize("leaves", [2, 24])
def test_a_single_tree_has_none(leaves):
    with pytest.raises(OptionError, match="front=8 does not apply to a single tree"):
        BoostSettings(n_tables=1, leaves=leaves, front=8)
    assert BoostSettings(n_tables=1, front=8).front == 8
