"""The looped kernel as C: what a row adds to the lanes, and what the lanes add to the sums."""

from bncc.compiler.ir import Program
from bncc.compiler.kernels.looped import LoopedKernel
from bncc.compiler.kernels.parts import Part
from bncc.emit.c99 import array, counter, unsigned
from bncc.emit.kernels.rows import cost_arrays
from bncc.emit.kernels.text import KernelText


def looped_text(program: Program, kernel: LoopedKernel, name: str, state_bits: int) -> KernelText:
    """Print the arrays and expressions of the looped kernel.

    Parameters
    ----------
    program : Program
        The program that is printed.
    kernel : LoopedKernel
        The same program laid out.
    name : str
        Prefix of every symbol.
    state_bits : {8, 16}
        Width of a state.

    Returns
    -------
    KernelText
        For the templates.
    """
    packing = kernel.packing
    digits = packing.word_bits // 4 if packing.per_word > 1 else 0
    words = cost_arrays(
        program, kernel.tables, packing.word_bits, "words", _meaning(kernel), digits
    )
    finder, n_tables = kernel.finder, len(kernel.tables)
    entries = finder.entries.copy()
    entries[:, 0] = words.starts
    arrays = [array("table", finder.entry_bits, entries.ravel().tolist(), _found(kernel))]
    if finder.multiples.size:
        meaning = "Multiples of the lengths that states count, looked up instead of multiplied."
        multiples = finder.multiples.tolist()
        arrays.append(array("multiples", finder.multiple_bits, multiples, meaning))
    is_wide = kernel.has_lanes or max(kernel.sum_bits, packing.word_bits) > 16
    return KernelText(
        template="kernels/looped.c.j2",
        arrays=(*words.arrays, *arrays),
        table_bytes=sum(a.n_bytes for a in words.arrays),
        context={
            "n_tables": n_tables,
            "n_columns": entries.shape[1],
            "is_own": finder.is_own,
            "n_others": finder.n_others,
            "has_number": finder.is_own or words.is_split,
            "row_length": finder.row_length,
            "entry_type": unsigned(finder.entry_bits),
            "multiple_type": unsigned(finder.multiple_bits),
            "at_type": "uint_fast16_t" if finder.entry_bits == 16 else "uint32_t",
            "costs": words,
            "table_type": counter(n_tables),
            "run": kernel.run,
            "n_runs": kernel.n_runs,
            "has_lanes": kernel.has_lanes,
            "lane_bits": kernel.parts[0].lane_bits,
            "entry_bits": packing.entry_bits,
            "part_type": "uint32_t" if is_wide else "uint_fast16_t",
            "word_type": unsigned(packing.word_bits),
            "has_word": packing.per_word > 1,
            "row_lines": _row_lines(kernel, name),
            "n_parts": len(kernel.parts),
            "results": _results(kernel),
            "prior": kernel.program.prior.tolist(),
        },
    )


def _meaning(kernel: LoopedKernel) -> str:
    """Say what a row is."""
    packing = kernel.packing
    if packing.per_word == 1:
        return "Costs: one table per heading, one row per joint state, one entry per class."
    word = "word" if packing.word_bits > 8 else "byte"
    return (
        f"Costs of {packing.entry_bits} bits, {packing.per_word} to a {word}, the first of them "
        "lowest: one\n * table per heading, one row per joint state."
    )


def _found(kernel: LoopedKernel) -> str:
    """Say what is known of each table."""
    parts = ["its first word"]
    if not kernel.finder.is_own:
        parts.append("the feature whose state counts fastest")
    if kernel.finder.n_others:
        parts.append("each other feature and where its multiples begin")
    return f"Of each table: {', '.join(parts)}."


def _row_lines(kernel: LoopedKernel, name: str) -> list[str]:
    """Print what a row adds to the parts."""
    lines = []
    for w in range(kernel.n_words):
        word = f"{name}_rom_uint{kernel.packing.word_bits}(&row[{w}])"
        if kernel.packing.per_word > 1:
            lines.append(f"word = {word};")
            word = "word"
        for k, part in enumerate(kernel.parts):
            if part.word == w:
                lines.append(f"part{k} += {_moved(kernel, part, word)};")
    return lines


def _moved(kernel: LoopedKernel, part: Part, word: str) -> str:
    """Print the lanes of a part, moved down."""
    moved = f"{word} >> {part.shift}" if part.shift else word
    if part.is_rest:
        return moved
    entry = (1 << kernel.packing.entry_bits) - 1
    mask = sum(entry << (lane * part.lane_bits) for lane in range(len(part.classes)))
    digits = kernel.packing.word_bits // 4
    return f"({moved}) & 0x{mask:0{digits}X}U" if part.shift else f"{moved} & 0x{mask:0{digits}X}U"


def _results(kernel: LoopedKernel) -> list[str]:
    """Print by class what its cost is after a run."""
    lanes: dict[int, str] = {}
    for k, part in enumerate(kernel.parts):
        for lane, c in enumerate(part.classes):
            text = f"part{k} >> {lane * part.lane_bits}" if lane else f"part{k}"
            if c != part.classes[-1]:
                mask = f"0x{(1 << part.lane_bits) - 1:X}U"
                text = f"({text}) & {mask}" if lane else f"{text} & {mask}"
            lanes[c] = text
    starts = [f"{start}U" if start else "" for start in kernel.program.prior.tolist()]
    if kernel.n_runs > 1:
        starts = [f"cost[{c}]" for c in range(len(lanes))]
    return [_sum(start, lanes[c]) for c, start in enumerate(starts)]


def _sum(start: str, lane: str) -> str:
    if not start:
        return lane
    return f"{start} + {lane}" if " " not in lane else f"{start} + ({lane})"
