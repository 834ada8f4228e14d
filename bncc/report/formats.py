"""A report as Markdown, SVG and JSON, and its trials as records of a table."""

import re
from collections.abc import Sequence
from typing import Any

from bncc.report.panels import families_of, known_of_part, targets_of
from bncc.report.sheets import Sheet, View, front_grid
from bncc.report.static_svg import drawing_svg
from bncc.report.svg import marks_of
from bncc.report.words import METHODS, kinds, word
from bncc.search.trial_result import OF_PART, Footprint, OfPart, Point, Study, trial_facts


def report_md(sheets: Sequence[Sheet], title: str) -> str:
    """Return recommendations, fronts and methods in Markdown."""
    parts = [f"# {_md(title)}"]
    for sheet in sheets:
        view = sheet.views[0]
        heads = [] if len(sheets) == 1 else [f"## {_md(sheet.name)}"]
        parts += [*heads, _md(sheet.lede), _failures(sheet), "## Recommendations"]
        parts += ["\n".join(f"- {_md(' '.join(a.sentences))}" for a in view.advice)]
        kind, several = kinds(sheet.study.points)
        parts += [f"## {several} compared", _families(view, kind)]
        parts += ["## Pareto front", *_front(view)]
        parts += ["## Provenance"]
        parts += ["\n".join(f"- {_md(name)}: {_md(text)}" for name, text in sheet.facts)]
    parts += ["## Methods"]
    parts += ["\n".join(f"- **{head}.** {_md(text)}" for head, text in METHODS)]
    return "\n\n".join(part for part in parts if part) + "\n"


def _failures(sheet: Sheet) -> str:
    """Return the failed trials as a list, none as an empty text."""
    if not sheet.failures:
        return ""
    lines = "\n".join(f"- {_md(failure.sentence)}" for failure in sheet.failures)
    return f"Failed trials:\n\n{lines}"


def _front(view: View) -> list[str]:
    grid = front_grid(view)
    heads, lines = grid.heads[:-1], [line[:-1] for line in grid.lines]
    rules = ["---:" if head.number else "---" for head in heads]
    table = _table([[head.text for head in heads], rules, *lines])
    commands = "\n".join(f"# trial {line[0]}\n{line[-1]}" for line in grid.lines)
    longest = max((len(run) for run in re.findall("`+", commands)), default=0)
    fence = "`" * max(3, longest + 1)
    return [table, f"{fence}sh\n{commands}\n{fence}"]


def _families(view: View, kind: str) -> str:
    heads = [kind, *(f"Hypervolume, {panel.axis.noun}" for panel in view.panels)]
    lines = [
        [family, *(f"{100 * panel.shares.get(family, 0.0):.1f} %" for panel in view.panels)]
        for family in dict.fromkeys(family for panel in view.panels for family in panel.shares)
    ]
    return _table([heads, ["---", *("---:" for _ in view.panels)], *lines])


def _table(rows: Sequence[Sequence[str]]) -> str:
    cells = [[c if k == 1 else _md(c) for c in row] for k, row in enumerate(rows)]
    return "\n".join(f"| {' | '.join(row)} |" for row in cells)


def _md(text: str) -> str:
    return re.sub(r"([\\`*_\[\]<>|#])", r"\\\1", text)


def report_svg(sheets: Sequence[Sheet], title: str) -> str:
    """Return all plots in one drawing, one row for each study."""
    points = [point for sheet in sheets for point in sheet.study.points]
    marks = {mark.family: mark for mark in marks_of(families_of(points))}
    return drawing_svg([(s.name, s.views[0].panels) for s in sheets], marks, title)


def trial_records(studies: Sequence[Study]) -> list[dict[str, object]]:
    """Return all trials, a record each, for CSV and Parquet."""
    points = [point for study in studies for point in study.points]
    names = list(dict.fromkeys(name for point in points for name in point.params))
    targets = targets_of(points)
    of_part = [key for key in OF_PART if any(key in known_of_part(points, t) for t in targets)]
    return [
        _record(study.name, point, names, targets, of_part)
        for study in studies
        for point in study.points
    ]


def _record(
    study: str,
    point: Point,
    names: Sequence[str],
    targets: Sequence[str],
    of_part: Sequence[OfPart],
) -> dict[str, object]:
    low, high = point.validation.interval
    found: dict[str, object] = {
        "study": study,
        "number": point.number,
        "family": point.family,
        "q_format": "float" if point.q_format is None else "{}.{}".format(*point.q_format),
        "error_validation": point.validation.mean,
        "error_validation_low": low,
        "error_validation_high": high,
        "error_test": None if point.test is None else point.test.mean,
        "entries": point.entries,
        "bits": point.bits,
        "operations": point.operations,
        "seconds": point.seconds,
    }
    for target in targets:
        cost = point.costs.get(target)
        known = cost if isinstance(cost, Footprint) else None
        for name in ("flash", "ram", "stack", "unit", "mean", "most"):
            found[f"{name}_{target}"] = getattr(known, name, None)
        for name in of_part:
            found[f"{name}_{target}"] = getattr(known, name, None)
        found[f"entries_{target}"] = "+".join(known.entries) if known else None
        found[f"misfit_{target}"] = cost if isinstance(cost, str) else None
    for name in names:
        found[f"param_{name}"] = word(point.params[name]) if name in point.params else None
    return {**found, "command": point.command}


def report_json(sheets: Sequence[Sheet]) -> dict[str, Any]:
    """Return JSON values for all trials, with the keys of ``bncc sweep``."""
    names = [sheet.study.name for sheet in sheets]
    target = sheets[0].views[0].target
    named = [({"study": sheet.study.name}, sheet) for sheet in sheets]
    return {
        "study": names[0] if len(names) == 1 else names,
        "target": target,
        "finished": sum(len(sheet.study.points) for sheet in sheets),
        "failed": sum(len(sheet.study.failed) for sheet in sheets),
        "pareto": [fact | trial_facts(p, target) for fact, s in named for p in _pareto(s)],
        "trials": [fact | trial_facts(p, target) for fact, s in named for p in s.study.points],
        "facts": {sheet.study.name: dict(sheet.study.facts) for sheet in sheets},
    }


def _pareto(sheet: Sheet) -> list[Point]:
    return [step.point for panel in sheet.views[0].panels[:1] for step in panel.front]
