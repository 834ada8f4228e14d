"""Report that ``bncc sweep`` prints at the end."""

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bncc.cli.console import aligned, table_text
from bncc.lower.cost_model import LEVELS
from bncc.report.panels import entries_on
from bncc.resources import Budget, functions_of
from bncc.search.config import optimize_of
from bncc.search.objective import front
from bncc.search.trial_result import Point, trial_facts

_BASELINE, _NAME = "baseline.", "baseline.name"
_SHOWN = ("structure", "parameters", "bits", "discretize", "n-bins", "size-weight", "optimize")
"""Options of a trial that are shown in a table."""


@dataclass(frozen=True)
class Finding:
    """Results of a sweep."""

    study: str  # File or database of the study
    n_trials: int  # Requested number of finished trials
    points: tuple[Point, ...]  # Finished ones, by number
    failed: Mapping[int, str]  # Reasons of failed trials, by number
    targets: tuple[str, ...]  # Machines; the first one counts
    limit: Budget  # What a model may cost
    best: Point | None  # The one to take within it
    pick: str | None  # Where its model was written

    @property
    def front(self) -> tuple[Point, ...]:
        """Error versus flash of the first target, or versus bits if nothing is measured."""
        return front(self.points, self._size, lambda point: point.validation.mean)

    def _size(self, point: Point) -> float | None:
        if not self.targets:
            return point.bits
        found = point.footprint(self.targets[0])
        return None if found is None else found.flash


def payload_of(finding: Finding) -> dict[str, Any]:
    """Return the JSON object of ``sweep``."""
    first = finding.targets[0] if finding.targets else None
    return {
        "study": finding.study,
        "trials": finding.n_trials,
        "finished": len(finding.points),
        "failed": len(finding.failed),
        "targets": list(finding.targets),
        "pareto": [trial_facts(point, first) for point in finding.front],
        "best": None if finding.best is None else finding.best.number,
        "pick": finding.pick if finding.best is not None else None,
    }


def report_of(finding: Finding) -> str:
    """Return the Pareto front for people, the best trial, and the next command."""
    if not finding.points:
        return ""
    found = finding.front
    if finding.targets:
        where = finding.targets[0]
        title = f"Pareto front of {len(finding.points)} trials, on {where}"
        if counted := entries_on(finding.points, where):
            title += f": flash and mean time of {counted}, measured"
    else:
        title = f"Pareto front of {len(finding.points)} trials, not measured on a target"
    if found:
        parts = [table_text(title, _rows(found, finding), right=range(6 if finding.targets else 4))]
    else:
        said = no_fit(finding)
        parts = [f"{said[0].upper()}{said[1:]}."]
    rows = []
    if finding.best is not None:
        inside = " within the budget" if finding.limit.is_bounded else ""
        rows.append([f"best{inside}", _best(finding.best, finding)])
        rows.append(["reproduce", finding.best.command])
    if finding.pick is not None and finding.best is not None:
        rows.append(["wrote", finding.pick])
        rows.append(["emit", _emit(finding.pick, finding.best, finding)])
    rows.append(["next", f"bncc report {shlex.quote(finding.study)} -o report.html"])
    return "\n\n".join([*parts, aligned(rows)])


def _emit(model: str, point: Point, finding: Finding) -> str:
    """Return the command that emits the measured C, and its optimization level."""
    optimize = optimize_of(point.params)
    folder = str(Path(model).with_suffix(""))
    target = ["--target", finding.targets[0]] if finding.targets else []
    entries = [word for entry in finding.limit.entries for word in ("--entry", entry)]
    command = ["bncc", "emit-c", model, *target, "--optimize", optimize, *entries, "-o", folder]
    measured = f"; measured with {LEVELS[optimize]}" if finding.targets else ""
    return f"{shlex.join(command)}{measured}"


def no_fit(finding: Finding) -> str:
    """Return a sentence, without a full stop, for trials of which none fits the first target."""
    target = finding.targets[0]
    why = [str(point.costs.get(target, "")) for point in finding.points]
    n = len(finding.points)
    said = "the only trial does not fit" if n == 1 else f"none of {n} trials fits"
    return f"{said} {target}: {why[-1]}"


def _best(point: Point, finding: Finding) -> str:
    """Return the best trial and its footprint on the first target."""
    said = f"trial {point.number}, {error_of(point)}"
    cost = point.footprint(finding.targets[0]) if finding.targets else None
    if cost is None:
        return said
    return (
        f"{said}, {cost.flash} bytes of flash, at most {cost.most} {cost.unit} for "
        f"{functions_of(cost.entries)} at {LEVELS[optimize_of(point.params)]}"
    )


def error_of(point: Point) -> str:
    """Return the validation error of a trial with its interval, in percent."""
    low, high = point.validation.interval
    return f"{100 * point.validation.mean:.2f} % ({100 * low:.2f} to {100 * high:.2f})"


def _rows(points: Sequence[Point], finding: Finding) -> list[list[str]]:
    units = {f.unit for p in points for t in finding.targets[:1] if (f := p.footprint(t))}
    unit = next(iter(units), "instructions")
    measured = ["flash", unit] if finding.targets else []
    rows = [["trial", "validation", "test", *measured, "bits", "options"]]
    for point in points:
        cost = point.footprint(finding.targets[0]) if finding.targets else None
        rows.append(
            [
                str(point.number),
                f"{100 * point.validation.mean:.2f} %",
                "-" if point.test is None else f"{100 * point.test.mean:.2f} %",
                *([] if cost is None else [str(cost.flash), f"{cost.mean:.0f}"]),
                str(point.bits),
                _options(point.params),
            ]
        )
    return rows


def _options(params: Mapping[str, Any]) -> str:
    shown = [f"{name} {params[name]}" for name in _SHOWN if name in params]
    shown += [
        f"{name.removeprefix(_BASELINE)} {value}" if name != _NAME else str(value)
        for name, value in params.items()
        if name.startswith(_BASELINE)
    ]
    return ", ".join(shown)
