"""What is asked of a kernel beside decisions, and which families can do it."""

from dataclasses import dataclass

from bncc.errors import OptionError
from bncc.program.pipeline import FLOWS_FOR
from bncc.resources import Optimize

STREAMS = frozenset({"plain"})
"""Families whose rows are added one by one, in any order, to one sum per class."""
FREE_OF_BRANCHES = {
    "plain": "one loop over all tables and one over all classes; a table's number decides the rest",
    "bit-slice": "straight-line code of look-ups, and, or and exclusive or",
    "bytes": "straight-line code of look-ups and additions",
    "lanes": "straight-line code of look-ups, additions, shifts and masks",
    "looped": "one loop over all tables, in runs of a fixed length; straight-line code within",
    "planes": "one loop over all tables; straight-line code within",
    "columns": "one loop over all tables and one over all planes; straight-line code within",
}
"""Why no branch in the sums of a family depends on a state. Of those that are missing, ``packed``
multiplies states by shifts and additions, as many as a state has bits; ``cuts``, ``cut-loop``
and ``cut-packed`` compare states, for which some machines have nothing but branches."""


@dataclass(frozen=True)
class Demands:
    """What not every kernel can do."""

    stream: bool = False  # Whether features arrive one by one, in any order
    constant_time: bool = False  # Whether no branch may depend on a reading or on a state in range

    @property
    def is_special(self) -> bool:
        """Whether anything is asked for."""
        return self.stream or self.constant_time

    def allows(self, family: str) -> bool:
        """Return whether a family of kernels can do all that is asked."""
        if self.constant_time and family not in FREE_OF_BRANCHES:
            return False
        return not self.stream or family in STREAMS

    def check(self, family: str) -> None:
        """Refuse a kernel that cannot do what is asked."""
        if self.constant_time and family not in FREE_OF_BRANCHES:
            raise OptionError(
                f"the time that the kernel '{family}' takes depends on states; name another with "
                "--kernel, or leave --kernel out"
            )
        if not self.allows(family):
            raise OptionError(
                f"the kernel '{family}' cannot take features one by one; use --kernel "
                f"{' or '.join(sorted(STREAMS))}, or leave --kernel out"
            )

    def flows(self, optimize: Optimize) -> tuple[str, ...]:
        """Return the flows whose programs are laid out and compared."""
        return FLOWS_FOR["balanced" if self.stream and optimize == "speed" else optimize]
