"""The C of models with a gate: equal to the reference wherever it decides."""

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from benchmarks.shared.trained_models import rows_of
from bncc.emit.emitter import EmitOptions, emit_c
from bncc.lower.kernels.families import FOR_GATES
from bncc.model.explanation import decided_at_gate
from bncc.on_device import verify
from bncc.structure.decision_tables import TableEnsemble
from bncc.train.settings import TrainSettings
from bncc.train.train_model import train_model
from tests.models import all_states, gated, products_of_sensors
from tests.strategies import models
from tests.tiers import examples

pytestmark = pytest.mark.cc
ENTRIES = frozenset({"raw", "scores", "trusted"})
KERNELS = sorted(FOR_GATES)


def check(model, sanitize=False, n_random=300, **options):
    emission = emit_c(model, EmitOptions("m", ENTRIES, **options))
    assert "m_goes_on(cost)" in emission.files["m.c"]
    where = {key: value for key, value in options.items() if key == "target"}
    outcome = verify(model, emission=emission, sanitize=sanitize, n_random=n_random, **where)
    assert outcome.agree, outcome.first_mismatch


@pytest.mark.parametrize("compare", ["states", "readings"])
@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("n_classes", [2, 3, 9, 30])
def test_both_exits_agree(require_tool, kernel, compare, n_classes):
    require_tool("gcc")
    for tables, margin in ((1, 1), (2, 5), (4, 9)):
        model = gated(products_of_sensors(n_classes, 5), tables, margin)
        check(model, sanitize=True, kernel=kernel, compare=compare)


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("margin", [4, 60, 255, 256, 10**6])
def test_margins_up_to_those_that_no_input_has(require_tool, kernel, margin):
    require_tool("gcc")
    check(gated(products_of_sensors(3, 5), 2, margin), sanitize=True, kernel=kernel)


@pytest.mark.parametrize("compare", ["states", "readings"])
@pytest.mark.parametrize(("n_classes", "tables"), [(3, 2), (3, 26), (3, 27), (3, 52), (9, 60)])
def test_lanes_are_emptied_before_the_gate_and_behind_it(require_tool, n_classes, tables, compare):
    require_tool("gcc")
    model = gated(products_of_sensors(n_classes, 120), tables, 30)
    emission = emit_c(model, EmitOptions("m", kernel="cut-loop"))
    assert "left--;" in emission.files["m.c"]
    check(model, sanitize=True, kernel="cut-loop", compare=compare)


@pytest.mark.parametrize("target", ["avr", "cortex-m0", "rv32", "big-endian"])
@pytest.mark.parametrize("kernel", KERNELS)
def test_targets_agree(require_bench, target, kernel):
    require_bench(target)
    check(gated(products_of_sensors(4, 9), 3), target=target, n_random=60, kernel=kernel)


@pytest.mark.parametrize("optimize", ["balanced", "size", "speed"])
@pytest.mark.parametrize("data_set", ["wifi", "robot"])
def test_trained_models_agree(require_tool, data_set, optimize):
    require_tool("gcc")
    options = {"tables": "12", "rows": "8", "gate": "4", "gate-differing": "0.02"}
    model = train_model(
        rows_of(data_set, None), TrainSettings(structure="tables", structure_options=options)
    ).model
    assert model.gate is not None
    assert model.gate.tables == 4
    check(model, optimize=optimize)


@settings(
    max_examples=examples(10),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.filter_too_much],
)
@given(model=models(max_bits=6), margin=st.integers(1, 40), kernel=st.sampled_from(KERNELS))
def test_any_model_agrees(require_tool, model, margin, kernel):
    require_tool("gcc")
    assume(isinstance(model.structure, TableEnsemble) and len(model.tables) > 1)
    check(gated(model, len(model.tables) // 2, margin), kernel=kernel)


def test_the_models_of_these_tests_have_both_exits():
    shares = [
        decided_at_gate(model, all_states(model)).mean()
        for model in (gated(products_of_sensors(n, 5), 2, 5) for n in (2, 3, 9))
    ]
    assert all(0.05 < share < 0.95 for share in shares), shares
