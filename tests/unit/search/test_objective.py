"""The chosen model, and the objectives of samplers."""

import pytest

from bncc.errors import OptionError
from bncc.resources import Budget
from bncc.search.objective import (
    PENALTY,
    best_within,
    check_objectives,
    default_objectives,
    nearest,
    values_of,
)
from tests.unit.search.stand_ins import measured, point

POINTS = (
    measured(0, 0.30, 400, 90),
    measured(1, 0.10, 900, 400),
    measured(2, 0.10, 800, 500),
    measured(3, 0.10, 800, 450),
    measured(4, 0.05, 4000, 300),
    point(5, costs={"cortex-m0": "it is too large"}),
)


@pytest.mark.parametrize(
    ("flash", "instructions", "number"),
    [
        (None, None, 4),
        (4000, 300, 4),
        (3999, None, 2),  # least flash among equal errors, then the first
        (None, 299, 0),
        (899, 450, 3),
        (400, 90, 0),
        (399, None, None),
        (None, 89, None),
    ],
)
def test_the_least_error_that_fits(
    flash: int | None, instructions: int | None, number: int | None
) -> None:
    found = best_within(POINTS, Budget("cortex-m0", flash, instructions))
    assert (found and found.number) == number


def test_the_nearest_takes_the_least_share() -> None:
    def number(flash: int | None, instructions: int | None) -> int | None:
        found = nearest(POINTS, Budget("cortex-m0", flash, instructions))
        return None if found is None else found.number

    assert number(399, None) == 0
    assert number(600, 40) == 0
    assert number(100000, 45) == 0
    assert number(0, None) is not None
    assert nearest(POINTS[5:], Budget("cortex-m0", 1)) is None
    assert nearest((), Budget("cortex-m0", 1)) is None


def test_where_nothing_is_measured_bits_decide_between_equals() -> None:
    points = [point(k, validation=POINTS[0].validation, bits=10 - k) for k in range(3)]
    found = best_within(points, Budget(None))
    assert found is not None
    assert found.number == 2
    assert best_within((), Budget(None)) is None


def test_objectives_are_finite_numbers() -> None:
    names, targets = ("error", "flash", "instructions", "bits", "operations"), ("cortex-m0",)
    assert values_of(POINTS[1], names, targets) == [0.1, 900.0, 399.0, 10.0, 4.0]
    assert values_of(POINTS[5], names, targets) == [0.05, PENALTY, PENALTY, 50.0, 4.0]


def test_objectives_need_what_they_measure() -> None:
    assert default_objectives(("x86",)) == ("error", "flash")
    check_objectives(default_objectives(()), ())
    for name in ("flash", "ram", "instructions"):
        check_objectives((name,), ("x86",))
        with pytest.raises(OptionError, match="needs a machine"):
            check_objectives((name,), ())
