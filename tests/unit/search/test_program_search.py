"""Programs are searched until one fits: of stand-ins for searches and costs."""

from collections.abc import Sequence
from typing import Any

import pytest

from bncc.errors import BudgetError
from bncc.interrupts import StopRequest
from bncc.search.front_end_choice import ProgramCost
from bncc.search.program_search import Attempt, first_fitting


class StandIn:
    """An attempt whose program takes some bytes, of which 1,000 fit."""

    def __init__(self, flash: int) -> None:
        self.flash = flash

    def finished(self, found: Any) -> Any:
        return found

    def cost(self, model: object, price: object) -> ProgramCost:
        return ProgramCost(self.flash, 8, 16, 20.0, 40, "instructions", "measured")

    def admits(self, cost: ProgramCost) -> bool:
        return cost.flash <= 1000


class Search:
    """A search, which counts how often it runs, and may be stopped in one of its runs."""

    def __init__(self, stop: StopRequest | None = None, stops_in: int = 0) -> None:
        self.stop, self.stops_in, self.n = stop, stops_in, 0
        self.result, self.model, self.price = self, "m", "p"

    def __call__(self, attempt: object) -> Any:
        self.n += 1
        if self.stop is not None and self.n == self.stops_in:
            self.stop.signal = 2
        return self


def attempts(flash: Sequence[int]) -> list[Any]:
    return [StandIn(n) for n in flash]


def test_the_first_program_that_fits_is_taken() -> None:
    search, tried = Search(), attempts((1200, 1001, 1000, 10))
    attempt, _, cost = first_fitting(tried, search)
    assert attempt is tried[2]
    assert cost is not None
    assert (cost.flash, search.n) == (1000, 3)


def test_the_last_program_is_named_where_none_fits() -> None:
    with pytest.raises(BudgetError, match="takes 1,100 bytes of flash, 8 of state and 16 of stack"):
        first_fitting(attempts((1200, 1100)), Search())


def test_a_stopped_search_ends_with_what_it_has() -> None:
    stop = StopRequest()
    search, tried = Search(stop, stops_in=1), attempts((1200, 10))
    attempt, _, cost = first_fitting(tried, search, stop)
    assert attempt is tried[0]
    assert cost is not None
    assert (cost.flash, search.n) == (1200, 1)


def test_without_a_front_end_every_result_fits() -> None:
    plain: Any = None
    assert Attempt(plain, None, plain).admits(None)
