"""Readings that cuts are compared with directly: when that can be, and its C."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from bncc.discretize.readings import raw_dtypes
from bncc.lower.c.c99 import ArrayText, array, wrap, wrap_words
from bncc.lower.cut_conditions import FLOAT_BITS, ORDER, Compared
from bncc.lower.kernels.base import Kernel
from bncc.lower.kernels.branches.layout import BranchKernel
from bncc.lower.kernels.cut_lanes.layout import CutLanesKernel
from bncc.lower.kernels.cut_loop.layout import CutLoopKernel
from bncc.lower.kernels.cut_packed.layout import AGAIN, MARK_BITS, MORE, CutPackedKernel
from bncc.lower.kernels.cuts.layout import CutKernel
from bncc.lower.kernels.shared.cut_places import cuts_of, is_of_cuts
from bncc.lower.kernels.shared.rows import table_heading
from bncc.lower.raw import RawPlan
from bncc.lower.reading_keys import (
    compared_integers,
    converts_once,
    has_limits,
    key_of,
    used_cuts,
)
from bncc.lower.reading_lines import (
    DirectReadings,
    each_key,
    in_lines,
    in_trees,
    readings_of,
)
from bncc.program.ir import Program, has_trees, width_of

OF_KEYS = (BranchKernel, CutLoopKernel, CutPackedKernel, CutLanesKernel)
"""Kernels that can compare keys of readings."""
OF_READINGS = (CutKernel, *OF_KEYS)
"""Kernels that can compare readings."""
STATE_CODE = 136
"""Bytes of the code that looks for the states of an array of readings, Cortex-M4 at -Os: 128 to 147
in sums of 419 to 646 cuts of floats, their lists subtracted."""
STATE_LISTS = 3
"""Bytes of a column besides its thresholds: their number, the missing state, the last state."""


def reads_directly(program: Program) -> bool:
    """
    Return whether comparing readings with thresholds finds the row of every table.

    A state reaches ``least`` if and only if the reading exceeds ``thresholds[least - 1]``, for a
    state counts the thresholds below its reading. Where the state of missing readings reaches no
    cut, one may be taken for the least of all readings, which exceeds no threshold.
    """
    features = program.features
    is_array = features[0].is_numeric and len({feature.kind for feature in features}) == 1
    return (
        is_array
        and is_of_cuts(program)
        and all(
            features[each.feature].missing_state < each.least[0]
            for table in program.tables
            for each in cuts_of(table)
        )
        and is_smaller(program)
    )


def is_smaller(program: Program) -> bool:
    """Return whether limits of all cuts take less flash than states and shared thresholds."""
    width = raw_dtypes(program.features)[0].itemsize
    n_cuts = sum(len(each.least) for table in program.tables for each in cuts_of(table))
    n_thresholds = sum(len(feature.thresholds) for feature in program.features)
    of_states = n_cuts + n_thresholds * width + STATE_LISTS * len(program.features) + STATE_CODE
    return n_cuts * width < of_states


def is_direct(program: Program, kernel: Kernel, compare: Compared | None) -> bool:
    """
    Return whether ``predict_raw`` compares readings, or keys of readings.

    If nothing is asked for, trees do, and ``cut-packed`` does where that is smaller.
    """
    if compare == "keys":
        return has_keys(program, kernel)
    if isinstance(kernel, BranchKernel):
        return compare != "states"
    if compare is None:
        return isinstance(kernel, CutPackedKernel) and reads_directly(program)
    return compare == "readings" and can_read(program) and isinstance(kernel, OF_READINGS)


def has_keys(program: Program, kernel: Kernel) -> bool:
    """Return whether a kernel can compare keys that are formed once, where readings are floats."""
    if not isinstance(kernel, OF_KEYS) or not can_read(program) or not converts_once(program):
        return False
    return not has_trees(program) or all(table.tree is not None for table in program.tables)


def can_read(program: Program) -> bool:
    """Return whether comparing readings with limits of their type finds every row."""
    if has_trees(program):
        return True
    if not is_of_cuts(program):
        return False
    used = used_cuts(program)
    return bool(used) and all(has_limits(program.features[f], used[f]) for f in used)


def plan_direct(
    program: Program, kernel: Kernel, raw: RawPlan, name: str, compare: Compared | None
) -> DirectReadings:
    """Lay out what a kernel compares readings with."""
    if isinstance(kernel, BranchKernel):
        return in_trees(program, kernel, raw, name, compare)
    if isinstance(kernel, CutKernel):
        return in_lines(program, kernel, raw, name)
    if isinstance(kernel, CutPackedKernel):
        tables, template = kernel.program.tables, "lower/direct/cut_packed.c.j2"
    elif isinstance(kernel, CutLoopKernel):
        tables, template = kernel.sums.program.tables, "lower/direct/cut_loop.c.j2"
    elif isinstance(kernel, CutLanesKernel):
        tables, template = kernel.program.tables, "lower/direct/cut_lanes.c.j2"
    else:
        raise TypeError(f"the kernel '{kernel.family}' compares no readings")
    compared = compared_integers(program, compare, kernel)
    headings = [f"/* {table_heading(program, table)} */" for table in tables]
    used = compared.features
    place = {f: used.index(f) if compared.is_keys else f for f in used}
    limits: list[tuple[str, list[int]]] = []
    for heading, table_cuts in zip(headings, kernel.cuts, strict=True):
        found = [(each.feature, least) for each in table_cuts for least in each.least]
        limits.append((heading, [compared.limit(program.features[f], least) for f, least in found]))
    limit_bits = compared.width
    if isinstance(kernel, CutPackedKernel):
        entries = _packed_entries(kernel, headings, place)
    elif isinstance(kernel, CutLanesKernel):
        entries = _lanes_entries(kernel, headings, place)
        limit_bits = compared.limit_bits([number for _, some in limits for number in some])
    else:
        entries = _loop_entries(kernel, headings, place)
    is_float = program.features[used[0]].kind == "float32" and not compared.is_keys
    unit = "as integers with the order of the floats" if is_float else "in its own unit"
    if compared.is_keys:
        unit = "as an integer that orders like it"
    meaning = "for each cut of all tables"
    limit = _listed(
        "limits",
        limit_bits,
        f"High half of the smallest key that reaches it, {meaning}."
        if compared.is_halved
        else f"Largest reading that does not reach it, {meaning}, {unit}.",
        limits,
        signed=compared.is_signed,
    )
    # The packed kernel extracts the index from an entry, which widens it.
    widens = not isinstance(kernel, CutPackedKernel) and entries.type == "uint8_t"
    widens = widens and compared.bits == 32
    # `cut-lanes` widens where it reads the list.
    is_widened_here = widens and isinstance(kernel, CutLoopKernel)
    reading = f"x[{name}_wide(ENTRY)]" if is_widened_here else "x[ENTRY]"
    functions: frozenset[str] = frozenset()
    keys: tuple[str, ...] = ()
    one_key = ""
    if compared.is_keys:
        readings = readings_of(raw)
        found_keys = [key_of(program.features[f], readings[f], name, compared) for f in used]
        keys = tuple(text for text, _ in found_keys)
        one_key = each_key(keys[0], compared)
        functions = frozenset().union(*(some for _, some in found_keys))
    elif is_float:
        reading, functions = f"{name}_{ORDER}({reading})", frozenset({FLOAT_BITS, ORDER})
    reached = "the key of its reading reaches" if compared.is_halved else "its reading exceeds"
    rule = f"Cost of every class, as from states: a state reaches a cut if {reached} a limit."
    key_type = f"{'' if compared.is_signed else 'u'}int{compared.bits}_t"
    marks_missing = program.features[used[0]].kind != "uint8" and not compared.is_keys
    remark = " A missing reading is the smallest and exceeds none."
    return DirectReadings(
        template,
        f"const {key_type} x[{len(used)}]" if keys else f"const {name}_raw_t *x",
        functions,
        (entries, limit),
        keys,
        one_key,
        key_type,
        reading,
        f"{reading} >= ((uint32_t)LIMIT << 16U)" if compared.is_halved else f"{reading} > LIMIT",
        rule + (remark if marks_missing else ""),
        entries.type,
        limit.type,
        widens=widens,
    )


def _packed_entries(
    kernel: CutPackedKernel, headings: Sequence[str], place: Mapping[int, int]
) -> ArrayText:
    """Print the list of what each cut of all tables reads, flagged like the cut."""
    largest = max(place[each.feature] for cuts in kernel.cuts for each in cuts)
    bits = width_of((largest << MARK_BITS) | AGAIN | MORE)
    read: list[tuple[str, list[int]]] = []
    for heading, table_cuts, entries in zip(headings, kernel.cuts, kernel.entries, strict=True):
        places = [place[each.feature] for each in table_cuts for _ in each.least]
        marks = (entries & (AGAIN | MORE)).tolist()
        flagged = [f << MARK_BITS | mark for f, mark in zip(places, marks, strict=True)]
        read.append((heading, flagged))
    comment = (
        "Index of the reading for each cut of all tables, flagged like the cut in the two lowest "
        "bits."
    )
    return _listed("readings", bits, comment, read)


def _lanes_entries(
    kernel: CutLanesKernel, headings: Sequence[str], place: Mapping[int, int]
) -> ArrayText:
    """Print the list of what each cut of all tables reads."""
    read = [
        (heading, [place[each.feature] for each in table_cuts for _ in each.least])
        for heading, table_cuts in zip(headings, kernel.cuts, strict=True)
    ]
    bits = width_of(max(entry for _, some in read for entry in some))
    return _listed("readings", bits, "Index of the reading for each cut of all tables.", read)


def _loop_entries(
    kernel: CutLoopKernel, headings: Sequence[str], place: Mapping[int, int]
) -> ArrayText:
    """Print the list of what each cut of all tables reads, with its row stride."""
    read = [(heading, kernel.reading_entries(t, place)) for t, heading in enumerate(headings)]
    bits = width_of(max(entry for _, some in read for entry in some))
    parts = ["for each cut the index of the reading"]
    if not kernel.is_doubled:
        parts[-1] += " and the row stride"
    if not kernel.same_n_rows:
        parts.insert(0, "size of its rows")
    if not kernel.same_n_cuts:
        parts.insert(0, "number of its entries")
    numbers = [number for _, some in read for number in some]
    lines = [line for heading, some in read for line in (heading, *wrap(some))]
    listed = array("readings", bits, numbers, f"Per table: {'; '.join(parts)}.")
    return replace(listed, lines=tuple(lines))


def _listed(
    name: str,
    bits: int,
    comment: str,
    tables: list[tuple[str, list[int]]],
    *,
    signed: bool = False,
) -> ArrayText:
    """Print the numbers of each table under its heading, marked ones by their digits."""
    numbers = [number for _, some in tables for number in some]
    lines = []
    for heading, some in tables:
        digits = (f"0x{number:0{bits // 4}X}U," for number in some)
        lines += [heading, *(wrap(some, signed=True) if signed else wrap_words(digits))]
    return replace(array(name, bits, numbers, comment, signed=signed), lines=tuple(lines))
