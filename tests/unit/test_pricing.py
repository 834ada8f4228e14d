"""Layouts of a model: which are measured for a budget, and which is recommended."""

from dataclasses import replace
from types import SimpleNamespace

import pytest

from bncc import pricing
from bncc.pricing import layout_price_of, price_of
from bncc.resources import Budget
from tests.unit.search.pricing import resources

MODEL = SimpleNamespace(features=())
SIZES = {"size": (1000, 9000), "balanced": (2000, 3000), "speed": (4000, 1000)}


@pytest.fixture
def layouts(monkeypatch):
    """Layouts by goal: bytes and instructions, measured as estimated unless changed."""
    found = SimpleNamespace(estimated=dict(SIZES), measured=dict(SIZES), built=[])

    def emit(model, options):
        flash, time = found.estimated[options.optimize]
        return SimpleNamespace(resources=resources(flash, time), goal=options.optimize)

    def build(model, emission, options, target, readings=None):
        found.built.append(emission.goal)
        return replace(resources(*found.measured[emission.goal]), optimize=emission.goal)

    monkeypatch.setattr(pricing, "emit_c", emit)
    monkeypatch.setattr(pricing, "priced", build)
    return found


def flash(n_bytes, **others):
    return Budget("cortex-m0", flash=n_bytes, **others)


@pytest.mark.parametrize(
    ("n_bytes", "goal", "built"),
    [
        (500, "size", ["size"]),
        (1000, "size", ["size"]),
        (2000, "balanced", ["size", "balanced"]),
        (3000, "balanced", ["size", "balanced", "speed"]),
        (4000, "speed", ["size", "balanced", "speed"]),
    ],
)
def test_flash_is_spent_on_the_fastest_layout_that_fits(layouts, n_bytes, goal, built):
    """A layout whose estimate is far above the budget is not built."""
    found = layout_price_of(MODEL, flash(n_bytes))
    assert found.optimize == goal
    assert layouts.built == built


def test_one_build_of_the_smallest_layout_tells_whether_a_model_fits(layouts):
    assert price_of(MODEL, flash(10**6)).optimize == "size"
    assert layouts.built == ["size"]


def test_a_layout_that_is_measured_to_be_slower_is_not_taken(layouts):
    layouts.measured["balanced"] = 2000, 9500
    assert layout_price_of(MODEL, flash(2500)).optimize == "size"
    assert "balanced" in layouts.built


def test_a_layout_that_promises_no_time_is_not_built(layouts):
    layouts.estimated["speed"] = 4000, 9000
    assert layout_price_of(MODEL, flash(5000)).optimize == "balanced"
    assert layouts.built == ["size", "balanced"]


@pytest.mark.parametrize("most", [10**4, 1000])
def test_with_a_limit_on_time_the_fastest_layout_tells_whether_a_model_fits(layouts, most):
    assert price_of(MODEL, Budget("cortex-m0", instructions=most)).optimize == "speed"
    assert layouts.built == ["speed"]


def test_a_model_that_fits_in_no_layout_has_the_price_of_the_nearest(layouts):
    few = Budget("cortex-m0", instructions=900)
    assert price_of(MODEL, few).optimize == "speed"
    assert layouts.built == ["speed"]
    assert layout_price_of(MODEL, few).optimize == "speed"
    assert layout_price_of(MODEL, flash(900)).optimize == "size"


def test_with_limits_on_both_the_fastest_layout_that_fits_is_taken(layouts):
    both = flash(2500, instructions=5000)
    assert price_of(MODEL, both).optimize == "balanced"
    assert layouts.built == ["balanced"]  # speed is far too large
    layouts.built.clear()
    assert layout_price_of(MODEL, both).optimize == "balanced"
    assert not both.admits(price_of(MODEL, replace(both, instructions=2000)))


def test_with_a_limit_on_time_alone_the_smallest_layout_that_meets_it_is_taken(layouts):
    for most, goal in ((9000, "size"), (3000, "balanced"), (1000, "speed")):
        assert layout_price_of(MODEL, Budget("cortex-m0", instructions=most)).optimize == goal
