"""Resources and the budget: one comparison, one JSON form."""

from dataclasses import replace
from typing import Any

import pytest

from bncc.resources import ENTRIES, FUNCTIONS, Budget, Resources, Span, default_entries

FOUND = Resources(
    target="cortex-m0",
    flash=900,
    ram=8,
    stack=40,
    instructions={"predict-raw": Span(100, 110.5, 130), "scores": Span(90, 100.0, 140)},
    cycles=None,
    entries=("predict-raw", "scores"),
    optimize="size",
    opt_level="-Os",
    how="measured",
)


@pytest.mark.parametrize(
    ("budget", "is_admitted"),
    [
        (Budget(None), True),
        (Budget(None, flash=900), True),
        (Budget(None, flash=899), False),
        (Budget(None, flash=1000, reserve=100), True),
        (Budget(None, flash=1000, reserve=101), False),
        (Budget(None, flash=100, reserve=100), False),
        (Budget(None, ram=48), True),
        (Budget(None, ram=47), False),
        (Budget(None, instructions=140), True),
        (Budget(None, instructions=139), False),
        (Budget(None, flash=900, instructions=139, ram=48), False),
    ],
)
def test_a_budget_admits_what_is_within_all_limits(budget: Budget, is_admitted: bool) -> None:
    """Time is the largest maximum of all entry points, RAM variables and stack."""
    assert budget.admits(FOUND) is is_admitted
    assert (budget.utilization(FOUND) <= 1) is is_admitted


def test_time_that_is_not_known_is_within_no_limit_of_time() -> None:
    spans = {"predict-raw": Span(1, 1, 1)}
    unknown = replace(FOUND, instructions=spans)
    assert unknown.slowest is None
    assert not Budget(None, instructions=10**9).admits(unknown)
    assert Budget(None, flash=900).admits(unknown)


def test_cycles_are_compared_where_the_target_has_cycles() -> None:
    avr = replace(FOUND, target="avr", instructions=None, cycles=FOUND.instructions)
    assert (avr.unit, avr.slowest, FOUND.unit) == ("cycles", 140, "instructions")
    assert not Budget("avr", instructions=139).admits(avr)


def test_json_has_the_fields_of_the_contract_and_comes_back() -> None:
    facts = FOUND.to_json()
    assert {
        "flash", "ram", "stack", "instructions", "cycles", "entries", "optimize", "opt_level",
        "how",
    } <= set(facts)  # fmt: skip
    assert facts["instructions"]["scores"] == {"min": 90, "mean": 100.0, "max": 140}
    assert facts["cycles"] is None
    assert Resources.from_json(facts) == FOUND


@pytest.mark.parametrize(
    "wrong",
    [
        {"flash": -1},
        {"flash": 1.5},
        {"ram": None},
        {"target": 3},
        {"entries": []},
        {"entries": ["main"]},
        {"how": "guessed"},
        {"instructions": {"predict": {"min": 3, "mean": 2, "max": 4}}},
        {"instructions": {"predict": {"min": 3}}},
        {"instructions": 7},
        {"more": 1},
        {"core": 7},
        {"core": {"core": "z80"}},
        {"core": {"core": []}},
        {"core": {"core": "cortex-m0", "states": -1}},
        {"core": {"core": "cortex-m0", "states": 1.5}},
        {"core": {"core": "cortex-m0", "has_prefetch": "no"}},
    ],
)
def test_other_json_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises((KeyError, TypeError, ValueError, AttributeError)):
        Resources.from_json({**FOUND.to_json(), **wrong})


def test_entry_points_that_are_asked_for_are_priced_as_well() -> None:
    assert default_entries(has_thresholds=True) == ("predict-raw",)
    assert default_entries(has_thresholds=False) == ("predict",)
    assert default_entries(has_thresholds=False, extras={"raw"}) == ("predict-raw",)
    asked = default_entries(has_thresholds=True, extras={"stream", "scores", "raw"})
    assert asked == ("predict-raw", "scores", "stream")
    # A caller of a filter calls a function of scores as well.
    asked = default_entries(has_thresholds=True, extras={"filter"})
    assert asked == ("predict-raw", "scores", "filter")
    asked = default_entries(has_thresholds=True, extras={"filter", "scores-raw"})
    assert asked == ("predict-raw", "scores-raw", "filter")


def test_what_is_priced_is_emitted() -> None:
    budget = Budget(None, extras=frozenset({"scores"}))
    assert budget.emitted(("predict-raw", "trusted")) == {"raw", "scores", "trusted"}
    assert Budget(None).emitted(("predict",)) == frozenset()
    assert set(ENTRIES) == set(FUNCTIONS)
