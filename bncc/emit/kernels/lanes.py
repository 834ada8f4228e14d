"""The lanes kernel as C: straight-line sums of words, and costs taken out of their lanes."""

from collections.abc import Iterable, Iterator

from bncc.compiler.ir import Program
from bncc.compiler.kernels.lane_layout import Level, Word
from bncc.compiler.kernels.lane_schedule import Step
from bncc.compiler.kernels.lanes import LaneKernel
from bncc.emit.c99 import ArrayText, unsigned
from bncc.emit.identifiers import c_comment
from bncc.emit.kernels.row_address import AddressText, address_text
from bncc.emit.kernels.rows import table_lines
from bncc.emit.kernels.text import KernelText

_NAMES = (("sum",), ("part", "sum"), ("part", "half", "sum"), ("part", "quarter", "half", "sum"))
"""What the sums of each level are called, by the number of levels."""


def lanes_text(program: Program, kernel: LaneKernel, name: str, state_bits: int) -> KernelText:
    """Print the arrays and statements of a kernel in lanes.

    Parameters
    ----------
    program : Program
        The program that is printed.
    kernel : LaneKernel
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
    address = address_text(program, kernel.tables, kernel.n_words, name)
    tables = [_table_array(program, kernel, t) for t in range(len(kernel.tables))]
    levels = kernel.schedule.levels
    names = _NAMES[len(levels) - 1]
    return KernelText(
        template="kernels/lanes.c.j2",
        arrays=(*tables, *address.arrays),
        table_bytes=sum(a.n_bytes for a in tables),
        decides=True,
        context={
            "word_type": unsigned(kernel.lowest.word_bits),
            "sum_type": _sum_type(kernel.lowest),
            "n_sums": len(kernel.highest.words),
            "lane_bits": kernel.lowest.lane_bits,
            "most_lanes": max(len(word.classes) for word in kernel.lowest.words),
            "levels": [
                [f"{level_name}{w}" for w in range(len(level.words))]
                for level, level_name in zip(levels, names, strict=True)
            ],
            "steps": list(_statements(program, kernel, address, name, names)),
            "results": _results(kernel),
            "class_costs": [_cost(kernel, c) for c in range(program.n_classes)],
        },
    )


def _table_array(program: Program, kernel: LaneKernel, t: int) -> ArrayText:
    """Return the rows of one table as an array of words."""
    table, rows, bits = kernel.tables[t], kernel.rows[t], kernel.lowest.word_bits
    digits = bits // 4
    words = ([f"0x{word:0{digits}X}U," for word in row] for row in rows.tolist())
    heading, *lines = table_lines(program, table, words)
    return ArrayText(
        type=_sum_type(kernel.lowest),
        name=f"table{t}",
        length=rows.size,
        comment=heading.removeprefix("/* ").removesuffix(" */"),
        lines=tuple(lines),
        n_bytes=rows.size * bits // 8,
    )


def _statements(
    program: Program, kernel: LaneKernel, address: AddressText, name: str, names: tuple[str, ...]
) -> Iterator[list[str]]:
    """Yield the statements of every step."""
    reader = f"{name}_rom_{_sum_type(kernel.lowest)[:-2]}"
    for step in kernel.schedule.steps:
        if step.kind == "flush":
            yield _flush(kernel, step, names)
            continue
        t = step.number
        features = ", ".join(c_comment(program.features[f].name) for f in kernel.tables[t].features)
        words = [f"{reader}(&row[{w}])" for w in range(kernel.n_words)]
        yield [
            f"/* {features} */",
            f"row = &{name}_table{t}[{address.of[t]}];",
            *_added(kernel, 0, names[0], words, is_first=step.is_first),
        ]


def _added(
    kernel: LaneKernel, level: int, name: str, values: Iterable[str], *, is_first: bool
) -> Iterator[str]:
    """Yield the statements that add a value to each word of a level, or start its sums."""
    is_top = level == len(kernel.schedule.levels) - 1
    for w, value in enumerate(values):
        start = _start(kernel, w) if is_first and is_top else ""
        yield f"{name}{w} {'=' if is_first else '+='} {start}{value};"


def _start(kernel: LaneKernel, w: int) -> str:
    """Return what a word of the result starts from, and a plus, where that is not zero."""
    prior, bits = int(kernel.prior[w]), kernel.lowest.word_bits
    terms = []
    if kernel.schedule.is_biased[w]:
        sign = 1 << (bits - 1)
        terms = [f"INT{bits}_MIN"] if prior < sign else []
        prior %= sign
    if prior:
        terms.append(f"0x{prior:X}" if kernel.lowest.is_signed else _hex(prior))
    return "".join(f"{term} + " for term in terms)


def _flush(kernel: LaneKernel, step: Step, names: tuple[str, ...]) -> list[str]:
    """Return the statements that add a level's sums to the level above."""
    level = kernel.schedule.levels[step.number]
    above = step.number + 1
    words = kernel.schedule.levels[above].words
    values = (_half(level, word, f"{names[step.number]}{word.source}") for word in words)
    added = _added(kernel, above, names[above], values, is_first=step.is_first)
    return ["/* Widen the lanes before one could overflow. */", *added]


def _half(level: Level, word: Word, source: str) -> str:
    """Return the even or the odd lanes of a word of the level below as an expression."""
    n_lanes = len(level.words[word.source].classes)
    if n_lanes == 1:
        return source
    before = f"({unsigned(level.word_bits)})" if level.is_signed else ""
    after = f"({_sum_type(level)})" if level.is_signed else ""
    moved = f"({before}{source} >> {level.lane_bits})" if word.is_odd else f"{before}{source}"
    if n_lanes == 2 and word.is_odd:
        return f"{after}{moved}"  # nothing lies above it
    mask = 0
    for k in range(len(word.classes)):
        place = 2 * k + word.is_odd
        is_last = place == n_lanes - 1
        width = level.word_bits - place * level.lane_bits if is_last else level.lane_bits
        mask |= ((1 << width) - 1) << (2 * k * level.lane_bits)
    return f"{after}({moved} & {_hex(mask)})"


def _results(kernel: LaneKernel) -> list[str]:
    """Return the words of the result as unsigned numbers."""
    bits = kernel.lowest.word_bits
    cast = f"({unsigned(bits)})" if kernel.lowest.is_signed else ""
    sign = f" ^ {_hex(1 << (bits - 1))}"
    return [
        f"{cast}sum{w}{sign if is_biased else ''}"
        for w, is_biased in enumerate(kernel.schedule.is_biased)
    ]


def _cost(kernel: LaneKernel, c: int) -> str:
    """Return the expression that takes a class's cost out of the sums."""
    level = kernel.highest
    w, lane = next(
        (w, word.classes.index(c)) for w, word in enumerate(level.words) if c in word.classes
    )
    shift = lane * level.lane_bits
    cost = f"sum[{w}] >> {shift}" if shift else f"sum[{w}]"
    if lane == len(level.words[w].classes) - 1:
        return cost
    mask = _hex((1 << level.lane_bits) - 1)
    return f"({cost}) & {mask}" if shift else f"{cost} & {mask}"


def _sum_type(level: Level) -> str:
    return f"{'int' if level.is_signed else 'uint'}{level.word_bits}_t"


def _hex(value: int) -> str:
    return f"0x{int(value):X}U"
