"""The estimate: it grows with the footprint, and is close to measurements on Cortex-M0."""

import pytest

from bncc.discretize.feature import Feature
from bncc.emit.emitter import EmitOptions, emit_c
from bncc.fixed_point import QFormat
from bncc.lower.estimate import Estimate, buffer_bytes, code_terms, frame_terms
from bncc.structure.graph import forest
from tests import models as hand


def emitted(model, *entries):
    return emit_c(model, EmitOptions("m", frozenset(entries)))


def wide(n_features, n_classes, kind="int16", parents=None):
    """Return a model of equal two-state features; every table is informative."""
    rows = [list(range(n_classes)), [n_classes - c for c in range(n_classes)]]
    numeric = {"thresholds": (0.0 if kind == "float32" else 0,)} if kind != "state" else {}
    features = [Feature(f"x{i}", kind, 2, **numeric) for i in range(n_features)]
    parents = parents or [None] * n_features
    tables = [rows if parent is None else rows * 2 for parent in parents]
    return hand.model_of(features, forest(parents), QFormat(8, 0), [0] * n_classes, tables)


@pytest.mark.parametrize(
    ("model", "entries", "measured"),
    [
        # as benchmarks/fit/fit_estimate.py measures, on models that it does not fit
        (wide(30, 10), (), Estimate(1168, 112, 1471)),
        (wide(40, 3, "state", [None, *range(39)]), ("scores",), Estimate(1062, 64, 1376)),
        (wide(20, 2, "float32"), (), Estimate(627, 68, 454)),
    ],
)
def test_it_lies_within_a_quarter_of_what_was_measured(model, entries, measured):
    found = emitted(model, *entries).estimate
    for quantity, error in (("flash", 0.2), ("ram", 0.25), ("instructions", 0.2)):
        ratio = getattr(found, quantity) / getattr(measured, quantity)
        assert ratio == pytest.approx(1, abs=error)


@pytest.mark.parametrize("name", hand.NAMED)
def test_every_model_costs_more_than_its_constants_and_buffers(name):
    emission = emitted(hand.NAMED[name]())
    found, layout = emission.estimate, emission.layout
    assert found.flash > layout.table_bytes + layout.other_bytes
    assert found.ram > buffer_bytes(layout)
    assert found.instructions >= 1


def test_buffers_hold_all_costs_and_the_states_of_raw_readings():
    assert buffer_bytes(emitted(wide(30, 10, "state")).layout) == 10 * 2
    assert buffer_bytes(emitted(wide(30, 10)).layout) == 10 * 2 + 30
    assert buffer_bytes(emitted(hand.wide_states(), "raw").layout) == 2 * 1 + 2 * 2


def test_code_grows_with_entry_points_and_codes():
    assert code_terms(emitted(wide(4, 3, "state")).layout) == (0, 0, 0, 0)
    assert code_terms(emitted(hand.tan_float(), "scores").layout) == (1, 1, 0, 0)
    assert code_terms(emitted(hand.category_with_missing()).layout) == (0, 1, 1, 1)
    assert code_terms(emitted(hand.naive_integer()).layout) == (0, 1, 0, 0)


def test_frames_grow_with_raw_readings_parents_and_scores():
    assert frame_terms(emitted(wide(4, 3, "state")).layout) == (1, 0, 0, 0, 0)
    assert frame_terms(emitted(hand.tan_float(), "scores").layout) == (1, 1, 1, 1, 1)
    assert frame_terms(emitted(hand.category_with_missing()).layout) == (1, 1, 0, 1, 0)
