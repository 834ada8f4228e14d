"""The choice of a kernel: the best that is proved and fits, and what it was compared with."""

import pytest

from bncc.compiler import choose as module
from bncc.compiler.budget import Budget
from bncc.compiler.choose import FAMILIES, UNNAMED, Optimize, choose
from bncc.compiler.ir import Program
from bncc.errors import BudgetError, OptionError
from tests.unit.compiler.by_hand import program, table


@pytest.fixture
def some() -> Program:
    """Return a program with several layouts of the packed kernel: rows that repeat, a prior."""
    rows = [[0, 5, 9], [5, 0, 2], [0, 5, 9], [7, 7, 1]] * 4
    return program([16] * 6, [1, 0, 2], [table([f], rows) for f in range(6)])


@pytest.mark.parametrize("optimize", ["balanced", "size", "speed"])
@pytest.mark.parametrize("family", FAMILIES)
def test_the_best_of_a_family_comes_first(some: Program, family: str, optimize: Optimize) -> None:
    found = choose(some, family=family, optimize=optimize)
    best = found.candidates[0]
    assert found.kernel is best.kernel
    assert found.chosen is best
    assert {each.kernel.family for each in found.candidates} == {family}
    assert len(found.candidates) == len(list(FAMILIES[family](some)))
    what = "flash" if optimize == "size" else "instructions"
    assert getattr(best, what) == min(getattr(each, what) for each in found.candidates)


@pytest.mark.parametrize("optimize", ["balanced", "size", "speed"])
def test_without_a_name_it_is_one_of_those_that_need_none(
    some: Program, optimize: Optimize
) -> None:
    assert choose(some, optimize=optimize).kernel.family in UNNAMED


def test_the_reason_says_what_it_was_compared_with(some: Program) -> None:
    assert choose(some, family="plain").reason == "the only layout"
    n = len(list(FAMILIES["packed"](some)))
    assert n > 2
    small = choose(some, family="packed", optimize="size")
    assert small.reason == f"least flash of {n} layouts"
    fast = choose(some, family="packed", optimize="speed")
    assert fast.reason == f"fewest instructions of {n} layouts"


def test_a_budget_leaves_the_best_that_fits(some: Program) -> None:
    """The order of the candidates stays, so that one sees what did not fit."""
    everything = choose(some, family="packed", optimize="speed")
    largest = max(each.flash for each in everything.candidates)
    fitting = [each for each in everything.candidates if each.flash < largest]
    budget = Budget(flash=largest - 1 + 50, other_flash=50)
    found = choose(some, family="packed", optimize="speed", budget=budget)
    assert found.chosen.flash == fitting[0].flash < largest
    pairs = [(each.flash, each.instructions) for each in found.candidates]
    assert pairs == [(each.flash, each.instructions) for each in everything.candidates]
    n = len(pairs)
    assert found.reason == f"fewest instructions of the {len(fitting)} that fit of {n} layouts"


def test_what_would_fit_is_of_any_family(some: Program) -> None:
    plain = choose(some, family="plain").chosen
    packed = choose(some, family="packed", optimize="size").chosen
    assert packed.flash < plain.flash
    with pytest.raises(BudgetError, match="but the kernel 'packed' needs about"):
        choose(some, family="plain", optimize="size", budget=Budget(packed.flash))
    with pytest.raises(BudgetError, match="no kernel fits in 1 bytes of flash; the kernel '"):
        choose(some, family="plain", budget=Budget(1))


def test_a_family_that_is_unknown_or_unsafe_is_refused(
    some: Program, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(OptionError, match="there is no kernel 'swar'; there are plain, "):
        choose(some, family="swar")
    monkeypatch.setitem(module.FAMILIES, "plain", lambda program: iter(()))  # type: ignore[index]
    with pytest.raises(OptionError, match="'plain' has no layout that is safe for this model; "):
        choose(some, family="plain")
