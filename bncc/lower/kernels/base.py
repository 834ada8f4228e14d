"""What every kernel says of itself, whatever its layout."""

from typing import Protocol


class Kernel(Protocol):
    """A program laid out so that a machine can sum it; margins are equal for every input."""

    @property
    def family(self) -> str:
        """What ``--kernel`` calls it."""

    @property
    def summary(self) -> str:
        """Its layout in a few words."""

    @property
    def largest_sum(self) -> int:
        """No sum of a class exceeds this for any input; proved by range analysis."""

    @property
    def sum_bits(self) -> int:
        """Width in bits, 8, 16 or 32, of a class's cost where the C hands it out."""

    @property
    def additions(self) -> int:
        """Additions per decision."""

    @property
    def addend(self) -> str:
        """What is added, in the plural: costs, or words of several costs."""

    @property
    def rom_bytes(self) -> int:
        """Bytes of the constants that it reads: tables, prior, addresses."""

    @property
    def whole_bytes(self) -> int:
        """Bytes of the largest of the arrays that it never divides; 0 where it has none."""

    @property
    def scratch_bytes(self) -> int:
        """Bytes of stack that it fills beside the sums of classes."""

    @property
    def work(self) -> tuple[float, ...]:
        """What executed instructions grow with; the family's cost model weighs the terms."""

    @property
    def code(self) -> tuple[float, ...]:
        """What bytes of code grow with; likewise."""
