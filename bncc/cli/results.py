"""Results for people: errors with confusion matrices, footprints, and measurements."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from textwrap import fill
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from bncc.cli.console import aligned, printable, table_text
from bncc.cli.timing_options import timed, timed_rows, timing_words
from bncc.model.error_rates import interval_words, is_interval
from bncc.model.model import Model
from bncc.model.training_record import UNSEEN, has_folds
from bncc.model.used import used_inputs
from bncc.resources import FUNCTIONS, OF_SCORES, Resources, Span, functions_of

if TYPE_CHECKING:
    from bncc.device.measure import Measurement
    from bncc.device.meter import Cost
    from bncc.on_device import SampleReport, TargetReport
    from bncc.timing.timebase import Timebase

MOST_NAMES = 6
"""Most features that a line names."""
MOST_COLUMNS = 30
"""Most classes for which the confusion matrix is shown."""
_ROWS = {
    "test": "test rows",
    "cross-validation": "rows of all folds, each predicted by the model trained without its fold",
    "validation": "validation rows, predicted by a model trained without them",
    "first fold": "validation rows of the first fold, predicted by a model trained without them",
    "train": "training rows",
}
"""Row descriptions by the training record's ``confusion_of``; of a search, its first fold."""


def used_facts(model: Model) -> dict[str, list[str]]:
    """Return the features whose readings a decision may depend on, for JSON."""
    return {"used_features": [model.inputs[f].name for f in used_inputs(model)]}


def feature_words(model: Model) -> str:
    """Return the number of features, with those that are read where others are not, for people."""
    names = used_facts(model)["used_features"]
    if len(names) == len(model.inputs):
        return str(model.n_features)
    shown = [printable(name) for name in names[:MOST_NAMES]]
    more = len(names) - len(shown)
    shown += [f"{more} more"] if more else []
    which = ", ".join(shown) or "none"
    return f"{model.n_features}, of which decisions read {len(names)}: {which}"


def confusion_lines(found: Mapping[str, Any], classes: Sequence[str], title: str = "") -> list[str]:
    """
    Return the lines of a confusion matrix with the recall of each class, after an empty line.

    ``found`` has ``confusion`` and ``recall``, in the order of ``classes``. More than
    `MOST_COLUMNS` classes take one line, which names ``--json``.
    """
    if len(classes) > MOST_COLUMNS:
        return [f"the confusion matrix of {len(classes)} classes is in --json"]
    rows = [["true \\ predicted", *classes, "recall"]]
    for label, row, recall in zip(classes, found["confusion"], found["recall"], strict=True):
        rows.append([label, *map(str, row), "-" if recall is None else f"{100 * recall:.1f} %"])
    return ["", *filter(None, [title]), aligned(rows, right=range(1, len(classes) + 2))]


def trained_confusion(model: Model) -> list[str]:
    """Return the lines of the confusion matrix in a model's training record."""
    facts = model.training
    part = facts["confusion_of"]
    rows = _ROWS["first fold" if part == "validation" and has_folds(facts) else part]
    return confusion_lines(facts, model.classes, f"confusion matrix of the {rows}:")


def error_mark(facts: Mapping[str, Any], part: str) -> str:
    """Return what is wrong with the error of a part of the rows, for people; empty if nothing."""
    labels = facts.get(UNSEEN, {}).get(part)
    if not labels:
        return ""
    shown = ", ".join(printable(label) for label in labels[:MOST_NAMES])
    more = ", ..." if len(labels) > MOST_NAMES else ""
    which = f"class{'es' * (len(labels) > 1)} {shown}{more} ha{'ve' if len(labels) > 1 else 's'}"
    in_folds = " in some folds" if part == "cross-validation" else ""
    return f" ({which} no training rows{in_folds})"


def error_words(facts: Mapping[str, Any]) -> str | None:
    """Return the expected error on new readings, with its interval, for people."""
    part, of_new = facts["confusion_of"], facts["error_cross_validation"]
    if not is_interval(facts["error_interval"]):
        return None
    words = interval_words(facts["error_interval"], str(facts["interval_method"]))
    if part == "cross-validation" and of_new is not None:
        error = f"{100 * of_new:.2f} % by cross-validation in {facts['folds']} folds"
        return f"{error}{error_mark(facts, part)}, {words}"
    return f"{part} error: {words}"


def resource_words(resources: Resources) -> list[str]:
    """Return the footprint of entry points for people: memory, and a line of time for each."""
    where = f"on {resources.target} at {resources.opt_level}"
    counted = [*resources.entries]
    if OF_SCORES & set(counted) and "scores" not in counted:
        counted.insert(0, "scores")
    functions = " and ".join(FUNCTIONS[entry] for entry in counted)
    lines = [
        f"{resources.flash:,} bytes of flash, {resources.ram} of RAM, {resources.stack} of stack "
        f"to call {functions}, {where}"
    ]
    for entry in resources.entries:
        lines.append(f"{functions_of((entry,))}: {_time_words(resources, entry)}")
    return lines


def _time_words(resources: Resources, entry: str) -> str:
    span = resources.spans.get(entry)
    if span is None:
        return "time not estimated; --target measures it if its tools are installed"
    if resources.how == "estimated":
        if span.min < span.max:  # A front or a gate decides before all are summed.
            mean = f"about {span.mean:,.0f} {resources.unit} on average"
            return f"{mean}, {span.max:,} in the worst case"
        return f"about {span.max:,} {resources.unit}"
    return f"{span.min:,} to {span.max:,} {resources.unit} over the inputs tried, not a bound"


ENTRIES = ("predict", "trusted", "raw")
"""Entry points in their display order."""
WIDTH = 100
"""Line width of the report for people."""
_MEMORY = ("flash", "state", "stack")
"""Bytes of a model with a front end, in their display order."""


def facts_of(report: "TargetReport", base: "Timebase | None" = None) -> dict[str, Any]:
    """Return the JSON object of one target, with cycles, time and energy by a time base."""
    unit, missing = report.unit, report.missing
    return {
        "toolchain": report.toolchain,
        "simulator": report.simulator,
        **_facts(report.ours, unit, base),
        "missing": None if missing is None else _entry_facts(missing, unit, base),
        "baseline": None if report.baseline is None else _facts(report.baseline, unit, base),
        "baseline_misfit": report.baseline_misfit,
        "ratio": dict(report.ratio),
        "estimate": {**asdict(report.estimate), "machine": report.target},
        "resources": None if report.resources is None else report.resources.to_json(),
        **({} if base is None else {"timing_model": base.to_json()}),
    }


def _entry_facts(cost: "Cost", unit: str, base: "Timebase | None") -> dict[str, Any]:
    return {**timed(cost, base), unit: _spread(cost)}


def _facts(measured: "Measurement", unit: str, base: "Timebase | None") -> dict[str, Any]:
    costs = {name: measured.costs.get(name) for name in ENTRIES}
    entries = {
        name: None if cost is None else _entry_facts(cost, unit, base)
        for name, cost in costs.items()
    }
    return {
        "optimization": measured.optimization,
        "flash": measured.flash,
        "ram": measured.ram,
        "stack": measured.stack,
        **entries,
    }


def _spread(cost: "Cost") -> dict[str, float]:
    return {"min": cost.min, "mean": cost.mean, "max": cost.max}


def report_text(
    reports: Mapping[str, "TargetReport"],
    n_rows: int,
    bases: Mapping[str, "Timebase"] = MappingProxyType({}),
) -> str:
    """Format the measurements for people, with time and energy by the time bases of targets."""
    by_machine = {report.target: report for report in reports.values()}
    names = {
        machine: ", ".join(name for name, report in reports.items() if report.target == machine)
        for machine in by_machine
    }
    tables = [
        _table(names[machine], report, bases.get(machine)) for machine, report in by_machine.items()
    ]
    first = next(iter(by_machine.values()))
    meaning = (
        f"bytes: what a call of {_kept(first.ours)} needs, with all library routines"
        f"{_of_textbook(first)}\n"
        f"time per call: mean (min .. max) over {n_rows:,} inputs, not a bound; ratio: textbook to "
        "bncc\npredict and trusted take states, raw takes readings"
        f"{_of_checked(first.ours)}\n"
        f"estimated without a compiler, for {first.target}: {first.estimate.flash:,} bytes of "
        f"flash, {first.estimate.instructions:,} {first.unit}\n(bytes of all functions, or of "
        "predict_raw and labels where it compares readings directly;\ntime of predict, from states)"
    )
    timings = [timing_words(bases[machine]) for machine in by_machine if machine in bases]
    return "\n\n".join([*tables, *timings, meaning])


def _kept(measured: "Measurement") -> str:
    from bncc.device.meter import METERED  # only here: other commands start without the toolchain

    names = {entry: FUNCTIONS[name] for name, entry in METERED.items()}
    return " and ".join(names[entry] for entry in measured.kept)


def _of_textbook(report: "TargetReport") -> str:
    """Return the scope of the textbook's bytes if it lacks an entry point."""
    book = report.baseline
    if book is None or book.kept == report.ours.kept:
        return ""
    return f"\n(of the textbook: {_kept(book)})"


def _of_checked(measured: "Measurement") -> str:
    """Return why calls of the checked entry point may be short."""
    is_there = "raw_checked" in measured.kept
    return "\nraw_checked returns at the first reading out of range" if is_there else ""


def _table(names: str, report: "TargetReport", base: "Timebase | None") -> str:
    """Return the figures of one target as a table."""
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
            rows += timed_rows(entry, costs, base, report.unit)
    others = (entry for entry in ours.kept if entry not in (*ENTRIES, "missing"))
    further = {entry: ours.costs[entry] for entry in others}
    if report.missing is not None:
        further["missing"] = report.missing
    for entry, cost in further.items():
        rows.append([f"{entry}, {report.unit}", _range(cost), "", ""])
        rows += timed_rows(entry, (cost, None), base, report.unit)
    title = f"{names}: {report.toolchain} {ours.optimization}, {report.simulator}"
    note = f"textbook: {book.optimization}" if book else f"no textbook: {report.baseline_misfit}"
    return f"{table_text(title, rows, right=(1, 2, 3))}\n{fill(note, WIDTH)}"


def _range(cost: "Cost | Span") -> str:
    return f"{cost.mean:,.1f} ({cost.min:,} .. {cost.max:,})"


def _times(ratio: float | None) -> str:
    return "" if ratio is None else f"{ratio:.2f}"


def facts_of_samples(report: "SampleReport", of: str) -> dict[str, Any]:
    """Return the JSON object of a measurement on samples of one target."""
    times, cost = report.times, report.cost
    return {
        "toolchain": report.toolchain,
        "simulator": report.simulator,
        "optimization": report.optimization,
        "flash": cost.flash,
        "ram": cost.ram,
        "state": cost.state,
        "stack": cost.stack,
        "push": {report.unit: asdict(times.every)},
        "decision": {report.unit: asdict(times.deciding)},
        "per_sample": {report.unit: times.per_sample},
        "of": of,
        "n_samples": times.n_samples,
        "n_windows": times.n_windows,
    }


def sample_text(reports: Mapping[str, "SampleReport"], of: str) -> str:
    """Format measurements on samples for people; empty without any."""
    if not reports:
        return ""
    tables = []
    for machine, report in {report.target: report for report in reports.values()}.items():
        names = ", ".join(name for name, each in reports.items() if each.target == machine)
        cost, times, unit = report.cost, report.times, report.unit
        rows = [
            ["", "from samples"],
            *([f"{what}, bytes", f"{getattr(cost, what):,}"] for what in _MEMORY),
            [f"sample, {unit}", _range(times.every)],
            [f"sample with a decision, {unit}", _range(times.deciding)],
            [f"mean over a hop of {report.hop}", f"{times.per_sample:,.1f} a sample"],
        ]
        title = f"{names}: {report.toolchain} {report.optimization}, {report.simulator}"
        tables.append(table_text(title, rows, right=(1,)))
    first = next(iter(reports.values())).times
    meaning = (
        "bytes: what a caller of push needs, the classifier included; state: a stream between two "
        f"samples\ntime per call: mean (min .. max) over {first.n_samples:,} {of} with "
        f"{first.n_windows:,} windows, not a bound"
    )
    return "\n\n".join([*tables, meaning])
