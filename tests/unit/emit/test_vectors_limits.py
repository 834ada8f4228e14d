"""Readings at limits: both sides of each, each alone missing, and Python's answers."""

from dataclasses import replace

import numpy as np
import pytest

from bncc.emit.emitter import EmitOptions, emit_c
from bncc.emit.vectors import limit_vectors
from bncc.model.checked import ERR_MISSING, ERR_RANGE, limits_of, predict_checked
from bncc.model.ranges import READINGS
from tests import models as hand
from tests.ranged import LARGEST_FLOAT, ranged


@pytest.mark.parametrize("name", hand.NAMED)
@pytest.mark.parametrize("seed", [0, 3])
def test_each_reading_alone_is_answered_as_by_the_reference(name, seed):
    model = ranged(hand.NAMED[name](), seed)
    limits = limits_of(model)
    found = limit_vectors(model, limits)
    assert len(found.readings) == (6 if np.isnan(found.readings).any() else 5)
    for row, answers in zip(found.readings, found.answers, strict=True):
        for i, value in enumerate(row):
            tried = found.readings[0].copy()
            tried[i] = value
            assert predict_checked(model, limits, tried[None]).tolist() == [answers[i]]
    assert (found.answers[:2] >= 0).all()
    has_marker = np.array([feature.has_marker for feature in model.features])
    at_ends = np.array([[each.low == 0, each.high == 255] for each in limits]).T & ~has_marker
    assert np.array_equal(found.answers[2:4] >= 0, at_ends)
    assert set(found.answers[2:4][~at_ends].tolist()) <= {ERR_RANGE, ERR_MISSING}
    assert (found.answers[4:, has_marker] == ERR_MISSING).all()
    assert (found.answers[4:, ~has_marker] >= 0).all()  # no reading of these is missing


def test_beyond_a_limit_lies_the_next_reading():
    model = ranged(hand.naive_integer(), seed=2)
    low, high, below, above, _ = limit_vectors(model, limits_of(model)).readings
    for i, feature in enumerate(model.features):
        assert feature.kind == "int16"
        assert below[i] == low[i] - 1
        assert above[i] in (high[i] + 1, -(2**15))


def test_infinity_lies_beyond_the_largest_float():
    """Without <math.h> where the compiler has a word for it."""
    model = hand.tan_float()
    ends = {"min": -LARGEST_FLOAT, "max": LARGEST_FLOAT}
    record = {READINGS: {feature.name: ends for feature in model.features}}
    model = replace(model, training=record)
    text = emit_c(model, EmitOptions("m", frozenset({"checked"}))).files["m_vectors.h"]
    assert "    -M_VECTORS_INF, -M_VECTORS_INF, -M_VECTORS_INF,\n" in text
    assert "    M_VECTORS_INF, M_VECTORS_INF, M_VECTORS_INF,\n" in text
    assert "#define M_VECTORS_INF __builtin_inff()\n" in text
