"""Tiers run the tests of tests/tiers.txt, and its lines name tests that exist."""

import re
import sys
from itertools import pairwise
from types import SimpleNamespace

import pytest

from tests import conftest, tiers
from tests.conftest import ROOT
from tests.tiers import Limit, chosen, limits


def cases(function: str, **params):
    """Return stand-ins for the cases of a test: the product of its parameters' values."""
    names = list(params)
    found = [{}]
    for name in names:
        found = [{**each, name: value} for each in found for value in params[name]]
    return [
        SimpleNamespace(
            nodeid=f"{function}[{'-'.join(map(str, each.values()))}]",
            callspec=SimpleNamespace(params=each),
            get_closest_marker=lambda _: None,
        )
        for each in found
    ]


class Hashed(SimpleNamespace):
    __hash__ = object.__hash__


@pytest.fixture
def table(monkeypatch):
    """Return ``table(*lines)``, which replaces tests/tiers.txt."""

    def set_limits(*found: Limit) -> None:
        monkeypatch.setattr(tiers, "limits", lambda: found)

    return set_limits


def names(items, tier):
    return [item.nodeid for item in chosen([Hashed(**vars(i)) for i in items], tier)]


def test_a_tier_runs_so_many_cases_for_each_value(table):
    table(Limit("tests/a.py::test_x", 1, 2, "kernel"))
    items = cases("tests/a.py::test_x", kernel=["plain", "lanes"], model=list("abcdef"))
    for tier, n in (("test", 1), ("ci", 2), ("all", 6)):
        kept = names(items, tier)
        assert [sum(f"[{kernel}-" in name for name in kept) for kernel in ("plain", "lanes")] == [
            n, n,
        ]  # fmt: skip
    assert names(items, "ci") == names(items, "ci")


def test_cases_are_spread(table):
    table(Limit("tests/a.py", 3, None, None))
    kept = names(cases("tests/a.py::test_x", k=range(30)), "test")
    places = [int(re.findall(r"\d+", name)[0]) for name in kept]
    assert [b - a for a, b in pairwise(places)] == [10, 10]


def test_the_longest_name_decides_and_names_end_where_words_do(table):
    table(Limit("tests/a.py::test_x", None, None, None), Limit("tests/a.py", 0, None, None))
    found = names([*cases("tests/a.py::test_x"), *cases("tests/a.py::test_xy")], "test")
    assert found == ["tests/a.py::test_x[]"]


def test_slow_tests_are_in_the_last_tier_alone(table):
    table()
    (item,) = cases("tests/a.py::test_x")
    item.get_closest_marker = lambda name: name == "slow"
    assert [len(names([item], tier)) for tier in tiers.TIERS] == [0, 0, 0, 1]


def test_long_tests_begin_first_and_others_keep_their_order():
    config = SimpleNamespace(
        args_source=None,
        getoption=lambda _: "all",
        hook=SimpleNamespace(pytest_deselected=lambda items: None),
    )
    items = cases("tests/a.py::test_x", k=list("dbca"))
    for item in items[1:3]:
        item.get_closest_marker = lambda name: name == "long" or None
    items = [Hashed(**vars(item)) for item in items]
    conftest.pytest_collection_modifyitems(config, items)
    assert [item.nodeid[-2] for item in items] == list("bcda")


@pytest.mark.no_cover
def test_a_test_marked_no_cover_is_not_traced():
    """In a worker neither; `make coverage` runs this test."""
    assert sys.gettrace() is None


def test_a_bare_computer_runs_one_case_of_each_function_of_the_first_tier(table):
    table(Limit("tests/a.py::test_x", 0, None, None), Limit("tests/a.py::test_y", 1, None, "k"))
    items = [
        case for name in "wxyz" for case in cases(f"tests/a.py::test_{name}", k="ab", n=range(4))
    ]
    for tier, sizes in (("test", [8, 0, 2, 8]), ("bare", [1, 0, 1, 1])):
        kept = names(items, tier)
        assert [sum(f"test_{name}[" in each for each in kept) for name in "wxyz"] == sizes
    alone = cases("tests/a.py::test_v")
    assert names(alone, "bare") == ["tests/a.py::test_v[]"]


def test_a_bare_computer_runs_one_test_of_a_file_for_targets(table):
    table()
    items = [case for name in "xyz" for case in cases(f"tests/a.py::test_{name}", k="ab")]
    for item in items[:4]:
        item.get_closest_marker = lambda name: name == "firmware"
    kept = names(items, "bare")
    assert [sum(f"test_{name}[" in each for each in kept) for name in "xyz"] in (
        [1, 0, 1],
        [0, 1, 1],
    )


def test_every_line_names_a_test():
    for limit in limits():
        path, _, function = limit.prefix.partition("[")[0].partition("::")
        assert (ROOT / path).exists(), limit.prefix
        if function:
            text = (ROOT / path).read_text(encoding="utf-8")
            found = re.search(rf"def {function}\(([^)]*)\)", text)
            assert found, limit.prefix
            assert limit.per is None or re.search(rf"\b{limit.per}\b", found[1]), limit.prefix


def test_a_tier_is_the_same_in_any_order(table):
    """pytest-randomly shuffles what was collected."""
    table(Limit("tests/a.py", 1, 3, None))
    found = [Hashed(**vars(each)) for each in cases("tests/a.py::test_b", x=range(30))]
    kept = {each.nodeid for each in chosen(found, "ci")}
    assert len(kept) == 3
    assert {each.nodeid for each in chosen(found[::-1], "ci")} == kept
