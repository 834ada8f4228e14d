"""A study laid out in words, tables and pictures, for each machine it was measured on."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from bncc.data.files import printable
from bncc.report.panels import Panel, panels_of, targets_of
from bncc.report.words import Advice, advise, interval, memory, percent, settings
from bncc.search.trial_result import Point, Study

_COUNTS = {
    "n_rows": "rows",
    "n_test": "test rows",
    "n_features": "features",
    "n_classes": "classes",
}
"""Facts that are counts, and their names for people."""


@dataclass(frozen=True)
class Column:
    """A head of a table; `number` aligns it at the right."""

    text: str
    number: bool = True


@dataclass(frozen=True)
class Grid:
    """A table: its heads, and cells line by line."""

    heads: tuple[Column, ...]
    lines: tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class View:
    """A study on one machine."""

    target: str | None  # The machine; None where nothing was measured
    panels: tuple[Panel, ...]  # Its plots
    advice: tuple[Advice, ...]  # What to take, by budget

    @property
    def on_front(self) -> tuple[Point, ...]:
        """The points on the front of any plot, the least error first."""
        found = {step.point.number: step.point for p in self.panels for step in p.front}
        return tuple(sorted(found.values(), key=lambda p: (p.validation.mean, p.number)))


@dataclass(frozen=True)
class Sheet:
    """A study as the report shows it."""

    study: Study  # With at least one point
    views: tuple[View, ...] = field(repr=False)  # By machine, the one that is shown first in front

    @property
    def name(self) -> str:
        """The name of the study, fit to be shown."""
        return printable(self.study.name)

    @property
    def lede(self) -> str:
        """How many trials on how many rows, in a line."""
        facts, failed = self.study.facts, len(self.study.failed)
        parts = [f"{len(self.study.points):,} trials" + (f", {failed:,} failed" if failed else "")]
        if facts.get("data"):
            parts.append(printable(str(facts["data"])))
        counts = (("n_rows", "rows"), ("n_features", "features"), ("n_classes", "classes"))
        told = [f"{facts[key]:,} {noun}" for key, noun in counts if facts.get(key)]
        if told:
            parts.append(", ".join(told))
        fitting = targets_of(self.study.points)
        parts += [f"none fits {printable(t)}" for t in facts.get("targets", ()) if t not in fitting]
        return " · ".join(parts)

    @property
    def facts(self) -> tuple[tuple[str, str], ...]:
        """Where the study comes from: names and values, fit to be shown."""
        told = [
            (_COUNTS.get(name, printable(name)), f"{value:,}" if name in _COUNTS else text)
            for name, value in self.study.facts.items()
            if name != "features" and (text := _told(value))
        ]
        reasons = [f"trial {n}: {printable(why)}" for n, why in sorted(self.study.failed.items())]
        shown = "; ".join(reasons[:5]) + ("; ..." if len(reasons) > 5 else "")
        return (*told, *([("failed", shown)] if shown else []))


def sheets_of(
    studies: Sequence[Study], target: str | None = None, budgets: Sequence[int] = ()
) -> tuple[Sheet, ...]:
    """Lay out some studies."""
    named = targets_of([point for study in studies for point in study.points])
    targets: list[str | None] = [*sorted(named, key=lambda name: name != target)] or [None]
    return tuple(
        Sheet(
            study,
            tuple(
                View(name, panels_of(study.points, name), advise(study, name, budgets))
                for name in targets
            ),
        )
        for study in studies
    )


def front_grid(view: View) -> Grid:
    """Return the table of the trials on the fronts of a view."""
    tested = any(point.test is not None for point in view.on_front)
    heads = [Column("Trial"), Column("Classifier", number=False), Column("Validation error")]
    heads += [Column("95 % interval")] + ([Column("Test error")] if tested else [])
    if view.target is not None:
        time = next((p.axis.noun for p in view.panels if p.axis.key == "time"), "instructions")
        heads += [Column("Flash"), Column("RAM"), Column("Stack"), Column(time.capitalize())]
    heads += [Column("Table bits"), Column("Additions"), Column("Command", number=False)]
    return Grid(tuple(heads), tuple(_line(point, view.target, tested) for point in view.on_front))


def _line(point: Point, target: str | None, tested: bool) -> tuple[str, ...]:
    cells = [
        str(point.number),
        settings(point),
        percent(point.validation.mean),
        interval(point.validation),
    ]
    if tested:
        cells.append("" if point.test is None else percent(point.test.mean))
    if target is not None:
        cost = point.footprint(target)
        figures = () if cost is None else (cost.flash, cost.ram, cost.stack, cost.mean)
        cells += [f"{figure:,.0f}" for figure in figures] or ["-"] * 4
    return (*cells, f"{point.bits:,}", f"{point.operations:,}", printable(point.command))


def budgets_of(point: Point, advice: Sequence[Advice]) -> str:
    """Return for which budgets a point was chosen, such as "for 4 KB and 8 KB"."""
    named = [memory(a.budget) for a in advice if a.point is point]
    return f"for {' and '.join(named)}" if named else ""


def _told(value: object) -> str:
    if value is None or value == "" or value == [] or value == {}:
        return ""
    if isinstance(value, Mapping):
        return "; ".join(f"{name}: {_told(v)}" for name, v in value.items())
    if isinstance(value, list | tuple):
        return ", ".join(_told(v) for v in value)
    return printable(str(value))
