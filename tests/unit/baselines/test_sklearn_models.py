"""Usual classifiers: their cost by hand, and C that agrees with Python."""

import re
import subprocess

import numpy as np
import pytest

from bncc.baselines import exporters, sklearn_models
from bncc.baselines.baseline import Rows
from bncc.errors import OptionError, ToolchainError
from tests.unit.baselines.networks import N_STATES, rows

ROWS = Rows(*rows(), N_STATES, 3)
HELD = np.random.default_rng(1).integers(0, N_STATES, (300, 64))
LEARNERS = {
    "tree": (sklearn_models.tree, {"leaves": 8, "by": "emlearn"}),
    "forest": (sklearn_models.forest, {"trees": 5, "leaves": 8, "by": "emlearn"}),
    "boosting": (sklearn_models.boosting, {"rounds": 3, "leaves": 4, "rate": 0.3}),
    "linear": (sklearn_models.linear, {"C": 1.0}),
    "svm": (sklearn_models.svm, {"C": 1.0, "gamma": 1.0}),
    "gaussian": (sklearn_models.gaussian, {"smoothing": 1e-3}),
    "categorical": (sklearn_models.categorical, {"alpha": 1.0}),
}


@pytest.mark.parametrize("name", LEARNERS)
def test_each_learns_and_says_what_it_costs(name):
    """The same seed gives the same classifier; without C there is a reason."""
    learn, options = LEARNERS[name]
    baseline, again = learn(ROWS, options, 0), learn(ROWS, options, 0)
    assert (baseline.decide(ROWS.X) == ROWS.y).mean() > 0.6
    assert np.array_equal(baseline.decide(HELD), again.decide(HELD))
    assert baseline.bits > 0
    assert baseline.operations > 0
    assert (baseline.code is None) == bool(baseline.lack)


def test_a_tree_with_two_leaves_is_one_comparison():
    """Six bits name one of 64 features, eight a threshold, one a child; two a leaf's class."""
    baseline = sklearn_models.tree(ROWS, {"leaves": 2, "by": "emlearn"}, 0)
    assert baseline.bits == (6 + 8 + 1) + 2 * 2
    assert baseline.operations == 1


def test_an_unknown_generator_is_named():
    with pytest.raises(OptionError, match="no generator is called 'gcc'"):
        sklearn_models.tree(ROWS, {"leaves": 2, "by": "gcc"}, 0)


def test_a_generator_that_is_absent_is_said(monkeypatch):
    """No C then, and a reason; if requested by name, an error with the remedy."""
    monkeypatch.setattr(exporters, "is_installed", lambda name: False)
    baseline = sklearn_models.tree(ROWS, {"leaves": 2, "by": "emlearn"}, 0)
    assert baseline.code is None
    assert "`pip install -e '.[baselines]'` in bncc's clone" in baseline.lack
    with pytest.raises(ToolchainError, match="pip install"):
        exporters.by_m2cgen(None, 1, 2)


def test_emlearn_leaves_numpy_as_it_was(need):
    """Its import makes every division by zero in the process an error."""
    need("emlearn")
    before = np.geterr()
    sklearn_models.tree(ROWS, {"leaves": 2, "by": "emlearn"}, 0)
    assert np.geterr() == before


@pytest.mark.cc
@pytest.mark.parametrize("name", ["tree", "linear", "gaussian"])
def test_the_c_decides_as_python(name, require_tool, tmp_path, need):
    """Except the Gaussian of emlearn, which is in fixed point and omits the prior."""
    require_tool("gcc")
    learn, options = LEARNERS[name]
    need("m2cgen" if name == "linear" else "emlearn")
    baseline = learn(ROWS, options, 0)
    differ = (answers(baseline.code, tmp_path) != baseline.decide(HELD)).mean()
    assert differ <= (0.1 if name == "gaussian" else 0)


@pytest.mark.cc
def test_without_the_repair_trees_decide_wrongly(require_tool, tmp_path, need):
    """Unpatched emlearn: the test above can fail."""
    require_tool("gcc")
    need("emlearn")
    baseline = sklearn_models.tree(ROWS, {"leaves": 8, "by": "emlearn"}, 0)
    files = dict(baseline.code.files)
    bound = re.compile(r"(features\[\d+\] < )(\d+)")
    files["m.c"] = bound.sub(lambda m: f"{m[1]}{int(m[2]) - 1}", files["m.c"])
    wrong = answers(exporters.Code(files, ""), tmp_path) != baseline.decide(HELD)
    assert wrong.mean() > 0.2


@pytest.mark.cc
def test_forests_of_both_generators_vote(require_tool, tmp_path, need):
    """m2cgen adds up probabilities as scikit-learn does; emlearn lets each tree name a class."""
    require_tool("gcc")
    need("emlearn")
    need("m2cgen")
    _, options = LEARNERS["forest"]
    hard = sklearn_models.forest(ROWS, options, 0)
    soft = sklearn_models.forest(ROWS, {**options, "by": "m2cgen"}, 0)
    (tmp_path / "hard").mkdir()
    assert np.array_equal(answers(soft.code, tmp_path), soft.decide(HELD))
    assert np.array_equal(answers(hard.code, tmp_path / "hard"), hard.decide(HELD))
    assert (soft.decide(HELD) != hard.decide(HELD)).any()


MAIN = """#include "m.h"
#include <stdio.h>
int main(void)
{
    uint8_t x[64];

    while (fread(x, 1, sizeof x, stdin) == sizeof x) {
        putchar(m_predict(x));
    }
    return 0;
}
"""


def answers(code, folder) -> np.ndarray:
    for name, text in {**code.files, "main.c": MAIN}.items():
        (folder / name).write_text(text)
    command = ("gcc", "-std=c99", "-O1", "m.c", "main.c", "-o", "program", "-lm")
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[:2000]
    data = HELD.astype(np.uint8).tobytes()
    program = subprocess.run((folder / "program",), input=data, capture_output=True, check=True)
    return np.frombuffer(program.stdout, np.uint8).astype(np.int64)
