"""Readings beyond their type and unseen categories: the same state in `predict` and in the C."""

from functools import cache

import numpy as np
import pytest

from bncc.data.dataset import Column, Dataset, Table
from bncc.device.agreement import compare
from bncc.device.host import build_harness, build_library
from bncc.device.inputs.cases import Effort, cases
from bncc.device.sources import sources
from bncc.discretize import feature, readings
from bncc.discretize.feature import states_of
from bncc.discretize.readings import far_table, raw_of_table, states_of_raw
from bncc.emit.emitter import EmitOptions, emit_c
from bncc.model.reference import predict
from bncc.train.settings import TrainSettings
from bncc.train.train_model import train_model

pytestmark = pytest.mark.cc
N_ROWS = 240
OUTSIDE = [-40000, -32769, -32768, -32767, 32767, 32768, 1e6, -1e6, 2**31, -(2**31), 1e12, -1e12]
"""Cells of every numeric column; -32768 and -2**31 mark a missing int16 or int32."""


def column(kind: str) -> Column:
    """Return training cells of one kind, every sixth missing: missing ones have class a."""
    rng = np.random.default_rng(0)
    missing = np.arange(N_ROWS) % 6 == 0
    if kind == "category":
        cells = np.array(["dry", "wet", "iced"], dtype=object)[rng.integers(0, 3, N_ROWS)]
        return Column(kind, "category", cells, missing)
    if kind == "state":
        return Column(kind, "state", rng.integers(0, 5, N_ROWS), missing)
    if kind == "float32":
        return Column(kind, "float", rng.normal(0, 50, N_ROWS), missing)
    width = 300 if kind == "int16" else 70000
    return Column(kind, "integer", rng.integers(-width, width, N_ROWS), missing)


@cache
def boosted(kind: str):
    """Return boosted tables over one column of a kind, a missing cell of which is class a."""
    table = Table((column(kind),))
    shown = table.columns[0]
    if kind == "category":
        y = np.where(shown.values == "wet", 1, 2)
    else:
        y = np.where(shown.values < np.median(shown.values), 1, 2)
    y = np.where(shown.missing, 0, y)
    settings = TrainSettings(
        structure="tables",
        structure_options={"tables": "3", "rows": "8"},
        epochs=2,
        validation=0,
        engine="native",
    )
    model = train_model(Dataset(table, y, ("a", "b", "c"), "y"), settings).model
    assert {f.kind for f in model.features} == {kind}
    return model


def outside(kind: str) -> Table:
    """Return cells that training has not seen, and a missing one."""
    if kind == "category":
        cells = np.array(["dry", "wet", "fog", "", "-40000"], dtype=object)
        return Table((Column(kind, "category", cells, cells == ""),))
    values = np.array([*OUTSIDE, 0, 0], dtype=np.float64)
    missing = np.arange(len(values)) == len(values) - 1
    return Table((Column(kind, "float", values, missing),))


KINDS = pytest.mark.parametrize("kind", ["int16", "int32", "float32", "category", "state"])


@KINDS
def test_the_c_decides_as_predict_for_readings_beyond_the_type(kind):
    """Narrowed as the page of the C says: saturated to the marker plus one, not to the marker."""
    model, table = boosted(kind), outside(kind)
    expected = predict(model, states_of(model.features, table))
    files = emit_c(model, EmitOptions("m", frozenset({"raw"}))).files
    with build_library(sources(model, files)) as library:
        assert library.raw(raw_of_table(model.features, table)).tolist() == expected.tolist()
    if kind in ("int16", "int32"):
        (feature,) = model.features
        assert feature.has_missing_below
        # Below the type is low, not missing: class b and not a.
        below = states_of(model.features, table)[:, 0]
        marker = OUTSIDE.index(-32768 if kind == "int16" else -(2**31))
        assert below.min() == below[marker] == 0
        assert below[OUTSIDE.index(-1e12)] == 1
        assert expected[OUTSIDE.index(-1e12)] == 1
        assert expected[marker] == 0


def test_the_c_decides_as_python_for_nan_and_infinities():
    """In a boosted table of a column with missing cells NaN has the missing state."""
    model = boosted("float32")
    R = np.array([[np.nan], [-np.nan], [np.inf], [-np.inf], [3.4e38], [-3.4e38], [0.0]])
    expected = predict(model, states_of_raw(model.features, R))
    files = emit_c(model, EmitOptions("m", frozenset({"raw"}))).files
    with build_library(sources(model, files)) as library:
        assert library.raw(R).tolist() == expected.tolist()
    assert expected[:2].tolist() == [0, 0]


@KINDS
def test_far_readings_have_one_state_in_both_ways(kind):
    """The table's states equal those of the readings passed to the C, for readings of all sizes."""
    model = boosted(kind)
    table = far_table(model.features, 500, np.random.default_rng(1))
    R = raw_of_table(model.features, table)
    assert np.array_equal(states_of(model.features, table), states_of_raw(model.features, R))
    if kind in ("int16", "int32"):
        low = -(2**15) if kind == "int16" else -(2**31)
        assert table.columns[0].values.min() < low
        assert table.columns[0].values.max() > -low
    if kind == "category":
        assert set(table.columns[0].values) - set(model.features[0].categories)


@KINDS
def test_a_check_s_own_inputs_find_a_driver_that_does_not_saturate_alike(kind, monkeypatch):
    """`verify` detects a different saturation rule in Python without any DATA."""
    if kind in ("float32", "category", "state"):
        wrong = {"float32": np.inf, "category": 0, "state": 0}[kind]
        right = raw_of_table
        monkeypatch.setattr(
            "bncc.device.inputs.cases.raw_of_table",
            lambda features, table: np.where(
                table.columns[0].missing[:, None], wrong, right(features, table)
            ),
        )
    else:
        right, saturate = feature.integer_readings, feature.saturated

        def given(*args):
            with monkeypatch.context() as patch:
                patch.setattr(feature, "saturated", saturate)
                return right(*args)

        # The states alone: a driver saturates what it gives to the C.
        monkeypatch.setattr(readings, "integer_readings", given)
        monkeypatch.setattr(feature, "saturated", lambda kind, values: values)
    model = boosted(kind)
    files = emit_c(model, EmitOptions("m", frozenset({"raw"}))).files
    with build_library(sources(model, files)) as library:
        assert not compare(library, cases(model, None, Effort(n_random=10))).agree


@KINDS
def test_far_readings_are_safe_under_sanitizers(require_tool, kind):
    """The same comparison in a program that stops at the first access out of bounds."""
    require_tool("gcc")
    model = boosted(kind)
    files = emit_c(model, EmitOptions("m", frozenset({"raw"}))).files
    with build_harness(sources(model, files), opt_level="-O1") as program:
        assert compare(program, cases(model, None, Effort(n_random=50))).agree
