"""One file makes a learner: the page of contributors is true."""

import sys
from pathlib import Path

import numpy as np
import pytest

import bncc.structure.learners
from bncc.errors import OptionError
from bncc.structure.learner import Problem
from bncc.structure.learners import LEARNERS, learners_in

CONTRIBUTING = Path(__file__).resolve().parents[3] / "CONTRIBUTING.md"


@pytest.fixture
def star(tmp_path, monkeypatch):
    """Return the learner that the page shows, from a folder that holds its file alone."""
    text = CONTRIBUTING.read_text("utf-8").partition("<!-- file: star.py -->\n```python\n")[2]
    (tmp_path / "star.py").write_text(text.partition("```")[0], encoding="utf-8")
    monkeypatch.setattr(bncc.structure.learners, "__path__", [str(tmp_path)])
    yield learners_in([str(tmp_path)])["star"]
    sys.modules.pop("bncc.structure.learners.star", None)


def test_a_file_is_a_learner(star):
    X = np.zeros((3, 4), np.int64)
    problem = Problem(X, np.zeros(3, np.int64), (1,) * 4, 1, {"center": "2"})
    assert star.learn(problem).parents == ((1,), (), (1,), (1,))
    with pytest.raises(OptionError, match="center=two is not a whole number from 1 on; try"):
        star.readers["center"]({"center": "two"})


def test_every_file_of_the_folder_is_offered():
    files = {p.stem for p in Path(bncc.structure.learners.__file__).parent.glob("*.py")}
    modules = {learner.learn.__module__.rpartition(".")[2] for learner in LEARNERS.values()}
    assert modules == files - {"__init__"}
