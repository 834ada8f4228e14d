"""Learners of networks in which the class is a variable like any other."""

import numpy as np
import pytest

from bncc.errors import OptionError
from bncc.structure.dags.climbing import climb, tabu_search
from bncc.structure.dags.curriculum import learn_by_curriculum
from bncc.structure.dags.dag_score import DagScore, ScoreKind, columns_of
from bncc.structure.dags.neighbors import parents_and_children, varying_pairs
from bncc.structure.graph import Structure
from bncc.structure.learner import Problem
from bncc.structure.learners import LEARNERS
from bncc.structure.learners.networks import structure_of

NAMES = ("network-hill-climb", "tabu", "mmhc", "curriculum")


def rows(seed=1, n=1500):
    """Draw a -> class <- b, class -> c <- d, c -> e, and f and a constant g alone."""
    rng = np.random.default_rng(seed)
    a, b, d, f = rng.integers(0, 2, (4, n))
    y = np.where(rng.random(n) < 0.9, a & b, 1 - (a & b)) + (rng.random(n) < 0.2)
    c = np.where(rng.random(n) < 0.9, (y + d) % 3, 0)
    e = np.where(rng.random(n) < 0.8, c, rng.integers(0, 3, n))
    X = np.stack([a, b, c, d, e, f, np.zeros(n, int)], axis=1)
    return X, y


X, Y = rows()
N_STATES, N_CLASSES = (2, 2, 3, 2, 3, 2, 4), 3
TRUE = Structure(
    ((), (), (3,), (), (2,), (), ()),
    (False, False, True, False, False, False, False),
    class_parents=(0, 1),
)


def learn(name, X=X, y=Y, n_states=N_STATES, n_classes=N_CLASSES, seed=0, **options):
    named = {key.replace("_", "-"): text for key, text in options.items()}
    return LEARNERS[name].learn(Problem(X, y, n_states, n_classes, named, seed))


@pytest.mark.parametrize("name", NAMES)
def test_the_class_gets_its_parents_and_children(name):
    found = learn(name)
    joined = {i for i, has_class in enumerate(found.class_is_parent) if has_class}
    assert {0, 1, 2} <= joined | set(found.class_parents) <= {0, 1, 2, 3}
    assert found.n_features == X.shape[1], "features outside the blanket are kept"
    assert found.parents[5] == found.parents[6] == ()


def test_of_enough_rows_tabu_finds_the_network_itself():
    assert learn("tabu", *rows(1, 4000), score="bic") == TRUE


@pytest.mark.parametrize("name", NAMES)
def test_learners_search_by_what_they_are_called(name):
    columns = columns_of(*rows(5, 200), N_STATES, N_CLASSES)
    sets, pairs = parents_and_children(columns), varying_pairs(columns)
    score = DagScore(columns, ScoreKind("bdeu", 3.0))
    expected = {
        "network-hill-climb": climb(score, pairs),
        "tabu": tabu_search(score, pairs),
        "mmhc": climb(score, sets),
    }
    options = {"alpha": "3"}
    if name == "curriculum":
        data = columns_of(*rows(5, 200), N_STATES, N_CLASSES)
        expected[name] = learn_by_curriculum(data, sets, 2)
        options = {"step": "2"}
    assert learn(name, *rows(5, 200), **options) == structure_of(expected[name])


def test_candidates_of_mmpc_make_the_climb_mmhc():
    data = rows(5, 200)
    climbed = learn("network-hill-climb", *data, candidates="mmpc", level="0.2")
    assert climbed == learn("mmhc", *data, level="0.2")
    assert climbed != learn("network-hill-climb", *data)
    assert climbed != learn("mmhc", *data, level="1e-5")


@pytest.mark.parametrize("name", ["network-hill-climb", "tabu", "mmhc"])
def test_bic_is_sparser_than_a_strong_prior(name):
    data = rows(6, 150)
    dense, sparse = (learn(name, *data, **o) for o in ({"alpha": "50"}, {"score": "bic"}))
    assert _arcs(sparse) <= _arcs(dense)
    assert name == "mmhc" or _arcs(sparse) < _arcs(dense)


def _arcs(structure):
    return structure.n_edges + sum(structure.class_is_parent) + len(structure.class_parents)


@pytest.mark.parametrize("name", NAMES)
def test_limits_hold(name):
    few = learn(name, max_parents="1")
    every = (*few.parents, few.class_parents)
    flags = (*few.class_is_parent, False)
    assert max(len(p) + f for p, f in zip(every, flags, strict=True)) == 1
    small = learn(name, max_entries="6")
    assert len(small.class_parents) < 2  # 3 classes x 4 would be 12 entries
    with pytest.raises(
        OptionError,
        match=r"a variable has 4 states.* raise max-entries",
    ):
        learn(name, max_entries="3")


@pytest.mark.parametrize("name", NAMES)
def test_results_are_equal_for_equal_seeds_and_progress_only_grows(name):
    told = []
    problem = Problem(X, Y, N_STATES, N_CLASSES, tell=lambda share, words: told.append(share))
    assert LEARNERS[name].learn(problem) == learn(name)
    assert told == sorted(told)
    assert 0 < told[0] <= told[-1] <= 1


def test_the_seed_of_a_curriculum_deals_the_rows_that_judge():
    judged = {str(learn("curriculum", *rows(9, 90), seed=seed)) for seed in range(6)}
    fixed = {str(learn("curriculum", *rows(9, 90), seed=seed, step="1")) for seed in range(6)}
    assert len(fixed) == 1
    assert len(judged) >= 1


@pytest.mark.parametrize("name", NAMES)
def test_one_class_and_no_rows_and_no_features_leave_the_class_alone(name):
    one = learn(name, y=np.zeros(len(X), int), n_classes=1)
    assert one.is_class_isolated
    none = learn(name, X[:0], Y[:0])
    assert none.is_class_isolated
    assert none.n_edges == 0
    assert learn(name, X[:, :0], Y, ()).parents == ()
    single = learn(name, X[:, :1], Y, (2,))
    assert not single.is_class_isolated


@pytest.mark.parametrize("name", NAMES)
def test_too_many_variables_are_refused(name):
    wide = np.zeros((3, 1000), int)
    with pytest.raises(OptionError, match=r"up to 1000 variables, and there are 1001 with the cla"):
        learn(name, wide, Y[:3], (2,) * 1000)


@pytest.mark.parametrize(
    ("key", "text", "message"),
    [
        ("level", "2", "level=2 is above 1; try level=0.05"),
        ("level", "x", "level=x is not a positive number"),
        ("max-parents", "0", "max-parents=0 is not a positive integer"),
        ("max-entries", "-1", "max-entries=-1 is not a positive integer"),
        ("step", "4", "step=4 is unknown; choose best, 0, 1, 2 or 3"),
        ("candidates", "none", "candidates=none is unknown; choose all or mmpc"),
        ("score", "mm", "score=mm is unknown; choose bdeu or bic"),
    ],
)
def test_options_that_cannot_be_read_are_refused(key, text, message):
    readers = [learner.readers for learner in LEARNERS.values() if learner.name in NAMES]
    (read, *_) = [each[key] for each in readers if key in each]
    with pytest.raises(OptionError, match=message):
        read({key: text})


def test_options_without_effect_are_known():
    idle = LEARNERS["tabu"].idle({"alpha": "2", "score": "bic", "level": "0.1"})
    assert len(tuple(idle)) == 2
    assert not tuple(LEARNERS["mmhc"].idle({"alpha": "2", "level": "0.1"}))
