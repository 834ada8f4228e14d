"""Programs on recordings: the decisions that count, and the rows of the table."""

from pathlib import Path

import numpy as np
import pytest

from benchmarks.recordings import programs
from benchmarks.recordings.figures import Result, result_of
from benchmarks.recordings.programs import COSTS, Programs, decisions
from benchmarks.recordings.sets import Split, StreamSet
from bncc.recordings.labeled import dataset_of_windows, front_end_of
from bncc.recordings.table import narrowed
from bncc.resources import Budget
from bncc.search.front_end_choice import ProgramLimits
from bncc.train.settings import TrainSettings
from bncc.train.train_model import train_model
from tests.recorded import recordings, windows_table

SPLIT = Split("persons", lambda recording, position: position % 2)
SET = StreamSet("walks", (), ("x", "y"), 50, 32, 16, (SPLIT,))
LIMITS = ProgramLimits(Budget("cortex-m0", 4096))


def test_decisions_are_those_on_the_features_of_the_model() -> None:
    table = narrowed(windows_table(recordings(3)))
    settings = TrainSettings(structure="naive", parameters="ml")
    result = train_model(dataset_of_windows(table), settings).with_front_end(front_end_of(table))
    test = recordings(2)
    labels, said = decisions(result.model, SET, test)
    assert len(labels) == len(said) == len(windows_table(test).values)
    assert np.mean(labels != said) < 0.1
    assert {*said.tolist()} == {0, 1, 2}


def result(model: str, misses: int) -> Result:
    """Return a result on ten windows of two labels."""
    y = np.arange(10) % 2
    said = np.where(np.arange(10) < misses, 1 - y, y)
    return result_of(("walks", "persons", model), ("a", "b"), y, said, dict.fromkeys(COSTS, 7.0))


def test_a_row_has_the_mean_error_of_all_seeds_and_the_baselines(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(programs, "read", lambda path: [result("forest", 3)])
    found = Programs(tmp_path, LIMITS)
    assert found.rows([SET], 2) == [
        ["walks", "persons", "10", "-", "-", "-", *["-"] * len(COSTS), "30.00", "-", "-"]
    ]
    for seed, misses in enumerate((1, 2)):
        found.put(SET, SPLIT.name, seed, result("bncc", misses))
    assert found.rows([SET], 2) == [
        ["walks", "persons", "10", "2", "15.00", "0.849", *["7"] * len(COSTS), "30.00", "-", "-"]
    ]
    # Other limits are other programs.
    other = Programs(tmp_path, ProgramLimits(Budget("cortex-m0", 8192)))
    assert other.rows([SET], 2)[0][3] == "-"
