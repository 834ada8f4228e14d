"""Layout of a study: words, tables and pictures for each target."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from bncc.data.files import printable
from bncc.report.failures import Failure, failures_of
from bncc.report.panels import Panel, known_of_part, panels_of, targets_of
from bncc.report.words import Advice, advise, interval, memory, percent, settings
from bncc.search.trial_result import OfPart, Point, Study

_COUNTS = {
    "n_rows": "rows",
    "n_test": "test rows",
    "n_features": "features",
    "n_classes": "classes",
}
"""Names of the facts that are counts."""


@dataclass(frozen=True)
class Column:
    """Head of a column; `number` aligns it at the right."""

    text: str
    number: bool = True


@dataclass(frozen=True)
class Grid:
    """A table: heads, and cells line by line."""

    heads: tuple[Column, ...]
    lines: tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class View:
    """A study on one target."""

    target: str | None  # Name of the target; None if nothing was measured
    panels: tuple[Panel, ...]  # Plots
    advice: tuple[Advice, ...]  # Recommendations by budget

    @property
    def on_front(self) -> tuple[Point, ...]:
        """The points on the front of any plot, the most accurate first."""
        found = {step.point.number: step.point for p in self.panels for step in p.front}
        return tuple(sorted(found.values(), key=lambda p: (p.validation.mean, p.number)))


@dataclass(frozen=True)
class Sheet:
    """Content of the report for one study."""

    study: Study  # With at least one point
    views: tuple[View, ...] = field(repr=False)  # By target, in the order in which they are shown

    @property
    def name(self) -> str:
        """The name of the study, fit to be shown."""
        return printable(self.study.name)

    @property
    def lede(self) -> str:
        """One line with the numbers of trials, rows, features and classes."""
        facts, failed = self.study.facts, len(self.study.failed)
        parts = [f"{len(self.study.points):,} trials" + (f", {failed:,} failed" if failed else "")]
        if facts.get("data"):
            parts.append(printable(str(facts["data"])))
        counts = (("n_rows", "rows"), ("n_features", "features"), ("n_classes", "classes"))
        sizes = [f"{facts[key]:,} {noun}" for key, noun in counts if facts.get(key)]
        if sizes:
            parts.append(", ".join(sizes))
        fitting = targets_of(self.study.points)
        misfits = [name for name in facts.get("targets", ()) if name not in fitting]
        parts += [f"no model fits {printable(name)}" for name in misfits]
        return " · ".join(parts)

    @property
    def failures(self) -> tuple[Failure, ...]:
        """Failed trials, grouped by reason."""
        return failures_of(self.study.failed)

    @property
    def facts(self) -> tuple[tuple[str, str], ...]:
        """Provenance: names and values, fit to be shown."""
        return tuple(
            (_COUNTS.get(name, printable(name)), f"{value:,}" if name in _COUNTS else text)
            for name, value in self.study.facts.items()
            if name != "features" and (text := _shown(value))
        )


def sheets_of(
    studies: Sequence[Study], target: str | None = None, budgets: Sequence[int] = ()
) -> tuple[Sheet, ...]:
    """Lay out studies."""
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
    """Return the table of the trials on the Pareto fronts of a view."""
    tested = any(point.test is not None for point in view.on_front)
    heads = [Column("Trial"), Column("Classifier", number=False), Column("Validation error")]
    heads += [Column("95 % interval")] + ([Column("Test error")] if tested else [])
    if view.target is not None:
        time = next((p.axis.noun for p in view.panels if p.axis.key == "time"), "instructions")
        heads += [Column("Flash"), Column("RAM"), Column("Stack"), Column(time.capitalize())]
    keys = () if view.target is None else known_of_part(view.on_front, view.target)
    heads += [Column(key.capitalize()) for key in keys]
    heads += [Column("Table bits"), Column("Additions"), Column("Command", number=False)]
    lines = (_line(point, view.target, tested, keys) for point in view.on_front)
    return Grid(tuple(heads), tuple(lines))


def _line(
    point: Point, target: str | None, tested: bool, keys: Sequence[OfPart] = ()
) -> tuple[str, ...]:
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
        known = (None if cost is None else getattr(cost, key) for key in keys)
        cells += ["-" if figure is None else f"{figure:.3g}" for figure in known]
    return (*cells, f"{point.bits:,}", f"{point.operations:,}", printable(point.command))


def budgets_of(point: Point, advice: Sequence[Advice]) -> str:
    """Return the budgets for which a point is recommended, such as "for 4 KB and 8 KB"."""
    named = [memory(a.budget) for a in advice if a.point is point]
    return f"for {' and '.join(named)}" if named else ""


def _shown(value: object) -> str:
    if value is None or value == "" or value == [] or value == {}:
        return ""
    if isinstance(value, Mapping):
        return "; ".join(f"{name}: {_shown(v)}" for name, v in value.items())
    if isinstance(value, list | tuple):
        return ", ".join(_shown(v) for v in value)
    return printable(str(value))
