"""The C of models behind a front: equal to the reference, whatever is behind it."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from benchmarks.shared.trained_models import rows_of
from bncc.emit.emitter import EmitOptions, emit_c
from bncc.errors import OptionError
from bncc.lower.kernels.families import FAMILIES
from bncc.model.front import front_of
from bncc.on_device import verify
from bncc.train.settings import TrainSettings
from bncc.train.train_model import train_model
from tests.models import (
    SENSORS,
    behind_front,
    bytes_of_one_kind,
    products_of_sensors,
    trees_of_sensors,
    trees_over,
)
from tests.strategies import tree_models
from tests.tiers import examples

pytestmark = pytest.mark.cc
ENTRIES = frozenset({"raw", "scores", "trusted"})


def check(model, sanitize=True, **options):
    assert front_of(model) is not None
    emission = emit_c(model, EmitOptions("m", ENTRIES, **options))
    assert "m_front(x)" in emission.files["m.c"]
    outcome = verify(model, emission=emission, sanitize=sanitize, n_random=300)
    assert outcome.agree, outcome.first_mismatch


def emits(model, family):
    try:
        return emit_c(model, EmitOptions("m", ENTRIES, kernel=family))
    except OptionError:
        return None


@pytest.mark.parametrize("family", FAMILIES)
def test_every_kernel_agrees_behind_a_front(require_tool, family):
    require_tool("gcc")
    made = trees_of_sensors if FAMILIES[family].is_for_trees else products_of_sensors
    models = [behind_front(made(n_classes, 3)) for n_classes in (2, 3, 9)]
    emitted = [(model, emission) for model in models if (emission := emits(model, family))]
    assert emitted
    for model, emission in emitted:
        assert "m_front(x)" in emission.files["m.c"]
        outcome = verify(model, emission=emission, sanitize=True, n_random=300)
        assert outcome.agree, outcome.first_mismatch


@pytest.mark.parametrize("kind", [*SENSORS, "int8", "uint8"])
def test_a_front_compares_readings_of_every_kind(require_tool, kind):
    """Missing readings and the ends of every type included, a missing state between others too."""
    require_tool("gcc")
    if kind in SENSORS:
        model = trees_of_sensors(4, 2, kinds=(kind,) * 4)
    else:
        model = trees_over(bytes_of_one_kind(kind).features, 4, 2)
    check(behind_front(model, 12), optimize="size")


@pytest.mark.parametrize("compare", ["readings", "keys", "states"])
@pytest.mark.parametrize("leaves", [0, 8])
def test_trained_models_agree(require_tool, compare, leaves):
    """A front of a trained model, whatever the kernel behind it compares."""
    require_tool("gcc")
    form = {"leaves": "8"} if leaves else {"rows": "8"}
    options = {"tables": "6", "front": "16", **form}
    rows = rows_of("wifi", None)
    settings = TrainSettings(structure="tables", structure_options=options, readings="float32")
    model = train_model(rows, settings).model
    check(model, compare=compare)


@pytest.mark.parametrize("optimize", ["balanced", "size", "speed"])
@pytest.mark.parametrize("data_set", ["wifi", "robot"])
def test_trained_models_agree_for_every_aim(require_tool, data_set, optimize):
    require_tool("gcc")
    options = {"tables": "8", "front": "32"}
    settings = TrainSettings(structure="tables", structure_options=options)
    model = train_model(rows_of(data_set, None), settings).model
    check(model, optimize=optimize)
    outcome = verify(model, "cortex-m0", n_random=100)
    assert outcome.agree, outcome.first_mismatch


@settings(
    max_examples=examples(10),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(model=tree_models(), seed=st.integers(0, 99), n_leaves=st.integers(2, 12))
def test_any_model_agrees_behind_a_front(require_tool, model, seed, n_leaves):
    require_tool("gcc")
    check(behind_front(model, n_leaves, seed), sanitize=False)
