"""Structure and tables from states, in turn or jointly, as the settings ask."""

from dataclasses import replace

import numpy as np
import pytest

from bncc.errors import OptionError
from bncc.fixed_point import QFormat
from bncc.structure.catalog import learn_structure
from bncc.structure.graph import Structure, forest
from bncc.structure.learners.etan import alphas_of, best_alpha
from bncc.train import learn_network as learn
from bncc.train.checkpoint.callbacks import Callbacks
from bncc.train.learn_network import Task, fit_in_turn, fit_jointly
from bncc.train.margin.fit import margin_log_tables
from bncc.train.margin.settings import MarginSettings
from bncc.train.maximum_likelihood import bdeu_log_tables, ml_log_tables
from bncc.train.record import settings_record
from bncc.train.settings import TrainSettings

GENERATOR = np.random.default_rng(2)
Y = GENERATOR.integers(0, 2, 300)
NOISE = GENERATOR.integers(0, 3, (300, 3))
X = np.column_stack([NOISE, (NOISE[:, 0] + Y) % 3])
N_STATES = [3, 3, 3, 3]
JOINT = TrainSettings(structure="tan-all", epochs=8, structure_options={"step": "0.1"})


def task(settings):
    return Task(X, Y, N_STATES, 2, settings)


def never(*_):
    raise AssertionError("no format is asked for")


def test_a_random_structure_follows_the_seed():
    settings = TrainSettings(structure="random", parameters="ml")
    for seed in (1, 2, 3):
        structure, _ = fit_in_turn(task(replace(settings, seed=seed)), never, None)
        assert structure == learn_structure("random", X, Y, N_STATES, 2, seed=seed)


def test_the_class_shows_only_in_a_pair_which_is_found():
    """Feature 3 is informative about the class only given feature 0."""
    structure, (log_prior, tables) = fit_jointly(task(JOINT), lambda *_: QFormat(3, 3), None)
    assert (0,) in structure.parents or (3,) in structure.parents
    assert log_prior.shape == (2,)
    assert [len(t) for t in tables] == [9 if p else 3 for p in structure.parents]


def test_without_an_order_features_that_need_each_other_form_a_cycle():
    """Features 0 and 3 are strongly dependent, so each takes the other as its parent."""
    options = {**JOINT.structure_options, "order": "none"}
    settings = replace(JOINT, structure_options=options, lambda_=0.0, epochs=30)
    structure, (_, tables) = fit_jointly(task(settings), lambda *_: QFormat(3, 3), None)
    assert (structure.parents[0], structure.parents[3]) == ((3,), (0,))
    assert not structure.is_bayesian_network
    assert [len(t) for t in tables] == [9 if p else 3 for p in structure.parents]


@pytest.mark.parametrize(
    ("parameters", "count"), [("ml", ml_log_tables), ("bdeu", bdeu_log_tables)]
)
def test_counted_tables_are_counted_for_the_structure_found(parameters, count):
    settings = replace(JOINT, parameters=parameters)
    structure, (log_prior, tables) = fit_jointly(task(settings), never, None)
    assert structure == fit_jointly(task(replace(JOINT, float_=True)), never, None)[0]
    extra = (2.0,) if parameters == "bdeu" else ()
    expected = count(X, Y, structure, N_STATES, 2, *extra)
    assert np.array_equal(log_prior, expected[0])
    assert all(map(np.array_equal, tables, expected[1]))


def test_margin_tables_are_learned_for_the_structure_found():
    settings = replace(JOINT, parameters="margin", lambda_=20.0)
    structure, (log_prior, tables) = fit_jointly(task(settings), never, None)
    assert structure == fit_jointly(task(replace(settings, parameters="ml")), never, None)[0]
    expected = margin_log_tables(X, Y, structure, N_STATES, 2, MarginSettings())
    assert np.array_equal(log_prior, expected[0])
    assert all(map(np.array_equal, tables, expected[1]))


def test_margin_tables_follow_weights_and_tell_of_progress():
    settings = TrainSettings(structure="naive", parameters="margin", lambda_=0.3, epochs=5)
    weights, told = np.where(Y == 0, 1.8, 0.2), []
    weights /= weights.mean()
    weighted = Task(X, Y, N_STATES, 2, settings, weights=weights)
    callbacks = Callbacks(lambda *said: told.append(said))
    structure, (log_prior, _) = fit_in_turn(weighted, never, callbacks)
    expected = margin_log_tables(
        X, Y, structure, N_STATES, 2, MarginSettings((0.3,), most_iterations=5), weights
    )
    assert np.array_equal(log_prior, expected[0])
    assert told[0][1] == "margin, descent 1 of 6"
    assert [share for share, _ in told] == sorted(share for share, _ in told)


def test_tables_too_large_for_the_margin_are_refused(monkeypatch):
    monkeypatch.setattr(learn, "MAX_MARGIN_ENTRIES", 20)
    with pytest.raises(OptionError, match=r"more than 20; .* --structure naive"):
        fit_in_turn(task(TrainSettings(structure="naive", parameters="margin")), never, None)
    fit_in_turn(task(TrainSettings(structure="naive", parameters="ml")), never, None)


def test_a_price_of_size_reaches_the_descent():
    priced = replace(JOINT, epochs=20, size_weight=100.0)
    assert fit_jointly(task(priced), lambda *_: QFormat(3, 3), None)[0].n_edges == 0


def problem_of(monkeypatch, settings, data=X, n_states=N_STATES):
    """Return the arguments of the descent."""
    handed = []
    found = forest([None] * len(n_states)), ml_log_tables(data, Y, forest([None]), n_states, 2)
    monkeypatch.setattr(learn, "descend_structure", lambda *a: handed.append(a[0]) or found)
    fit_jointly(Task(data, Y, n_states, 2, settings), never, None)
    return handed[0]


def test_the_structures_options_reach_the_descent(monkeypatch):
    options = {"order": "identity", "parents": "1", "step": "0.5"}
    settings = TrainSettings(structure="tan-subset", structure_options=options, size_weight=3.0)
    problem = problem_of(monkeypatch, settings)
    assert (problem.step, problem.size_weight) == (0.5, 3.0)
    assert (problem.priced_bits, problem.widths) == (None, ())
    assert [len(row) for row in problem.candidates.parent] == [1] * 4
    assert all(j < i for i, (j,) in enumerate(problem.candidates.parent))


def test_a_price_of_bits_and_widths_reach_the_descent(monkeypatch):
    options = {"price": "bits", "widths": "4,2"}
    settings = TrainSettings(structure="tan-all", structure_options=options, bits=5)
    problem = problem_of(monkeypatch, settings)
    assert (problem.priced_bits, problem.widths) == (5, (2, 4))


def test_a_feature_of_one_state_stays_alone(monkeypatch):
    """Its table with a parent, and another's with it as parent, would be the same without."""
    with_constant = np.column_stack([X[:, 0], np.zeros(300, dtype=int), X[:, 3]])
    settings = replace(JOINT, structure_options={"order": "identity"})
    candidates = problem_of(monkeypatch, settings, with_constant, [3, 1, 3]).candidates
    assert candidates.parent.tolist() == [[-1], [-1], [0]]


def test_the_structure_is_given_to_who_names_the_format():
    asked = []

    def choose(structure, tables):
        asked.append(
            [len(t) == (9 if p else 3) for p, t in zip(structure.parents, tables[1], strict=True)]
        )
        return QFormat(3, 3)

    for fit, settings in ((fit_jointly, JOINT), (fit_in_turn, TrainSettings(epochs=2))):
        fit(task(settings), choose, None)
    assert asked == [[True] * 4] * 2


def test_candidates_beyond_all_memory_are_refused_with_a_remedy(monkeypatch):
    pairs = 6 * 9
    monkeypatch.setattr(learn, "MAX_DESCENT_ENTRIES", (pairs + 4 * 3) * 2 - 1)
    with pytest.raises(OptionError, match=r"hold 132 entries, more than 131; .*ture tan-subset"):
        fit_jointly(task(JOINT), never, None)


def test_the_record_tells_all_that_a_joint_training_needs_to_be_made_again():
    settings = replace(JOINT, parameters="ml", size_weight=0.5, seed=7)
    record = settings_record(settings, 300)
    assert record["structure_options"] == {"step": "0.1"}
    assert (record["size_weight"], record["seed"], record["epochs"]) == (0.5, 7, 8)
    assert {"lambda", "gamma", "eta", "lr", "batch_size", "dropout"} <= set(record)
    assert {"average", "quantize_from"} & set(record) == set()
    assert {"average", "quantize_from"} <= set(settings_record(JOINT, 300))
    assert "size_weight" not in settings_record(TrainSettings(), 300)


@pytest.mark.parametrize(
    ("options", "alpha"), [({}, None), ({"alphas": "3,40"}, None), ({"alpha": "7"}, 7.0)]
)
def test_tables_take_the_alpha_that_a_structure_was_chosen_with(options, alpha):
    settings = TrainSettings(structure="sa-etan", parameters="bdeu", structure_options=options)
    structure, (_, tables) = fit_in_turn(task(settings), never, None)
    data = (X, Y, N_STATES, 2)
    alpha = alpha or best_alpha(structure, *data, alphas_of(options))
    _, expected = bdeu_log_tables(X, Y, structure, N_STATES, 2, alpha)
    assert not all(structure.class_is_parent)
    for ours, theirs in zip(tables, expected, strict=True):
        assert np.array_equal(ours, theirs)


@pytest.fixture
def class_below(monkeypatch):
    """Make every learner find features 0 and 3 above the class."""
    above = Structure(((),) * 4, (False,) * 4, class_parents=(0, 3))
    monkeypatch.setattr(learn, "learn_structure", lambda *_: above)
    return above


def test_tables_of_a_class_with_parents_are_counted(class_below):
    for settings in (TrainSettings(), TrainSettings(parameters="ml")):
        structure, (prior, tables) = fit_in_turn(task(settings), never)
        assert structure == class_below
        assert not prior.any()
        assert [t.shape for t in tables] == [(3, 2)] * 4 + [(9, 2)]
    expected = ml_log_tables(X, Y, class_below, N_STATES, 2)[1]
    np.testing.assert_array_equal(tables[4], expected[4])


@pytest.mark.parametrize("parameters", ["margin", "cross-entropy", "free"])
def test_other_parameters_of_a_class_with_parents_are_refused(class_below, parameters):
    with pytest.raises(OptionError, match=f"--parameters {parameters} trains no .* ml$"):
        fit_in_turn(task(TrainSettings(parameters=parameters)), never)
