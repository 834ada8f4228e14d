"""What is drawn: the same for the same seed, within the space."""

from bncc.bench.draw import STRUCTURE_STEP, draw_settings
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
    drawn = draw_settings(JOINT, 30)
    assert {s.structure_options["step"] for s in drawn} == {str(step) for step in STRUCTURE_STEP}
    assert {s.structure_options["parents"] for s in drawn} == {"8"}
    assert all("step" not in s.structure_options for s in draw_settings(NAIVE, 4))
