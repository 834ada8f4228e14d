"""What the C file needs of a kernel, whichever it is."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from bncc.lower.c.c99 import ArrayText


@dataclass(frozen=True, eq=False)
class KernelText:
    """
    A kernel ready to print.

    Its template defines ``NAME_sum``, which leaves the cost of every class in an array, and, where
    the kernel `decides` without that array, ``NAME_decide``; then ``NAME_sum`` is printed only
    for ``scores``.
    """

    template: str  # File under ``templates/``
    arrays: tuple[ArrayText, ...]  # Constants, the tables first
    table_bytes: int  # Bytes of the tables and the prior among them
    decides: bool = False  # Whether the template brings ``NAME_decide``
    # Whether the template reads ``NAME_last_state``, the array of every feature's largest state
    reads_last_states: bool = False
    # Names that the template uses beside those of the whole file
    context: Mapping[str, object] = field(default_factory=dict)
