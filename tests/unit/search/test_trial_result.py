"""A finished trial: its interval is Wilson's, and its JSON is complete."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest

from bncc.search.trial_result import Footprint, Point, Rate

POINT = Point(
    number=17,
    family="naive",
    params={"structure": "naive", "bits": 3, "lr": 0.05, "float": False},
    validation=Rate((0.11, 0.13, 0.12), 300),
    test=None,
    entries=120,
    bits=360,
    operations=44,
    q_format=(2, 1),
    costs={"cortex-m0": Footprint(812, 0, 40, "instructions", 311.5, 340), "avr": "too large"},
    parents=(("class",), ("class", "x1")),
    seconds=1.25,
    command="bncc train data.csv --bits 3 -o trial-17.bncc",
)


@given(st.integers(1, 400).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_the_interval_is_the_one_of_wilson(counts: tuple[int, int]) -> None:
    wrong, n = counts
    expected = binomtest(wrong, n).proportion_ci(method="wilson")
    assert Rate((wrong / n,), n).interval == pytest.approx((expected.low, expected.high))


@pytest.mark.parametrize("test", [None, Rate((0.2, 0.1, 0.3), 90)])
def test_json_makes_the_same_point(test: Rate | None) -> None:
    tables = ((("hall", ("≤ 2", "> 2")), ("mode", ("a", "b"))),)
    point = Point(**{**vars(POINT), "test": test, "tables": tables})
    assert Point.from_json(json.loads(json.dumps(point.to_json()))) == point


def test_json_of_an_earlier_version_has_no_tables() -> None:
    facts = POINT.to_json()
    del facts["tables"]
    assert Point.from_json(facts) == POINT


def test_a_machine_where_it_does_not_fit_has_no_footprint() -> None:
    assert POINT.footprint("avr") is None
    assert POINT.footprint("rv32") is None
    found = POINT.footprint("cortex-m0")
    assert found is not None
    assert found.flash == 812
