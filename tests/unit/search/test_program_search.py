"""Programs are searched until one fits: of stand-ins for searches and costs."""

from collections.abc import Sequence
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import pytest

from bncc.errors import BudgetError, MeasurementError
from bncc.interrupts import StopRequest
from bncc.program_pricing import ProgramCost
from bncc.search import program_search
from bncc.search.program_search import (
    LAST_SLACKS,
    SLACKS,
    Attempt,
    ProgramSearch,
    first_fitting,
)
from bncc.search.unmeasured import Unmeasured


@dataclass(frozen=True)
class Result:
    """A model with notes."""

    model: str = "m"
    notes: tuple[str, ...] = ()


CHOSEN = SimpleNamespace(words="a front end", front_end=SimpleNamespace(feature_words="x.sum"))
"""Features in front of a classifier."""


class StandIn:
    """An attempt whose program takes some bytes, of which 1,000 fit; None if its C fails."""

    def __init__(self, flash: int | None) -> None:
        self.flash, self.chosen = flash, CHOSEN

    def finished(self, found: Any) -> Any:
        return Found(Result())

    def cost(self, model: object, price: object) -> ProgramCost:
        if self.flash is None:
            raise MeasurementError("gcc failed: x.c:1: error")
        return ProgramCost(self.flash, 8, 16, "measured", 20.0, 40, "instructions")

    def admits(self, cost: ProgramCost) -> bool:
        return cost.flash <= 1000


@dataclass(frozen=True)
class Found:
    """Result of a search."""

    result: Result
    price: str = "p"


class Search:
    """A search, which counts how often it runs, finds nothing first, and may be stopped."""

    def __init__(
        self, stop: StopRequest | None = None, stops_in: int = 0, n_misfits: int = 0
    ) -> None:
        self.stop, self.stops_in, self.n, self.n_misfits = stop, stops_in, 0, n_misfits

    def __call__(self, attempt: object) -> Any:
        self.n += 1
        if self.n <= self.n_misfits:
            raise BudgetError("no candidate fits in 9 bytes of flash")
        if self.stop is not None and self.n == self.stops_in:
            self.stop.signal = 2
        return self


def attempts(flash: Sequence[int | None]) -> list[Any]:
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


def test_the_next_front_end_follows_one_behind_which_nothing_fits() -> None:
    search, tried = Search(n_misfits=1), attempts((10, 20))
    assert first_fitting(tried, search)[0] is tried[1]
    with pytest.raises(BudgetError, match=r"^behind a front end, no candidate fits in 9 bytes"):
        first_fitting(tried, Search(n_misfits=2))


def test_the_next_program_follows_one_whose_c_fails() -> None:
    unmeasured, tried = Unmeasured(), attempts((None, 20))
    attempt, found, _ = first_fitting(tried, Search(), unmeasured=unmeasured)
    assert attempt is tried[1]
    assert found.result.notes == tuple(unmeasured.notes)
    (note,) = unmeasured.notes
    assert note.endswith("'x.sum': gcc failed: x.c:1: error")
    with pytest.raises(MeasurementError, match="gcc failed"):
        first_fitting(attempts((None, None)), Search())


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


def test_the_smallest_front_end_is_tried_with_less_for_the_classifier_at_last(monkeypatch) -> None:
    """The size of a classifier behind a front end is known only when the program is built."""

    class Chosen:
        columns = ()

        def __init__(self, flash: int) -> None:
            self.cost = ProgramCost(flash, 8, 16, "measured", 20.0, 40, "instructions")

        def left_of(self, budget: object, slack: float) -> tuple[int, float]:
            return self.cost.flash, slack

    choices = [Chosen(200), Chosen(100), Chosen(300), Chosen(50)]
    monkeypatch.setattr(program_search, "front_ends", lambda *rest, **options: iter(choices))
    monkeypatch.setattr(program_search, "dataset_part", lambda dataset, columns: dataset)
    search: Any = ProgramSearch
    limits = SimpleNamespace(budget=None)
    budgets = [one.budget for one in search(None, None, None, limits, ()).attempts(None)]
    assert budgets[:6] == [(n, slack) for n in (200, 100, 300) for slack in SLACKS]
    assert budgets[6:] == [(100, slack) for slack in LAST_SLACKS]
