"""
Row addresses in straight-line code: where tables begin, shifts and look-ups.

Where the rows of a state begin, for code that looks a place up instead of computing it.

The row of two features (p, i) is ``x[p] * n[i] + x[i]``. A table of the places at which the rows of
every ``x[p]`` begin takes the product's place, and the states of p may share rows for nothing.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import NamedTuple, TypeAlias

import numpy as np

from bncc._types import IntArray
from bncc.lower.c.c99 import ArrayText, array, wrap_words
from bncc.lower.c.identifiers import c_comment
from bncc.program.ir import Program, Table, n_levels, width_of

POINTER_BYTES = 4
"""Bytes of an address on a 32-bit target."""

RowStarts: TypeAlias = tuple[IntArray | None, ...]
"""By table: the first row of each state of its first feature, (n_states,) int64; None for a table
whose rows are found by a product."""


def row_starts(program: Program, tables: Sequence[Table]) -> RowStarts:
    """Return where rows begin in the tables of two features."""
    return tuple(_starts(program, table) if len(table.features) == 2 else None for table in tables)


def start_bytes(starts: RowStarts) -> int:
    """Return the bytes of all addresses that are looked up."""
    return POINTER_BYTES * sum(len(each) for each in starts if each is not None)


def level_bytes(tables: Sequence[Table], starts: RowStarts) -> int:
    """Estimate the bytes of the offsets that states with maps add to a row address."""
    found = set()
    for table, start in zip(tables, starts, strict=True):
        features = table.features if start is None else table.features[1:]
        found |= {(table.maps[f], k) for k, f in enumerate(reversed(features)) if f in table.maps}
    return sum(len(levels) for levels, _ in found)


def n_looked_up(starts: RowStarts) -> int:
    """Return how many tables' rows are found by such a look-up."""
    return sum(each is not None for each in starts)


def _starts(program: Program, table: Table) -> IntArray:
    first = table.features[0]
    levels = table.maps.get(first, range(program.n_states[first]))
    return np.array(levels, dtype=np.int64) * n_levels(table, program.n_states)[1]


@dataclass(frozen=True, eq=False)
class AddressText:
    """The addresses of all tables' rows."""

    of: tuple[str, ...]  # By table: the address of the row that the states choose, an expression
    # By table: what that address is counted from, the array or an address that is looked up
    first: tuple[str, ...]
    index: tuple[str, ...]  # By table: how many entries behind it the row begins, an expression
    index_type: tuple[str, ...]  # By table: the type of that expression, where int is not wider
    # Multiples and addresses that the expressions read, those of addresses last
    arrays: tuple[ArrayText, ...]
    row_type: str = ""  # Type that an address points to; empty if there is no array of addresses


@dataclass(frozen=True, eq=False)
class RowLayout:
    """The arrays ``table0``, ``table1``, ... that rows are found in."""

    tables: tuple[Table, ...]  # Whose rows are addressed
    lengths: tuple[int, ...]  # Entries of a row, by table
    starts: RowStarts  # Where rows begin in tables for which that is looked up
    type: str  # C type of an entry


def address_text(
    program: Program,
    rows: RowLayout,
    name: str,
    state: Callable[[int], str] = "x[{}]".format,
    place: Callable[[int], str] = "x[{}]".format,
) -> AddressText:
    """Print where each table's row begins."""
    lengths: dict[_Factor, int] = {}
    factors = [_factors_of(program, rows, t) for t in range(len(rows.tables))]
    for f, factor in chain(*factors):
        if factor.levels or not _is_power(factor.multiple):
            lengths[factor] = max(lengths.get(factor, 0), program.n_states[f])
    arrays = _arrays(lengths)
    of, firsts, indices, types = [], [], [], []
    for t, length in enumerate(rows.lengths):
        n_entries = len(rows.tables[t].costs) * length
        index = _index(factors[t], n_entries, length, arrays, name, state, place)
        if rows.starts[t] is None:
            first = f"{name}_table{t}"
        else:
            state_of_first = place(rows.tables[t].features[0])
            first = f"{name}_rom_row(&{name}_rows{t}[{state_of_first}])"
        of.append(f"&{first}[{index}]")
        firsts.append(first)
        indices.append(index)
        types.append(index_type(n_entries))
    pointers = tuple(_pointers(program, rows, name))
    row_type = rows.type if pointers else ""
    every_array = (*arrays.values(), *pointers)
    return AddressText(
        tuple(of), tuple(firsts), tuple(indices), tuple(types), every_array, row_type
    )


def _pointers(program: Program, rows: RowLayout, name: str) -> Iterator[ArrayText]:
    """Print where the rows of each state of a table's first feature begin."""
    for t, (table, starts) in enumerate(zip(rows.tables, rows.starts, strict=True)):
        if starts is not None:
            places = (starts * rows.lengths[t]).tolist()
            feature = program.features[table.features[0]].name
            yield ArrayText(
                type=f"{rows.type} *const",
                name=f"rows{t}",
                length=len(places),
                comment=f"First row of each state of {c_comment(feature)}.",
                lines=tuple(wrap_words(f"&{name}_table{t}[{place}]," for place in places)),
                n_bytes=len(places) * POINTER_BYTES,
            )


class _Factor(NamedTuple):
    """Factor of a feature's state, or of its level, in a row address."""

    multiple: int
    levels: tuple[int, ...] = ()


def _arrays(lengths: Mapping[_Factor, int]) -> dict[_Factor, ArrayText]:
    """Print the multiples of states, then those of levels in the order of their first use."""
    arrays = {}
    for factor in sorted(factor for factor in lengths if not factor.levels):
        multiple, n = factor.multiple, lengths[factor]
        arrays[factor] = array(
            f"times{multiple}",
            width_of(multiple * (n - 1)),
            range(0, multiple * n, multiple),
            f"Look-up table of the multiples of {multiple}.",
        )
    for k, factor in enumerate(factor for factor in lengths if factor.levels):
        multiples = [factor.multiple * level for level in factor.levels]
        meaning = "Offset of each state in a row address; states with equal rows share one."
        arrays[factor] = array(f"level{k}", width_of(max(multiples)), multiples, meaning)
    return arrays


def _factors_of(program: Program, rows: RowLayout, t: int) -> list[tuple[int, _Factor]]:
    """Return the features of a table whose states are multiplied, with their factors."""
    factors = _factors(program, rows.tables[t], rows.lengths[t])
    return factors if rows.starts[t] is None else factors[1:]


def _factors(program: Program, table: Table, row_length: int) -> list[tuple[int, _Factor]]:
    """
    Return each feature with what its state is multiplied by.

    Where rows have a power of two of entries, rows are counted first and shifted in the end.
    """
    factor = 1 if _is_power(row_length) else row_length
    factors = []
    counts = n_levels(table, program.n_states)
    for f, n in zip(reversed(table.features), reversed(counts), strict=True):
        factors.append((f, _Factor(factor, table.maps.get(f, ()))))
        factor *= n
    return factors[::-1]


def _index(
    factors: Sequence[tuple[int, _Factor]],
    n_entries: int,
    row_length: int,
    arrays: Mapping[_Factor, ArrayText],
    name: str,
    state: Callable[[int], str],
    place: Callable[[int], str],
) -> str:
    wide = index_type(n_entries)

    def widened(term: str) -> str:
        is_wide = wide == "uint_fast16_t" and term.startswith(f"{name}_wide(")
        return term if is_wide else f"({wide}){term}"

    terms = []
    for f, factor in factors:
        if factor in arrays:
            multiples = arrays[factor]
            entry = f"{name}_{multiples.name}[{place(f)}]"
            multiple = f"{name}_rom_{multiples.type[:-2]}(&{entry})"
            is_widened = multiples.type == "uint8_t" and state(f) != place(f)
            terms.append(f"{name}_wide({multiple})" if is_widened else multiple)
        else:
            shift = factor.multiple.bit_length() - 1
            terms.append(f"({widened(state(f))} << {shift})" if shift else state(f))
    if len(terms) > 1 and not terms[0].startswith("("):
        terms[0] = widened(terms[0])
    shift = row_length.bit_length() - 1
    rows = " + ".join(terms)
    if not (_is_power(row_length) and shift):
        return rows
    return f"({rows}) << {shift}" if len(terms) > 1 else f"{widened(rows)} << {shift}"


def index_type(n_entries: int) -> str:
    """Return the type of index computations for an array of a number of entries."""
    # uint_fast16_t has 16 bits on an AVR and the width of a register elsewhere.
    return "uint_fast16_t" if n_entries < 2**16 else "uint32_t"


def _is_power(n: int) -> bool:
    return n & (n - 1) == 0
