"""What ``bncc bench`` and ``bncc demo`` show of a measurement: JSON, and tables for people."""

from collections.abc import Mapping
from dataclasses import asdict
from textwrap import fill
from typing import Any

from bncc.cli.console import table_text
from bncc.device.measure import Measurement
from bncc.device.meter import METERED, Cost
from bncc.device.on_target import TargetReport
from bncc.resources import FUNCTIONS

ENTRIES = ("predict", "trusted", "raw")
"""Entry points in the order in which they are shown."""
WIDTH = 100
"""Columns that the report for people keeps to."""


def facts_of(report: TargetReport) -> dict[str, Any]:
    """Return the JSON object of one target."""
    return {
        "toolchain": report.toolchain,
        "simulator": report.simulator,
        **_facts(report.ours, report.unit),
        "missing": None if report.missing is None else {report.unit: _spread(report.missing)},
        "baseline": None if report.baseline is None else _facts(report.baseline, report.unit),
        "baseline_misfit": report.baseline_misfit,
        "ratio": dict(report.ratio),
        "estimate": {**asdict(report.estimate), "machine": report.target},
        "resources": None if report.resources is None else report.resources.to_json(),
    }


def _facts(measured: Measurement, unit: str) -> dict[str, Any]:
    entries = {
        name: None if (cost := measured.costs.get(name)) is None else {unit: _spread(cost)}
        for name in ENTRIES
    }
    return {
        "optimization": measured.optimization,
        "flash": measured.flash,
        "ram": measured.ram,
        "stack": measured.stack,
        **entries,
    }


def _spread(cost: Cost) -> dict[str, float]:
    return {"min": cost.min, "mean": cost.mean, "max": cost.max}


def report_text(reports: Mapping[str, TargetReport], n_rows: int) -> str:
    """Lay out for people what was measured."""
    by_machine = {report.target: report for report in reports.values()}
    names = {
        machine: ", ".join(name for name, report in reports.items() if report.target == machine)
        for machine in by_machine
    }
    tables = [_table(names[machine], report) for machine, report in by_machine.items()]
    first = next(iter(by_machine.values()))
    meaning = (
        f"bytes: what a call of {_kept(first.ours)} needs, with all library routines"
        f"{_of_textbook(first)}\n"
        f"time per call: mean (min .. max) over {n_rows:,} inputs, not a bound; ratio: textbook to "
        "bncc\npredict and trusted take states, raw takes readings"
        f"{_of_checked(first.ours)}\n"
        f"estimated without a compiler, for {first.target}: {first.estimate.flash:,} bytes of "
        f"flash, {first.estimate.instructions:,} {first.unit}\n(bytes of all functions, or of "
        "predict_raw alone where it compares readings directly;\ntime of predict, from states)"
    )
    return "\n\n".join([*tables, meaning])


def _kept(measured: Measurement) -> str:
    names = {entry: FUNCTIONS[name] for name, entry in METERED.items()}
    return " and ".join(names[entry] for entry in measured.kept)


def _of_textbook(report: TargetReport) -> str:
    """Return what the textbook's bytes are of, where it lacks an entry point."""
    book = report.baseline
    if book is None or book.kept == report.ours.kept:
        return ""
    return f"\n(of the textbook: {_kept(book)})"


def _of_checked(measured: Measurement) -> str:
    """Return why calls of the checked entry point may be short."""
    is_there = "raw_checked" in measured.kept
    return "\nraw_checked returns at the first reading out of range" if is_there else ""


def _table(names: str, report: TargetReport) -> str:
    """Return one machine's figures as a table."""
    ours, book = report.ours, report.baseline
    rows = [["", "bncc", "textbook", "ratio"]]
    for what, name in (("flash", "flash"), ("RAM", "ram"), ("stack", "stack")):
        values = [f"{getattr(m, name):,}" if m else "" for m in (ours, book)]
        rows.append([f"{what}, bytes", *values, _times(report.ratio.get(name))])
    for entry in ENTRIES:
        costs = [m.costs.get(entry) if m else None for m in (ours, book)]
        if costs[0] is not None:
            values = [_range(cost) if cost else "" for cost in costs]
            rows.append([f"{entry}, {report.unit}", *values, _times(report.ratio[entry])])
    others = (entry for entry in ours.kept if entry not in (*ENTRIES, "missing"))
    rows += [[f"{entry}, {report.unit}", _range(ours.costs[entry]), "", ""] for entry in others]
    if report.missing is not None:
        rows.append([f"missing, {report.unit}", _range(report.missing), "", ""])
    title = f"{names}: {report.toolchain} {ours.optimization}, {report.simulator}"
    note = f"textbook: {book.optimization}" if book else f"no textbook: {report.baseline_misfit}"
    return f"{table_text(title, rows, right=(1, 2, 3))}\n{fill(note, WIDTH)}"


def _range(cost: Cost) -> str:
    return f"{cost.mean:,.1f} ({cost.min:,} .. {cost.max:,})"


def _times(ratio: float | None) -> str:
    return "" if ratio is None else f"{ratio:.2f}"
