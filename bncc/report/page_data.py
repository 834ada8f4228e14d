"""Input of the page's scripts: trials by columns, and the chart template of the plots."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from bncc.errors import OptionError, extra_command
from bncc.report.panels import (
    Axis,
    axes_of,
    cost_limits,
    error_limits,
    families_of,
    known_of_part,
    steps_of,
    targets_of,
    time_unit,
)
from bncc.report.svg import Mark, marks_of
from bncc.report.words import kinds, word
from bncc.search.trial_result import Choice, Footprint, Point, Study, model_name

Columns = dict[str, Any]


def page_data(studies: Sequence[Study], target: str | None) -> Columns:
    """Return the JSON values for the page's scripts."""
    points = [point for study in studies for point in study.points]
    of = [k for k, study in enumerate(studies) for _ in study.points]
    families = families_of(points)
    targets = targets_of(points)
    return {
        "studies": [study.name for study in studies],
        "kind": kinds(points)[0],
        "families": [vars(mark) for mark in marks_of(families)],
        "targets": list(targets),
        "target": target,
        "columns": {
            "study": of,
            "number": [point.number for point in points],
            "family": [families.index(point.family) for point in points],
            "error": [round(point.validation.mean, 6) for point in points],
            "low": [round(point.validation.interval[0], 5) for point in points],
            "high": [round(point.validation.interval[1], 5) for point in points],
            "test": [None if p.test is None else round(p.test.mean, 6) for p in points],
            "format": [_format(point) for point in points],
            "bits": [point.bits for point in points],
            "operations": [point.operations for point in points],
            "seconds": [round(point.seconds, 1) for point in points],
        },
        "params": _params(points),
        "costs": {target: _costs(points, target) for target in targets},
        "axes": {target or "": _axes(studies, target) for target in (targets or (None,))},
        "commands": _commands(points),
    }


def _format(point: Point) -> str:
    return "float" if point.q_format is None else "{}.{}".format(*point.q_format)


def _params(points: Sequence[Point]) -> dict[str, Columns]:
    """Return the values of each option as text, packed."""
    names = dict.fromkeys(name for point in points for name in point.params)
    return {
        name: packed(
            [word(point.params[name]) if name in point.params else None for point in points]
        )
        for name in names
    }


def packed(texts: Sequence[str | None]) -> Columns:
    """Return distinct texts as ``values``, and each row's ``index`` among them, -1 for none."""
    values = {text: k for k, text in enumerate(dict.fromkeys(t for t in texts if t is not None))}
    return {
        "values": list(values),
        "index": [-1 if text is None else values[text] for text in texts],
    }


def _costs(points: Sequence[Point], target: str) -> Columns:
    costs = [point.costs.get(target) for point in points]

    def column(name: str) -> list[Any]:
        return [getattr(c, name) if isinstance(c, Footprint) else None for c in costs]

    means = column("mean")
    return {
        "unit": time_unit(points, target),
        "flash": column("flash"),
        "ram": column("ram"),
        "stack": column("stack"),
        "mean": [None if mean is None else round(mean, 1) for mean in means],
        "most": column("most"),
        **{key: column(key) for key in known_of_part(points, target)},
        "why": packed([cost if isinstance(cost, str) else None for cost in costs]),
    }


def _axes(studies: Sequence[Study], target: str | None) -> list[Columns]:
    """Return each plot: scales for all studies and for each, and the fronts as rows."""
    points = [point for study in studies for point in study.points]
    some = [study.points for study in studies if study.points]
    found = []
    for axis in axes_of(points, target):
        scales: list[Columns | None] = []
        for group in (points, *some):
            if all(axis.of(point) is None for point in group):
                scales.append(None)
                continue
            x, y = cost_limits(group, axis), error_limits(group, target)
            scales.append({"x": vars(x), "y": vars(y)})
        found.append(
            {
                "key": axis.key,
                "noun": axis.noun,
                "title": axis.title,
                "scales": scales,
                "fronts": [
                    front for k in range(len(studies)) for front in _fronts(studies, k, axis)
                ],
            }
        )
    return found


def _fronts(studies: Sequence[Study], k: int, axis: Axis) -> list[Columns]:
    """Return the fronts of a study, for all families (-1) and for each."""
    first = sum(len(study.points) for study in studies[:k])
    points = studies[k].points
    rows = {point.number: first + j for j, point in enumerate(points)}
    families = families_of([point for study in studies for point in study.points])
    found = []
    for f in range(-1, len(families)):
        members = [p for p in points if f < 0 or p.family == families[f]]
        steps = steps_of(members, axis)
        if steps:
            found.append(
                {
                    "study": k,
                    "family": f,
                    "rows": [rows[step.point.number] for step in steps],
                    "sure": [int(step.sure) for step in steps],
                }
            )
    return found


def _commands(points: Sequence[Point]) -> Columns:
    """Return commands as templates: a trial's number and options are columns already."""
    return packed([template_of(point) for point in points])


def template_of(point: Point) -> str:
    r"""Return a point's command with placeholders for the model's name and the options."""
    holes = _holes(point.params)
    model = model_name(point.number)
    words: list[str] = []
    for text in point.command.split(" "):
        option = words[-1] if words else ""
        words.append(
            "\x01\x01" if text == model else holes.get((option, text), text.replace("\x01", "?"))
        )
    return " ".join(words)


def _holes(params: Mapping[str, Choice]) -> dict[tuple[str, str], str]:
    holes = {}
    for name, value in params.items():
        option, _, key = name.partition(".")
        before = f"{key}=" if key else ""
        holes[f"--{option}", before + word(value)] = f"{before}\x01{name}\x01"
    return holes


INK, MUTED, GRID, AXIS, PAPER = "@ink", "@muted", "@grid", "@axis", "@paper"
"""Placeholders for the colors of the theme, which the page's scripts insert."""
TITLE = "@title"


def plot_spec(marks: Sequence[Mark]) -> dict[str, Any]:
    """
    Compile the chart template of all plots.

    The page's scripts insert limits, ticks and the type of the error axis (linear or logarithmic).
    """
    alt, convert = _libraries()
    families = [mark.family for mark in marks]
    scale = alt.Scale(domain=families, range=[mark.color for mark in marks])
    shapes = alt.Scale(domain=families, range=[mark.path(0, 0, 2) for mark in marks])
    x = alt.X(
        "cost:Q",
        scale=alt.Scale(type="log", domain=[1, 10], nice=False),
        axis=alt.Axis(values=[1], labelExpr="x_labels[datum.value]", title=TITLE),
    )
    y = alt.Y(
        "error:Q",
        scale=alt.Scale(domain=[0, 1], nice=False, zero=False),
        axis=alt.Axis(values=[0], labelExpr="y_labels[datum.value]", title=None),
    )
    stroke = alt.Stroke("family:N", scale=scale, legend=None)
    fill = alt.Fill("family:N", scale=scale, legend=None)
    shape = alt.Shape("family:N", scale=shapes, legend=None)
    labels = [alt.param(name=name, value={}) for name in ("x_labels", "y_labels")]
    shown, faint = alt.param(name="shown", value=None), alt.param(name="faint", value=0.3)
    brush = alt.selection_interval(
        name="brush", encodings=["x", "y"], mark=alt.BrushConfig(fill=INK, fillOpacity=0.08)
    )
    seen = "!shown || shown[datum.row]"

    def layer(data: str, name: str, *filters: str) -> Any:
        chart = alt.Chart(alt.NamedData(data), name=name)
        for test in filters:
            chart = chart.transform_filter(test)
        return chart

    stairs = {"interpolate": "step-after", "clip": True, "aria": False}
    point = {"clip": True, "aria": False}
    chart = alt.layer(
        layer("stairs", "best", "datum.family === ''")
        .mark_line(**stairs, strokeWidth=7, opacity=0.1, color=INK, strokeJoin="round")
        .encode(x, y, detail="series:N"),
        layer("points", "cloud", seen)
        .mark_point(**point, filled=True, size=25, opacity=faint, stroke=None)
        .encode(x, y, fill, shape)
        .add_params(*labels, shown, faint, brush),
        layer("stairs", "stairs", "datum.family !== ''")
        .mark_line(**stairs, strokeWidth=1.4, opacity=0.8)
        .encode(x, y, stroke, detail="series:N", strokeDash=_dashes(alt)),
        layer("steps", "bars", seen, "datum.sure")
        .mark_rule(**point, strokeWidth=1.2, opacity=0.55)
        .encode(x, alt.Y("low:Q", title=None), alt.Y2("high:Q"), stroke),
        layer("steps", "unsure", seen, "!datum.sure")
        .mark_point(**point, fill=PAPER, size=34, strokeWidth=1.3, opacity=1)
        .encode(x, y, stroke, shape),
        layer("steps", "sure", seen, "datum.sure")
        .mark_point(**point, filled=True, stroke=PAPER, strokeWidth=1, size=78, opacity=1)
        .encode(x, y, fill, shape),
        layer("hot", "hot")
        .mark_point(**point, fill=None, stroke=INK, size=240, strokeWidth=1.8, opacity=1)
        .encode(x, y),
    )
    text = "system-ui, sans-serif"
    chart = (
        chart.properties(width="container", height=262, padding=2)
        .configure(background="transparent", font=text)
        .configure_view(stroke=None, cursor="crosshair")
        .configure_axis(
            labelColor=MUTED, titleColor=MUTED, gridColor=GRID, titleFontWeight="normal",
            labelFontSize=11, titleFontSize=12, ticks=False, domain=False, labelPadding=7,
            titlePadding=9, labelOverlap=True, labelFlush=False,
        )
        .configure_axisX(domain=True, domainColor=AXIS)
        .configure_axisY(minExtent=38)
    )  # fmt: skip
    spec: dict[str, Any] = convert.vegalite_to_vega(chart.to_dict())
    return spec


def vega_script() -> str:
    """Return the source of Vega and of its embedding for a page."""
    _, convert = _libraries()
    source: str = convert.javascript_bundle("window.vegaEmbed = vegaEmbed;")
    return source


def _dashes(alt: Any) -> Any:
    """Distinguish studies by full, dashed and dotted lines."""
    scale = alt.Scale(domain=[0, 1, 2, 3], range=[[1, 0], [6, 3], [2, 2], [8, 2, 2, 2]])
    return alt.StrokeDash("study:N", scale=scale, legend=None)


def _libraries() -> tuple[Any, Any]:
    try:
        import altair
        import vl_convert
    except ImportError:
        raise OptionError(
            f"a page needs altair and vl-convert; run {extra_command('report')}, or choose "
            "--format md"
        ) from None
    return altair, vl_convert


def embedded(value: object) -> str:
    """Return a value as JSON that is safe inside a ``script`` element."""
    text = json.dumps(value, separators=(",", ":"), allow_nan=False)
    for sign in "<>&":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return text
