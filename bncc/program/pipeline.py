"""From a model to an optimized program: its tables, then flows of passes, each verified."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Literal, NamedTuple

import numpy as np

from bncc._types import IntArray
from bncc.errors import IrError, OptionError
from bncc.model.model import Model
from bncc.program.ir import WIDTHS, Program, Table, are_equal, table_bits
from bncc.program.passes.column_offsets import column_offsets
from bncc.program.passes.drop_constant import drop_constant
from bncc.program.passes.fold_prior import fold_prior
from bncc.program.passes.fuse_parent import fuse_parent
from bncc.program.passes.fuse_tables import fuse_tables
from bncc.program.passes.merge_states import merge_states
from bncc.program.passes.move_parent_terms import move_parent_terms
from bncc.program.passes.normalize_rows import normalize_rows
from bncc.program.passes.shrink_width import shrink_width
from bncc.program.ranges import largest_cost
from bncc.program.verifier import verify
from bncc.resources import Optimize
from bncc.structure.decision_tables import BranchingTable, Lookup
from bncc.structure.graph import Structure

Keeps = Literal["cost", "margin", "decision"]


@dataclass(frozen=True)
class Pass:
    """A rewrite of programs and what it promises to keep."""

    name: str  # As shown to users
    keeps: Keeps  # What is equal before and after, for every input
    # Program -> Program; returns its argument when there is nothing to do
    rewrite: Callable[[Program], Program]
    # True if every table stays where it is and no cost moves from one to another or to the prior,
    # so that the sum of any tables keeps what the sum of all does
    by_table: bool = False


@dataclass(frozen=True)
class PassReport:
    """Report of one pass."""

    name: str  # The pass
    fired: bool  # True if it changed anything
    bits_before: int  # bits_before and bits_after: Bits of all tables and the prior
    bits_after: int


class Optimized(NamedTuple):
    """A program after the passes of a flow."""

    program: Program
    passes: tuple[PassReport, ...]


COLUMN_OFFSETS = Pass("column-offsets", "margin", column_offsets)
DROP_CONSTANT = Pass("drop-constant", "margin", drop_constant)
FOLD_PRIOR = Pass("fold-prior", "margin", fold_prior)
FUSE_PARENT = Pass("fuse-parent", "margin", fuse_parent)
MERGE_STATES = Pass("merge-states", "cost", merge_states, by_table=True)
MOVE_PARENT_TERMS = Pass("move-parent-terms", "margin", move_parent_terms)
NORMALIZE_ROWS = Pass("normalize-rows", "margin", normalize_rows, by_table=True)
SHRINK_WIDTH = Pass("shrink-width", "cost", shrink_width, by_table=True)


def _speed(most_rows: int) -> tuple[Pass, ...]:
    """Return a flow that trades flash for speed: as the default one, with larger tables."""
    fuse = Pass("fuse-tables", "margin", partial(fuse_tables, most_rows=most_rows))
    return (*_FEWER, fuse, *_NARROWER)


_FEWER = (NORMALIZE_ROWS, MOVE_PARENT_TERMS, FUSE_PARENT, DROP_CONSTANT)
_NARROWER = (COLUMN_OFFSETS, FOLD_PRIOR, SHRINK_WIDTH)

FLOWS: dict[str, tuple[Pass, ...]] = {
    "none": (),
    "default": (*_FEWER, *_NARROWER),
    "size": (*_FEWER, *_NARROWER, MERGE_STATES),
    "speed-16": _speed(16),
    "speed": _speed(64),
    "speed-256": _speed(256),
}
"""By name; a flow for speed by the rows that its fused tables have at most."""


FLOWS_FOR: Mapping[Optimize, tuple[str, ...]] = {
    "balanced": ("default",),
    "size": ("default", "size"),
    "speed": ("default", "speed-16", "speed", "speed-256"),
}
"""The flows whose programs are laid out and compared."""


def optimize(program: Program, flow: str = "default") -> Optimized:
    """Run a flow's passes and verify the program after each."""
    return optimize_each(program, (flow,))[0]


def optimize_each(program: Program, flows: Iterable[str]) -> list[Optimized]:
    """
    Run several flows; passes that they share at the beginning run once.

    On a program with a gate, which depends on the sum of its first tables, only passes within
    tables run. Flows that end with equal programs count once, as the first of them.
    """
    done: dict[tuple[Pass, ...], Optimized] = {(): Optimized(program, ())}
    results: list[Optimized] = []
    for flow in flows:
        if flow not in FLOWS:
            raise OptionError(f"unknown flow '{flow}'; choose from {', '.join(FLOWS)}")
        steps = FLOWS[flow]
        if program.gate is not None:
            steps = tuple(step for step in steps if step.by_table)
        for n in range(len(steps)):
            if steps[: n + 1] not in done:
                before, reports = done[steps[:n]]
                after, report = _step(steps[n], before)
                done[steps[: n + 1]] = Optimized(after, (*reports, report))
        if not any(are_equal(done[steps].program, each.program) for each in results):
            results.append(done[steps])
    return results


def _step(step: Pass, program: Program) -> tuple[Program, PassReport]:
    """Run and verify one pass."""
    rewritten = step.rewrite(program)
    fired = rewritten is not program
    if fired:
        verify(rewritten)
    return rewritten, PassReport(step.name, fired, table_bits(program), table_bits(rewritten))


def program_of(model: Model) -> Program:
    """Return the program that computes a model's costs, before any pass."""
    program = Program(
        features=model.features,
        classes=model.classes,
        frac_bits=model.q_format.frac_bits,
        prior=model.prior.astype(np.int64),
        tables=tuple(
            _table(_name(model, t), lookup, table.astype(np.int64))
            for t, (lookup, table) in enumerate(zip(model.lookups, model.tables, strict=True))
        ),
        gate=model.gate,
    )
    if largest_cost(program) >= 1 << WIDTHS[-1]:
        raise IrError(
            f"a sum of {model.n_features} costs in {model.q_format} can exceed 32 bits; "
            "train with fewer bits"
        )
    verify(program)
    return program


def _table(name: str, lookup: Lookup, costs: IntArray) -> Table:
    """Return a table of a program, its rows found as in the model."""
    if isinstance(lookup, BranchingTable):
        return Table(name, lookup.read, costs, tree=lookup)
    return Table(name, lookup.features, costs, maps=lookup.maps)


def _name(model: Model, t: int) -> str:
    """Return what a table stands for: its last feature, or the class where that has parents."""
    if isinstance(model.structure, Structure) and t == model.n_features:
        return "class"
    return model.features[model.lookups[t].read[-1]].name
