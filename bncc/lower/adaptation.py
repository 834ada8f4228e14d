"""Adaptation to labeled inputs in C: where offsets are, and types that hold every sum with them."""

from dataclasses import dataclass
from math import prod

from bncc.errors import IrError
from bncc.lower.c.c99 import unsigned
from bncc.model.adaptation import MOST, Adaptation, row_bytes
from bncc.program.ir import width_of
from bncc.structure.decision_tables import DecisionTable

MOST_OFFSET_BYTES = 2**16 - 1
"""Bytes that a number of 16 bits counts."""


@dataclass(frozen=True)
class OffsetRow:
    """The row of one table whose offsets an input has: a start, and what comparisons add to it."""

    start: int  # Byte of the first row
    # Feature and cut of each comparison, and the bytes that it adds if the state is above the cut
    added: tuple[tuple[int, int, int], ...]


@dataclass(frozen=True)
class AdaptationPlan:
    """
    Template data for an adaptation.

    An offset is kept in four bits, above its least value, so that nothing has a sign: that adds the
    same to the cost of every class. Proofs allow all values of the four bits.
    """

    rows: tuple[OffsetRow, ...]  # One for each table, or one for all inputs
    n_classes: int
    n_bytes: int  # Bytes of all offsets
    rule: Adaptation
    largest: int  # No score exceeds this
    sum_bits: int  # Width of a cost with offsets, and with the margin

    @property
    def bound(self) -> int:
        """Value of an offset of 0."""
        return self.rule.bound

    @property
    def initial(self) -> str:
        """Byte of two offsets of 0."""
        return f"0x{17 * self.bound:02X}U"

    @property
    def margin(self) -> int:
        """Lead of a class from which on its input is not learned."""
        return self.rule.margin

    @property
    def shift(self) -> int:
        """Logarithm of a step."""
        return self.rule.step.bit_length() - 1

    @property
    def sum_type(self) -> str:
        """C type of a cost with offsets."""
        return unsigned(self.sum_bits)

    @property
    def at_type(self) -> str:
        """C type of the first byte of a row."""
        return unsigned(8 if self.n_bytes <= 256 else 16)

    @property
    def largest_sum(self) -> int:
        """No cost with offsets and the margin exceeds this, whatever the offsets are."""
        return _largest_sum(self.rule, self.largest)

    @property
    def n_cuts(self) -> int:
        """Comparisons of states."""
        return sum(len(row.added) for row in self.rows)

    @property
    def reads(self) -> bool:
        """True if the states matter."""
        return self.n_cuts > 0

    @property
    def additions(self) -> int:
        """Additions of a decision: addresses, offsets, doublings for their unit, and scores."""
        return self.n_cuts + self.n_classes * (2 * len(self.rows) + self.shift + 1)

    @property
    def comparisons(self) -> int:
        """Comparisons of a decision: of states and costs."""
        return self.n_cuts + self.n_classes - 1

    @property
    def learn_additions(self) -> int:
        """Additions of learning: those of a decision, the margin, and a step up and down."""
        return self.additions + 1 + 2 * len(self.rows)

    @property
    def learn_comparisons(self) -> int:
        """Comparisons of learning: of classes, states, costs and the bounds of offsets."""
        return self.n_cuts + 2 * self.n_classes + 1 + 2 * len(self.rows)


@dataclass(frozen=True)
class OffsetTables:
    """An adaptation with the tables that it names."""

    rule: Adaptation
    tables: tuple[DecisionTable, ...]
    n_classes: int

    @property
    def most(self) -> int:
        """Most that offsets add to a score, whatever is learned."""
        return most_of(self.rule)


def most_of(rule: Adaptation) -> int:
    """Return the most that the offsets of a rule add to a score, as four bits each."""
    return MOST * max(1, len(rule.tables)) * rule.step


def _largest_sum(rule: Adaptation, largest: int) -> int:
    return largest + most_of(rule) + rule.margin


def plan_adaptation(offsets: OffsetTables, largest: int, sum_bits: int) -> AdaptationPlan:
    """Place the offsets, and choose a type for scores up to a largest one of some bits."""
    rule = offsets.rule
    if _largest_sum(rule, largest) >= 1 << 32:
        raise IrError(
            f"offsets of {rule.step} in a step and scores of up to {largest} exceed 32 bits; train "
            "with fewer bits"
        )
    width, rows, start = row_bytes(offsets.n_classes), [], 0
    for table in offsets.tables:
        added = []
        for k, (feature, cuts) in enumerate(zip(table.features, table.cuts, strict=True)):
            stride = width * prod(table.n_levels[k + 1 :])
            added += [(feature, cut, stride) for cut in cuts]
        rows.append(OffsetRow(start, tuple(added)))
        start += width * table.n_rows
    if start > MOST_OFFSET_BYTES:
        raise IrError(
            f"the offsets of the adaptation take {start} bytes, more than {MOST_OFFSET_BYTES}; "
            "train with --adapt auto, which keeps them small"
        )
    return AdaptationPlan(
        tuple(rows) or (OffsetRow(0, ()),),
        offsets.n_classes,
        start or width,
        rule,
        largest,
        max(sum_bits, width_of(_largest_sum(rule, largest))),
    )
