"""The C of models with features that no table reads: neither checked nor discretized."""

from dataclasses import replace
from subprocess import run

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bncc.device.host import build_library
from bncc.discretize.feature import Feature
from bncc.emit.emitter import EmitOptions, emit_c
from bncc.lower.kernels.families import FAMILIES
from bncc.model.reference import predict
from bncc.model.used import used_features, with_used_inputs
from bncc.on_device import sources_of, verify
from bncc.program.pipeline import optimize, program_of
from bncc.structure.decision_tables import TableEnsemble
from tests import models as hand
from tests.ranged import ranged
from tests.strategies import idle_models
from tests.tiers import examples

pytestmark = pytest.mark.cc
ENTRIES = frozenset({"raw", "scores", "trusted"})


def with_idle_inputs():
    """Return boosted tables of which one category, one state and one number are not read."""
    model = hand.sum_of_tables()
    more = (
        Feature("label", "category", 3, categories=("x", "y"), missing_state=2),
        Feature("given", "state", 5, missing_state=4),
    )
    assert isinstance(model.structure, TableEnsemble)
    tables = tuple(
        replace(table, features=tuple(f + 1 for f in table.features))
        for table in model.structure.tables
    )
    features = (more[0], *model.features, more[1])
    return replace(model, features=features, structure=TableEnsemble(tables))


def kernels_of(model):
    program, _ = optimize(program_of(model))
    return [name for name, lay_out in FAMILIES.items() if next(iter(lay_out(program)), None)]


@pytest.mark.parametrize("goal", ["balanced", "size", "speed"])
@pytest.mark.parametrize("which", ["all", "used"])
def test_every_kernel_agrees(require_tool, goal, which):
    require_tool("gcc")
    model = with_idle_inputs() if which == "all" else with_used_inputs(with_idle_inputs())
    for kernel in kernels_of(model):
        emission = emit_c(model, EmitOptions("m", ENTRIES, kernel=kernel, optimize=goal))
        outcome = verify(model, emission=emission, n_random=300)
        assert outcome.agree, (kernel, outcome.first_mismatch)


@settings(max_examples=examples(10), deadline=None, suppress_health_check=list(HealthCheck))
@given(idle_models(), st.sampled_from(["balanced", "size", "speed"]), st.booleans())
def test_any_model_agrees(model, goal, constant_time):
    for some in (model, with_used_inputs(model)):
        options = EmitOptions("m", ENTRIES, optimize=goal, constant_time=constant_time)
        outcome = verify(some, emission=emit_c(some, options), n_random=200)
        assert outcome.agree, outcome.first_mismatch


def test_no_state_of_an_unused_feature_is_an_error_in_straight_line_code(require_tool):
    require_tool("gcc")
    model = with_idle_inputs()
    emission = emit_c(model, EmitOptions("m", ENTRIES, optimize="speed"))
    unread = sorted(emission.layout.check.unread)
    assert unread == [0, 4, 5]
    assert not emission.layout.check.is_loop
    X = np.random.default_rng(0).integers(0, model.n_states, (500, model.n_features))
    wanted = predict(model, X)
    X[:, unread] = np.random.default_rng(1).integers(0, 256, (500, 3))
    with build_library(sources_of(model, emission)) as library:
        assert library.predict(X).tolist() == wanted.tolist()
        used = list(used_features(model))
        X[:, used[0]] = 255
        assert set(library.predict(X).tolist()) == {-1}
    text = emission.files["m.c"]
    assert text.count("] = 0U; /* not used */") == 3
    assert emission.files["m.h"].count("; not used") == 6  # in the list of inputs and in the struct


@pytest.mark.parametrize("which", ["all", "used"])
@pytest.mark.parametrize("more", [{"scores"}, {"checked"}])
def test_the_self_test_passes(require_tool, tmp_path, which, more):
    """The vectors have state 0 where no state is made of a reading."""
    require_tool("gcc")
    model = ranged(with_idle_inputs())
    model = model if which == "all" else with_used_inputs(model)
    for goal in ("size", "speed"):
        files = emit_c(model, EmitOptions("m", frozenset(more), optimize=goal)).files
        for file, text in files.items():
            (tmp_path / file).write_text(text, encoding="utf-8")
        sources = ("m.c", "m_selftest.c", "-o", "tried")
        run(["gcc", "-std=c99", "-Wall", "-Wextra", "-Werror", *sources], cwd=tmp_path, check=True)
        assert run([str(tmp_path / "tried")], cwd=tmp_path, check=False).returncode == 0


def test_entry_points_that_need_all_features_read_them():
    model = with_idle_inputs()
    emission = emit_c(model, EmitOptions("m", frozenset({"raw", "stream"})))
    assert emission.layout.check.unread == frozenset()
