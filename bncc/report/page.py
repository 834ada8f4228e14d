"""One HTML page that holds a report, and needs nothing else."""

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from bncc import __version__
from bncc.data.files import printable
from bncc.emit.environment import template_folder
from bncc.report.page_data import embedded, page_data, plot_spec, vega_script
from bncc.report.panels import families_of, targets_of
from bncc.report.sheets import Sheet, View, budgets_of, front_grid
from bncc.report.static_svg import plot_svg
from bncc.report.structure_picture import structure_svg
from bncc.report.svg import Mark, marks_of
from bncc.report.words import METHODS, Advice, kinds, memory, percent, settings
from bncc.search.trial_result import Point, Study
from bncc.structure.catalog import SUM
from bncc.structure.graph import Structure

_SCRIPTS = ("data", "filters", "hover", "plots", "table", "main")
"""Files of the template folder, in the order in which they need each other."""
_CLASS = "class"
_MOST_FEATURES = 256
"""Features of which the structure is drawn."""


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
                "caption": "Error against "
                + (panel.axis.noun if panel.axis.key == "time" else panel.axis.key),
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
        found.setdefault((_picture(point, study), structure_words(point)), []).append(one)
    return [
        {"svg": None if svg is None else Markup(svg), "words": text, "chosen": some}
        for (svg, text), some in sorted(found.items(), key=lambda entry: entry[0][0] is None)
    ]


def _picture(point: Point, study: Study) -> str | None:
    """Draw the arcs between the features of a point."""
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


def structure_words(point: Point) -> str:
    """Return the structure of a point in a sentence."""
    if not point.is_network:
        return "A baseline, for comparison; it has no network of features."
    if point.family == SUM:
        return (
            "Boosted tables: each reads a few cuts of a few features; there is no network "
            "of features."
        )
    arcs = _arcs(point)
    if arcs == 0:
        return f"Naive Bayes: each of {len(point.parents):,} features depends on the class only."
    return f"{len(point.parents):,} features with {arcs:,} arcs between them."


def _features(parents: tuple[str, ...]) -> tuple[str, ...]:
    """Return the parents that are features; the class stands last."""
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
