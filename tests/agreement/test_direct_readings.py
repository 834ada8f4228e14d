"""Readings that the C compares with cuts directly: the same decisions as by states."""

import numpy as np
import pytest

from bncc.discretize.feature import Feature
from bncc.emit.emitter import EmitOptions, emit_c
from bncc.fixed_point import QFormat
from bncc.model.model import Model
from bncc.on_device import verify
from bncc.structure.decision_tables import DecisionTable, TableEnsemble
from tests.ranged import ranged

pytestmark = pytest.mark.cc
THRESHOLDS = {
    "int16": ((-32768, -3, 0, 32766), (5,), (-7, -6, 100)),
    "int32": ((-(2**31), -3, 0, 2**31 - 2), (5,), (-70000, -6, 2**20)),
    "float32": (
        (-float(np.finfo(np.float32).max), -1.5, 0.0, 2.0**100),
        (float(np.float32(1e-40)),),
        (-0.75, -0.5, float(np.finfo(np.float32).max)),
    ),
}
"""Ends of the types among them, and a float that is not normal."""


def model_of(kind, n_classes=4, most=7):
    """Return boosted tables over readings of one kind, missing ones in the first state."""
    features = tuple(
        Feature(f"x{i}", kind, len(cuts) + 1, cuts) for i, cuts in enumerate(THRESHOLDS[kind])
    )
    grids = (
        DecisionTable((0, 1), ((0, 2), (0,))),
        DecisionTable((2, 0), ((0, 1, 2), (1,))),
        DecisionTable((0,), ((0, 1, 2, 3),)),
        DecisionTable((1, 2), ((0,), (2,))),
    )
    rng = np.random.default_rng(3)
    tables = tuple(rng.integers(0, most + 1, (grid.n_rows, n_classes)) for grid in grids)
    classes = tuple(f"c{c}" for c in range(n_classes))
    prior = rng.integers(0, 4, n_classes)
    return Model(features, classes, TableEnsemble(grids), QFormat(2, 2), prior, tables, {})


@pytest.mark.parametrize("n_classes", [2, 8, 11])
@pytest.mark.parametrize("kind", THRESHOLDS)
def test_every_reading_is_decided_as_by_its_state(require_tool, kind, n_classes):
    """
    NaN, infinities, ends of types and all thresholds and their neighbors included.

    The costs of eight classes fill their bytes: nothing after the last row is read.
    """
    require_tool("gcc")
    model = model_of(kind, n_classes)
    emission = emit_c(model, EmitOptions("m", optimize="size"))
    assert emission.layout.direct is not None
    assert "_sum_readings(x, cost)" in emission.files["m.c"]
    outcome = verify(model, emission=emission, sanitize=True, n_random=500)
    assert outcome.agree, outcome.first_mismatch


@pytest.mark.parametrize("kind", THRESHOLDS)
def test_readings_that_are_checked_first_are_compared_directly_too(require_tool, kind):
    """The limits are in flash together with the lists of cuts, and the estimate counts them."""
    require_tool("gcc")
    model = ranged(model_of(kind), seed=4)
    plain, checked = (
        emit_c(model, EmitOptions("m", frozenset(entries), optimize="size"))
        for entries in ((), ("checked",))
    )
    assert checked.layout.direct is not None
    limits = sum(array.n_bytes for array in checked.layout.range_check.arrays)
    assert checked.estimate.flash >= plain.estimate.flash + limits
    outcome = verify(model, emission=checked, sanitize=True, n_random=200)
    assert outcome.agree, outcome.first_mismatch


def test_readings_find_equal_rows_that_are_stored_once(require_tool):
    require_tool("gcc")
    model = model_of("int16", 26)
    few = np.random.default_rng(4).integers(0, 8, (4, 26))
    tables = tuple(few[np.arange(len(table)) % 4] for table in model.tables)
    model = Model(
        model.features, model.classes, model.structure, QFormat(2, 2), model.prior, tables
    )
    emission = emit_c(model, EmitOptions("m", optimize="size"))
    assert emission.choice.kernel.dictionary is not None
    outcome = verify(model, emission=emission, n_random=300)
    assert outcome.agree, outcome.first_mismatch
