"""Layouts of a model: which are measured for a budget, and which is recommended."""

from dataclasses import replace
from types import SimpleNamespace

import pytest

from bncc import pricing
from bncc.device.meter import Meter
from bncc.errors import BudgetError, MeasurementError, MisfitError
from bncc.model.filter import Filter
from bncc.model.rules import RULES
from bncc.pricing import layout_price_of, layout_within, memory_price_of, price_of
from bncc.resources import Budget, FilterForm
from tests import models as hand
from tests.unit.search.pricing import resources

MODEL = SimpleNamespace(features=())
SIZES = {
    "size": (1000, 9000), "balanced": (2000, 3000), "speed": (4000, 1000), "middle": (3000, 4000)
}  # fmt: skip


@pytest.fixture
def layouts(monkeypatch):
    """
    Layouts by goal: bytes and instructions, measured as estimated unless changed.

    Within a limit there are several for speed: that of its goal, and those in `within`.
    """
    found = SimpleNamespace(
        estimated=dict(SIZES), measured=dict(SIZES), built=[], within=("speed", "middle")
    )

    def emit(model, options):
        name = options.optimize
        if options.max_flash is not None:
            assert name == "speed"
            fitting = (each for each in found.within if fits(each, options.max_flash))
            name = next(fitting, None)
        if name is None:
            raise BudgetError("none fits")
        flash, time = found.estimated[name]
        return SimpleNamespace(resources=resources(flash, time), name=name)

    def fits(name, limit):
        return found.estimated[name][0] <= limit

    def build(model, emission, options, target, readings=None, failed=None):
        found.built.append(emission.name)
        price = resources(*found.measured[emission.name])
        return replace(price, optimize=options.optimize)

    monkeypatch.setattr(pricing, "emit_c", emit)
    monkeypatch.setattr(pricing, "priced", build)
    return found


def flash(n_bytes, **others):
    return Budget("cortex-m0", flash=n_bytes, **others)


@pytest.mark.firmware
@pytest.mark.parametrize("extras", [(), ("scores",)])
def test_memory_is_measured_without_a_run(monkeypatch, require_bench, extras):
    """It is that of a measurement; time and stack are estimates, unless they are limited."""
    require_bench("cortex-m0", simulator="unicorn")
    model, budget = hand.naive_integer(), flash(4096, extras=frozenset(extras))
    whole = price_of(model, budget)

    def run(*_):
        raise NotImplementedError

    monkeypatch.setattr(Meter, "costs", run)
    found = memory_price_of(model, budget)
    same = ("flash", "ram", "entries", "code", "how", "toolchain", "opt_level", "target")
    assert [getattr(found, key) for key in same] == [getattr(whole, key) for key in same]
    for limit in ({"instructions": 10**6}, {"ram": 10**4}):
        with pytest.raises(NotImplementedError):
            memory_price_of(model, replace(budget, **limit))


def test_memory_is_estimated_without_tools_and_too_large_where_a_program_does_not_fit(monkeypatch):
    model, budget = hand.naive_integer(), flash(4096)
    monkeypatch.setattr(pricing, "bench_of", lambda target, core=None: None)
    assert memory_price_of(model, budget) == price_of(model, budget)
    assert memory_price_of(model, budget).how == "estimated"

    def refuse(*_):
        raise MisfitError("too large")

    monkeypatch.setattr(pricing, "bench_of", lambda target, core=None: SimpleNamespace())
    monkeypatch.setattr("bncc.on_device.memory_of", refuse)
    assert memory_price_of(model, budget).flash == pricing.TOO_LARGE
    assert not budget.admits(memory_price_of(model, budget))


@pytest.mark.parametrize("price", [price_of, memory_price_of, layout_price_of])
def test_c_that_cannot_be_built_is_told_and_fits_nothing(monkeypatch, price):
    """Without a listener, it is an error."""
    model, budget, failures = hand.naive_integer(), flash(4096), []

    def refuse(*_, **__):
        raise MeasurementError("gcc failed: m.c:1: error")

    bench = SimpleNamespace(compiler="gcc", place="unicorn")
    monkeypatch.setattr(pricing, "bench_of", lambda target, core=None: bench)
    monkeypatch.setattr(pricing, "measured", refuse)
    monkeypatch.setattr("bncc.on_device.memory_of", refuse)
    found = price(model, budget, None, failures.append)
    assert found.flash == pricing.TOO_LARGE
    assert set(failures) == {"gcc failed: m.c:1: error"}
    with pytest.raises(MeasurementError, match="gcc failed"):
        price(model, budget)


@pytest.mark.parametrize("rule", RULES)
def test_a_rule_that_is_chosen_later_counts(monkeypatch, rule):
    """By the estimate of its largest C, and of the model with it."""
    monkeypatch.setattr(pricing, "bench_of", lambda target, core=None: None)
    model = hand.naive_integer()
    without, within = (
        price_of(model, flash(4096, extras=frozenset(rules))) for rules in ((), (rule,))
    )
    assert within.entries == (*without.entries, "scores", rule)
    assert within.flash > without.flash + 50
    assert within.slowest is not None
    assert pricing.fast_time_of(model, flash(4096, extras=frozenset({rule}))) is not None


def test_a_filter_that_is_chosen_later_counts_in_its_form(monkeypatch):
    """A matrix of transitions of 16 bits is counted where one is asked for, as is a lag."""
    monkeypatch.setattr(pricing, "bench_of", lambda target, core=None: None)
    model = hand.naive_integer()
    forms = (FilterForm(), FilterForm(lag=2), FilterForm(has_transitions=True))
    budgets = [flash(4096, extras=frozenset({"filter"}), filter=form) for form in forms]
    plain, later, matrix = (price_of(model, budget) for budget in budgets)
    assert later.flash > plain.flash + 50
    assert matrix.flash > plain.flash + 2 * model.n_classes**2
    assert plain.slowest <= min(later.slowest, matrix.slowest)
    for budget, price in zip(budgets, (plain, later, matrix), strict=True):
        n = model.n_classes
        rows = tuple(tuple(300 * (a < b) for b in range(n)) for a in range(n))
        form = budget.filter
        chosen = Filter(300, 1, rows if form.has_transitions else None, form.lag)
        assert price_of(replace(model, filter=chosen), budget).flash <= price.flash


@pytest.mark.parametrize(
    ("n_bytes", "time", "limit", "built"),
    [
        (500, 9000, None, ["size"]),
        (1000, 9000, None, ["size"]),
        (2000, 3000, None, ["size", "balanced"]),
        (2500, 3000, None, ["middle", "size", "balanced"]),
        (2600, 3000, None, ["middle", "size", "balanced"]),
        (3200, 4000, 3840, ["middle"]),
        (4000, 1000, 4800, ["speed"]),
        (5000, 1000, 6000, ["speed"]),
    ],
)
def test_flash_is_spent_on_the_fastest_layout_that_fits(layouts, n_bytes, time, limit, built):
    """One build is enough where the fastest is clearly faster than the others."""
    found = layout_price_of(MODEL, flash(n_bytes))
    assert (found.slowest, found.limit) == (time, limit)
    assert found.room == (None if limit is None else n_bytes)
    assert found.optimize == ("speed" if limit else "balanced" if time == 3000 else "size")
    assert layouts.built == built


def test_the_reserve_is_left_out_of_the_limit(layouts):
    found = layout_price_of(MODEL, flash(3500, reserve=500))
    assert (found.slowest, found.limit, found.room) == (4000, 3600, 3000)


def test_a_layout_that_is_smaller_than_estimated_is_found(layouts):
    """Those of cuts in straight-line code are; the next one may take several times as long."""
    layouts.estimated["speed"] = 4800, 1000
    found = layout_price_of(MODEL, flash(4000))
    assert (found.slowest, found.limit, found.room) == (1000, 4800, 4000)
    assert layouts.built == ["speed"]


def test_a_limit_is_lowered_by_what_a_layout_exceeds_it(layouts):
    layouts.measured["speed"] = 4300, 1000
    found = layout_price_of(MODEL, flash(4100))
    assert layouts.built == ["speed", "middle"]
    assert (found.slowest, found.limit, found.room) == (4000, 3800, 4100)


def test_layouts_beyond_the_limit_leave_trials_for_those_within(layouts):
    """Many may be estimated and measured to be a little too large."""
    large = {f"large {k}": (4800 - 5 * k, 500 + k) for k in range(8)}
    layouts.estimated |= large
    layouts.measured |= dict.fromkeys(large, (4001, 500))
    layouts.within = (*large, *layouts.within)
    found = layout_price_of(MODEL, flash(4000))
    assert layouts.built == ["large 0", "large 1", "speed"]
    assert (found.slowest, found.limit, found.room) == (1000, 4000, 4000)


def test_an_estimate_that_is_too_small_leaves_out_no_layout_within_the_limit(layouts):
    layouts.estimated["large"], layouts.measured["large"] = (4600, 500), (5000, 500)
    layouts.within = ("large", *layouts.within)
    found = layout_price_of(MODEL, flash(4100))
    assert layouts.built == ["large", "speed"]
    assert (found.slowest, found.limit, found.room) == (1000, 4100, 4100)


def test_a_balanced_layout_is_taken_where_no_fast_one_fits(layouts):
    """On har_exercise one of 1,286 instructions fits where the limit leaves one of 3,951."""
    layouts.measured["speed"] = 4300, 1000
    layouts.estimated["middle"] = layouts.measured["middle"] = 2500, 8000
    found = layout_price_of(MODEL, flash(4100))
    assert layouts.built == ["speed", "middle", "size", "balanced"]
    assert (found.optimize, found.slowest, found.limit) == ("balanced", 3000, None)


def test_the_smallest_layout_is_left_if_all_others_are_too_large(layouts):
    large = {"speed": (4300, 1000), "middle": (4200, 4000), "balanced": (4200, 3000)}
    layouts.measured |= large
    found = layout_price_of(MODEL, flash(4100))
    assert layouts.built == ["speed", "middle", "size", "balanced"]
    assert (found.optimize, found.limit, found.room) == ("size", None, None)


def test_one_build_of_the_smallest_layout_tells_whether_a_model_fits(layouts):
    assert price_of(MODEL, flash(10**6)).optimize == "size"
    assert layouts.built == ["size"]


def test_a_layout_that_is_measured_to_be_slower_is_not_taken(layouts):
    layouts.measured |= {"middle": (3000, 9500), "balanced": (2000, 9100)}
    assert layout_price_of(MODEL, flash(3200)).optimize == "size"
    assert layouts.built == ["middle", "size", "balanced"]


def test_a_layout_that_promises_no_time_is_not_built(layouts):
    layouts.estimated |= {"middle": (3000, 20000), "balanced": (2000, 9000)}
    assert layout_price_of(MODEL, flash(3200)).optimize == "size"
    assert layouts.built == ["size"]


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
    both = flash(3500, instructions=5000)
    assert price_of(MODEL, both).slowest == 4000
    assert layouts.built == ["speed", "middle"]  # speed is too large
    layouts.built.clear()
    assert layout_price_of(MODEL, both).slowest == 4000
    short = replace(both, instructions=3500)
    assert not short.admits(price_of(MODEL, short))
    assert price_of(MODEL, replace(both, instructions=700)).optimize == "size"


def test_without_limits_the_fastest_layout_is_taken(layouts):
    assert layout_price_of(MODEL, Budget("cortex-m0")).optimize == "speed"


def test_with_a_limit_on_time_alone_the_smallest_layout_that_meets_it_is_taken(layouts):
    for most, goal in ((9000, "size"), (3000, "balanced"), (1000, "speed")):
        assert layout_price_of(MODEL, Budget("cortex-m0", instructions=most)).optimize == goal


def test_the_recorded_layout_is_that_of_its_budget_and_goal():
    price = replace(resources(3000, 4000), optimize="speed", room=3500, limit=3400)
    model = SimpleNamespace(training={pricing.RECORD: price.to_json()})
    assert layout_within(model, "cortex-m0", "speed", 3500) == price
    assert layout_within(model, "cortex-m0", "speed", 3000) == price
    for target, goal, room in (
        ("cortex-m0", "speed", 3501),  # a faster one may fit
        ("cortex-m0", "speed", 2999),
        ("cortex-m0", "size", 3500),
        ("cortex-m4", "speed", 3500),
    ):
        assert layout_within(model, target, goal, room) is None
    free = SimpleNamespace(training={pricing.RECORD: resources(3000, 4000).to_json()})
    assert layout_within(free, "cortex-m0", "size", 3500) is None
    assert layout_within(SimpleNamespace(training={}), "cortex-m0", "size", 3500) is None
