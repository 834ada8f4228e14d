"""The packed kernel of cuts as C: the list of cuts, and rows byte by byte."""

from collections.abc import Iterator

from bncc.lower.c.c99 import ArrayText, array, counted, unsigned, wrap_words
from bncc.lower.kernels.base import KernelText
from bncc.lower.kernels.cut_packed.layout import BYTE, MARK_BITS, CutPackedKernel
from bncc.lower.kernels.shared.cut_places import gate_close
from bncc.lower.kernels.shared.rows import table_heading, table_lines
from bncc.program.ir import Program, width_of


def cut_packed_text(
    program: Program, kernel: CutPackedKernel, name: str, state_bits: int
) -> KernelText:
    """Print the arrays and expressions of the packed kernel of cuts."""
    tables = list(_rows(program, kernel))
    prior = kernel.prior
    if prior is not None:
        bits = width_of(int(prior.max()))
        tables.append(array("prior", bits, prior.tolist(), "Prior cost of each class."))
    largest_table = max(kernel.n_rows) * kernel.step
    return KernelText(
        template="lower/kernels/cut_packed.c.j2",
        arrays=(*tables, _cuts(kernel)),
        table_bytes=sum(a.n_bytes for a in tables),
        context={
            "n_cuts": kernel.n_cuts,
            "step": kernel.step,
            "row_bytes": kernel.row_bytes,
            "cost_bits": kernel.cost_bits,
            "cost_mask": f"0x{(1 << kernel.cost_bits) - 1:02X}U",
            "entry_type": unsigned(kernel.entry_bits),
            "least": _least(kernel),
            "feature": f"entry >> {MARK_BITS + kernel.least_bits}U",
            "place_type": "uint_fast16_t" if largest_table < 1 << 16 else "uint_fast32_t",
            "number_type": unsigned(kernel.number_bits) if kernel.dictionary else "",
            "scaled": _scaled("number", kernel.row_bytes, f"{name}_apart"),
            "has_sum": kernel.row_bytes.bit_count() > 1,
            "prior_type": "" if prior is None else tables[-1].type,
            "gate_cuts": kernel.gate_cuts,
            "gate_close": gate_close(kernel.program, kernel.largest_sum),
        },
    )


def _least(kernel: CutPackedKernel) -> str:
    """Print the extraction of a cut's smallest state above it."""
    # On AVR a shifted byte is an int, whose sign the mask would change.
    shifted = f"{'(uint8_t)' if kernel.entry_bits == BYTE else ''}(entry >> {MARK_BITS}U)"
    return f"({shifted} & 0x{(1 << kernel.least_bits) - 1:02X}U)"


def _scaled(number: str, factor: int, apart: str) -> str:
    """Print a product as a sum of shifts, which a function keeps compilers from joining."""
    shifts = [k for k in reversed(range(factor.bit_length())) if factor >> k & 1]
    first, *others = (f"{number} << {k}U" if k else number for k in shifts)
    first = f"({first})" if others and " " in first else first
    # A shifted uint_fast16_t of 16 bits is an int.
    typed = (f"(uint_fast16_t)({each})" if " " in each else each for each in others)
    return " + ".join([first, *(f"{apart}({each})" for each in typed)])


def _rows(program: Program, kernel: CutPackedKernel) -> Iterator[ArrayText]:
    """Print the rows of all tables, or the distinct ones and their numbers."""
    tables = kernel.program.tables
    costs = f"Costs of {counted(kernel.cost_bits, 'bit')} without gaps, first class lowest"
    row = f"{counted(kernel.row_bytes, 'byte')} per"
    if kernel.dictionary is None:
        lines = [
            line
            for table in tables
            for line in table_lines(program, table, _bytes(kernel.packed(table.costs).tolist()))
        ]
        meaning = f"{costs}: one table per heading, {row} joint state."
        n_bytes = kernel.stored_bytes
        yield ArrayText("uint8_t", "rows", n_bytes, meaning, tuple(lines), n_bytes)
        return
    distinct = _bytes(kernel.packed(kernel.dictionary.costs).tolist())
    lines = [line for each in distinct for line in wrap_words(each)]
    n_bytes = kernel.stored_bytes
    yield ArrayText(
        "uint8_t", "rows", n_bytes, f"{costs}: {row} distinct row.", tuple(lines), n_bytes
    )
    lines = [
        line
        for table, numbers in zip(tables, kernel.dictionary.numbers, strict=True)
        for line in table_lines(program, table, ([f"{k}U,"] for k in numbers.tolist()))
    ]
    n_numbers = sum(kernel.n_rows)
    yield ArrayText(
        unsigned(kernel.number_bits),
        "numbers",
        n_numbers,
        "Distinct row of each joint state, one table per heading.",
        tuple(lines),
        n_numbers * kernel.number_bits // 8,
    )


def _bytes(rows: list[list[int]]) -> list[list[str]]:
    return [[f"0x{byte:02X}U," for byte in row] for row in rows]


def _cuts(kernel: CutPackedKernel) -> ArrayText:
    """Print the list of cuts."""
    lines, digits = [], kernel.entry_bits // 4
    for table, entries in zip(kernel.program.tables, kernel.entries, strict=True):
        lines.append(f"/* {table_heading(kernel.program, table)} */")
        lines += wrap_words(f"0x{entry:0{digits}X}U," for entry in entries.tolist())
    return ArrayText(
        unsigned(kernel.entry_bits),
        "cuts",
        kernel.n_cuts,
        "Cuts of all tables. Bit 0: a further cut of the previous feature; bit 1: the table has "
        f"another cut; then {counted(kernel.least_bits, 'bit')}: the smallest state above it; then "
        "its feature.",
        tuple(lines),
        kernel.n_cuts * kernel.entry_bits // 8,
    )
