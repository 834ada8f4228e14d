"""The front has exactly the non-dominated points."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bncc.search.objective import front, undominated
from bncc.search.trial_result import Point, Rate


def point(number: int, bits: int, error: float) -> Point:
    """Return a point of which bits and error matter."""
    return Point(
        number=number,
        family="naive",
        params={},
        validation=Rate((error,), 10),
        test=None,
        entries=1,
        bits=bits,
        operations=1,
        q_format=None,
        costs={},
        parents=(),
        seconds=0.0,
        command="",
    )


def bits_of(p: Point) -> float | None:
    return None if p.bits == 0 else p.bits


def error_of(p: Point) -> float:
    return p.validation.mean


PAIRS = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), max_size=20)


@given(PAIRS, st.randoms(use_true_random=False))
def test_what_nothing_betters_is_on_it(pairs: list[tuple[int, int]], rng) -> None:
    points = [point(k, bits, error / 10) for k, (bits, error) in enumerate(pairs)]
    found = front(points, bits_of, error_of)
    known = [p for p in points if p.bits]
    best = {
        (p.bits, error_of(p))
        for p in known
        if not any(
            q.bits <= p.bits
            and error_of(q) <= error_of(p)
            and (q.bits, error_of(q)) != (p.bits, error_of(p))
            for q in known
        )
    }
    assert [(p.bits, error_of(p)) for p in found] == sorted(best)
    for p in found:  # of those that are alike, the first
        assert p.number == min(
            q.number for q in known if (q.bits, q.validation) == (p.bits, p.validation)
        )
    mixed = list(points)
    rng.shuffle(mixed)
    assert front(mixed, bits_of, error_of) == found


def test_what_nothing_dominates_is_kept_with_its_equals() -> None:
    points = [(3.0, 4.0), (1.0, 9.0), (3.0, 5.0), (2.0, 5.0), (3.0, 4.0), (4.0, 6.0)]
    assert undominated(points) == (1, 3, 0, 4)


def test_a_third_cost_keeps_what_the_first_two_would_drop() -> None:
    assert undominated([(1.0, 1.0, 5.0), (2.0, 2.0, 4.0), (2.0, 2.0, 5.0)]) == (0, 1)


@given(st.lists(st.tuples(*[st.integers(0, 4)] * 3), max_size=12))
def test_each_is_compared_with_all_others(points: list[tuple[int, int, int]]) -> None:
    kept = {
        k
        for k, p in enumerate(points)
        if not any(q != p and all(a <= b for a, b in zip(q, p, strict=True)) for q in points)
    }
    assert set(undominated(points)) == kept


def test_points_of_different_costs_are_not_compared() -> None:
    with pytest.raises(ValueError, match="zip"):
        undominated([(1.0, 2.0), (1.0,)])
