"""Emitted C on the host: equal to the integer model, and any mistake is detected."""

import re
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

from bncc.device.agreement import Agreement, compare
from bncc.device.host import build_library
from bncc.device.inputs.cases import Effort, cases
from bncc.device.sources import sources
from bncc.emit.emitter import EmitOptions, emit_c
from bncc.on_device import verify
from bncc.toolchain.tools import host_compilers
from tests import models as hand
from tests.agreement.large import LARGE, letter_like, two_cost_arrays
from tests.agreement.mistakes import bumped, numbers_of, verify_files, without_comments
from tests.strategies import models
from tests.tiers import examples

pytestmark = pytest.mark.cc
ENTRIES = frozenset({"raw", "scores", "trusted"})
BY_NAME = {**hand.NAMED, **LARGE}


def emitted(model, **options) -> dict[str, str]:
    return dict(emit_c(model, EmitOptions("m", ENTRIES, **options)).files)


def check(model, files) -> Agreement:
    return verify_files(model, files, opt_level="-O1", n_random=300)


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
@pytest.mark.parametrize("name", BY_NAME)
def test_the_c_agrees_at_every_level(require_tool, compiler, name):
    """Unoptimized, at the usual level, and at the highest level of optimization."""
    require_tool(compiler)
    model = BY_NAME[name]()
    files, inputs = emitted(model), list(cases(model, effort=Effort(n_random=300)))
    (tool,) = host_compilers(compiler)
    for level in ("-O0", "-O2", "-O3", "-Os"):
        with build_library(sources(model, files), compiler=tool, opt_level=level) as library:
            outcome = compare(library, inputs)
        assert outcome.agree, (level, outcome.first_mismatch)


@pytest.mark.parametrize("name", BY_NAME)
def test_the_c_agrees_under_sanitizers(require_tool, name):
    """No undefined behavior, and no access out of bounds."""
    require_tool("gcc")
    outcome = verify(BY_NAME[name](), sanitize=True, opt_level="-O1", n_random=300)
    assert outcome.agree, outcome.first_mismatch


@settings(
    max_examples=examples(25),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(models())
def test_the_c_of_any_model_agrees(require_tool, model):
    """Any features, structure, format and costs."""
    require_tool("gcc")
    outcome = verify(model, opt_level="-O1", n_random=100)
    assert outcome.agree, outcome.first_mismatch


def test_a_wrong_table_entry_is_seen(require_tool):
    """Any entry of the tables, by one unit."""
    require_tool("gcc")
    model = letter_like()
    files = emitted(model, kernel="plain")
    n = len(re.findall(r"\d+U,", without_comments(numbers_of(files["m.c"], "costs").group(1))))
    for k in (0, n - 1, *np.random.default_rng(0).integers(0, n, 6).tolist()):
        outcome = check(model, files | {"m.c": bumped(files["m.c"], "costs", k)})
        assert not outcome.agree
        assert "scores of states" in outcome.first_mismatch


def test_a_table_in_the_wrong_array_is_seen(require_tool):
    """The first table of the second array, read from the first."""
    require_tool("gcc")
    model = two_cost_arrays()
    files = emitted(model, kernel="plain")
    assert files["m.c"].count("if (t < 6U) {\n        return &m_costs1[row];") == 1
    outcome = check(model, files | {"m.c": files["m.c"].replace("t < 6U", "t < 7U")})
    assert not outcome.agree


@pytest.mark.parametrize("kind", ["int16", "int32", "float32"])
def test_a_wrong_threshold_is_seen(require_tool, kind):
    """By one unit, or one step of float32, up or down."""
    require_tool("gcc")
    model = letter_like(kind)
    files = emitted(model, optimize="size")
    n = sum(len(feature.thresholds) for feature in model.features)
    for k in (0, n - 1, *np.random.default_rng(1).integers(0, n, 4).tolist()):
        for by in (-1, 1):
            wrong = bumped(files["m.c"], f"cuts_{kind}", k, by)
            outcome = check(model, files | {"m.c": wrong})
            assert not outcome.agree
            assert "raw of readings" in outcome.first_mismatch


def test_a_wrong_fallback_is_seen(require_tool):
    """The state of a missing reading."""
    require_tool("gcc")
    model = letter_like()
    files = emitted(model, optimize="size")
    for k in range(0, 16, 5):
        wrong = bumped(files["m.c"], "missing_state", k)
        assert not check(model, files | {"m.c": wrong}).agree


def test_a_wrong_limit_of_a_state_is_seen(require_tool):
    """One state too many would be read past the table."""
    require_tool("gcc")
    model = letter_like()
    options = EmitOptions("m", ENTRIES, kernel="plain", optimize="size")
    files = dict(emit_c(model, options).files)
    for k in range(0, 16, 5):
        outcome = check(model, files | {"m.c": bumped(files["m.c"], "last_state", k)})
        assert not outcome.agree
        assert "Python says -1" in outcome.first_mismatch


def test_a_swapped_tie_rule_is_seen(require_tool):
    """The largest index of least cost instead of the smallest."""
    require_tool("gcc")
    files = emitted(hand.ties())
    assert files["m.c"].count("cost[c] < lowest") == 1
    wrong = files["m.c"].replace("cost[c] < lowest", "cost[c] <= lowest")
    outcome = check(hand.ties(), files | {"m.c": wrong})
    assert not outcome.agree
    assert "the C says 2, Python says 0" in outcome.first_mismatch


@pytest.mark.parametrize(
    ("largest", "wide", "narrow"), [(256, "uint16_t", "uint8_t"), (65536, "uint32_t", "uint16_t")]
)
def test_a_narrowed_sum_is_seen(require_tool, largest, wide, narrow):
    """One bit too few in the accumulator."""
    require_tool("gcc")
    model = hand.summing_to(largest)
    files = emitted(model)
    assert f"typedef {wide} m_cost_t;" in files["m.h"]
    wrong = files["m.h"].replace(f"typedef {wide} m_cost_t;", f"typedef {narrow} m_cost_t;")
    assert not check(model, files | {"m.h": wrong}).agree


def test_a_wrong_prior_is_seen(require_tool):
    """Wherever the prior ended up after the passes, its margin is checked."""
    require_tool("gcc")
    model = letter_like()
    prior = model.prior.copy()
    prior[7] = prior[7] - 1 if prior[7] else 1
    outcome = check(model, emitted(replace(model, prior=prior)))
    assert not outcome.agree
