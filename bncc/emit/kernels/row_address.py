"""Row addresses in straight-line code: shifts, and look-ups for all other multiples."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from bncc.compiler.ir import Program, Table, n_levels, width_of
from bncc.emit.c99 import ArrayText, array


@dataclass(frozen=True, eq=False)
class AddressText:
    """The addresses of all tables' rows.

    Parameters
    ----------
    of : tuple of str
        By table: the first entry of the row that the states choose, an expression.
    arrays : tuple of ArrayText
        Multiples that the expressions read.
    """

    of: tuple[str, ...]
    arrays: tuple[ArrayText, ...]


def address_text(
    program: Program,
    tables: Sequence[Table],
    row_length: int,
    name: str,
    state: Callable[[int], str] = "x[{}]".format,
    place: Callable[[int], str] = "x[{}]".format,
) -> AddressText:
    """Print where each table's row begins.

    Parameters
    ----------
    program : Program
        The program that is printed.
    tables : sequence of Table
        Whose rows are addressed.
    row_length : int
        Entries of a row.
    name : str
        Prefix of every symbol.
    state : callable
        Prints the state of a feature that is added or shifted.
    place : callable
        Prints the state of a feature whose multiple is looked up.

    Returns
    -------
    AddressText
        A multiple of a power of two is a shift. Others are looked up, for compilers that optimize
        for size would multiply.
    """
    lengths: dict[_Factor, int] = {}
    for table in tables:
        for f, factor in _factors(program, table, row_length):
            if factor.levels or not _is_power(factor.multiple):
                lengths[factor] = max(lengths.get(factor, 0), program.n_states[f])
    arrays = _arrays(lengths)
    of = tuple(_address(program, table, row_length, arrays, name, state, place) for table in tables)
    return AddressText(of, tuple(arrays.values()))


class _Factor(NamedTuple):
    """What the state of a feature is multiplied by, after its level took its place."""

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
            f"Multiples of {multiple}, looked up instead of multiplied.",
        )
    for k, factor in enumerate(factor for factor in lengths if factor.levels):
        multiples = [factor.multiple * level for level in factor.levels]
        meaning = "What a state adds to a row's address; states with equal rows add the same."
        arrays[factor] = array(f"level{k}", width_of(max(multiples)), multiples, meaning)
    return arrays


def _factors(program: Program, table: Table, row_length: int) -> list[tuple[int, _Factor]]:
    """Return each feature with what its state is multiplied by.

    Where rows have a power of two of entries, rows are counted first and shifted in the end.
    """
    factor = 1 if _is_power(row_length) else row_length
    factors = []
    counts = n_levels(table, program.n_states)
    for f, n in zip(reversed(table.features), reversed(counts), strict=True):
        factors.append((f, _Factor(factor, table.maps.get(f, ()))))
        factor *= n
    return factors[::-1]


def _address(
    program: Program,
    table: Table,
    row_length: int,
    arrays: Mapping[_Factor, ArrayText],
    name: str,
    state: Callable[[int], str],
    place: Callable[[int], str],
) -> str:
    # uint_fast16_t has 16 bits on an AVR and the width of a register elsewhere.
    wide = "uint_fast16_t" if table.costs.shape[0] * row_length < 2**16 else "uint32_t"
    terms = []
    for f, factor in _factors(program, table, row_length):
        if factor in arrays:
            multiples = arrays[factor]
            entry = f"{name}_{multiples.name}[{place(f)}]"
            multiple = f"{name}_rom_{multiples.type[:-2]}(&{entry})"
            is_widened = multiples.type == "uint8_t" and state(f) != place(f)
            terms.append(f"{name}_wide({multiple})" if is_widened else multiple)
        else:
            shift = factor.multiple.bit_length() - 1
            terms.append(f"(({wide}){state(f)} << {shift})" if shift else state(f))
    if len(terms) > 1 and not terms[0].startswith("(("):
        terms[0] = f"({wide}){terms[0]}"
    shift = row_length.bit_length() - 1
    rows = " + ".join(terms)
    if not (_is_power(row_length) and shift):
        return rows
    return f"({rows}) << {shift}" if len(terms) > 1 else f"({wide}){rows} << {shift}"


def _is_power(n: int) -> bool:
    return n & (n - 1) == 0
