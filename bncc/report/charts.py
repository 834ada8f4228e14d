"""The plots that answer: one Altair chart, compiled for Vega, that the page fills with data."""

import json
from collections.abc import Sequence
from typing import Any

from bncc.errors import OptionError, extra_command
from bncc.report.marks import Mark

INK, MUTED, GRID, AXIS, PAPER = "@ink", "@muted", "@grid", "@axis", "@paper"
"""Stand for colors that the page's scripts put in, those of its theme."""
TITLE = "@title"


def plot_spec(marks: Sequence[Mark]) -> dict[str, Any]:
    """Compile the chart of which the page makes each of its plots."""
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
    """Return the source of Vega and its embedding, to stand inside a page."""
    _, convert = _libraries()
    source: str = convert.javascript_bundle("window.vegaEmbed = vegaEmbed;")
    return source


def _dashes(alt: Any) -> Any:
    """Tell studies apart: full lines, dashes, dots."""
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
    """Return a value as JSON that may stand inside a ``script`` element."""
    text = json.dumps(value, separators=(",", ":"), allow_nan=False)
    for sign in "<>&":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return text
