"""Words in planes as lines of C: word k of all rows, then the next word of all rows."""

from collections.abc import Iterator, Sequence

from bncc._types import IntArray
from bncc.lower.c.c99 import wrap_words
from bncc.lower.kernels.shared.packing import Packing
from bncc.lower.kernels.shared.rows import table_heading
from bncc.program.ir import Program, Table


def plane_lines(
    program: Program,
    packing: Packing,
    planes: IntArray,
    *,
    tables: Sequence[Table] = (),
    classes: Sequence[int] = (),
    word_bits: int | None = None,
) -> Iterator[str]:
    """
    Print words plane by plane, below the heading of each table.

    Shapes: `planes` (n_planes, n_rows) int64.
    """
    per_word, digits = packing.per_word, (word_bits or packing.word_bits) // 4
    classes = classes or range(program.n_classes)
    for k, plane in enumerate(planes.tolist()):
        which = _named(classes[k * per_word : (k + 1) * per_word])
        printed = [f"{w}U," if per_word == 1 else f"0x{w:0{digits}X}U," for w in plane]
        if not tables:
            yield f"/* {which} */"
            yield from wrap_words(printed)
        at = 0
        for table in tables:
            yield f"/* {which}: {table_heading(program, table)} */"
            yield from wrap_words(printed[at : at + len(table.costs)])
            at += len(table.costs)


def _named(classes: Sequence[int]) -> str:
    """Name the classes of a word."""
    first, *others = classes
    if not others:
        return f"Class {first}"
    if others == list(range(first + 1, first + 1 + len(others))):
        return f"Classes {first} to {others[-1]}"
    return f"Classes {', '.join(map(str, classes))}"
