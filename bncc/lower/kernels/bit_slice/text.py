"""The bit-slice kernel as C: rows of bits, and the adders in straight-line code."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from bncc.lower.c.c99 import LINE, ArrayText, broken, unsigned
from bncc.lower.c.identifiers import c_comment
from bncc.lower.kernels.base import KernelText
from bncc.lower.kernels.bit_slice.carry_save import Constant, Operand, RowWord, Step, UpperHalf
from bncc.lower.kernels.bit_slice.layout import BitSliceKernel
from bncc.lower.kernels.shared.row_address import RowLayout, address_text
from bncc.lower.kernels.shared.rows import table_heading, table_lines
from bncc.program.ir import Program

_POINTERS = ("row", "other")
"""Pointers to the rows of the one or two tables of a block."""


def bit_slice_text(
    program: Program, kernel: BitSliceKernel, name: str, state_bits: int
) -> KernelText:
    """Print the arrays and statements of the bit-slice kernel."""
    tables = [_table_array(program, kernel, t) for t in range(len(kernel.tables))]
    state = "x[{}]" if state_bits > 8 else name + "_wide(x[{}])"
    lengths = tuple(rows.shape[1] for rows in kernel.rows)
    rows = RowLayout(kernel.tables, lengths, kernel.starts, unsigned(kernel.word_bits))
    address = address_text(program, rows, name, state.format)
    blocks = [
        [part for line in block for part in broken(line)]
        for block in _Statements(program, kernel, name, address.of).blocks()
    ]
    pointed = {line.split()[0] for block in blocks for line in block}
    adders = [step for step in kernel.steps if step.into not in (None, step.target)]
    return KernelText(
        template="lower/kernels/bit_slice.c.j2",
        arrays=(*tables, *address.arrays),
        table_bytes=sum(table.n_bytes for table in tables),
        decides=True,
        context={
            "is_widened": state_bits == 8,
            "word_type": unsigned(kernel.word_bits),
            "row_type": address.row_type,
            "half_bits": kernel.half_bits,
            "n_levels": kernel.n_levels,
            "all_classes": _hex((1 << kernel.n_classes) - 1, kernel.word_bits),
            "variables": sorted({step.target for step in kernel.steps}),
            "row_pointers": [pointer for pointer in _POINTERS if pointer in pointed],
            "blocks": blocks,
            "addends": {len(step.operands) for step in adders},
            "halvings": [
                (n, f"0x{(1 << n) - 1:X}U") for n in (16, 8, 4, 2, 1) if n < kernel.n_classes
            ],
        },
    )


def _table_array(program: Program, kernel: BitSliceKernel, t: int) -> ArrayText:
    """Return the rows of one table as an array of words."""
    table, rows, bits = kernel.tables[t], kernel.rows[t], kernel.word_bits
    words = ([f"{_hex(word, bits)}," for word in row] for row in rows.tolist())
    return ArrayText(
        type=unsigned(bits),
        name=f"table{t}",
        length=rows.size,
        comment=table_heading(program, table),
        lines=tuple(table_lines(program, table, words)[1:]),
        n_bytes=rows.size * bits // 8,
    )


@dataclass(frozen=True)
class _Statements:
    """The statements of a sum."""

    program: Program  # The program that is printed
    kernel: BitSliceKernel  # The same program laid out
    name: str  # Prefix of every symbol
    rows: tuple[str, ...]  # By table the address of the row that its states choose

    def blocks(self) -> Iterator[list[str]]:
        """Yield blocks of lines: the prior, then one or two tables and what follows from them."""
        last_read = {w.table: k for k, step in enumerate(self.kernel.steps) for w in _words(step)}
        block: list[str] = []
        pointers: dict[int, str] = {}
        end = -1
        for k, step in enumerate(self.kernel.steps):
            starts = [w.table for w in _words(step) if w.word == 0]
            if k > end and (starts or UpperHalf(0) in step.operands):
                if block:
                    yield block
                tables = self._tables_from(k, last_read)
                end = max((last_read[t] for t in tables), default=k)
                pointers = self._pointers(tables)
                block = self._heading(tables, pointers)
            elif not block:
                block = ["/* The prior. */"]
            block += self._statement(step, pointers)
        yield block

    def _tables_from(self, k: int, last_read: Mapping[int, int]) -> list[int]:
        """
        Return the tables of the block that begins at a step: until each one's last word.

        Two tables of a pair may be read one after the other: where the first one's word sets a
        level, the second one's is added in a step of its own.
        """
        tables: list[int] = []
        end = k
        while k <= end:
            tables += [w.table for w in _words(self.kernel.steps[k]) if w.word == 0]
            end = max((last_read[t] for t in tables), default=k)
            k += 1
        return tables

    def _pointers(self, tables: list[int]) -> dict[int, str]:
        """Return the pointer to the row of each table whose rows have more than one word."""
        pointed = zip(tables, _POINTERS, strict=False)
        return {t: name for t, name in pointed if self.kernel.rows[t].shape[1] > 1}

    def _heading(self, tables: list[int], pointers: Mapping[int, str]) -> list[str]:
        """Return the comment that names the tables of a block, and the pointers to their rows."""
        if not tables:
            return ["/* The upper halves count twice. */"]
        kernel, features = self.kernel, self.program.features
        names = (
            ", ".join(c_comment(features[f].name) for f in kernel.tables[t].features)
            for t in tables
        )
        return [f"/* {'; '.join(names)} */"] + [
            f"{pointer} = {self.rows[t]};" for t, pointer in pointers.items()
        ]

    def _statement(self, step: Step, pointers: Mapping[int, str]) -> list[str]:
        words = [self._word(operand, pointers) for operand in step.operands]
        if step.into is None:
            return [f"{step.target} = {words[0]};"]
        if step.target == step.into:
            start, end = (f"({unsigned(self.kernel.word_bits)})(", ")")
            if self.kernel.word_bits == 32:
                start, end = "", ""
            return _wrapped(f"{step.target} = {start}", [step.into, *words], " ^ ", f"{end};")
        start = f"{step.target} = {self.name}_add{len(words)}("
        return _wrapped(start, [f"&{step.into}", *words], ", ", ");")

    def _word(self, operand: Operand, pointers: Mapping[int, str]) -> str:
        """Return a word as an expression; rows of several words are read by their pointers."""
        bits = self.kernel.word_bits
        if isinstance(operand, str):
            return operand
        if isinstance(operand, Constant):
            return _hex(operand.value, bits)
        if isinstance(operand, UpperHalf):
            half = f"sum{operand.level} >> {self.kernel.half_bits}"
            return half if bits == 32 else f"({unsigned(bits)})({half})"
        row = self.rows[operand.table]
        if self.kernel.rows[operand.table].shape[1] > 1:
            row = f"&{pointers[operand.table]}[{operand.word}]"
        return f"{self.name}_rom_uint{bits}({row})"


def _words(step: Step) -> list[RowWord]:
    """Return the words of rows that a step reads."""
    return [operand for operand in step.operands if isinstance(operand, RowWord)]


def _hex(value: int, bits: int) -> str:
    return f"0x{value:0{bits // 4}X}U"


def _wrapped(start: str, words: list[str], separator: str, end: str) -> list[str]:
    """Return a statement on one line if it fits, else with all but its first word below."""
    line = start + separator.join(words) + end
    if len(line) <= LINE:
        return [line]
    first, *rest = words
    mark = separator.rstrip()
    below = [f"    {word}{mark}" for word in rest[:-1]]
    return [f"{start}{first}{mark}", *below, f"    {rest[-1]}{end}"]
