"""The lanes kernel as C: straight-line sums of words, and costs extracted from their lanes."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from bncc._types import IntArray
from bncc.lower.c.c99 import ArrayText, broken, cast, literal_suffix, unsigned
from bncc.lower.c.identifiers import c_comment
from bncc.lower.kernels.base import KernelText
from bncc.lower.kernels.lanes.layout import LaneKernel
from bncc.lower.kernels.lanes.schedule import WIDEST_SUM, Level, Step, Word
from bncc.lower.kernels.shared.row_address import AddressText, RowLayout, address_text
from bncc.lower.kernels.shared.rows import table_lines
from bncc.program.ir import Program

REGISTER = 32
"""Bits of a word from which on C adds in the word's own type."""


def sum_type(level: Level) -> str:
    """Return the C type of a level's words."""
    return f"{'int' if level.is_signed else 'uint'}{level.word_bits}_t"


def variables(kernel: LaneKernel, level: int) -> list[str]:
    """Name the sums of a level."""
    at = kernel.schedule.levels[level]
    prefix = "sum" if at is kernel.highest else f"part{at.lane_bits}_"
    return [f"{prefix}{w}" for w in range(len(at.words))]


def added(kernel: LaneKernel, step: Step, values: Sequence[str], cast: str = "") -> Iterator[str]:
    """Print additions to the words of a level."""
    level = kernel.schedule.levels[step.level]
    for w, variable in enumerate(variables(kernel, step.level)):
        start = _start(kernel, w) if step.is_first and level is kernel.highest else ""
        if level.word_bits >= REGISTER:
            yield f"{variable} {'=' if step.is_first else '+='} {start}{values[w]};"
        elif step.is_first and not start:
            yield f"{variable} = {values[w]};"
        else:
            before = f"{start}{cast}" if step.is_first else f"{variable} + "
            yield f"{variable} = ({sum_type(level)})({before}{values[w]});"


def flush(kernel: LaneKernel, step: Step) -> list[str]:
    """Print the addition of a level's sums to the level above."""
    level, below = kernel.schedule.levels[step.number], variables(kernel, step.number)
    words = kernel.schedule.levels[step.level].words
    values = [half(level, word, below[word.source]) for word in words]
    above = kernel.schedule.levels[step.level]
    is_wider = level.word_bits < above.word_bits < REGISTER
    cast = f"({sum_type(above)})" if is_wider else ""
    return [
        "/* Widen the lanes before one could overflow. */",
        *added(kernel, step, values, cast),
    ]


def _start(kernel: LaneKernel, w: int) -> str:
    """Return what a word of the result starts from, and a plus, where that is not zero."""
    prior, bits = int(kernel.prior[w]), kernel.highest.word_bits
    terms = []
    if kernel.schedule.is_biased[w]:
        sign = 1 << (bits - 1)
        terms = [f"INT{bits}_MIN"] if prior < sign else []
        prior %= sign
    if prior and kernel.lowest.is_signed:
        # The suffix says that it is signed, the cast that it is no wider than the sum.
        terms.append(f"(int{bits}_t)0x{prior:X}{literal_suffix(bits, signed=True)}")
    elif prior:
        terms.append(hexadecimal(prior))
    return "".join(f"{term} + " for term in terms)


def half(level: Level, word: Word, source: str) -> str:
    """Return the even or the odd lanes of a word, each in a lane twice as wide."""
    n_lanes = len(level.words[word.source].classes)
    if n_lanes == 1:
        return source
    before = f"({unsigned(level.word_bits)})" if level.is_signed else ""
    # What is narrower than an int is computed as one. No cast makes an unsigned sum a signed one
    # (MISRA rule 10.8): the first of two keeps its type.
    after = f"({sum_type(level)}){before}" if level.is_signed or level.word_bits < 32 else ""
    moved = f"({before}{source} >> {level.lane_bits})" if word.is_odd else f"{before}{source}"
    if n_lanes == 2 and word.is_odd:
        return f"{after}{moved}"  # nothing lies above it
    mask = 0
    for k in range(len(word.classes)):
        place = 2 * k + word.is_odd
        is_last = place == n_lanes - 1
        width = level.word_bits - place * level.lane_bits if is_last else level.lane_bits
        mask |= ((1 << width) - 1) << (2 * k * level.lane_bits)
    return f"{after}({moved} & {hexadecimal(mask)})"


def hexadecimal(value: int) -> str:
    """Print a number as an unsigned one in hexadecimal."""
    return f"0x{value:X}{literal_suffix(value.bit_length())}"


def entry_type(kernel: LaneKernel) -> str:
    """Return the C type of a table: words, or indices of rows in the dictionary."""
    dictionary = kernel.dictionary
    return unsigned(dictionary.place_bits) if dictionary else sum_type(kernel.lowest)


def table_array(program: Program, kernel: LaneKernel, t: int, *, by_word: bool) -> ArrayText:
    """Return one table as an array, of its rows' words or of their places."""
    table, bits, rows = kernel.tables[t], kernel.lowest.word_bits, kernel.rows[t]
    length = rows.size
    entries = [list(_words(rows, kernel))]
    if kernel.dictionary:
        bits, length = kernel.dictionary.place_bits, len(rows)
        entries = [[[f"{place}U,"] for place in kernel.dictionary.places[t].tolist()]]
    elif by_word:
        entries = [[[row[w]] for row in entries[0]] for w in range(kernel.n_words)]
    heading, *lines = [line for each in entries for line in table_lines(program, table, each)]
    return ArrayText(
        type=entry_type(kernel),
        name=f"table{t}",
        length=length,
        comment=heading.removeprefix("/* ").removesuffix(" */"),
        lines=tuple(lines),
        n_bytes=length * bits // 8,
    )


def rows_once(rows: IntArray, kernel: LaneKernel) -> ArrayText:
    """
    Return the rows of a dictionary as an array of words.

    Shapes: `rows` (n_distinct, n_words) uint64.
    """
    lines = tuple(" ".join(words) for words in _words(rows, kernel))
    return ArrayText(
        type=sum_type(kernel.lowest),
        name="distinct",
        length=rows.size,
        comment="Distinct rows of all tables; the tables hold the indices of their rows.",
        lines=lines,
        n_bytes=rows.size * kernel.lowest.word_bits // 8,
    )


def _words(rows: IntArray, kernel: LaneKernel) -> Iterator[list[str]]:
    """Print the words of rows in hexadecimal."""
    bits = kernel.lowest.word_bits
    digits, suffix = bits // 4, literal_suffix(bits, signed=kernel.lowest.is_signed)
    return ([f"0x{word:0{digits}X}{suffix}," for word in row] for row in rows.tolist())


@dataclass(frozen=True)
class Comparison:
    """One class's turn in the search for the least cost."""

    class_index: int  # The class
    word: int  # Which word of the result has its cost
    # How far up it moves; None where the class before it in the word moved, and it follows
    shift: int | None


def cost_type(kernel: LaneKernel) -> str:
    """Return the unsigned C type of a cost that is extracted from its lane."""
    return unsigned(min(kernel.highest.word_bits, WIDEST_SUM))


def result(kernel: LaneKernel, w: int) -> str:
    """Return a word of the result as an unsigned number."""
    bits = kernel.highest.word_bits
    cast = f"({unsigned(bits)})" if kernel.lowest.is_signed else ""
    sign = f" ^ {hexadecimal(1 << (bits - 1))}" if kernel.schedule.is_biased[w] else ""
    return f"{cast}sum{w}{sign}"


def cost_of(kernel: LaneKernel, c: int) -> str:
    """Return the expression that extracts a class's cost from the result."""
    level = kernel.highest
    w, lane = next(
        (w, word.classes.index(c)) for w, word in enumerate(level.words) if c in word.classes
    )
    shift = lane * level.lane_bits
    cost = f"sum[{w}] >> {shift}" if shift else f"sum[{w}]"
    if lane < len(level.words[w].classes) - 1:
        mask = hexadecimal((1 << level.lane_bits) - 1)
        cost = f"({cost}) & {mask}" if shift else f"{cost} & {mask}"
    return f"({cost_type(kernel)})({cost})" if level.word_bits > REGISTER else cost


def comparisons(kernel: LaneKernel, top: int) -> tuple[str, list[Comparison]]:
    """Return how to find the least cost by moving each cost up to one bit, the last class first."""
    level, found = kernel.highest, []
    for w, word in enumerate(level.words):
        *others, last = word.classes
        found.append(Comparison(last, w, top - len(others) * level.lane_bits))
        found += [Comparison(c, w, None) for c in others]
    return hexadecimal((1 << top) - 1), sorted(found, key=lambda each: -each.class_index)


def lane_names(kernel: LaneKernel) -> dict[str, object]:
    """Return the names that ``shared/lane_decision.c.j2`` and the sums before it use."""
    return {
        "word_type": sum_type(kernel.lowest),
        "result_type": unsigned(kernel.highest.word_bits),
        "least_type": cost_type(kernel),
        "n_words": kernel.n_words,
        "moves_up": kernel.top is not None,
        **_comparisons(kernel),
        "result_lane_bits": kernel.highest.lane_bits,
        "widens": len(kernel.schedule.levels) > 1,
        "n_sums": len(kernel.highest.words),
        "lane_bits": kernel.lowest.lane_bits,
        "most_lanes": max(len(word.classes) for word in kernel.lowest.words),
        "sums": [
            (sum_type(kernel.schedule.levels[level]), variables(kernel, level))
            for level in kernel.schedule.used
        ],
        "results": [result(kernel, w) for w in range(len(kernel.highest.words))],
        "class_costs": [cost_of(kernel, c) for c in range(kernel.n_classes)],
    }


def _comparisons(kernel: LaneKernel) -> dict[str, object]:
    """Return the template data for comparing costs inside their words."""
    if kernel.top is None:
        return {}
    ones, found = comparisons(kernel, kernel.top)
    return {"ones": ones, "comparisons": found}


def lanes_text(program: Program, kernel: LaneKernel, name: str, state_bits: int) -> KernelText:
    """Print the arrays and statements of a kernel in lanes."""
    # For both an AVR has an instruction that reads a byte and moves the address on.
    walks_x = _walks(kernel) and kernel.is_in_order and state_bits == 8
    place = "state" if walks_x else "x[{}]"
    is_shifted = _row_bytes(kernel) > 1 or any(len(table.features) > 1 for table in kernel.tables)
    state = f"{name}_wide({place})" if is_shifted and state_bits == 8 else place
    is_plain = kernel.dictionary is None and not kernel.is_by_word
    lengths = (kernel.n_words if is_plain else 1,) * len(kernel.tables)
    rows = RowLayout(kernel.tables, lengths, kernel.starts, entry_type(kernel))
    address = address_text(program, rows, name, state.format, place.format)
    tables = [
        table_array(program, kernel, t, by_word=kernel.is_by_word)
        for t in range(len(kernel.tables))
    ]
    shared = [rows_once(kernel.dictionary.rows, kernel)] if kernel.dictionary else []
    steps = list(_statements(program, kernel, address, name, walks_x=walks_x))
    return KernelText(
        template="lower/kernels/lanes.c.j2",
        arrays=(*shared, *tables, *address.arrays),
        table_bytes=sum(a.n_bytes for a in (*shared, *tables)),
        decides=True,
        context={
            **lane_names(kernel),
            "row_type": address.row_type,
            "is_by_word": kernel.is_by_word,
            "has_row": not kernel.is_by_word or bool(address.row_type),
            "is_signed": kernel.lowest.is_signed,
            "is_widened": any(f"{name}_wide(" in line for step in steps for line in step),
            "is_kept_in_turn": kernel.is_kept_in_turn,
            "walks_x": walks_x,
            "walked_bits": _walked_bits(kernel),
            "steps": steps,
        },
    )


def _row_bytes(kernel: LaneKernel) -> int:
    """Return the bytes of a table's entry for a joint state."""
    dictionary = kernel.dictionary
    return (dictionary.place_bits if dictionary else kernel.n_words * kernel.lowest.word_bits) // 8


def _statements(
    program: Program, kernel: LaneKernel, address: AddressText, name: str, *, walks_x: bool
) -> Iterator[list[str]]:
    """Yield the statements of every step."""
    add = _walked if _walks(kernel) else _read
    behind = 0  # the feature whose state is next
    for step in kernel.schedule.steps:
        if step.kind == "flush":
            yield flush(kernel, step)
            continue
        t = step.number
        features = kernel.tables[t].features
        lines = [f"/* {', '.join(c_comment(program.features[f].name) for f in features)} */"]
        if kernel.is_kept_in_turn:
            lines.append(f"{name}_in_turn();")
        if walks_x:
            passed = features[0] - behind
            lines += [f"next = &next[{passed}];"] if passed else []
            lines.append(f"state = {name}_next_state(&next);")
            behind = features[0] + 1
        lines += _row(kernel, address, t, name)
        lines += add(kernel, step, name)
        yield [part for line in lines for part in broken(line)]


def _row(kernel: LaneKernel, address: AddressText, t: int, name: str) -> list[str]:
    """Print where a row is: its address, or what leads to each of its words."""
    if kernel.is_by_word:
        first = [] if kernel.starts[t] is None else [f"row = {address.first[t]};"]
        index = address.index[t]
        # A sum is an int where uint_fast16_t has 16 bits; the cast is to the type of its summands
        # (MISRA rule 10.8).
        return [*first, f"at = {cast(index, address.index_type[t]) if ' ' in index else index};"]
    if kernel.dictionary is None:
        return [f"row = {address.of[t]};"]
    place = f"{name}_rom_{entry_type(kernel)[:-2]}({address.of[t]})"
    if kernel.dictionary.place_bits == 8:
        place = f"{name}_wide({place})"
    return [f"row = &{name}_distinct[{place}];"]


def _read(kernel: LaneKernel, step: Step, name: str) -> Iterator[str]:
    """Yield the statements that add the words of a row."""
    reader = f"{name}_rom_{sum_type(kernel.lowest)[:-2]}"
    if kernel.is_by_word:
        t = step.number
        first, n_rows = (
            (f"{name}_table{t}" if kernel.starts[t] is None else "row"),
            len(kernel.rows[t]),
        )
        words = [f"{first}[at{f' + {w * n_rows}' if w else ''}]" for w in range(kernel.n_words)]
    else:
        words = [f"row[{w}]" for w in range(kernel.n_words)]
    return added(kernel, step, [f"{reader}(&{word})" for word in words])


def _walked(kernel: LaneKernel, step: Step, name: str) -> Iterator[str]:
    """Yield the statements that add the bytes of a row in order."""
    level = kernel.schedule.levels[step.level]
    for w, variable in enumerate(variables(kernel, step.level)):
        start = f"{kernel.prior[w] if level is kernel.highest else 0}U"
        before = start if step.is_first else variable
        yield f"{variable} = {name}_add_next{level.word_bits}({before}, &row);"


def _walks(kernel: LaneKernel) -> bool:
    """Return whether rows are read byte by byte, at an auto-incremented address."""
    return kernel.lowest.word_bits == 8


def _walked_bits(kernel: LaneKernel) -> list[int]:
    """Return the widths of the sums that bytes of rows are added to."""
    levels = {step.level for step in kernel.schedule.steps if step.kind == "row"}
    bits = {kernel.schedule.levels[level].word_bits for level in levels}
    return sorted(bits) if _walks(kernel) else []
