"""What finds rows that lie one after the other, as C: starts, features and multiples."""

from bncc._types import IntArray
from bncc.lower.c.c99 import ArrayText, array, unsigned
from bncc.lower.kernels.shared.finder import Finder


def finder_arrays(finder: Finder, starts: IntArray, what: str) -> list[ArrayText]:
    """
    Print what is known of each table, and the multiples that are looked up.

    Shapes: `starts` (n_tables,) int64.
    """
    entries = finder.entries.copy()
    entries[:, 0] = starts
    parts = [what]
    if not finder.is_own:
        parts.append("the feature whose state counts fastest")
    if finder.n_others:
        parts.append("each other feature and where its multiples begin")
    meaning = f"Of each table: {', '.join(parts)}."
    arrays = [array("table", finder.entry_bits, entries.ravel().tolist(), meaning)]
    if finder.multiples.size:
        meaning = "Multiples of the lengths that states count, looked up instead of multiplied."
        multiples = finder.multiples.tolist()
        arrays.append(array("multiples", finder.multiple_bits, multiples, meaning))
    return arrays


def finder_names(finder: Finder, place_bits: int) -> dict[str, object]:
    """Return the names that ``kernels/row_finder.c.j2`` uses."""
    return {
        "n_columns": finder.entries.shape[1],
        "is_own": finder.is_own,
        "n_others": finder.n_others,
        "row_length": finder.row_length,
        "entry_type": unsigned(finder.entry_bits),
        "multiple_type": unsigned(finder.multiple_bits),
        "at_type": "uint32_t" if place_bits == 32 else "uint_fast16_t",
    }
