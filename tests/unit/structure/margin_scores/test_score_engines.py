"""Engines and speed-ups give the same integers."""

from dataclasses import replace

import numpy as np
import pytest

from bncc.errors import ToolchainError
from bncc.progress import silence
from bncc.structure.margin_scores import score as native
from bncc.structure.margin_scores.score import KINDS, NumpyScoreEngine, Score, score_engine_for
from bncc.structure.margin_scores.scored_tree import ScoredTree, SpeedUps
from bncc.structure.margin_scores.search import Schedule, anneal, climb
from tests.unit.structure.margin_scores.rows import random_held_out

PLAIN = SpeedUps(stops_early=False, keeps_joint=False, table_bytes=0, row_bytes=0)
ONE_MORE = (
    replace(PLAIN, stops_early=True),
    replace(PLAIN, keeps_joint=True),
    replace(PLAIN, table_bytes=2**20),
    replace(PLAIN, table_bytes=700),
    replace(PLAIN, row_bytes=2**20),
    replace(PLAIN, row_bytes=5000),
    SpeedUps(),
)
ENGINES = ("numpy", pytest.param("native", marks=pytest.mark.cc))


def tree_of(held, kind, speed_ups, engine):
    return ScoredTree(held, Score(kind, held.scale, 0.2), speed_ups, engine)


def searched(held, kind, speed_ups, engine):
    climbed = climb(tree_of(held, kind, speed_ups, engine), silence)
    tree, rng = tree_of(held, kind, speed_ups, engine), np.random.default_rng(1)
    return climbed, anneal(tree, Schedule(cooling=0.01), rng, silence)


@pytest.fixture(scope="module")
def held():
    return random_held_out(n_samples=50)


@pytest.fixture(scope="module")
def plain(held):
    return {kind: searched(held, kind, PLAIN, "numpy") for kind in KINDS}


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("speed_ups", ONE_MORE)
def test_no_speed_up_changes_what_is_found(held, plain, kind, speed_ups, engine):
    assert searched(held, kind, speed_ups, engine) == plain[kind]


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("n_classes", [2, 3, 10])
@pytest.mark.parametrize("kind", KINDS)
def test_the_joint_after_many_moves_is_the_sum_of_all_terms(kind, n_classes, engine):
    held = random_held_out(n_samples=200, n_classes=n_classes)
    tree, rng = tree_of(held, kind, SpeedUps(row_bytes=2000), engine), np.random.default_rng(0)
    for child, parent in rng.integers(0, 5, (200, 2)).tolist():
        if tree.is_feasible(child, parent):
            announced = tree.score_with(child, parent)
            tree.set_parent(child, parent)
            assert tree.score_now() == announced
    moved = tree.joint
    tree.become(tree.parent)
    assert np.array_equal(tree.joint, moved)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("kind", KINDS)
def test_a_bound_spoils_no_score_that_reaches_it(kind, engine):
    held = random_held_out(n_samples=2500)
    tree = tree_of(held, kind, SpeedUps(), engine)
    exact = tree.score_with(1, 0)
    for bound in (exact - 10**9, exact - 1, exact):
        assert tree.score_with(1, 0, bound) == exact
    for bound in (exact + 1, exact + 100, exact + 10**12) if kind == "cr" else ():
        assert exact <= tree.score_with(1, 0, bound) < bound


def test_numpy_takes_over_where_there_is_no_compiler(held, monkeypatch):
    def no_compiler(parts):
        raise ToolchainError("no C compiler is installed on this computer")

    monkeypatch.setattr(native, "native_library", no_compiler)
    joint = np.zeros((held.n_samples, held.n_classes), dtype=np.int32)
    given = held, Score("mm", held.scale), joint
    assert isinstance(score_engine_for(*given), NumpyScoreEngine)
    with pytest.raises(ToolchainError, match="no C compiler"):
        score_engine_for(*given, engine="native")
