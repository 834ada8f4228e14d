"""What is asked of a kernel beside decisions, and which families can do it."""

from dataclasses import dataclass

from bncc.compiler.cost_model import Optimize
from bncc.compiler.pipeline import FLOWS_FOR
from bncc.errors import OptionError

STREAMS = frozenset({"plain"})
"""Families whose rows are added one by one, in any order, to one sum per class."""


@dataclass(frozen=True)
class Demands:
    """What not every kernel can do.

    Parameters
    ----------
    stream : bool, default=False
        Whether features arrive one by one, in any order.
    """

    stream: bool = False

    def allows(self, family: str) -> bool:
        """Return whether a family of kernels can do all that is asked."""
        return not self.stream or family in STREAMS

    def check(self, family: str) -> None:
        """Refuse a kernel that cannot do what is asked.

        Parameters
        ----------
        family : str
            A key of `bncc.compiler.choose.FAMILIES`.

        Raises
        ------
        OptionError
            If it cannot.
        """
        if self.stream and family not in STREAMS:
            raise OptionError(
                f"the kernel '{family}' cannot take features one by one; use --kernel "
                f"{' or '.join(sorted(STREAMS))}, or leave --kernel out"
            )

    def flows(self, optimize: Optimize) -> tuple[str, ...]:
        """Return the flows whose programs are laid out and compared.

        Parameters
        ----------
        optimize : {"balanced", "size", "speed"}
            What is best.

        Returns
        -------
        tuple of str
            Keys of `bncc.compiler.pipeline.FLOWS`. A stream has to hold the states of features that
            share a table until the last of them arrives, so there none are fused for speed.
        """
        return FLOWS_FOR["balanced" if self.stream and optimize == "speed" else optimize]
