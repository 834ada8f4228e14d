"""What every classifier says of itself that bncc's are compared with."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from bncc._types import IntArray

Files = Mapping[str, str]
"""C by file name; ``m.h`` declares ``int16_t m_predict(const uint8_t x[])``."""

PREFIX = "m"
"""Of the files and of the function that is measured."""


@dataclass(frozen=True, eq=False)
class Code:
    """A rival as C.

    Parameters
    ----------
    files : mapping of str to str
        Text by file name.
    by : str
        Who wrote the C: a generator with its version.
    needs_math : bool
        Whether it calls a mathematics library.
    """

    files: Files
    by: str
    needs_math: bool = False


@dataclass(frozen=True, eq=False)
class Rival:
    """A trained classifier that is no Bayesian network of bncc's.

    Parameters
    ----------
    decide : callable
        From states ``(n, n_features)`` to classes ``(n,)``, as the C has it, or, without C, as its
        library has it.
    bits : int
        Of its parameters, packed as tightly as the family's own encoding allows.
    operations : float
        Per decision: additions, multiply-accumulates and comparisons, each one; a mean where they
        depend on the input.
    code : Code or None
        Its C.
    lack : str
        Why there is no C, as a clause; empty where there is.
    facts : mapping of str to str, int or float
        What else people want to know.
    """

    decide: Callable[[IntArray], IntArray]
    bits: int
    operations: float
    code: Code | None = None
    lack: str = ""
    facts: Mapping[str, str | int | float] = field(default_factory=dict)
