"""The kernels that fit a budget beside all other code, and the sentence that names the nearest."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from bncc.errors import BudgetError
from bncc.lower.candidate import Candidate
from bncc.resources import Budget

NO_LIMITS = Budget(None)


@dataclass(frozen=True)
class KernelBudget:
    """Budget of a classifier, and the bytes of it that are not the kernel's."""

    # Limits of the whole classifier, which decide; by default there are none
    limits: Budget = NO_LIMITS
    # other_flash and other_ram: Bytes of everything but the kernel: thresholds, labels, entry
    # points
    other_flash: int = 0
    other_ram: int = 0

    def beside(self, flash: int, ram: int) -> "KernelBudget":
        """Return the budget where everything but the kernel takes at least so many bytes."""
        flash, ram = max(self.other_flash, flash), max(self.other_ram, ram)
        return replace(self, other_flash=flash, other_ram=ram)

    def utilization(self, candidate: Candidate) -> float:
        """Return the largest part of a limit that the classifier with this kernel would use."""
        return self.limits.utilization_of_bytes(
            candidate.flash + self.other_flash, candidate.ram + self.other_ram
        )

    def fits(self, candidate: Candidate) -> bool:
        """Return whether the classifier with this kernel is within the budget, by its estimate."""
        return self.utilization(candidate) <= 1

    def refusal(self, others: Sequence[Candidate], *, is_smallest: bool = True) -> BudgetError:
        """Say that nothing considered fits, and what comes nearest."""
        nearest = min(others, key=lambda each: max(1.0, self.utilization(each)))
        flash = None if self.limits.flash is None else nearest.flash + self.other_flash
        ram = None if self.limits.ram is None else nearest.ram + self.other_ram
        needs = f"the kernel '{nearest.kernel.family}' needs about {_bytes(flash, ram)}"
        if self.fits(nearest):
            return BudgetError(f"no layout that was asked for fits in {self}, but {needs}")
        size = "" if is_smallest else "ask for --optimize size, "
        return BudgetError(
            f"no kernel fits in {self}; {needs}: {size}allow as much, or train with fewer bits, "
            "coarser states or as naive Bayes",
            self.utilization(nearest),
        )

    def __str__(self) -> str:
        reserve = self.limits.reserve
        beside = f" beside {reserve} in reserve" if reserve else ""
        return f"{_bytes(self.limits.room, self.limits.ram)}{beside}"


def _bytes(flash: int | None, ram: int | None) -> str:
    pairs = ((flash, "flash"), (ram, "RAM"))
    return " and ".join(f"{n} bytes of {what}" for n, what in pairs if n is not None)
