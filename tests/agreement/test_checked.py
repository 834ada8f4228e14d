"""Checked readings: `NAME_predict_raw_checked` equals the reference bit for bit."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bncc.device.host import build_harness, build_library
from bncc.device.inputs.cases import Effort
from bncc.device.inputs.checked import checked_cases
from bncc.device.sources import sources
from bncc.emit.emitter import EmitOptions, emit_c
from bncc.errors import ModelError, OptionError
from bncc.model.checked import ERR_MISSING, ERR_RANGE, limits_of
from bncc.on_device import verify
from tests import models as hand
from tests.ranged import ranged
from tests.strategies import models
from tests.tiers import examples

pytestmark = pytest.mark.cc


def emitted(model, margin=10.0, **options):
    return emit_c(model, EmitOptions("m", frozenset({"checked"}), range_margin=margin, **options))


def answers_differ(model, machine, limits, seed=0) -> bool:
    found = checked_cases(model, limits, None, Effort(200, seed=seed))
    seen = set()
    for case in found:
        if not np.array_equal(machine.raw_checked(case.x), case.y):
            return True
        seen |= set(np.minimum(case.y, 0).tolist())
    assert seen <= {0, ERR_MISSING, ERR_RANGE}
    assert (ERR_MISSING in seen) == any(feature.has_marker for feature in model.features)
    return False


@pytest.mark.parametrize("name", hand.NAMED)
@pytest.mark.parametrize("margin", [0.0, 10.0])
def test_every_kind_of_input_is_checked_as_in_python(name, margin):
    """Arrays and structs of every type; networks, boosted tables and every kernel's default."""
    model = ranged(hand.NAMED[name]())
    emission = emitted(model, margin)
    limits = limits_of(model, margin)
    assert emission.layout.range_check.limits == limits
    with build_library(sources(model, emission.files)) as library:
        assert not answers_differ(model, library, limits)


@settings(
    max_examples=examples(12),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(models(), st.integers(0, 2**32 - 1), st.sampled_from([0.0, 0.1, 10.0, 250.0]))
def test_any_model_is_checked_as_in_python(require_tool, model, seed, margin):
    """Under sanitizers; a category without labels cannot occur, for models have one or more."""
    require_tool("gcc")
    model = ranged(model, seed)
    with build_harness(sources(model, emitted(model, margin).files), opt_level="-O1") as program:
        assert not answers_differ(model, program, limits_of(model, margin), seed)


def test_a_wrong_limit_is_found():
    """`verify` tries the readings on both sides of every limit."""
    model = ranged(hand.naive_integer(), seed=2)
    files = dict(emitted(model).files)
    limits = limits_of(model)
    for i, limit in enumerate(limits):
        for old, wrong in ((limit.low, limit.low + 1), (limit.high, limit.high - 1)):
            listed = (
                f"{limits[0].low}, {limits[1].low},"
                if old == limit.low
                else (f"{limits[0].high}, {limits[1].high},")
            )
            words = listed.split()
            words[i] = f"{wrong},"
            assert files["m.c"].count(f"    {listed}\n") == 1
            text = files["m.c"].replace(f"    {listed}\n", f"    {' '.join(words)}\n")
            with build_library(sources(model, {**files, "m.c": text})) as library:
                assert answers_differ(model, library, limits)


@pytest.mark.parametrize("name", ["naive_integer", "tan_float", "category_with_missing"])
@pytest.mark.parametrize("target", ["avr", "cortex-m0", "rv32", "big-endian"])
@pytest.mark.firmware
def test_targets_check_as_python_does(require_bench, target, name):
    """Arrays of integers and of floats, and a struct."""
    require_bench(target)
    model = ranged(hand.NAMED[name](), seed=3)
    outcome = verify(model, target, n_random=30, emission=emitted(model, target=target))
    assert outcome.agree, outcome.first_mismatch
    assert "60 readings within their limits and with one beyond" in outcome.strength


@pytest.mark.parametrize("optimize", ["size", "speed"])
def test_it_goes_with_other_entry_points_and_direct_readings(optimize):
    """Boosted tables whose readings are compared without states, a stream, missing features."""
    for name, more in (("sum_of_tables", {"scores"}), ("tan_float", {"missing", "stream"})):
        model = ranged(hand.NAMED[name](), seed=1)
        options = EmitOptions("m", frozenset({"checked", *more}), optimize=optimize)
        assert verify(model, n_random=50, emission=emit_c(model, options)).agree


def test_models_of_many_features_are_tried_within_a_limit(monkeypatch):
    """As many features alone at their limits as fit; random readings of all."""
    monkeypatch.setattr("bncc.device.inputs.checked.PROBE_CELLS", 30)
    model = ranged(hand.naive_integer())
    few = sum(len(case.x) for case in checked_cases(model, limits_of(model), None, Effort(5)))
    monkeypatch.undo()
    every = sum(len(case.x) for case in checked_cases(model, limits_of(model), None, Effort(5)))
    assert 10 < few < every


def test_constant_time_is_refused():
    """It returns at the first error."""
    with pytest.raises(OptionError, match="leave it out, or do not request constant time"):
        emitted(ranged(hand.naive_integer()), constant_time=True)


def test_a_model_of_an_older_version_is_refused_before_anything_is_compiled():
    with pytest.raises(ModelError, match="train it again with this version of bncc"):
        emitted(hand.naive_integer())


def test_states_need_no_record_of_readings():
    """For example an imported network: its categories are complete."""
    model = hand.ties()
    with build_library(sources(model, emitted(model).files)) as library:
        n = model.n_states[0]
        assert library.raw_checked(np.array([[n, 0], [255, 0], [0, 255], [n, 255]])).tolist() == [
            ERR_RANGE, ERR_MISSING, ERR_MISSING, ERR_RANGE,
        ]  # fmt: skip
