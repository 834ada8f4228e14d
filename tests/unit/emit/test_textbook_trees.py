"""The textbook classifier of decision trees: nodes in arrays, and a loop over trees."""

import numpy as np
import pytest

from bncc.emit.near_ties import near_tie_steps
from bncc.emit.textbook import misfit, textbook_c
from bncc.program.pipeline import program_of
from tests.models import TREES, sum_of_tables


@pytest.mark.parametrize("name", TREES)
def test_trees_have_a_textbook_classifier(name):
    model = TREES[name]()
    assert misfit(model) is None
    text = textbook_c(model, "m").files["m.c"]
    assert "Root of each tree." in text
    assert "/* Leaves of tree 0 */" in text
    assert misfit(sum_of_tables()) is not None


@pytest.mark.parametrize("name", TREES)
def test_steps_to_near_ties_are_few(name):
    model = TREES[name]()
    start = np.zeros((1, model.n_features), np.int64)
    steps = near_tie_steps(model, program_of(model), start, 500)
    assert len(steps.features) <= 500
