"""The looped kernel of cuts as C: the list of cuts, and the additions of a row to the lanes."""

from collections.abc import Iterator

from bncc.lower.c.c99 import ArrayText, counter, unsigned, wrap
from bncc.lower.kernels.base import KernelText
from bncc.lower.kernels.cut_loop.layout import CutLoopKernel
from bncc.lower.kernels.looped.layout import LoopedKernel
from bncc.lower.kernels.looped.text import meaning, sum_names
from bncc.lower.kernels.shared.cut_places import gate_close
from bncc.lower.kernels.shared.packing import added_whole, taken_off
from bncc.lower.kernels.shared.rows import RowDictionary, cost_arrays, table_heading, table_lines
from bncc.program.ir import Program


def cut_loop_text(
    program: Program, kernel: CutLoopKernel, name: str, state_bits: int
) -> KernelText:
    """Print the arrays and expressions of the looped kernel of cuts."""
    sums = kernel.sums
    rows = list(_rows(program, kernel))
    n_tables, gate = len(kernel.cuts), sums.program.gate
    first = gate.tables if gate else 0
    place_bits = kernel.dictionary.place_bits if kernel.dictionary else 0
    return KernelText(
        template="lower/kernels/cut_loop.c.j2",
        arrays=(*rows, _cuts(program, kernel)),
        table_bytes=sum(a.n_bytes for a in rows),
        context={
            **sum_names(sums),
            "n_tables": n_tables,
            "table_type": counter(n_tables),
            "entry_type": unsigned(kernel.entry_bits),
            "is_doubled": kernel.is_doubled,
            # With many features, an entry is wider than a state.
            "listed_type": unsigned(max(kernel.entry_bits, state_bits)),
            "n_cuts": None if not kernel.same_n_cuts else kernel.n_cuts[0],
            "n_row_entries": kernel.n_rows[0] * kernel.row_length if kernel.same_n_rows else None,
            "place_type": unsigned(place_bits) if place_bits else "",
            "gate_tables": first,
            "gate_cuts": sum(kernel.n_cuts[:first]),
            "all_cuts": sum(kernel.n_cuts),
            # With a gate, lanes may hold the tables before it, and those after it, at once.
            "is_emptied": sums.run < max(first, n_tables - first),
            "gate_close": gate_close(sums.program, sums.largest_sum),
            **_word_lines(sums, name),
        },
    )


def _word_lines(sums: LoopedKernel, name: str) -> dict[str, object]:
    """Print the additions of a row's words to their sums, and the subtractions at the end."""
    lines, ends, first = [], [], 0
    for w in range(sums.n_words):
        parts = [part for part in sums.parts if part.word == w]
        read = f"{name}_rom_uint{sums.packing.word_bits}(&row[{w}])"
        lines += added_whole(sums.packing, parts, first, read)
        ends += taken_off(parts, first)
        first += len(parts)
    # avr-gcc would compute the low byte of the sums alone, and multiply to shift a byte.
    is_whole = bool(ends) and sums.sum_bits == 8 and sums.part_bits == 16
    if is_whole:
        ends += [f"part{k} = {name}_whole(part{k});" for k in range(first)]
    return {"row_lines": lines, "ends": ends, "has_word": bool(ends), "is_whole": is_whole}


def _rows(program: Program, kernel: CutLoopKernel) -> Iterator[ArrayText]:
    """Print the rows of all tables, or of the dictionary and the places in it."""
    sums, tables = kernel.sums, kernel.sums.tables
    bits = sums.packing.word_bits
    digits = bits // 4 if sums.packing.per_word > 1 else 0
    if kernel.dictionary is None:
        yield from cost_arrays(program, tables, bits, "words", meaning(sums), digits).arrays
        return
    yield _distinct(kernel.dictionary, bits, digits)
    places = [
        line
        for table, some in zip(tables, kernel.dictionary.places, strict=True)
        for line in table_lines(program, table, ([f"{place}U,"] for place in some.tolist()))
    ]
    n_places, place_bits = sum(kernel.n_rows), kernel.dictionary.place_bits
    yield ArrayText(
        unsigned(place_bits),
        "places",
        n_places,
        "Index of the row of each joint state, one table per heading.",
        tuple(places),
        n_places * place_bits // 8,
    )


def _distinct(dictionary: RowDictionary, word_bits: int, digits: int) -> ArrayText:
    """Print the distinct rows of all tables."""
    lines = []
    for row in dictionary.rows.tolist():
        words = (f"0x{word:0{digits}X}U," if digits else f"{word}U," for word in row)
        lines.append(" ".join(words))
    return ArrayText(
        unsigned(word_bits),
        "words",
        dictionary.rows.size,
        "Distinct rows of all tables.",
        tuple(lines),
        dictionary.rows.size * word_bits // 8,
    )


def _cuts(program: Program, kernel: CutLoopKernel) -> ArrayText:
    """Print the list of cuts."""
    lines = []
    for table, entries in zip(kernel.sums.program.tables, kernel.entries, strict=True):
        lines.append(f"/* {table_heading(program, table)} */")
        lines += wrap(entries.tolist())
    n_entries = sum(entries.size for entries in kernel.entries)
    parts = []
    if not kernel.same_n_cuts:
        parts.append("number of its entries")
    if not kernel.same_n_rows:
        parts.append(
            "number of words of its rows" if not kernel.dictionary else "number of its rows"
        )
    parts.append("for each cut the feature and the smallest state above it")
    if not kernel.is_doubled:
        parts[-1] = "for each cut the feature, the smallest state above it, and the row stride"
    return ArrayText(
        unsigned(kernel.entry_bits),
        "cuts",
        n_entries,
        f"Per table: {'; '.join(parts)}.",
        tuple(lines),
        n_entries * kernel.entry_bits // 8,
    )
