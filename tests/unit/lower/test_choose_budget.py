"""Budgets: fitting layouts, and the error that names the nearest one."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from bncc.lower.choose import KernelBudget
from bncc.lower.cost_model import Candidate, candidate, code_bytes, decision_cost
from bncc.lower.kernels.plain.layout import plain
from bncc.resources import Budget
from tests.unit.lower.by_hand import program, table

SOME = program([2], [3, 4], [table([0], [[1, 2], [3, 400]])])


def of(flash: int, ram: int) -> Candidate:
    return Candidate(SOME, plain(SOME), 1, flash, ram)


def test_a_candidate_is_a_kernel_with_its_estimates() -> None:
    kernel = plain(SOME)
    found = candidate(SOME, kernel, "cortex-m0")
    assert found.kernel is kernel
    assert found.instructions == decision_cost(kernel, "cortex-m0")
    assert found.flash == kernel.rom_bytes + code_bytes(kernel, "cortex-m0")
    assert found.ram == 2 * kernel.sum_bits // 8 == 8
    assert found.program is SOME


def within(
    flash: int | None = None, ram: int | None = None, other_flash: int = 0, other_ram: int = 0
) -> KernelBudget:
    return KernelBudget(Budget(None, flash, ram=ram), other_flash, other_ram)


@pytest.mark.parametrize(
    ("budget", "flash", "ram", "utilization"),
    [
        (KernelBudget(), 10**9, 10**9, 0),
        (within(100), 100, 10**9, 1),
        (within(100), 101, 0, 1.01),
        (within(ram=100), 10**9, 100, 1),
        (within(ram=100), 0, 103, 1.03),
        (within(100, 10), 101, 13, 1.3),
        (within(100, 10), 1, 13, 1.3),  # what is left of one is no use for the other
        (within(100, 10, 40, 4), 60, 6, 1),
        (within(100, 10, 40, 4), 61, 7, 1.1),
        (KernelBudget(Budget(None, 140, reserve=40)), 100, 0, 1),
        (KernelBudget(Budget(None, 140, reserve=40)), 101, 0, 1.01),
    ],
)
def test_what_the_rest_takes_counts_too(
    budget: KernelBudget, flash: int, ram: int, utilization: float
) -> None:
    assert budget.utilization(of(flash, ram)) == utilization
    assert budget.fits(of(flash, ram)) == (utilization <= 1)


def test_what_the_rest_takes_only_grows() -> None:
    """Otherwise a kernel that was tried in vain would be tried again."""
    some = of(0, 0)

    def used(*others: tuple[int, int]) -> list[float]:
        budget = within(100, 50)
        for flash, ram in others:
            budget = budget.with_others(some, flash, ram)
        return [budget.utilization(of(0, 0)), budget.utilization(of(-1000, 0))]

    assert used((10, 7)) == [0.14, 0.14]
    assert used((10, 7), (12, 3)) == [0.14, 0.14]
    assert used((20, 7), (9, 8)) == [0.2, 0.16]


def test_kernels_that_compare_readings_need_nothing_that_finds_states() -> None:
    budget = within(100).with_others(of(90, 0), 50, 0)
    assert budget.utilization(of(40, 0)) == 0.9
    assert budget.utilization(replace(of(90, 0), compare="readings")) == 0.9
    budget = budget.with_others(replace(of(90, 0), compare="readings"), 15, 0)
    assert budget.utilization(replace(of(80, 0), compare="readings")) == 0.95
    assert budget.utilization(of(40, 0)) == 0.9


@pytest.mark.parametrize(
    ("budget", "others", "sentence"),
    [
        (
            within(100, other_flash=20),
            [of(90, 9), of(80, 9), of(70, 9)],
            "no requested layout fits in 100 bytes of flash, but the kernel 'plain' needs about "
            "100 bytes of flash",
        ),
        (
            within(100, 10, other_flash=20, other_ram=1),
            [of(90, 30), of(95, 20)],
            "no kernel fits in 100 bytes of flash and 10 bytes of RAM; the kernel 'plain' needs "
            "about 115 bytes of flash and 21 bytes of RAM: raise the budget, or train with "
            "fewer bits, fewer states or as naive Bayes",
        ),
        (
            within(ram=10),
            [of(1, 12)],
            "no kernel fits in 10 bytes of RAM; the kernel 'plain' needs about 12 bytes of RAM: "
            "raise the budget, or train with fewer bits, fewer states or as naive Bayes",
        ),
    ],
)
def test_the_nearest_is_named(
    budget: KernelBudget, others: Sequence[Candidate], sentence: str
) -> None:
    assert str(budget.refusal(others)) == sentence
    assert budget.refusal(others).exit_code == 1
    hint = "use --optimize size, "
    assert (hint in str(budget.refusal(others, is_smallest=False))) == sentence.startswith(
        "no kernel"
    )
