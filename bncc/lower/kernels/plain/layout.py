"""
The plain kernel: one entry per cost, summed in one loop over tables and one over classes.

The address of a row is formed without a multiplication: states index small arrays of multiples,
one per distinct stride.
"""

from dataclasses import dataclass
from math import prod

import numpy as np

from bncc._types import IntArray
from bncc.lower.kernels.base import FEW
from bncc.program.ir import Program, Table, n_levels, width_of
from bncc.program.ranges import largest_cost


@dataclass(frozen=True, eq=False)
class Term:
    """One summand of a row address, for the tables that read this many features."""

    n_tables: int  # The term concerns tables ``0 .. n_tables - 1``.
    features: IntArray  # (n_tables,) int64: The feature whose state is multiplied
    multiples: IntArray  # (n_tables,) int64: Where the multiples of this table's stride begin


@dataclass(frozen=True, eq=False)
class PlainKernel:
    """Everything the plain kernel reads, ready to print."""

    tables: tuple[Table, ...]  # In kernel order: tables that read more features come first
    costs: IntArray  # (n_entries,) int64: All rows concatenated, class index fastest
    entry_bits: int  # Width of an entry
    starts: IntArray  # (n_tables,) int64: First entry of each table
    # Terms of the row address; the first concerns every table and has stride n_classes
    terms: tuple[Term, ...]
    # (n,) int64: Multiples 0, s, 2s, ... of every distinct stride s; through a state map, the
    # multiples of the levels that the states have.
    multiples: IntArray
    offset_bits: int  # offset_bits and multiple_bits: Widths of an entry's index and of a multiple
    multiple_bits: int
    # (n_classes,) int64 or None: None when the sum starts from two rows instead
    prior: IntArray | None
    largest_sum: int  # No sum exceeds this for any input
    sum_bits: int  # Width of the sums

    family = "plain"
    addend = "costs"
    scratch_bytes = 0
    whole_bytes = 0

    @property
    def summary(self) -> str:
        """Its layout in a few words."""
        return f"rows of {self._n_classes} costs of {self.entry_bits} bits, summed one by one"

    @property
    def additions(self) -> int:
        """Additions of costs per decision."""
        return (self._summands - 1) * self._n_classes

    @property
    def rom_bytes(self) -> int:
        """Bytes of tables, prior and row addresses."""
        prior = 0 if self.prior is None else self.prior.size * width_of(int(self.prior.max()))
        looked_up = (term for k, term in enumerate(self.terms) if k or term.multiples.any())
        terms = sum(term.n_tables for term in looked_up) * 16
        addresses = self.starts.size * self.offset_bits + self.multiples.size * self.multiple_bits
        return (self.costs.size * self.entry_bits + prior + addresses + terms) // 8

    @property
    def work(self) -> tuple[float, ...]:
        """Terms: 1, tables, look-ups of parents, costs added."""
        parents = sum(term.n_tables for term in self.terms[1:])
        return (1, len(self.tables), parents, self.additions)

    @property
    def code(self) -> tuple[float, ...]:
        """Terms: 1, parents per table."""
        return (1, len(self.terms) - 1)

    @property
    def more_work(self) -> tuple[float, ...]:
        """
        Terms: parents in a loop over tables, places behind a state; rows added in a loop; classes.

        Then additions to sums of bytes above the first, and those of one cost at a time: sums of a
        byte are added four at a time, in a word.
        """
        n_tables, n_classes = len(self.tables), self._n_classes
        parents = sum(term.n_tables for term in self.terms[1:])
        sum_bytes = self.sum_bits // 8
        is_by_words = n_classes % 4 == 0 and sum_bytes == 1
        return (
            parents * (n_tables > FEW),
            n_tables * bool(self.terms[0].multiples.any()),
            n_tables * (n_classes > FEW),
            n_classes,
            self.additions * (sum_bytes - 1),
            self.additions * (not is_by_words),
        )

    @property
    def more_code(self) -> tuple[float, ...]:
        """Terms: bytes of a sum above the first, a prior, costs that are added one at a time."""
        sum_bytes = self.sum_bits // 8
        is_by_words = self._n_classes % 4 == 0 and sum_bytes == 1
        return (sum_bytes - 1, int(self.prior is not None), int(not is_by_words))

    @property
    def _summands(self) -> int:
        return len(self.tables) + (self.prior is not None)

    @property
    def _n_classes(self) -> int:
        return int(self.tables[0].costs.shape[1])


def plain(program: Program) -> PlainKernel:
    """
    Lay a program out, one entry per cost.

    Notes
    -----
    A program whose prior is zero starts from the rows of its first two tables. With one table and
    no prior the kernel would copy a row, and compilers turn such a loop into a call of memcpy: the
    sums then start from 1 for every class, which leaves all margins as they are.
    """
    prior = program.prior if program.prior.any() else None
    if prior is None and len(program.tables) == 1:
        prior = np.ones_like(program.prior)
    tables = tuple(sorted(program.tables, key=lambda table: -len(table.features)))
    starts = np.cumsum([0] + [table.costs.size for table in tables])
    multiples, places = _multiples(program, tables)
    arity = max(len(table.features) for table in tables)
    terms = []
    for k in range(arity):
        deep = [table for table in tables if len(table.features) > k]
        features = [table.features[len(table.features) - 1 - k] for table in deep]
        places_k = [places[_multiplied(program, table, k)] for table in deep]
        terms.append(Term(len(deep), np.array(features), np.array(places_k)))
    entry_bits = max(table.entry_bits for table in tables)
    largest_sum = largest_cost(program) + int(prior is not None and not program.prior.any())
    return PlainKernel(
        tables=tables,
        costs=np.concatenate([table.costs.ravel() for table in tables]),
        entry_bits=entry_bits,
        starts=starts[:-1],
        terms=tuple(terms),
        multiples=multiples,
        offset_bits=max(16, width_of(int(starts[-1]))),
        multiple_bits=width_of(int(multiples.max())),
        prior=prior,
        largest_sum=largest_sum,
        sum_bits=max(program.cost_bits, width_of(largest_sum)),
    )


def _multiplied(program: Program, table: Table, k: int) -> tuple[int, tuple[int, ...]]:
    """
    Return how the feature k places from the innermost counts.

    First the entries between neighboring states, or levels; then the level of each state, empty
    where a state counts itself.
    """
    place = len(table.features) - 1 - k
    levels = n_levels(table, program.n_states)[place + 1 :]
    return program.n_classes * prod(levels), table.maps.get(table.features[place], ())


def _multiples(
    program: Program, tables: tuple[Table, ...]
) -> tuple[IntArray, dict[tuple[int, tuple[int, ...]], int]]:
    """Return the concatenated multiples of all strides, and where each stride's begin."""
    length: dict[tuple[int, tuple[int, ...]], int] = {(program.n_classes, ()): 1}
    for table in tables:
        for k, f in enumerate(reversed(table.features)):
            key = _multiplied(program, table, k)
            length[key] = max(length.get(key, 0), program.n_states[f])
    arrays, places, place = [], {}, 0
    for key, n in length.items():
        stride, levels = key
        arrays.append(np.array(levels or range(n)) * stride)
        places[key] = place
        place += n
    return np.concatenate(arrays), places
