"""The lanes kernel as C: straight-line sums of words, and costs taken out of their lanes."""

from collections.abc import Iterator

from bncc.lower.c.c99 import broken, cast
from bncc.lower.c.identifiers import c_comment
from bncc.lower.kernels.base import KernelText
from bncc.lower.kernels.lanes.arrays import entry_type, rows_once, table_array
from bncc.lower.kernels.lanes.layout import LaneKernel
from bncc.lower.kernels.lanes.results import lane_names
from bncc.lower.kernels.lanes.schedule import Step
from bncc.lower.kernels.lanes.sums import added, flush, sum_type, variables
from bncc.lower.kernels.shared.row_address import AddressText, RowLayout, address_text
from bncc.program.ir import Program


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
        template="kernels/lanes.c.j2",
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
    """Return the bytes of what a table holds for a joint state."""
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
    """Yield the statements that add the bytes of a row one after the other."""
    level = kernel.schedule.levels[step.level]
    for w, variable in enumerate(variables(kernel, step.level)):
        start = f"{kernel.prior[w] if level is kernel.highest else 0}U"
        before = start if step.is_first else variable
        yield f"{variable} = {name}_add_next{level.word_bits}({before}, &row);"


def _walks(kernel: LaneKernel) -> bool:
    """Return whether rows are read byte by byte, at an address that moves on."""
    return kernel.lowest.word_bits == 8


def _walked_bits(kernel: LaneKernel) -> list[int]:
    """Return the widths of the sums that bytes of rows are added to."""
    levels = {step.level for step in kernel.schedule.steps if step.kind == "row"}
    bits = {kernel.schedule.levels[level].word_bits for level in levels}
    return sorted(bits) if _walks(kernel) else []
