"""Specifications against the reference and the rule of readings."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bncc.device.machine import row_dtype
from bncc.discretize.feature import Feature
from bncc.discretize.readings import probe_values, raw_dtypes, state_dtype, states_of_raw
from bncc.errors import OptionError
from bncc.model.reference import costs
from bncc.prove.regions import EVERYWHERE
from bncc.prove.specification import ERROR, reading_sets, specification
from tests import models as hand
from tests.strategies import features, models, tree_models
from tests.tiers import examples
from tests.unit.prove.brute import contains


def bits_of(feature, values) -> tuple[list[int], int]:
    """Return readings by their bits, and their size in bytes."""
    (dtype,) = raw_dtypes((feature,))
    size = dtype.itemsize
    with np.errstate(over="ignore", invalid="ignore"):
        typed = np.asarray(values).astype(dtype)
    return [int(x) for x in typed.view(f"u{size}")], size


def check_readings(feature, values) -> None:
    bits, size = bits_of(feature, values)
    states = states_of_raw((feature,), np.asarray(values, dtype=np.float64)[:, None])[:, 0]
    sets = reading_sets(feature, size)
    assert len(sets) == feature.n_states
    for x, state in zip(bits, states, strict=True):
        inside = [k for k, own in enumerate(sets) if any(a <= x <= b for a, b in own)]
        assert inside == [state], (x, feature)


def all_readings(feature) -> np.ndarray | None:
    """Return all readings of a type of 8 or 16 bits."""
    (dtype,) = raw_dtypes((feature,))
    if dtype.itemsize > 2 or feature.kind == "float32":
        return None
    info = np.iinfo(dtype)
    return np.arange(info.min, info.max + 1, dtype=np.float64)


BORDERS = [
    Feature("a", "int8", 4, thresholds=(-128, -1, 126)),
    Feature("a", "int8", 3, thresholds=(0, 127), missing_state=1),
    Feature("a", "uint8", 4, thresholds=(0, 254, 255)),
    Feature("a", "int16", 4, thresholds=(-32768, -32767, 32767), missing_state=2),
    Feature("a", "int16", 3, thresholds=(-5,), missing_state=2),
    Feature("a", "int32", 4, thresholds=(-(2**31), 0, 2**31 - 2)),
    Feature("a", "int32", 3, thresholds=(-(2**31) + 1, 2**31 - 1), missing_state=1),
    Feature("a", "float32", 5, thresholds=(-1.5, 0.0, 2.25), missing_state=4),
    Feature("a", "float32", 3, thresholds=(-float(np.finfo(np.float32).max), 2.0**-149)),
    Feature("a", "float32", 1),
    Feature("a", "int16", 1),
    Feature("a", "category", 4, categories=("x", "y", "z"), missing_state=3),
    Feature("a", "category", 2, categories=("x", "y"), missing_state=1),
]


@pytest.mark.parametrize("feature", BORDERS, ids=lambda f: f"{f.kind}{f.thresholds}")
def test_readings_at_borders(feature):
    every = all_readings(feature)
    check_readings(feature, probe_values(feature) if every is None else every)


@settings(max_examples=examples(150))
@given(features("x", 6).filter(lambda f: f.kind != "state"), st.data())
def test_readings_of_any_feature(feature, data):
    values = list(probe_values(feature))
    if feature.kind == "float32":
        bits = data.draw(st.lists(st.integers(0, 2**32 - 1), min_size=20, max_size=20))
        values += [float(x) for x in np.array(bits, dtype=np.uint32).view(np.float32)]
    else:
        (dtype,) = raw_dtypes((feature,))
        info = np.iinfo(dtype)
        values += data.draw(st.lists(st.integers(int(info.min), int(info.max)), max_size=20))
    check_readings(feature, values)


@settings(max_examples=examples(100))
@given(features("x", 6).filter(lambda f: f.kind != "state"))
def test_every_reading_has_one_state(feature):
    """Sizes of the sets add up to all numbers of the type; that they are apart is above."""
    (dtype,) = raw_dtypes((feature,))
    sets = reading_sets(feature, dtype.itemsize)
    n = sum(high - low + 1 for own in sets for low, high in own)
    assert n == 1 << 8 * dtype.itemsize
    for own in sets:
        assert all(a[1] + 1 < b[0] for a, b in pairwise(own))


def cost_of(of, point) -> np.ndarray:
    """Return the costs of an input by a specification: one row of each table."""
    total = of.prior.copy()
    for table in of.tables:
        (row,) = (row for region, row in table.rows if contains(region, point))
        total += table.costs[row]
    return total


def check_states(model, X) -> None:
    for entry in ("trusted", "predict", "scores"):
        of = specification(model, entry, score_size=4)
        assert of.n_classes == model.n_classes
        assert of.score_size == (4 if entry == "scores" else 0)
        size = state_dtype(model.n_states).itemsize
        assert [(one.offset, one.size) for one in of.inputs] == [
            (size * i, size) for i in range(model.n_features)
        ]
        for x, expected in zip(X, costs(model, X), strict=True):
            point = tuple(int(s) for s in x)
            assert contains(of.valid, point)
            assert np.array_equal(cost_of(of, point), expected)


def check_raw(model, R) -> None:
    of = specification(model, "predict-raw")
    assert of.valid == EVERYWHERE
    layout = row_dtype(model.features)
    X = states_of_raw(model.features, R)
    names = layout.names or ()
    for reading, expected in zip(R, costs(model, X), strict=True):
        point = []
        for feature, value in zip(model.features, reading, strict=True):
            bits, _ = bits_of(feature, [value])
            point += bits
        assert np.array_equal(cost_of(of, tuple(point)), expected)
    assert [(one.offset, one.size) for one in of.inputs] == [
        (layout.fields[name][1], layout.fields[name][0].itemsize) for name in names
    ]


def random_readings(model, rng, n=12) -> np.ndarray:
    return np.stack([rng.choice(probe_values(f), n) for f in model.features], axis=1)


ALL = {**hand.NAMED, **hand.TREES, **hand.FRONTS}


@pytest.mark.parametrize("name", ALL)
def test_rows_and_costs_of_models_by_hand(name):
    model = ALL[name]()
    rng = np.random.default_rng(0)
    check_states(model, rng.integers(0, np.array(model.n_states), (12, model.n_features)))
    if any(feature.kind == "state" for feature in model.features):
        with pytest.raises(OptionError):
            specification(model, "predict-raw")
    else:
        check_raw(model, random_readings(model, rng))


@settings(max_examples=examples(60))
@given(models() | tree_models(), st.integers(0, 2**32 - 1))
def test_rows_and_costs_of_any_model(model, seed):
    rng = np.random.default_rng(seed)
    check_states(model, rng.integers(0, np.array(model.n_states), (6, model.n_features)))
    if all(feature.kind != "state" for feature in model.features):
        check_raw(model, random_readings(model, rng, 6))


def test_states_out_of_range_are_errors_but_of_trusted():
    model = hand.naive_integer()
    of = specification(model, "predict")
    assert ERROR == -1
    for a in (0, 2, 3, 255):
        for b in (0, 1, 2, 255):
            assert contains(of.valid, (a, b)) == (a < 3 and b < 2)
    assert [one.numbers for one in of.inputs] == [((0, 255),)] * 2
    assert [one.numbers for one in specification(model, "trusted").inputs] == [((0, 2),), ((0, 1),)]


def test_states_of_two_bytes():
    of = specification(hand.wide_states(), "predict")
    assert [(one.offset, one.size) for one in of.inputs] == [(0, 2), (2, 2)]
    assert contains(of.valid, (299, 1))
    assert not contains(of.valid, (300, 1))
