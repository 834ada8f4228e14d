"""
The tests of each tier: ``test`` for every change, ``ci`` before a merge, ``all`` occasionally.

``tests/tiers.txt`` lists what a tier runs in part only: how many cases of each test function, or
of each value of a parameter. Cases are spread evenly, the same in every run. A test marked
``slow`` is in `all` alone. Properties have fewer examples in the other tiers, see `examples`.
``bare`` is a part of ``test`` for a computer without toolchains, where every case of a test misses
the same.
"""

import re
from collections import defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal, TypeVar
from zlib import crc32

import pytest
from hypothesis import settings

Tier = Literal["bare", "test", "ci", "all"]
TIERS: tuple[Tier, ...] = ("bare", "test", "ci", "all")
BARE = 1
"""Number of cases in the tier ``bare`` of a test function, or of a file of tests for targets."""
WHOLE_EXAMPLES, FEWER_EXAMPLES = 100, 40
"""Number of examples of a property in the tier ``all``, and in the others."""
T = TypeVar("T")


def examples(n: int) -> int:
    """Return how many of n examples the tier draws: all, or as many as tests without settings."""
    return max(1, n * settings().max_examples // WHOLE_EXAMPLES)


@dataclass(frozen=True)
class Limit:
    """A line of the table: how many cases two tiers run, None for all, for each value of what."""

    prefix: str
    test: int | None
    ci: int | None
    per: str | None


def _number(text: str) -> int | None:
    return None if text == "-" else int(text)


@cache
def limits() -> tuple[Limit, ...]:
    """Return the lines of tests/tiers.txt, longest names first."""
    text = Path(__file__).with_suffix(".txt").read_text(encoding="utf-8")
    rows = [line.split() for line in text.splitlines() if line and not line.startswith("#")]
    found = [
        Limit(prefix, _number(test), _number(ci), None if per == "-" else per)
        for test, ci, per, prefix in rows
    ]
    return tuple(sorted(found, key=lambda limit: -len(limit.prefix)))


def limit_of(item: pytest.Item) -> Limit | None:
    """Return the line that a test falls under: the longest that its name begins with."""
    for limit in limits():
        rest = item.nodeid.removeprefix(limit.prefix)
        if len(rest) < len(item.nodeid) and (not rest or rest[0] in ":/["):
            return limit
    return None


def group_of(item: pytest.Item, per: str | None) -> Hashable:
    """Return the key shared by the cases from which a tier selects some."""
    function = item.nodeid.split("[")[0]
    params = getattr(getattr(item, "callspec", None), "params", {})
    if per is None or per not in params:
        return function
    return function, str(getattr(params[per], "name", params[per]))


def bare_group_of(item: pytest.Item) -> Hashable:
    """Return the key shared by the cases of which ``bare`` selects one.

    Tests for targets skip there or use compilers of wheels, as tests/firmware/test_pip_only.py does
    in the tier ``ci``: one of a file shows which.
    """
    function = item.nodeid.split("[")[0]
    return function.split("::")[0] if item.get_closest_marker("firmware") else function


def place(item: pytest.Item) -> list[int | str]:
    """Return the sort key of a case: its name, with numbers by value."""
    parts = re.split(r"(\d+)", item.nodeid)
    return [int(part) if k % 2 else part for k, part in enumerate(parts)]


def spread(cases: Sequence[T], n: int, turn: float) -> list[T]:
    """Return n of the cases, evenly spread from a share of a step on; all if there are fewer."""
    if n >= len(cases):
        return list(cases)
    return [cases[int((i + turn) * len(cases) / n)] for i in range(n)]


def chosen(items: Iterable[pytest.Item], tier: Tier) -> list[pytest.Item]:
    """Return the tests of a tier, in their order."""
    items = list(items)
    if tier == "all":
        return items
    if tier == "bare":
        parts: dict[Hashable, list[pytest.Item]] = defaultdict(list)
        for item in chosen(items, "test"):
            parts[bare_group_of(item)].append(item)
        return _spread_over(items, parts, dict.fromkeys(parts, BARE))
    kept: set[pytest.Item] = set()
    groups: dict[Hashable, list[pytest.Item]] = defaultdict(list)
    sizes: dict[Hashable, int] = {}
    for item in items:
        limit = limit_of(item)
        n = 0 if item.get_closest_marker("slow") else getattr(limit, tier, None)
        if n is None:
            kept.add(item)
        elif n > 0 and limit is not None:
            group = group_of(item, limit.per)
            groups[group].append(item)
            sizes[group] = n
    return _spread_over(items, groups, sizes, kept)


def _spread_over(
    items: Iterable[pytest.Item],
    groups: Mapping[Hashable, Sequence[pytest.Item]],
    sizes: Mapping[Hashable, int],
    others: Iterable[pytest.Item] = (),
) -> list[pytest.Item]:
    """Return so many items of each group, and others, in the order of the items."""
    kept = set(others)
    for group, members in groups.items():
        # Each group starts elsewhere, so that together they meet more values of other parameters.
        turn = crc32(str(group).encode()) / 2**32
        # Sorted, since plugins may have shuffled what was collected.
        kept.update(spread(sorted(members, key=place), sizes[group], turn))
    return [item for item in items if item in kept]
