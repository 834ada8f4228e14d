"""The kernel of cuts in lanes as C: lists of shapes and cuts, and the additions of a row."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import accumulate

from bncc.lower.c.c99 import LINE, ArrayText, broken, counted, unsigned, wrap, wrap_words
from bncc.lower.kernels.base import KernelText
from bncc.lower.kernels.cut_lanes.layout import CutLanesKernel, Plane
from bncc.lower.kernels.shared.packing import added_whole, lane_values, plus, taken_off
from bncc.lower.kernels.shared.rows import table_heading, table_lines
from bncc.program.ir import Program

INDENT = 12
"""Columns before a statement in the innermost loop."""


def cut_lanes_text(
    program: Program, kernel: CutLanesKernel, name: str, state_bits: int
) -> KernelText:
    """Print the arrays and expressions of the kernel of cuts in lanes."""
    rows = list(_rows(program, kernel))
    lines, ends = _row_lines(kernel, name)
    starts = [f"{start}U" if start else "" for start in kernel.program.prior.tolist()]
    lanes = lane_values(kernel.parts, kernel.sum_bits)
    return KernelText(
        template="lower/kernels/cut_lanes.c.j2",
        arrays=(*rows, *_shapes(kernel), *_cuts(kernel)),
        table_bytes=sum(each.n_bytes for each in rows),
        context={
            "n_shapes": len(kernel.shape_entries),
            "straight": _straight(kernel),
            "shape_type": unsigned(kernel.shape_bits),
            "feature_list_type": unsigned(kernel.feature_bits),
            "least_list_type": unsigned(kernel.least_bits),
            "n_parts": len(kernel.parts),
            "lane_bits": kernel.parts[0].lane_bits,
            "entry_bits": kernel.packing.entry_bits,
            "row_lines": lines,
            "has_word": any(line.startswith("word = ") for line in lines),
            "ends": ends,
            "results": [plus(*both) for both in zip(starts, lanes, strict=True)],
        },
    )


def _row_lines(kernel: CutLanesKernel, name: str) -> tuple[list[str], list[str]]:
    """Print the additions of a row's words to their sums, and the subtractions at the end."""
    lines: list[str] = []
    ends: list[str] = []
    first = 0
    for w in range(kernel.n_words):
        parts = [part for part in kernel.parts if part.word == w]
        for line in added_whole(kernel.packing, parts, first, _read(kernel, w, name)):
            lines += broken(line, "|", LINE - INDENT)
        ends += taken_off(parts, first)
        first += len(parts)
    return lines, ends


def _read(kernel: CutLanesKernel, word: int, name: str) -> str:
    """Print a word of the row at ``at``."""
    low, *high = (
        f"{name}_rom_uint{plane.bits}(&{name}_{_title(plane)}[at])"
        for plane in kernel.planes
        if plane.word == word
    )
    return " | ".join([low, *(f"((uint32_t){each} << 16U)" for each in high)])


def _title(plane: Plane) -> str:
    """Return the name of the array of a plane."""
    return f"words{plane.word}" if plane.shift == 0 else f"words{plane.word}_high"


def _rows(program: Program, kernel: CutLanesKernel) -> Iterator[ArrayText]:
    """Print the rows of all tables, one array per plane."""
    bits, per_word = kernel.packing.entry_bits, kernel.packing.per_word
    for plane in kernel.planes:
        digits = plane.bits // 4
        lines = []
        for table in kernel.program.tables:
            entries = kernel.entries(plane, table.costs).tolist()
            lines += table_lines(program, table, ([f"0x{e:0{digits}X}U,"] for e in entries))
        first = plane.word * per_word
        last = min(first + per_word, program.n_classes) - 1
        classes = f"classes {first} to {last}" if last > first else f"class {first}"
        comment = (
            f"Costs of {classes}, {counted(bits, 'bit')} each, the first in the lowest bits: one "
            "table per heading, one entry per joint state."
        )
        if plane.shift:
            comment = f"Bits from {plane.shift} on of each entry of words{plane.word}."
        yield ArrayText(
            unsigned(plane.bits),
            _title(plane),
            kernel.n_rows,
            comment,
            tuple(lines),
            kernel.n_rows * plane.bits // 8,
        )


@dataclass(frozen=True)
class StraightShape:
    """Straight-line code for the tables of a shape."""

    strides: tuple[int, ...]  # By cut
    n_rows: int  # Rows of a table
    end: int  # Index of the cut behind those of all its tables


def _straight(kernel: CutLanesKernel) -> tuple[StraightShape, ...]:
    """Return the shapes with straight-line code."""
    ends = accumulate(shape.n_cuts for shape in kernel.straight)
    pairs = zip(kernel.straight, ends, strict=True)
    return tuple(StraightShape(shape.strides, shape.n_rows, end) for shape, end in pairs)


def _shapes(kernel: CutLanesKernel) -> Iterator[ArrayText]:
    """Print the list of shapes, if a loop reads it."""
    if not kernel.looped:
        return
    n_entries = len(kernel.shape_entries)
    yield ArrayText(
        unsigned(kernel.shape_bits),
        "shapes",
        n_entries,
        "Shapes of tables: rows of all, rows of each, the row stride of each cut, and a zero.",
        tuple(line for shape in kernel.looped for line in wrap(shape.entries)),
        n_entries * kernel.shape_bits // 8,
    )


def _cuts(kernel: CutLanesKernel) -> Iterator[ArrayText]:
    """Print the lists of features and of least states."""
    features: list[str] = []
    leasts: list[str] = []
    for table, cuts in zip(kernel.program.tables, kernel.cuts, strict=True):
        read = [(each.feature, least) for each in cuts for least in each.least]
        heading = f"/* {table_heading(kernel.program, table)} */"
        features += [heading, *wrap_words(f"{f}U," for f, _ in read)]
        leasts += [heading, *wrap_words(f"{least}U," for _, least in read)]
    for name, bits, comment, lines in (
        ("features", kernel.feature_bits, "Feature of each cut of all tables.", features),
        ("leasts", kernel.least_bits, "Smallest state above each cut of all tables.", leasts),
    ):
        n_bytes = kernel.n_cuts * bits // 8
        yield ArrayText(unsigned(bits), name, kernel.n_cuts, comment, tuple(lines), n_bytes)
