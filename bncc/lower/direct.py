"""Readings that cuts are compared with directly: when that can be, and its C."""

from dataclasses import dataclass, replace

from bncc.discretize.readings import raw_dtypes
from bncc.lower.c.c99 import ArrayText, array, wrap, wrap_words
from bncc.lower.discretizers.functions import CUT_BITS, cut_integers, is_signed
from bncc.lower.kernels.base import Kernel
from bncc.lower.kernels.cut_packed.layout import AGAIN, MARK_BITS, MORE, CutPackedKernel
from bncc.lower.kernels.shared.cut_places import cuts_of, is_of_cuts
from bncc.lower.kernels.shared.rows import table_heading
from bncc.program.ir import Program, width_of

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


@dataclass(frozen=True)
class DirectReadings:
    """Arrays of boosted tables that read raw readings instead of states."""

    kind: str  # Kind of all readings
    entry_type: str  # C type of an entry of the list of features
    limit_type: str  # C type of a threshold
    arrays: tuple[ArrayText, ...]  # Both lists


def plan_direct(program: Program, kernel: Kernel) -> DirectReadings | None:
    """Lay out what a kernel compares readings with."""
    if not isinstance(kernel, CutPackedKernel) or not reads_directly(program):
        return None
    features = program.features
    kind = features[0].kind
    cuts = [each for table_cuts in kernel.cuts for each in table_cuts]
    bits = width_of((max(each.feature for each in cuts) << MARK_BITS) | AGAIN | MORE)
    headings = [f"/* {table_heading(program, table)} */" for table in kernel.program.tables]
    read: list[tuple[str, list[int]]] = []
    limits: list[tuple[str, list[int]]] = []
    for heading, table_cuts, entries in zip(headings, kernel.cuts, kernel.entries, strict=True):
        each_cut = [(each.feature, least) for each in table_cuts for least in each.least]
        marks = (entries & (AGAIN | MORE)).tolist()
        read.append(
            (heading, [f << MARK_BITS | mark for (f, _), mark in zip(each_cut, marks, strict=True)])
        )
        limits.append((heading, [cut_integers(features[f])[least - 1] for f, least in each_cut]))
    unit = "as integers with the order of the floats" if kind == "float32" else "in its own unit"
    meaning = "for each cut of all tables"
    arrays = (
        _listed(
            "readings",
            bits,
            f"Index of the reading {meaning}, flagged like the cut in the two lowest bits.",
            read,
        ),
        _listed(
            "limits",
            CUT_BITS[kind],
            f"Largest reading that does not reach it, {meaning}, {unit}.",
            limits,
            signed=is_signed(kind),
        ),
    )
    return DirectReadings(kind, arrays[0].type, arrays[1].type, arrays)


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
