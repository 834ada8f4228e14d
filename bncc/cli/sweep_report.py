"""What ``bncc sweep`` prints at its end."""

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bncc.cli.console import aligned, table_text
from bncc.sweep.front import front
from bncc.sweep.pick import Budget
from bncc.sweep.point import Point

_SHOWN = ("structure", "parameters", "bits", "discretize", "n-bins", "size-weight", "optimize")
"""Options of a trial that a table has room for."""


@dataclass(frozen=True)
class Finding:
    """What a sweep has found.

    Parameters
    ----------
    study : str
        Where it is kept.
    n_trials : int
        Finished trials that are wanted.
    points : tuple of Point
        Finished ones, by number.
    failed : mapping of int to str
        Why trials came to nothing, by number.
    targets : tuple of str
        Machines; the first one counts.
    limit : Budget
        What a model may cost.
    best : Point or None
        The one to take within it.
    pick : str or None
        Where its model was written.
    """

    study: str
    n_trials: int
    points: tuple[Point, ...]
    failed: Mapping[int, str]
    targets: tuple[str, ...]
    limit: Budget
    best: Point | None
    pick: str | None

    @property
    def front(self) -> tuple[Point, ...]:
        """Error against flash of the first target, or against bits where nothing is measured."""
        return front(self.points, self._size, lambda point: point.validation.mean)

    def _size(self, point: Point) -> float | None:
        if not self.targets:
            return point.bits
        found = point.footprint(self.targets[0])
        return None if found is None else found.flash


def payload_of(finding: Finding) -> dict[str, Any]:
    """Return the JSON object of ``sweep``.

    Parameters
    ----------
    finding : Finding
        What was found.

    Returns
    -------
    dict
        The fields of the command line's contract, and some more.
    """
    return {
        "study": finding.study,
        "trials": finding.n_trials,
        "finished": len(finding.points),
        "failed": len(finding.failed),
        "targets": list(finding.targets),
        "pareto": [trial_facts(point, finding.targets) for point in finding.front],
        "best": None if finding.best is None else finding.best.number,
        "pick": finding.pick if finding.best is not None else None,
    }


def trial_facts(point: Point, targets: Sequence[str]) -> dict[str, Any]:
    """Return the JSON object of a trial, as ``sweep`` and ``report`` show it.

    Parameters
    ----------
    point : Point
        The trial.
    targets : sequence of str
        Machines of the study; ``flash`` and ``instructions`` are those of the first one.

    Returns
    -------
    dict
        JSON values; null where a model does not fit, or nothing was measured.
    """
    found = point.footprint(targets[0]) if targets else None
    return {
        "number": point.number,
        "params": dict(point.params),
        "error_validation": point.validation.mean,
        "error_validation_interval": list(point.validation.interval),
        "error_test": None if point.test is None else point.test.mean,
        "error_test_interval": None if point.test is None else list(point.test.interval),
        "bits": point.bits,
        "entries": point.entries,
        "operations": point.operations,
        "flash": None if found is None else found.flash,
        "ram": None if found is None else found.ram,
        "instructions": None if found is None else found.mean,
        "instructions_max": None if found is None else found.most,
        "unit": None if found is None else found.unit,
        "seconds": point.seconds,
        "command": point.command,
    }


def report_of(finding: Finding) -> str:
    """Return the front for people, the best trial, and the next command.

    Parameters
    ----------
    finding : Finding
        What was found.

    Returns
    -------
    str
        Lines; empty without a finished trial.
    """
    if not finding.points:
        return ""
    found = finding.front
    if finding.targets:
        title = f"Pareto front of {len(finding.points)} trials, on {finding.targets[0]}"
    else:
        title = f"Pareto front of {len(finding.points)} trials, not measured on a machine"
    parts = [table_text(title, _rows(found, finding), right=range(6 if finding.targets else 4))]
    rows = []
    if finding.best is not None:
        inside = " within the budget" if finding.limit.is_bounded else ""
        rows.append([f"best{inside}", f"trial {finding.best.number}, {error_of(finding.best)}"])
        rows.append(["again", finding.best.command])
    if finding.pick is not None and finding.best is not None:
        rows.append(["wrote", finding.pick])
    rows.append(["next", f"bncc report {shlex.quote(finding.study)} -o report.html"])
    return "\n\n".join([*parts, aligned(rows)])


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
    return ", ".join(shown)
