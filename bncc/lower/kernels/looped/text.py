"""The looped kernel as C: additions of a row to the lanes, and of the lanes to the sums."""

from bncc.lower.c.c99 import counted, counter, unsigned
from bncc.lower.kernels.base import KernelText
from bncc.lower.kernels.looped.layout import LoopedKernel
from bncc.lower.kernels.shared.packing import lane_values, moved, plus
from bncc.lower.kernels.shared.row_finder import finder_arrays, finder_names
from bncc.lower.kernels.shared.rows import cost_arrays
from bncc.program.ir import Program


def looped_text(program: Program, kernel: LoopedKernel, name: str, state_bits: int) -> KernelText:
    """Print the arrays and expressions of the looped kernel."""
    packing = kernel.packing
    digits = packing.word_bits // 4 if packing.per_word > 1 else 0
    words = cost_arrays(program, kernel.tables, packing.word_bits, "words", meaning(kernel), digits)
    finder, n_tables = kernel.finder, len(kernel.tables)
    return KernelText(
        template="lower/kernels/looped.c.j2",
        arrays=(*words.arrays, *finder_arrays(finder, words.starts, "its first word")),
        table_bytes=sum(a.n_bytes for a in words.arrays),
        context={
            **finder_names(finder, finder.entry_bits),
            "n_tables": n_tables,
            "has_number": finder.is_own or words.is_split,
            "costs": words,
            "table_type": counter(n_tables),
            **sum_names(kernel),
            "row_lines": row_lines(kernel, name),
        },
    )


def sum_names(kernel: LoopedKernel) -> dict[str, object]:
    """Return the names that templates use for the sums of lanes."""
    packing = kernel.packing
    return {
        "run": kernel.run,
        "n_runs": kernel.n_runs,
        "has_lanes": kernel.has_lanes,
        "lane_bits": kernel.parts[0].lane_bits,
        "entry_bits": packing.entry_bits,
        "part_type": "uint32_t" if kernel.part_bits == 32 else "uint_fast16_t",
        "word_type": unsigned(packing.word_bits),
        "has_word": packing.per_word > 1,
        "n_parts": len(kernel.parts),
        "results": _results(kernel),
        "prior": kernel.program.prior.tolist(),
    }


def meaning(kernel: LoopedKernel) -> str:
    """Describe a row."""
    packing = kernel.packing
    if packing.per_word == 1:
        return "Costs: one table per heading, one row per joint state, one entry per class."
    word = "word" if packing.word_bits > 8 else "byte"
    return (
        f"Costs of {counted(packing.entry_bits, 'bit')}, {packing.per_word} per {word}, "
        "the first in the lowest bits: one table per heading, one row per joint state."
    )


def row_lines(kernel: LoopedKernel, name: str) -> list[str]:
    """Print the additions of a row to the parts."""
    lines = []
    for w in range(kernel.n_words):
        word = f"{name}_rom_uint{kernel.packing.word_bits}(&row[{w}])"
        if kernel.packing.per_word > 1:
            lines.append(f"word = {word};")
            word = "word"
        for k, part in enumerate(kernel.parts):
            if part.word == w:
                lines.append(f"part{k} += {moved(kernel.packing, part, word)};")
    return lines


def _results(kernel: LoopedKernel) -> list[str]:
    """Print the cost of each class after a run."""
    starts = [f"{start}U" if start else "" for start in kernel.program.prior.tolist()]
    if kernel.n_runs > 1:
        starts = [f"cost[{c}]" for c in range(len(starts))]
    return [
        plus(*both) for both in zip(starts, lane_values(kernel.parts, kernel.sum_bits), strict=True)
    ]
