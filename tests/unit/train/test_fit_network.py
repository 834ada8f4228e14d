"""Freezing: the integers are the rounded tables, and limits are checked."""

import numpy as np
import pytest

from bncc.errors import ModelError
from bncc.fixed_point import QFormat
from bncc.structure.graph import forest
from bncc.train.fit_network import freeze
from tests.models import feature

PRIOR = np.log([0.5, 0.5])
TABLE = np.array([[-0.125, -3.0], [-0.375, -np.inf]])


def test_prior_and_tables_are_rounded_half_to_even_and_saturate():
    model = freeze(
        [feature("a", 2)], ["x", "y"], forest([None]), PRIOR, [TABLE], QFormat(2, 2), {"seed": 3}
    )
    assert model.prior.tolist() == [3, 3]
    assert model.tables[0].tolist() == [[0, 12], [2, 15]]
    assert model.training == {"seed": 3}
    with pytest.raises(TypeError):
        model.training["seed"] = 4


def test_a_model_beyond_the_limits_is_refused():
    with pytest.raises(ModelError, match=r"has 1 classes"):
        freeze(
            [feature("a", 2)], ["x"], forest([None]), PRIOR[:1], [TABLE[:, :1]], QFormat(2, 2), {}
        )
