"""The C of every kernel, on this machine: equal to the integer model, scores included."""

import pytest
from hypothesis import HealthCheck, given, settings

from bncc.build.agreement import verify
from bncc.compiler.choose import FAMILIES
from bncc.compiler.importer import program_of
from bncc.compiler.pipeline import optimize
from bncc.emit.emitter import EmitOptions, emit_c
from tests import models as hand
from tests.agreement.large import LARGE
from tests.strategies import models

pytestmark = pytest.mark.cc
ENTRIES = frozenset({"raw", "scores", "trusted"})
BY_NAME = {**hand.NAMED, **LARGE}
by_family = pytest.mark.parametrize(
    ("family", "target"),
    [("bytes", "avr"), *((name, None) for name in FAMILIES if name not in ("plain", "bytes"))],
)
"""With the machine to choose for: words of a byte are best for an AVR alone."""


def emitted(model, family, target):
    """Return the C of a family, None where it has no layout for the model."""
    program, _ = optimize(program_of(model))
    if next(iter(FAMILIES[family](program)), None) is None:
        return None
    return emit_c(model, EmitOptions("m", ENTRIES, kernel=family, target=target))


@by_family
@pytest.mark.parametrize("name", BY_NAME)
@pytest.mark.parametrize("level", ["-O2", "-Os"])
def test_the_c_of_a_kernel_agrees(require_tool, family, target, name, level):
    require_tool("gcc")
    emission = emitted(BY_NAME[name](), family, target)
    if emission is None:
        return
    outcome = verify(BY_NAME[name](), emission=emission, opt_level=level, n_random=300)
    assert outcome.agree, outcome.first_mismatch


@by_family
@pytest.mark.parametrize("name", BY_NAME)
def test_the_c_of_a_kernel_agrees_under_sanitizers(require_tool, family, target, name):
    """No signed sum overflows, nothing is touched out of bounds."""
    require_tool("gcc")
    model = BY_NAME[name]()
    emission = emitted(model, family, target)
    if emission is None:
        return
    outcome = verify(model, emission=emission, sanitize=True, opt_level="-O1", n_random=300)
    assert outcome.agree, outcome.first_mismatch


@by_family
@settings(
    max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(models(max_classes=9, max_bits=6))
def test_the_c_of_a_kernel_agrees_for_any_model(require_tool, family, target, model):
    require_tool("gcc")
    emission = emitted(model, family, target)
    if emission is None:
        return
    outcome = verify(model, emission=emission, opt_level="-O1", n_random=100)
    assert outcome.agree, outcome.first_mismatch


@pytest.mark.parametrize("family", ["lanes", "bit-slice"])
@settings(
    max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(model=models(max_classes=9, max_bits=6))
def test_states_that_are_handed_over_in_registers_agree(require_tool, family, model):
    require_tool("gcc")
    if next(iter(FAMILIES[family](optimize(program_of(model))[0])), None) is None:
        return
    emission = emit_c(model, EmitOptions("m", ENTRIES, kernel=family, optimize="speed"))
    outcome = verify(model, emission=emission, sanitize=True, n_random=100)
    assert outcome.agree, outcome.first_mismatch
