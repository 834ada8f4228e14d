"""The lanes kernel as C: straight-line sums of words, and costs taken out of their lanes."""

from collections.abc import Iterator

from bncc._types import IntArray
from bncc.compiler.ir import Program
from bncc.compiler.kernels.lane_schedule import Step
from bncc.compiler.kernels.lanes import LaneKernel
from bncc.emit.c99 import ArrayText, broken, literal_suffix, unsigned
from bncc.emit.identifiers import c_comment
from bncc.emit.kernels.lane_sums import (
    added,
    comparisons,
    cost_of,
    cost_type,
    flush,
    result,
    sum_type,
    variables,
)
from bncc.emit.kernels.row_address import AddressText, RowLayout, address_text
from bncc.emit.kernels.rows import table_lines
from bncc.emit.kernels.text import KernelText


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
    # For both an AVR has an instruction that reads a byte and moves the address on.
    walks_x = _walks(kernel) and kernel.is_in_order and state_bits == 8
    place = "state" if walks_x else "x[{}]"
    is_shifted = _row_bytes(kernel) > 1 or any(len(table.features) > 1 for table in kernel.tables)
    state = f"{name}_wide({place})" if is_shifted and state_bits == 8 else place
    is_plain = kernel.dictionary is None and not kernel.is_by_word
    lengths = (kernel.n_words if is_plain else 1,) * len(kernel.tables)
    rows = RowLayout(kernel.tables, lengths, kernel.starts, _entry_type(kernel))
    address = address_text(program, rows, name, state.format, place.format)
    tables = [_table_array(program, kernel, t) for t in range(len(kernel.tables))]
    rows_once = [_rows_once(kernel.dictionary.rows, kernel)] if kernel.dictionary else []
    steps = list(_statements(program, kernel, address, name, walks_x=walks_x))
    return KernelText(
        template="kernels/lanes.c.j2",
        arrays=(*rows_once, *tables, *address.arrays),
        table_bytes=sum(a.n_bytes for a in (*rows_once, *tables)),
        decides=True,
        context={
            "word_type": sum_type(kernel.lowest),
            "row_type": address.row_type,
            "result_type": unsigned(kernel.highest.word_bits),
            "least_type": cost_type(kernel),
            "is_by_word": kernel.is_by_word,
            "has_row": not kernel.is_by_word or bool(address.row_type),
            "n_words": kernel.n_words,
            "moves_up": kernel.top is not None,
            **_comparisons(kernel),
            "result_lane_bits": kernel.highest.lane_bits,
            "widens": len(kernel.schedule.levels) > 1,
            "is_signed": kernel.lowest.is_signed,
            "is_widened": any(f"{name}_wide(" in line for step in steps for line in step),
            "is_kept_in_turn": kernel.is_kept_in_turn,
            "walks_x": walks_x,
            "walked_bits": _walked_bits(kernel),
            "n_sums": len(kernel.highest.words),
            "lane_bits": kernel.lowest.lane_bits,
            "most_lanes": max(len(word.classes) for word in kernel.lowest.words),
            "sums": [
                (sum_type(kernel.schedule.levels[level]), variables(kernel, level))
                for level in kernel.schedule.used
            ],
            "steps": steps,
            "results": [result(kernel, w) for w in range(len(kernel.highest.words))],
            "class_costs": [cost_of(kernel, c) for c in range(program.n_classes)],
        },
    )


def _entry_type(kernel: LaneKernel) -> str:
    """Return the C type of what a table holds: words, or places of rows in the dictionary."""
    dictionary = kernel.dictionary
    return unsigned(dictionary.place_bits) if dictionary else sum_type(kernel.lowest)


def _row_bytes(kernel: LaneKernel) -> int:
    """Return the bytes of what a table holds for a joint state."""
    dictionary = kernel.dictionary
    return (dictionary.place_bits if dictionary else kernel.n_words * kernel.lowest.word_bits) // 8


def _table_array(program: Program, kernel: LaneKernel, t: int) -> ArrayText:
    """Return one table as an array, of its rows' words or of their places."""
    table, bits, rows = kernel.tables[t], kernel.lowest.word_bits, kernel.rows[t]
    length = rows.size
    entries = [list(_words(rows, kernel))]
    if kernel.dictionary:
        bits, length = kernel.dictionary.place_bits, len(rows)
        entries = [[[f"{place}U,"] for place in kernel.dictionary.places[t].tolist()]]
    elif kernel.is_by_word:
        entries = [[[row[w]] for row in entries[0]] for w in range(kernel.n_words)]
    heading, *lines = [line for each in entries for line in table_lines(program, table, each)]
    return ArrayText(
        type=_entry_type(kernel),
        name=f"table{t}",
        length=length,
        comment=heading.removeprefix("/* ").removesuffix(" */"),
        lines=tuple(lines),
        n_bytes=length * bits // 8,
    )


def _rows_once(rows: IntArray, kernel: LaneKernel) -> ArrayText:
    """Return the rows of a dictionary as an array of words."""
    lines = tuple(" ".join(words) for words in _words(rows, kernel))
    return ArrayText(
        type=sum_type(kernel.lowest),
        name="distinct",
        length=rows.size,
        comment="Distinct rows of all tables, which hold the places where theirs begin.",
        lines=lines,
        n_bytes=rows.size * kernel.lowest.word_bits // 8,
    )


def _words(rows: IntArray, kernel: LaneKernel) -> Iterator[list[str]]:
    """Print the words of rows in hexadecimal."""
    bits = kernel.lowest.word_bits
    digits, suffix = bits // 4, literal_suffix(bits, signed=kernel.lowest.is_signed)
    return ([f"0x{word:0{digits}X}{suffix}," for word in row] for row in rows.tolist())


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
        # A sum is an int where uint_fast16_t has 16 bits.
        return [*first, f"at = {f'(uint_fast32_t)({index})' if ' ' in index else index};"]
    if kernel.dictionary is None:
        return [f"row = {address.of[t]};"]
    place = f"{name}_rom_{_entry_type(kernel)[:-2]}({address.of[t]})"
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
    """Yield the statements that add the bytes of a row one after the other."""
    level = kernel.schedule.levels[step.level]
    for w, variable in enumerate(variables(kernel, step.level)):
        start = f"{kernel.prior[w] if level is kernel.highest else 0}U"
        before = start if step.is_first else variable
        yield f"{variable} = {name}_add_next{level.word_bits}({before}, &row);"


def _walks(kernel: LaneKernel) -> bool:
    """Return whether rows are read byte by byte, at an address that moves on."""
    return kernel.lowest.word_bits == 8


def _comparisons(kernel: LaneKernel) -> dict[str, object]:
    """Return what the template needs to compare costs in the words that have them."""
    if kernel.top is None:
        return {}
    ones, found = comparisons(kernel, kernel.top)
    return {"ones": ones, "comparisons": found}


def _walked_bits(kernel: LaneKernel) -> list[int]:
    """Return the widths of the sums that bytes of rows are added to."""
    levels = {step.level for step in kernel.schedule.steps if step.kind == "row"}
    bits = {kernel.schedule.levels[level].word_bits for level in levels}
    return sorted(bits) if _walks(kernel) else []
