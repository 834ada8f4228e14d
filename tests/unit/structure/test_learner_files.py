"""One file and one line make a learner, as on the page of contributors."""

from importlib import import_module
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import numpy as np
import pytest

import bncc.structure.learners
from bncc.errors import OptionError
from bncc.structure.learner import Problem
from bncc.structure.learners import LEARNERS, MODULES

CONTRIBUTING = Path(__file__).resolve().parents[3] / "CONTRIBUTING.md"


@pytest.fixture
def star(tmp_path):
    """Return the learner of the file that the page shows."""
    text = CONTRIBUTING.read_text("utf-8").partition("<!-- file: star.py -->\n```python\n")[2]
    (tmp_path / "star.py").write_text(text.partition("```")[0], encoding="utf-8")
    spec = spec_from_file_location("star", tmp_path / "star.py")
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    (learner,) = module.LEARNERS
    assert learner.name == "star"
    return learner


def test_a_file_is_a_learner(star):
    X = np.zeros((3, 4), np.int64)
    problem = Problem(X, np.zeros(3, np.int64), (1,) * 4, 1, {"center": "2"})
    assert star.learn(problem).parents == ((1,), (), (1,), (1,))
    with pytest.raises(OptionError, match="center=two is not a positive integer; try"):
        star.readers["center"]({"center": "two"})


def test_every_file_of_the_folder_is_offered():
    files = {p.stem for p in Path(bncc.structure.learners.__file__).parent.glob("*.py")}
    assert set(MODULES) == files - {"__init__"}
    modules = (import_module(f"bncc.structure.learners.{module}") for module in MODULES)
    assert len(LEARNERS) == sum(len(module.LEARNERS) for module in modules)
