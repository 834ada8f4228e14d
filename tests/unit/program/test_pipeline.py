"""Flows: named lists of passes, verified and reported."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from bncc.errors import IrError, OptionError
from bncc.program import pipeline
from bncc.program.ir import table_bits
from bncc.program.pipeline import FLOWS, Pass, optimize, optimize_each, program_of
from bncc.program.text import print_program
from tests import models as hand
from tests.unit.lower.by_hand import program, table


def test_the_default_flow_runs_its_passes_in_this_order():
    assert [step.name for step in FLOWS["default"]] == [
        "normalize-rows",
        "move-parent-terms",
        "fuse-parent",
        "drop-constant",
        "column-offsets",
        "fold-prior",
        "shrink-width",
    ]


@pytest.mark.parametrize(("flow", "n_tables"), [("default", 4), ("speed-16", 2), ("speed", 2)])
def test_a_flow_for_speed_also_fuses_tables_up_to_so_many_rows(flow, n_tables):
    tables = [table([f], [[0, 1], [2, 0], [0, 0], [1, 0]]) for f in range(4)]
    rewritten, reports = optimize(program([4] * 4, [0, 0], tables), flow)
    assert len(rewritten.tables) == n_tables
    assert ("fuse-tables" in [report.name for report in reports if report.fired]) == (n_tables < 4)


def test_the_empty_flow_returns_the_program_itself():
    program = program_of(hand.naive_integer())
    assert optimize(program, "none") == (program, ())


def test_reports_say_what_fired_and_add_up():
    program = program_of(hand.general_network())
    rewritten, reports = optimize(program)
    assert [report.fired for report in reports] == [True, False, True, False, True, False, True]
    assert reports[0].bits_before == table_bits(program)
    assert reports[-1].bits_after == table_bits(rewritten)
    for before, after in pairwise(reports):
        assert before.bits_after == after.bits_before


def test_several_flows_give_what_each_gives_and_run_what_they_share_once(monkeypatch):
    runs = []

    def counted(step):
        def rewrite(program):
            runs.append(step.name)
            return step.rewrite(program)

        return Pass(step.name, step.keeps, rewrite)

    first, *rest = (counted(step) for step in FLOWS["default"])
    monkeypatch.setitem(pipeline.FLOWS, "short", (first, rest[0]))
    monkeypatch.setitem(pipeline.FLOWS, "long", (first, *rest))
    program = program_of(hand.general_network())
    alone = print_program(optimize(program)[0], rows=True)
    (_, few), (whole, many) = optimize_each(program, ("short", "long"))
    assert print_program(whole, rows=True) == alone
    assert [report.name for report in many] == [step.name for step in FLOWS["default"]]
    assert many[:2] == few
    assert runs == [report.name for report in many]


def test_flows_that_end_with_equal_programs_count_once(monkeypatch):
    """Whatever they ran; the reports are those of the first."""
    idle = Pass("idle", "cost", lambda program: program)
    copying = Pass("copying", "cost", replace)
    shorter = Pass("shorter", "cost", lambda program: replace(program, tables=program.tables[:1]))
    wider = Pass("wider", "cost", lambda program: replace(program, cost_bits=64))
    other = Pass("other", "cost", lambda program: replace(program, prior=program.prior + 1))
    renamed = Pass("renamed", "cost", lambda program: replace(
        program, tables=(replace(program.tables[0], name="r"), *program.tables[1:])
    ))  # fmt: skip
    monkeypatch.setattr(pipeline, "verify", lambda program: None)
    for step in (idle, copying, shorter, wider, other, renamed):
        monkeypatch.setitem(pipeline.FLOWS, step.name, (step,))
    program = program_of(hand.general_network())
    names = ("none", "idle", "copying", "shorter", "wider", "other", "renamed")
    found = optimize_each(program, names)
    assert [[step.name for step in each.passes] for each in found] == [
        [], ["shorter"], ["wider"], ["other"], ["renamed"],
    ]  # fmt: skip
    fused = optimize_each(program_of(hand.tan_float()), ("default", "size", "speed"))
    assert [len(each.program.tables) for each in fused] == [2, 1]


def test_a_pass_that_finds_nothing_is_reported_as_such():
    once, _ = optimize(program_of(hand.general_network()))
    again, reports = optimize(once)
    assert again is once
    assert not any(report.fired for report in reports)


def test_an_unknown_flow_names_those_that_exist():
    with pytest.raises(OptionError, match="unknown flow 'fast'; choose from none, default"):
        optimize(program_of(hand.ties()), "fast")


def test_a_pass_that_breaks_a_rule_is_caught_behind_it(monkeypatch):
    def lose_the_sign(program):
        return replace(program, prior=np.full_like(program.prior, -1))

    broken = Pass("broken", "cost", lose_the_sign)
    monkeypatch.setitem(pipeline.FLOWS, "broken", (broken,))
    with pytest.raises(IrError, match="the prior's costs"):
        optimize(program_of(hand.ties()), "broken")
