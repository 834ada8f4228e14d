"""The C of lanes in 64-bit words on the host: equal to the integer model, scores included."""

import pytest
from hypothesis import HealthCheck, given, settings

from bncc.on_device import verify
from tests import models as hand
from tests.agreement.large import LARGE
from tests.agreement.wide_lanes import emissions
from tests.strategies import models
from tests.tiers import examples

pytestmark = pytest.mark.cc
BY_NAME = {**hand.NAMED, **LARGE}


@pytest.mark.parametrize("name", BY_NAME)
def test_the_first_layout_agrees_under_sanitizers(require_tool, name):
    """No signed sum overflows."""
    require_tool("gcc")
    model = BY_NAME[name]()
    for emission in list(emissions(model))[:1]:
        outcome = verify(model, emission=emission, sanitize=True, opt_level="-O1", n_random=300)
        assert outcome.agree, outcome.first_mismatch


@settings(
    max_examples=examples(15),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(models(max_classes=9, max_bits=6))
def test_every_layout_agrees_for_any_model(require_tool, model):
    require_tool("gcc")
    for emission in emissions(model):
        outcome = verify(model, emission=emission, opt_level="-O1", n_random=100)
        assert outcome.agree, outcome.first_mismatch
