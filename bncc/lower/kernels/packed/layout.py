"""
The packed kernel: several costs in a word, extracted one by one. It is the smallest in flash.

Which row every table contributes, found by walking the tables in their order.

The first row of a table is the number of rows of all tables before it, so a running sum replaces an
array of starts; products of states and numbers of states are formed by shifts and additions.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

import numpy as np

from bncc._types import IntArray
from bncc.lower.c.constants import must_be_divided
from bncc.lower.kernels.base import FEW
from bncc.lower.kernels.shared.packing import (
    SUM_BITS,
    Packing,
    Rows,
    packed_words,
    packings,
    unique_rows,
)
from bncc.lower.kernels.shared.rows import lifted_priors
from bncc.program.ir import Program, Table, can_unmap, unmapped, width_of
from bncc.program.ranges import largest_cost

Form = Literal["own", "parent", "parents"]


@dataclass(frozen=True, eq=False)
class Walk:
    """Arrays that the C reads to find rows, besides the numbers of states."""

    form: Form  # Tables read one feature, at most two, or any number
    # (n_tables,) int64 or None: The innermost feature of each table; None where table t has feature
    # t, and in the last form
    own: IntArray | None = None
    # (n_tables,) int64 or None: For the second form, the other feature of each table; its own one
    # where it has no other
    parents: IntArray | None = None
    # (n_reads,) int64 or None: For the third form, the features of all tables, the slowest-varying
    # of each first
    reads: IntArray | None = None
    # (n_tables,) int64 or None: For the third form, the number of features of each table
    arities: IntArray | None = None

    def n_bytes(self, n_features: int) -> int:
        """Return the bytes of all arrays."""
        bits = width_of(n_features - 1)
        arrays = [a for a in (self.own, self.parents, self.reads) if a is not None]
        arities = 0 if self.arities is None else self.arities.size * self.arity_bits
        return (sum(a.size for a in arrays) * bits + arities) // 8

    @property
    def arity_bits(self) -> int:
        """Width of an arity."""
        return 8 if self.arities is None else width_of(int(self.arities.max()))


def walk_of(program: Program) -> Walk:
    """Return the addressing of the rows of a program's tables."""
    arities = [len(table.features) for table in program.tables]
    if min(arities) < 1 or max(arities) > 2:
        reads = [f for table in program.tables for f in table.features]
        return Walk("parents", reads=np.array(reads), arities=np.array(arities))
    last = np.array([table.features[-1] for table in program.tables])
    own = None if np.array_equal(last, np.arange(len(program.tables))) else last
    if max(arities) == 1:
        return Walk("own", own)
    return Walk("parent", own, np.array([table.features[0] for table in program.tables]))


def orders(program: Program) -> Iterator[Program]:
    """Return programs of equal costs that may take fewer bytes to walk."""
    yield program
    by_own = {table.features[-1]: table for table in program.tables if table.features}
    if len(by_own) == len(program.tables) and walk_of(program).own is not None:
        tables = (by_own.get(f) or _nothing(program, f) for f in range(len(program.features)))
        yield replace(program, tables=tuple(tables))


def _nothing(program: Program, f: int) -> Table:
    """Return a table of zeros for a feature."""
    zeros = np.zeros((program.n_states[f], program.n_classes), dtype=np.int64)
    return Table(program.features[f].name, (f,), zeros, entry_bits=8)


@dataclass(frozen=True, eq=False)
class PackedKernel:
    """Everything the packed kernel reads, ready to print."""

    # What it sums, in its order of tables; costs equal those of the program it was made of but for
    # a constant
    program: Program
    packing: Packing  # How costs fill words
    rows: Rows  # The concatenated rows of all tables
    walk: Walk  # How the row of a table is found
    largest_sum: int  # No sum exceeds this for any input
    sum_bits: int  # Width of the sums

    family = "packed"
    addend = "costs"
    scratch_bytes = 0
    whole_bytes = 0

    @property
    def summary(self) -> str:
        """Its layout in a few words."""
        per_word, bits = self.packing.per_word, self.packing.word_bits
        costs = f"{per_word} costs" if per_word > 1 else "one cost"
        word = "a byte" if bits == 8 else f"a word of {bits} bits"
        parts = [f"{costs} of {self.packing.entry_bits} bits in {word}"]
        if self.rows.index is not None:
            parts.append(f"{len(self.rows.costs)} different rows for {self.n_rows}")
        if self.prior is not None:
            parts.append("a prior apart")
        return ", ".join(parts)

    @property
    def tables(self) -> tuple[Table, ...]:
        """The tables in the order in which they are walked."""
        return self.program.tables

    @property
    def prior(self) -> IntArray | None:
        """Initial values of the sums; None if they are zero."""
        return self.program.prior if self.program.prior.any() else None

    @cached_property
    def words(self) -> IntArray:
        """The stored rows, (n_planes, n_stored) int64."""
        return packed_words(self.rows.costs, self.packing)

    @property
    def n_rows(self) -> int:
        """Rows of all tables."""
        return sum(len(table.costs) for table in self.tables)

    @property
    def n_planes(self) -> int:
        """Words of a row."""
        return self.packing.n_planes(self.program.n_classes)

    @property
    def offset_bits(self) -> int:
        """Width of a row's number and of a word's place, one plane behind the last included."""
        stored = len(self.rows.costs)
        return max(16, width_of(max(self.n_rows, (self.n_planes + 1) * stored)))

    @property
    def additions(self) -> int:
        """Additions of costs per decision."""
        return (len(self.tables) - (self.prior is None)) * self.program.n_classes

    @property
    def rom_bytes(self) -> int:
        """Bytes of words, indices, prior and row addressing."""
        prior = 0 if self.prior is None else self.prior.size * width_of(int(self.prior.max())) // 8
        words = len(self.rows.costs) * self.packing.row_bytes(self.program.n_classes)
        addresses = self.walk.n_bytes(len(self.program.features))
        return words + self.rows.index_bytes + prior + addresses

    @property
    def work(self) -> tuple[float, ...]:
        """
        Terms: 1; tables, those with an index, those with own features; parents and their bits.

        Then words read; additions, those of unpacked costs, of several words, of a counter, the
        bytes of their sums, and the bits that bytes of words are shifted by.
        """
        n_tables, packing, n_states = len(self.tables), self.packing, self.program.n_states
        parents = [f for table in self.tables for f in table.features[:-1]]
        unpacked = self.additions * (packing.per_word > 1)
        several = unpacked * (self.n_planes > 1)
        return (
            1,
            n_tables,
            n_tables * (self.rows.index is not None),
            n_tables * (self.walk.own is not None),
            len(parents),
            sum((n_states[f] - 1).bit_length() for f in parents),
            n_tables * self.n_planes,
            self.additions,
            unpacked,
            several,
            several * self._is_counted,
            self.additions * self.sum_bits // 8,
            unpacked * packing.entry_bits * packing.word_bits // 8,
        )

    @property
    def product_work(self) -> tuple[float, ...]:
        """
        Terms: products, those in a walk over features; their turns, the additions of these.

        A product is formed by as many turns as a state has bits, and an addition for each that is
        set. All states are as frequent.
        """
        n_states, form = self.program.n_states, self.walk.form
        turns = additions = n_products = 0.0
        for table in self.tables:
            read = table.features if form == "parents" else table.features[:-1]
            for n in (n_states[f] for f in read):
                bits = [(s.bit_length(), s.bit_count()) for s in range(n)]
                # A factor is the largest state; in the other product it is the parent's state
                pairs = (bits[-1], bits[-1]) if form == "parents" else (bits[-1], _mean(bits))
                turns += sum(pair[0] for pair in pairs)
                additions += sum(pair[1] for pair in pairs)
                n_products += 2
        is_walk = form == "parents"
        return (n_products * (not is_walk), n_products * is_walk, turns, additions)

    @property
    def more_work(self) -> tuple[float, ...]:
        """
        Terms: those of `product_work`; roots among others; classes, costs added in a loop.

        Then costs whose place in a word is tested by a mask, costs in words of 16 and of 32 bits,
        and tables whose costs are added in a loop.
        """
        packing, n_tables = self.packing, len(self.tables)
        n_classes = self.program.n_classes
        n_costs, is_loop = n_tables * n_classes, n_classes > FEW
        is_split = packing.per_word > 1
        n_roots = sum(len(table.features) == 1 for table in self.tables)
        return (
            *self.product_work,
            n_roots * (self.walk.form == "parent"),
            n_classes,
            n_costs * is_loop,
            n_costs * (is_split and self.n_planes > 1 and not self._is_counted),
            n_costs * (is_split and packing.word_bits == 16),
            n_costs * (is_split and packing.word_bits == SUM_BITS),
            n_tables * is_loop,
        )

    @property
    def more_code(self) -> tuple[float, ...]:
        """
        Terms: a walk over features, roots among others; several costs in a word, words of 32 bits.

        Then a start of two sums on its own, and bytes of a sum.
        """
        form, n_read = self.walk.form, [len(table.features) for table in self.tables]
        return (
            int(form == "parents"),
            int(form == "parent" and min(n_read) == 1),
            int(self.packing.per_word > 1),
            int(self.packing.word_bits == SUM_BITS),
            int(form == "parents" and self.program.n_classes == 2 and len(n_read) > 1),
            self.sum_bits // 8,
        )

    @property
    def _is_counted(self) -> bool:
        """True if costs that are left in a word are counted."""
        return self.packing.per_word & (self.packing.per_word - 1) != 0

    @property
    def code(self) -> tuple[float, ...]:
        """Terms: 1, parents, index, own features, prior, several planes, a counter."""
        several = self.n_planes > 1
        return (
            1,
            ("own", "parent", "parents").index(self.walk.form),
            int(self.rows.index is not None),
            int(self.walk.own is not None),
            int(self.prior is not None),
            int(several),
            int(several and self._is_counted),
        )


def _mean(pairs: Sequence[tuple[int, int]]) -> tuple[float, float]:
    first, second = (sum(column) / len(pairs) for column in zip(*pairs, strict=True))
    return first, second


def packed(program: Program) -> Iterator[PackedKernel]:
    """Return the layouts of a program that pack costs into words."""
    if not can_unmap(program):
        return
    for lifted in lifted_priors(unmapped(program)):
        for ordered in orders(lifted):
            for kernel in _kernels(ordered):
                if kernel.rows.index is None or not _only_divided(kernel):
                    yield kernel


def _kernels(program: Program) -> Iterator[PackedKernel]:
    """Return the kernels of a program as it stands."""
    costs = np.concatenate([table.costs for table in program.tables])
    walk, largest_sum = walk_of(program), largest_cost(program)
    sum_bits = max(program.cost_bits, width_of(largest_sum))
    for packing in packings(int(costs.max())):
        for rows in (Rows(costs), unique_rows(costs)):
            yield PackedKernel(program, packing, rows, walk, largest_sum, sum_bits)


def _only_divided(kernel: PackedKernel) -> bool:
    """Return whether 16-bit targets hold the arrays of distinct rows only in parts."""
    most = max(kernel.words.size * kernel.packing.word_bits // 8, kernel.rows.index_bytes)
    return must_be_divided(most, kernel.rom_bytes)
