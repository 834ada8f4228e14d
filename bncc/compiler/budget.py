"""What a classifier may take of a machine's memory, and the nearest that does not fit."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from bncc.compiler.candidate import Candidate
from bncc.errors import BudgetError


@dataclass(frozen=True)
class Budget:
    """Bytes that a whole classifier may take.

    Parameters
    ----------
    flash, ram : int or None
        At most so many; None for any number.
    other_flash, other_ram : int, default=0
        What all but the kernel takes: thresholds, labels, entry points.
    """

    flash: int | None = None
    ram: int | None = None
    other_flash: int = 0
    other_ram: int = 0

    def beside(self, flash: int, ram: int) -> "Budget":
        """Return the budget where all but the kernel takes at least so many bytes."""
        flash, ram = max(self.other_flash, flash), max(self.other_ram, ram)
        return replace(self, other_flash=flash, other_ram=ram)

    def allows(self, flash: int, ram: int) -> bool:
        """Return whether so many bytes of all that is emitted are within the budget."""
        return (self.flash is None or flash <= self.flash) and (self.ram is None or ram <= self.ram)

    def fits(self, candidate: Candidate) -> bool:
        """Return whether the classifier with this kernel is within the budget."""
        return self.allows(candidate.flash + self.other_flash, candidate.ram + self.other_ram)

    def excess(self, candidate: Candidate) -> int:
        """Return the bytes that the classifier with this kernel takes too many of."""
        flash = 0 if self.flash is None else candidate.flash + self.other_flash - self.flash
        ram = 0 if self.ram is None else candidate.ram + self.other_ram - self.ram
        return max(flash, 0) + max(ram, 0)

    def refusal(self, others: Sequence[Candidate], *, is_smallest: bool = True) -> BudgetError:
        """Say that nothing considered fits, and what comes nearest.

        Parameters
        ----------
        others : sequence of Candidate
            Those of all families, the best first.
        is_smallest : bool, default=True
            Whether they were made for size; else smaller ones may exist.

        Returns
        -------
        BudgetError
            It names the best of them that fits, else the one that exceeds the budget least.
        """
        nearest = min(others, key=self.excess)
        flash = None if self.flash is None else nearest.flash + self.other_flash
        ram = None if self.ram is None else nearest.ram + self.other_ram
        needs = f"the kernel '{nearest.kernel.family}' needs about {_bytes(flash, ram)}"
        if self.fits(nearest):
            return BudgetError(f"no layout that was asked for fits in {self}, but {needs}")
        size = "" if is_smallest else "ask for --optimize size, "
        return BudgetError(
            f"no kernel fits in {self}; {needs}: {size}allow as much, or train with fewer bits, "
            "coarser states or as naive Bayes"
        )

    def __str__(self) -> str:
        return _bytes(self.flash, self.ram)


def _bytes(flash: int | None, ram: int | None) -> str:
    pairs = ((flash, "flash"), (ram, "RAM"))
    return " and ".join(f"{n} bytes of {what}" for n, what in pairs if n is not None)
