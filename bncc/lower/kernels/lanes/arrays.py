"""The rows of kernels in lanes as C: a table of words, or of places in a dictionary of rows."""

from collections.abc import Iterator

from bncc._types import IntArray
from bncc.lower.c.c99 import ArrayText, literal_suffix, unsigned
from bncc.lower.kernels.lanes.layout import LaneKernel
from bncc.lower.kernels.lanes.sums import sum_type
from bncc.lower.kernels.shared.rows import table_lines
from bncc.program.ir import Program


def entry_type(kernel: LaneKernel) -> str:
    """Return the C type of what a table holds: words, or places of rows in the dictionary."""
    dictionary = kernel.dictionary
    return unsigned(dictionary.place_bits) if dictionary else sum_type(kernel.lowest)


def table_array(program: Program, kernel: LaneKernel, t: int, *, by_word: bool) -> ArrayText:
    """Return one table as an array, of its rows' words or of their places."""
    table, bits, rows = kernel.tables[t], kernel.lowest.word_bits, kernel.rows[t]
    length = rows.size
    entries = [list(_words(rows, kernel))]
    if kernel.dictionary:
        bits, length = kernel.dictionary.place_bits, len(rows)
        entries = [[[f"{place}U,"] for place in kernel.dictionary.places[t].tolist()]]
    elif by_word:
        entries = [[[row[w]] for row in entries[0]] for w in range(kernel.n_words)]
    heading, *lines = [line for each in entries for line in table_lines(program, table, each)]
    return ArrayText(
        type=entry_type(kernel),
        name=f"table{t}",
        length=length,
        comment=heading.removeprefix("/* ").removesuffix(" */"),
        lines=tuple(lines),
        n_bytes=length * bits // 8,
    )


def rows_once(rows: IntArray, kernel: LaneKernel) -> ArrayText:
    """
    Return the rows of a dictionary as an array of words.

    Shapes: `rows` (n_distinct, n_words) uint64.
    """
    lines = tuple(" ".join(words) for words in _words(rows, kernel))
    return ArrayText(
        type=sum_type(kernel.lowest),
        name="distinct",
        length=rows.size,
        comment="Distinct rows of all tables, which hold the places where theirs begin.",
        lines=lines,
        n_bytes=rows.size * kernel.lowest.word_bits // 8,
    )


def _words(rows: IntArray, kernel: LaneKernel) -> Iterator[list[str]]:
    """Print the words of rows in hexadecimal."""
    bits = kernel.lowest.word_bits
    digits, suffix = bits // 4, literal_suffix(bits, signed=kernel.lowest.is_signed)
    return ([f"0x{word:0{digits}X}{suffix}," for word in row] for row in rows.tolist())
