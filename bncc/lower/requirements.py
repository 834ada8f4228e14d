"""What is asked of a kernel beside decisions, and which families can do it."""

from dataclasses import dataclass

from bncc.errors import OptionError
from bncc.lower.kernels.families import FREE_OF_BRANCHES, STREAMS
from bncc.program.pipeline import FLOWS_FOR
from bncc.resources import Optimize


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
