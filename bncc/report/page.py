"""The report as one self-contained HTML page."""

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from bncc import __version__
from bncc.data.files import printable
from bncc.emit.environment import template_folder
from bncc.model.table_levels import read_by
from bncc.report.ensemble_picture import ensemble_svg
from bncc.report.page_data import embedded, page_data, plot_spec, vega_script
from bncc.report.panels import Panel, families_of, targets_of
from bncc.report.sheets import Sheet, View, budgets_of, front_grid
from bncc.report.static_svg import plot_svg
from bncc.report.structure_picture import structure_svg
from bncc.report.svg import Mark, marks_of
from bncc.report.words import METHODS, Advice, kinds, memory, percent, settings
from bncc.search.trial_result import Point, Study
from bncc.structure.catalog import SUM
from bncc.structure.graph import Structure

_SCRIPTS = ("data", "filters", "hover", "plots", "table", "main")
"""Files of the template folder, each after those that it needs."""
_CLASS = "class"
_MOST_FEATURES = 256
"""Largest number of features of a drawn structure."""


def page_html(sheets: Sequence[Sheet], title: str) -> str:
    """Write a report as one page."""
    studies = [sheet.study for sheet in sheets]
    points = [point for study in studies for point in study.points]
    marks = {mark.family: mark for mark in marks_of(families_of(points))}
    vega = vega_script().replace("</script", "<\\/script").replace("<!--", "<\\!--")
    target = sheets[0].views[0].target
    context = {
        "version": __version__,
        "title": printable(title),
        "many": len(sheets) > 1,
        "marks": list(marks.values()),
        "kinds": kinds(points),
        "targets": sorted(targets_of(points), key=lambda name: name != target),
        "sheets": [_sheet(sheet, marks) for sheet in sheets],
        "has_log": any(p.y.log for s in sheets for view in s.views for p in view.panels),
        "methods": METHODS,
        "data": Markup(embedded(page_data(studies, target))),
        "spec": Markup(embedded(plot_spec(list(marks.values())))),
        "vega": Markup(vega),
        "css": Markup(_source("page.css")),
        "script": Markup("".join(_source(f"{name}.js") for name in _SCRIPTS)),
    }
    return _environment().get_template("report/page.html.j2").render(context)


def _sheet(sheet: Sheet, marks: Mapping[str, Mark]) -> dict[str, Any]:
    return {
        "name": sheet.name,
        "lede": sheet.lede,
        "n_failed": len(sheet.study.failed),
        "failures": [failure.sentence for failure in sheet.failures],
        "facts": sheet.facts,
        "views": [
            {"first": k == 0, **_view(view, sheet.study, marks)}
            for k, view in enumerate(sheet.views)
        ],
    }


def _view(view: View, study: Study, marks: Mapping[str, Mark]) -> dict[str, Any]:
    return {
        "target": view.target or "",
        "memory": "flash" if view.target else "tables",
        "choices": [_choice(advice, marks) for advice in view.advice],
        "figures": [
            {
                "caption": _caption(panel),
                "beyond": f"{panel.beyond} above {percent(panel.y.high)}, not drawn"
                if panel.beyond
                else "",
                "svg": Markup(plot_svg(panel, marks)),
            }
            for panel in view.panels
        ],
        "nouns": [panel.axis.noun.replace("bytes", "flash") for panel in view.panels],
        "families": _families(view, study, marks),
        "table": front_grid(view),
        "pictures": _pictures(view, study, marks),
    }


def _caption(panel: Panel) -> str:
    kind = " (logarithmic)" if panel.y.log else ""
    cost = panel.axis.noun if panel.axis.key == "time" else panel.axis.key
    return f"Error rate{kind} against {cost}"


def _choice(advice: Advice, marks: Mapping[str, Mark]) -> dict[str, Any]:
    point = advice.point
    return {
        "budget": memory(advice.budget),
        "sentences": advice.sentences,
        "mark": None if point is None else marks[point.family],
        "rate": "" if point is None else percent(point.validation.mean),
        "settings": "" if point is None else settings(point),
        "number": None if point is None else point.number,
        "command": "" if point is None else printable(point.command),
    }


def _families(view: View, study: Study, marks: Mapping[str, Mark]) -> list[dict[str, Any]]:
    lines = []
    for family in families_of(study.points):
        errors = [p.validation.mean for p in study.points if p.family == family]
        shares = [panel.shares.get(family, 0.0) for panel in view.panels]
        lines.append(
            {
                "mark": marks[family],
                "trials": f"{len(errors):,}",
                "least": percent(min(errors)),
                "shares": [f"{100 * share:.1f} %".replace(" ", "") for share in shares],
            }
        )
    return lines


def _pictures(view: View, study: Study, marks: Mapping[str, Mark]) -> list[dict[str, Any]]:
    chosen = {a.point.number: a.point for a in view.advice if a.point is not None}
    found: dict[tuple[str | None, str], list[dict[str, Any]]] = {}
    for point in chosen.values():
        one = {
            "mark": marks[point.family],
            "settings": settings(point),
            "for_whom": f"trial {point.number}, {budgets_of(point, view.advice)}",
        }
        words = structure_words(point, study.facts.get("n_classes"))
        found.setdefault((_picture(point, study), words), []).append(one)
    return [
        {"svg": None if svg is None else Markup(svg), "words": text, "chosen": some}
        for (svg, text), some in sorted(found.items(), key=lambda entry: entry[0][0] is None)
    ]


def _picture(point: Point, study: Study) -> str | None:
    """Draw the arcs between the features of a network, or the tables of an ensemble."""
    if point.tables:
        return ensemble_svg(point.tables)
    names = study.facts.get("features") or []
    arcs = _arcs(point)
    if not arcs or len(names) != len(point.parents) or len(names) > _MOST_FEATURES:
        return None
    place = {name: i for i, name in enumerate(names)}
    try:
        structure = Structure(
            tuple(tuple(place[name] for name in _features(some)) for some in point.parents),
            tuple(some[-1:] == (_CLASS,) for some in point.parents),
        )
    except (KeyError, ValueError):
        return None
    return structure_svg(structure, [printable(str(name)) for name in names], caption=False)


def structure_words(point: Point, n_classes: int | None = None) -> str:
    """Return the structure of a point in a sentence."""
    if not point.is_network:
        return "A baseline, for comparison; it has no network of features."
    if point.family == SUM:
        return _ensemble_words(point, n_classes)
    arcs = _arcs(point)
    if arcs == 0:
        return f"Naive Bayes: each of {len(point.parents):,} features depends on the class only."
    return f"{len(point.parents):,} features with {arcs:,} arcs between them."


def _ensemble_words(point: Point, n_classes: int | None) -> str:
    """Return the numbers of tables, cuts and features, as far as a study has recorded them."""
    if not point.tables:
        n = point.operations // n_classes - 1 if n_classes else 0
        several = f"{n:,} boosted tables" if n > 1 else "Boosted tables"
        return f"{several}; this study does not record the features and cuts that they read."
    cuts = sum(len(levels) - 1 for table in point.tables for _, levels in read_by(table))
    features = {name for table in point.tables for name, _ in read_by(table)}
    n = len(point.tables)
    return (
        f"{n:,} boosted {'table' if n == 1 else 'tables'} with {cuts:,} cuts of {len(features):,} "
        "features. A table has a row for each combination of the levels of its features."
    )


def _features(parents: tuple[str, ...]) -> tuple[str, ...]:
    """Return the parents that are features; the class is the last parent."""
    return parents[:-1] if parents[-1:] == (_CLASS,) else parents


def _arcs(point: Point) -> int:
    return sum(len(_features(parents)) for parents in point.parents)


def _source(name: str) -> str:
    return (template_folder() / "report" / name).read_text("utf-8")


@cache
def _environment() -> Environment:
    return Environment(
        loader=FileSystemLoader(template_folder()),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=True,
    )
