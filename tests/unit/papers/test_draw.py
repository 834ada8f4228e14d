"""Sampling of settings: repeatable for a seed, within the space."""

from dataclasses import replace

import numpy as np
import pytest

from bncc.papers.draw import LOG_STEP, MARGINS, draw_near, draw_settings
from bncc.train.options import OPTIONS
from bncc.train.settings import TrainSettings

NAIVE = TrainSettings(structure="naive", float_=True, epochs=2, batch_size=20)
JOINT = TrainSettings(structure="tan-subset", structure_options={"parents": "8"}, float_=True)


def test_more_runs_begin_with_the_same_ones():
    drawn = draw_settings(NAIVE, 4)
    assert draw_settings(NAIVE, 2) == drawn[:2]
    assert draw_settings(NAIVE, 2, seed=1) != drawn[:2]
    assert all(settings.structure == "naive" for settings in drawn)
    assert len({settings.seed for settings in drawn}) == 4


def test_a_step_is_drawn_for_structures_learned_together_with_tables():
    steps = [float(s.structure_options["step"]) for s in draw_settings(JOINT, 30)]
    assert 10 ** LOG_STEP[0] <= min(steps) < 0.01 < max(steps) <= 10 ** LOG_STEP[1]
    assert {s.structure_options["parents"] for s in draw_settings(JOINT, 3)} == {"8"}
    assert all("step" not in s.structure_options for s in draw_settings(NAIVE, 4))


@pytest.mark.parametrize("parameters", MARGINS)
def test_the_margin_is_drawn_for_the_tables_of_the_base(parameters):
    drawn = draw_settings(replace(NAIVE, parameters=parameters), 60)
    assert {s.parameters for s in drawn} == {parameters}
    for values, (low, high) in zip(
        ([s.lambda_ for s in drawn], [s.gamma for s in drawn]), MARGINS[parameters], strict=True
    ):
        assert 10**low <= min(values) < 10 ** ((low + high) / 2) < max(values) <= 10**high
    assert 0 <= min(s.dropout for s in drawn) < 0.05 < 0.3 < max(s.dropout for s in drawn) <= 0.4
    assert {s.average for s in drawn} == set(OPTIONS["average"].search)
    assert {s.jitter for s in drawn} == set(OPTIONS["jitter"].search)


def test_a_neighbor_differs_by_a_little():
    (settings,) = draw_settings(JOINT, 1)
    rng = np.random.default_rng(0)
    near = [draw_near(settings, rng) for _ in range(200)]
    for name in ("lr", "lambda_", "gamma"):
        decades = np.log10([getattr(s, name) / getattr(settings, name) for s in near])
        assert abs(decades.mean()) < 0.05
        assert 0.15 < decades.std() < 0.25
    steps = [float(s.structure_options["step"]) for s in near]
    assert 0.15 < np.log10(steps).std() < 0.25
    assert 0.3 < np.mean([s.seed == settings.seed for s in near]) < 0.7
    assert 0.7 < np.mean([s.average == settings.average for s in near]) < 0.95
    assert 0.7 < np.mean([s.jitter == settings.jitter for s in near]) < 0.95
    assert all(0 <= s.dropout <= 0.4 for s in near)
    same = {(s.structure, s.parameters, s.epochs, s.structure_options["parents"]) for s in near}
    assert same == {("tan-subset", settings.parameters, None, "8")}


def test_the_binary_point_moves_by_a_bit():
    rng = np.random.default_rng(0)
    for int_bits, found in ((4, {3, 4, 5}), (1, {1, 2}), (8, {7, 8})):
        settings = TrainSettings(bits=2, int_bits=int_bits)
        assert {draw_near(settings, rng).int_bits for _ in range(40)} == found


def test_what_is_not_set_stays_so():
    near = draw_near(NAIVE, np.random.default_rng(0))
    assert (near.lr, near.lambda_, near.gamma) == (None, None, None)
    assert (near.int_bits, near.structure_options) == (None, {})
