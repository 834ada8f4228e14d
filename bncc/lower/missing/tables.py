"""A model's tables as missing features are summed out of them on a device."""

from dataclasses import dataclass
from functools import cached_property

from bncc._types import IntArray
from bncc.model.missing_form import LogAdd
from bncc.program.ir import width_of

NARROW_BITS = 4
"""Width of costs of which two share a byte."""


@dataclass(frozen=True, eq=False)
class MissingTables:
    """What is read however features are summed out."""

    starts: tuple[int, ...]  # First entry of each table
    # (n_entries,) int64: All tables one after the other, class index fastest; as in the model, not
    # shifted
    costs: IntArray
    prior: IntArray  # (n_classes,) int64: Likewise
    number_bits: int  # Width of the signed numbers, by range analysis
    log_add: LogAdd  # How probabilities are added

    @cached_property
    def entry_bits(self) -> int:
        """Width of an entry: 4 where two share a byte, 8, 16 or 32."""
        largest = int(self.costs.max())
        return NARROW_BITS if largest < 1 << NARROW_BITS else width_of(largest)

    @property
    def place_bits(self) -> int:
        """Width of an entry's number, with one left that no entry has: 16 or 32."""
        return max(16, width_of(len(self.costs)))
