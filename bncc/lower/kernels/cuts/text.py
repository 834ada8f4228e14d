"""
The kernel of cuts as C: a row's number counted comparison by comparison, and its words added.

Lanes are widened in fewer instructions than the lanes kernel takes: a word goes to the sum of its
even lanes as it is, its odd lanes to a sum of their own. These, moved back up, are taken off the
first sum before anything reads it; what wraps in the meantime does no harm.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from bncc._types import IntArray
from bncc.lower.c.identifiers import c_comment
from bncc.lower.kernels.base import KernelText
from bncc.lower.kernels.cuts.layout import CutKernel
from bncc.lower.kernels.lanes.layout import LaneKernel
from bncc.lower.kernels.lanes.schedule import Step
from bncc.lower.kernels.lanes.text import (
    added,
    entry_type,
    half,
    lane_names,
    rows_once,
    table_array,
    variables,
)
from bncc.lower.kernels.shared.cut_places import TableCuts
from bncc.program.ir import Program


class Reach(Protocol):
    """The C of what a cut adds to a row's number."""

    @property
    def counts_down(self) -> bool:
        """True if cuts that are not reached are counted, from the last row of a table."""

    def above(self, at: str, feature: int, least: int) -> str:
        """Return twice a row number, plus 1 if a feature reaches a cut."""

    def further(self, feature: int, least: int) -> str:
        """Return a statement that adds 1 to the row number if a feature reaches a cut."""


@dataclass(frozen=True)
class StateReach:
    """Cuts that states reach."""

    name: str  # Prefix of every symbol

    counts_down = False

    def above(self, at: str, feature: int, least: int) -> str:
        """Return twice a row number, plus 1 if a state reaches a cut."""
        return f"{self.name}_above({at}, x[{feature}], {least}U)"

    def further(self, feature: int, least: int) -> str:
        """Return a statement that adds 1 to the row number if a state reaches a cut."""
        return f"at = {self.name}_further(at, x[{feature}], {least}U);"


def cuts_text(program: Program, kernel: CutKernel, name: str, state_bits: int) -> KernelText:
    """Print the arrays and statements of the kernel of cuts."""
    lanes = _with_whole_prior(kernel).lanes
    tables = [table_array(program, lanes, t, by_word=True) for t in range(len(lanes.tables))]
    shared = [rows_once(lanes.dictionary.rows, lanes)] if lanes.dictionary else []
    steps = list(cut_steps(program, kernel, StateReach(name), name))
    return KernelText(
        template="lower/kernels/cuts.c.j2",
        arrays=(*shared, *tables),
        table_bytes=sum(a.n_bytes for a in (*shared, *tables)),
        decides=True,
        context={
            **lane_names(lanes),
            "steps": steps,
            "has_further": any("_further(" in line for step in steps for line in step),
            "has_copies": any("before =" in line for step in steps for line in step),
            "is_widened": any("_wide(" in line for step in steps for line in step),
        },
    )


def index_lines(cuts: TableCuts, reach: Reach) -> Iterator[str]:
    """Print the comparisons that find a table's row."""
    for place, each in enumerate(cuts):
        n_doubled = each.n_levels // 2 if place else 1
        copies = n_doubled > 1 or (place and each.n_levels % 2)
        if copies:
            yield "before = at;"
        if not place:
            yield f"at = {reach.above('0U', each.feature, each.least[0])};"
        for k, least in enumerate(each.least[:n_doubled] if place else ()):
            before = "before" if copies else "at"
            start = "at + " if k else ""
            yield f"at = {start}{reach.above(before, each.feature, least)};"
        if place and each.n_levels % 2:
            yield "at += before;"
        for least in each.least[n_doubled:]:
            yield reach.further(each.feature, least)


def cut_steps(program: Program, kernel: CutKernel, reach: Reach, name: str) -> Iterator[list[str]]:
    """Yield the statements of every step."""
    yield from _statements(program, _with_whole_prior(kernel), reach, name)


def _with_whole_prior(kernel: CutKernel) -> CutKernel:
    return replace(kernel, lanes=replace(kernel.lanes, prior=_whole_prior(kernel.lanes)))


def _statements(
    program: Program, kernel: CutKernel, reach: Reach, name: str
) -> Iterator[list[str]]:
    """Yield the statements of every step."""
    lanes = kernel.lanes
    for step in lanes.schedule.steps:
        if step.kind == "flush":
            yield _flush(lanes, step)
            continue
        cuts = kernel.cuts[step.number]
        features = ", ".join(c_comment(program.features[each.feature].name) for each in cuts)
        words = list(_words(lanes, step.number, name, counts_down=reach.counts_down))
        yield [
            f"/* {features} */",
            f"{name}_in_turn();",
            *index_lines(cuts, reach),
            *words[: -lanes.n_words],
            *added(lanes, step, words[-lanes.n_words :]),
        ]
    top = len(lanes.schedule.levels) - 1
    if top:
        yield ["/* Leave one class per lane. */", *_taken_off(lanes, top)]


def _words(kernel: LaneKernel, t: int, name: str, *, counts_down: bool) -> Iterator[str]:
    """Yield the statements that find the row of a table, then its words."""
    n_rows, stride = len(kernel.tables[t].costs), 1
    if kernel.dictionary:
        number = f"{n_rows - 1}U - at" if counts_down else "at"
        place = f"{name}_rom_{entry_type(kernel)[:-2]}(&{name}_table{t}[{number}])"
        if kernel.dictionary.place_bits == 8:
            place = f"{name}_wide({place})"
        yield f"row = &{name}_distinct[{place}];"
    elif counts_down:
        yield f"row = &{name}_table{t}[{n_rows - 1}];"
        yield f"row = &row[{name}_back(at)];"
        stride = n_rows
    else:
        yield f"row = &{name}_table{t}[at];"
        stride = n_rows
    for w in range(kernel.n_words):
        yield f"{name}_rom_uint32(&row[{w * stride}])"


def _flush(kernel: LaneKernel, step: Step) -> list[str]:
    """Print the addition of a level's sums to the level above: whole words, and odd lanes again."""
    below, level = variables(kernel, step.number), kernel.schedule.levels[step.number]
    words = kernel.schedule.levels[step.level].words
    values = [
        half(level, word, below[word.source]) if word.is_odd else below[word.source]
        for word in words
    ]
    return [
        "/* Widen the lanes before one could overflow. */",
        *(_taken_off(kernel, step.number) if step.number else ()),
        *added(kernel, step, values),
    ]


def _whole_prior(kernel: LaneKernel) -> IntArray:
    """Return the initial values of the highest level, with the later subtractions added."""
    prior, level = kernel.prior.copy(), kernel.highest
    for k, word in enumerate(level.words):
        if word.is_odd:
            prior[k - 1] += prior[k] << np.uint64(level.lane_bits // 2)
    return prior & np.uint64((1 << level.word_bits) - 1)


def _taken_off(kernel: LaneKernel, level: int) -> Iterator[str]:
    """Yield the statements that leave the sums of even lanes to themselves."""
    names, words = variables(kernel, level), kernel.schedule.levels[level].words
    shift = kernel.schedule.levels[level - 1].lane_bits
    for k, word in enumerate(words):
        if word.is_odd:
            yield f"{names[k - 1]} -= {names[k]} << {shift};"
