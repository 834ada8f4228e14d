"""The lanes kernel as C: straight-line sums of words, and costs taken out of their lanes."""

from collections.abc import Iterator, Sequence

from bncc.compiler.ir import Program
from bncc.compiler.kernels.lane_layout import Level, Word
from bncc.compiler.kernels.lane_schedule import Step
from bncc.compiler.kernels.lanes import LaneKernel
from bncc.emit.c99 import ArrayText, unsigned
from bncc.emit.identifiers import c_comment
from bncc.emit.kernels.row_address import AddressText, address_text
from bncc.emit.kernels.rows import table_lines
from bncc.emit.kernels.text import KernelText

_REGISTER = 32
"""Bits of a word from which on C adds in the word's own type."""


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
    return KernelText(
        template="kernels/lanes.c.j2",
        arrays=(*tables, *address.arrays),
        table_bytes=sum(a.n_bytes for a in tables),
        decides=True,
        context={
            "word_type": _sum_type(kernel.lowest),
            "result_type": unsigned(kernel.highest.word_bits),
            "widens": len(kernel.schedule.levels) > 1,
            "is_signed": kernel.lowest.is_signed,
            "walked_bits": _walked_bits(kernel),
            "n_sums": len(kernel.highest.words),
            "lane_bits": kernel.lowest.lane_bits,
            "most_lanes": max(len(word.classes) for word in kernel.lowest.words),
            "sums": [
                (_sum_type(kernel.schedule.levels[level]), _variables(kernel, level))
                for level in kernel.schedule.used
            ],
            "steps": list(_statements(program, kernel, address, name)),
            "results": [_result(kernel, w) for w in range(len(kernel.highest.words))],
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


def _variables(kernel: LaneKernel, level: int) -> list[str]:
    """Return what the sums of a level are called: by their lanes where they are not the result."""
    at = kernel.schedule.levels[level]
    prefix = "sum" if at is kernel.highest else f"part{at.lane_bits}_"
    return [f"{prefix}{w}" for w in range(len(at.words))]


def _statements(
    program: Program, kernel: LaneKernel, address: AddressText, name: str
) -> Iterator[list[str]]:
    """Yield the statements of every step."""
    add = _walked if _walks(kernel) else _read
    for step in kernel.schedule.steps:
        if step.kind == "flush":
            yield _flush(kernel, step)
            continue
        t = step.number
        features = ", ".join(c_comment(program.features[f].name) for f in kernel.tables[t].features)
        yield [
            f"/* {features} */",
            f"row = &{name}_table{t}[{address.of[t]}];",
            *add(kernel, step, name),
        ]


def _read(kernel: LaneKernel, step: Step, name: str) -> Iterator[str]:
    """Yield the statements that add the words of a row."""
    reader = f"{name}_rom_{_sum_type(kernel.lowest)[:-2]}"
    return _added(kernel, step, [f"{reader}(&row[{w}])" for w in range(kernel.n_words)])


def _walked(kernel: LaneKernel, step: Step, name: str) -> Iterator[str]:
    """Yield the statements that add the bytes of a row one after the other."""
    level = kernel.schedule.levels[step.level]
    for w, variable in enumerate(_variables(kernel, step.level)):
        start = f"{kernel.prior[w] if level is kernel.highest else 0}U"
        before = start if step.is_first else variable
        yield f"{variable} = {name}_add_next{level.word_bits}({before}, &row);"


def _added(kernel: LaneKernel, step: Step, values: Sequence[str]) -> Iterator[str]:
    """Yield the statements that add values to the words of a level, or start their sums."""
    level = kernel.schedule.levels[step.level]
    for w, variable in enumerate(_variables(kernel, step.level)):
        start = _start(kernel, w) if step.is_first and level is kernel.highest else ""
        if level.word_bits >= _REGISTER:
            yield f"{variable} {'=' if step.is_first else '+='} {start}{values[w]};"
        elif step.is_first and not start:
            yield f"{variable} = {values[w]};"
        else:
            before = start if step.is_first else f"{variable} + "
            yield f"{variable} = ({_sum_type(level)})({before}{values[w]});"


def _start(kernel: LaneKernel, w: int) -> str:
    """Return what a word of the result starts from, and a plus, where that is not zero."""
    prior, bits = int(kernel.prior[w]), kernel.highest.word_bits
    terms = []
    if kernel.schedule.is_biased[w]:
        sign = 1 << (bits - 1)
        terms = [f"INT{bits}_MIN"] if prior < sign else []
        prior %= sign
    if prior:
        terms.append(f"0x{prior:X}" if kernel.lowest.is_signed else _hex(prior))
    return "".join(f"{term} + " for term in terms)


def _flush(kernel: LaneKernel, step: Step) -> list[str]:
    """Return the statements that add a level's sums to the level above."""
    level, below = kernel.schedule.levels[step.number], _variables(kernel, step.number)
    words = kernel.schedule.levels[step.level].words
    values = [_half(level, word, below[word.source]) for word in words]
    return [
        "/* Widen the lanes before one could overflow. */",
        *_added(kernel, step, values),
    ]


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


def _result(kernel: LaneKernel, w: int) -> str:
    """Return a word of the result as an unsigned number."""
    bits = kernel.highest.word_bits
    cast = f"({unsigned(bits)})" if kernel.lowest.is_signed else ""
    sign = f" ^ {_hex(1 << (bits - 1))}" if kernel.schedule.is_biased[w] else ""
    return f"{cast}sum{w}{sign}"


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


def _walks(kernel: LaneKernel) -> bool:
    """Return whether rows are read byte by byte, which an AVR does at one address that moves on."""
    return kernel.lowest.word_bits == 8


def _walked_bits(kernel: LaneKernel) -> list[int]:
    """Return the widths of the sums that bytes of rows are added to."""
    levels = {step.level for step in kernel.schedule.steps if step.kind == "row"}
    bits = {kernel.schedule.levels[level].word_bits for level in levels}
    return sorted(bits) if _walks(kernel) else []


def _sum_type(level: Level) -> str:
    return f"{'int' if level.is_signed else 'uint'}{level.word_bits}_t"


def _hex(value: int) -> str:
    return f"0x{int(value):X}U"
