"""
The kernel of cuts: rows found by comparisons, summed in lanes, in straight-line code.

A row's number is doubled with every feature of two levels, plus one where the state lies above the
cut: an instruction each for the comparison and for both of the others together, where a machine
adds with the carry of a comparison. The words of a row then go to lanes as in the lanes kernel.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

from bncc.lower.kernels.lanes.layout import REGISTERS, LaneKernel, lane_kernel
from bncc.lower.kernels.lanes.schedule import lane_plans
from bncc.lower.kernels.shared.cut_places import (
    TableCuts,
    cuts_of,
    in_groups,
    is_of_cuts,
    most_levels_first,
)
from bncc.lower.kernels.shared.rows import distinct_rows, row_dictionary
from bncc.program.ir import Program
from bncc.program.ranges import cost_bounds

NEAR = 32
"""Bytes behind an address that an instruction of 16 bits reaches."""


@dataclass(frozen=True, eq=False)
class CutKernel:
    """A program of cuts in lanes."""

    lanes: LaneKernel  # The rows, and how they are summed: in unsigned words of 32 bits

    family = "cuts"
    scratch_bytes = 0
    whole_bytes = 0

    @cached_property
    def cuts(self) -> tuple[TableCuts, ...]:
        """The cuts of each table, in the order in which tables are summed."""
        return tuple(cuts_of(table) for table in self.lanes.tables)

    @property
    def summary(self) -> str:
        """Its layout in a few words."""
        return f"{self.lanes.summary}, rows found by {self.n_cuts} comparisons"

    @property
    def n_cuts(self) -> int:
        """Comparisons that find rows."""
        return sum(len(each.least) for cuts in self.cuts for each in cuts)

    @property
    def largest_sum(self) -> int:
        """No sum of a class exceeds this for any input."""
        return self.lanes.largest_sum

    @property
    def sum_bits(self) -> int:
        """Width of a class's cost where the C hands it out."""
        return self.lanes.sum_bits

    @property
    def additions(self) -> int:
        """Additions of words per decision."""
        return self.lanes.additions

    @property
    def addend(self) -> str:
        """For the card."""
        return self.lanes.addend

    @property
    def rom_bytes(self) -> int:
        """Bytes of the rows; cuts are in the code."""
        return self.lanes.row_bytes

    @property
    def work(self) -> tuple[float, ...]:
        """
        Terms: 1; tables, features read, those far behind the first, cuts, further cuts.

        Then places looked up, words read, words flushed; costs taken out of words, costs compared
        in their words.
        """
        lanes = self.lanes
        read = [each for cuts in self.cuts for each in cuts]
        in_place = lanes.n_classes if lanes.top is not None else 0
        return (
            1,
            len(self.cuts),
            len(read),
            sum(each.feature >= NEAR for each in read),
            self.n_cuts,
            self.n_cuts - len(read),
            len(self.cuts) if lanes.dictionary else 0,
            len(self.cuts) * lanes.n_words,
            lanes.flushed_words,
            lanes.n_classes - in_place,
            in_place,
        )

    @property
    def code(self) -> tuple[float, ...]:
        """As `work`: every step has instructions of its own."""
        return self.work

    @property
    def more_work(self) -> tuple[float, ...]:
        """Terms: words of rows besides the first."""
        return (len(self.cuts) * (self.lanes.n_words - 1),)

    @property
    def more_code(self) -> tuple[float, ...]:
        """Terms: flushes; words of rows beyond registers."""
        steps = self.lanes.schedule.steps
        n_spilled = max(0, self.lanes.n_words - REGISTERS[0])
        return (sum(step.kind == "flush" for step in steps), len(self.cuts) * n_spilled)


def cuts(program: Program) -> Iterator[CutKernel]:
    """Return the layouts of a program of cuts that are proved exact, the fewest words first."""
    if not is_of_cuts(program):
        return
    high = cost_bounds(program)[1]
    most = max(int(table.costs.max()) for table in program.tables)
    ordered = in_groups(
        [most_levels_first(table, program.n_states) for table in program.tables],
        (1 << most.bit_length()) - 1,
    )
    once = distinct_rows(ordered)
    for plan in lane_plans(program, ordered, high, 32, may_sign=False):
        lanes = lane_kernel(program, tuple(ordered), plan, int(high.max()))
        yield CutKernel(lanes)
        shared = replace(lanes, dictionary=row_dictionary(once, lanes.lowest.pack))
        if shared.dictionary and shared.dictionary.saves(32, shared.row_bytes, lanes.row_bytes):
            yield CutKernel(shared)
