"""Models that read differences: their readings are no boxes, their states are."""

import pytest

from bncc.errors import OptionError
from bncc.prove.specification import specification
from tests.models import DIFFERENCES


@pytest.mark.parametrize("name", DIFFERENCES)
def test_decisions_on_readings_are_refused_and_those_on_states_are_not(name):
    model = DIFFERENCES[name]()
    with pytest.raises(OptionError, match="compares differences of readings, which no proof"):
        specification(model, "predict-raw")
    assert len(specification(model, "predict").inputs) == model.n_features
