"""The packed kernel as C: words of costs in planes, and the addressing of rows."""

from collections.abc import Iterator

import numpy as np

from bncc.lower.c.c99 import ArrayText, array, counted, counter, unsigned, wrap_words
from bncc.lower.kernels.base import KernelText
from bncc.lower.kernels.packed.layout import PackedKernel, Walk
from bncc.lower.kernels.shared.packing import plane_lines
from bncc.lower.kernels.shared.rows import table_ends, table_heading, table_numbers
from bncc.program.ir import Program, Table, width_of

_WORD = {8: "byte", 16: "16-bit word", 32: "32-bit word"}


def packed_text(program: Program, kernel: PackedKernel, name: str, state_bits: int) -> KernelText:
    """Print the arrays and expressions of the packed kernel."""
    ends = _ends(kernel)
    words = tuple(_word_arrays(kernel, ends))
    tables = [*_index(kernel), *words]
    prior = kernel.prior
    if prior is not None:
        bits = width_of(int(prior.max()))
        tables.append(array("prior", bits, prior.tolist(), "Prior cost of each class."))
    others = _addresses(kernel.walk, len(program.features))
    packing, n_tables = kernel.packing, len(kernel.tables)
    per_word = packing.per_word
    return KernelText(
        template="lower/kernels/packed.c.j2",
        arrays=(*tables, *others),
        table_bytes=sum(a.n_bytes for a in tables),
        reads_last_states=True,
        context={
            "n_tables": n_tables,
            "table_type": counter(n_tables),
            "parts": tuple(
                {"array": a.name, "first": first, "end": end, "n_rows": a.length // kernel.n_planes}
                for a, first, end in zip(words, (0, *ends), ends, strict=False)
            ),
            "n_planes": kernel.n_planes,
            "per_word": per_word,
            "is_counted": per_word & (per_word - 1) != 0,
            "entry_bits": packing.entry_bits,
            "mask": f"0x{(1 << packing.entry_bits) - 1:02X}U",
            "word_name": _WORD[packing.word_bits],
            "word_type": unsigned(packing.word_bits),
            "offset_type": unsigned(kernel.offset_bits),
            "row_id_type": "" if kernel.rows.index is None else unsigned(kernel.rows.index_bits),
            "prior_type": "" if prior is None else tables[-1].type,
            "form": kernel.walk.form,
            "has_own": kernel.walk.own is not None,
            "has_roots": any(len(table.features) == 1 for table in kernel.tables),
            "read_type": unsigned(width_of(len(program.features) - 1)),
            "arity_type": unsigned(kernel.walk.arity_bits),
            "place_type": counter(0 if kernel.walk.reads is None else len(kernel.walk.reads)),
        },
    )


def _ends(kernel: PackedKernel) -> tuple[int, ...]:
    """Return where each array of words ends, in tables."""
    if kernel.rows.index is not None:
        return (len(kernel.tables),)
    row_bytes = kernel.packing.row_bytes(kernel.program.n_classes)
    return table_ends([len(table.costs) * row_bytes for table in kernel.tables])


def _word_arrays(kernel: PackedKernel, ends: tuple[int, ...]) -> Iterator[ArrayText]:
    """Print the stored rows, in one array or in several of whole tables."""
    bits = kernel.packing.word_bits
    starts = np.cumsum([0] + [len(table.costs) for table in kernel.tables])
    for k, (first, end) in enumerate(zip((0, *ends), ends, strict=False)):
        part = kernel.words
        tables: tuple[Table, ...] = ()
        if kernel.rows.index is None:
            part = part[:, starts[first] : starts[end]]
            tables = kernel.tables[first:end]
        lines = plane_lines(kernel.program, kernel.packing, part, tables=tables)
        comment = _meaning(kernel)
        if len(ends) > 1:
            comment += f" This array has {table_numbers(first, end)}."
        name = f"words{k + 1}" if len(ends) > 1 else "words"
        n_bytes = part.size * bits // 8
        yield ArrayText(unsigned(bits), name, part.size, comment, tuple(lines), n_bytes)


def _meaning(kernel: PackedKernel) -> str:
    """Describe the layout of the words."""
    packing, word = kernel.packing, _WORD[kernel.packing.word_bits]
    rows = "row" if kernel.rows.index is None else "distinct row"
    if packing.per_word == 1:
        return f"Costs, class by class: a {word} per {rows}."
    costs = f"Costs of {counted(packing.entry_bits, 'bit')}"
    if kernel.n_planes == 1:
        return f"{costs}, a {word} per {rows}, the first class lowest."
    return (
        f"{costs}, {packing.per_word} per {word}, the first in the lowest bits: for the first "
        f"{packing.per_word} classes a {word} per {rows}, then for the next."
    )


def _index(kernel: PackedKernel) -> list[ArrayText]:
    """Print which stored row each row is."""
    index = kernel.rows.index
    if index is None:
        return []
    lines, at = [], 0
    for table in kernel.tables:
        lines.append(f"/* {table_heading(kernel.program, table)} */")
        lines += wrap_words(f"{k}U," for k in index[at : at + len(table.costs)].tolist())
        at += len(table.costs)
    bits = kernel.rows.index_bits
    meaning = "Distinct row of each joint state, table by table."
    n_bytes = len(index) * bits // 8
    return [ArrayText(unsigned(bits), "index", len(index), meaning, tuple(lines), n_bytes)]


def _addresses(walk: Walk, n_features: int) -> list[ArrayText]:
    """Print which features the tables read."""
    bits = width_of(n_features - 1)
    arrays = []
    if walk.own is not None:
        meaning = "Fastest-varying feature of each table."
        arrays.append(array("feature", bits, walk.own.tolist(), meaning))
    if walk.parents is not None:
        meaning = "The other feature of each table, or the same one if there is no other."
        arrays.append(array("parent", bits, walk.parents.tolist(), meaning))
    if walk.reads is not None and walk.arities is not None:
        meaning = "Features of all tables, each table's slowest-varying first."
        arrays.append(array("feature", bits, walk.reads.tolist(), meaning))
        meaning = "Number of features that each table reads."
        arrays.append(array("arity", walk.arity_bits, walk.arities.tolist(), meaning))
    return arrays
