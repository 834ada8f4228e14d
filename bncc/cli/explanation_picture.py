"""Why a row is decided as it is, as an SVG: how tables lead from one class to another."""

from collections.abc import Mapping
from typing import Any
from xml.sax.saxutils import escape

from bncc.cli.sum_picture import AGAINST, FOR
from bncc.data.files import printable

MOST_STEPS = 14
"""Tables that are drawn one by one, those that say most; the others are one step."""
MOST_CLASSES = 12
"""Classes whose sums are drawn, the likeliest."""
_CHAR, _LINE, _MARGIN = 6.7, 20.0, 20.0
"""Width of a character of the 11 px monospaced text, height of a line, around all, px."""
_LABEL, _BARS, _READS = 130.0, 380.0, 100
"""Width of what bars are called and of the bars, px; characters of what tables read."""

Part = tuple[str, float, str]
"""A bar: its name, how far it leads in nats, and what is said beside it."""


def explanation_svg(facts: Mapping[str, Any]) -> str:
    """Draw an explanation."""
    first, second = facts["decision"], facts["second"]
    steps = _steps(facts, first, second)
    totals = _totals(facts)
    reads = max(len(words) for _, _, words in steps) * _CHAR
    width = 2 * _MARGIN + _LABEL + _BARS + 70 + max(reads, 200)
    height = 2 * _MARGIN + _LINE * (len(steps) + len(totals) + 6)
    title = f"{first}, ahead of {second} by {facts['margin']:.2f}: what led there"
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height:.0f}" '
        f'viewBox="0 0 {width:.0f} {height:.0f}" font-family="monospace" font-size="11">',
        '<rect width="100%" height="100%" fill="white"/>',
        _text(_MARGIN, _MARGIN + 8, title, 'font-size="14"'),
        *_bars(steps, _MARGIN + 1.5 * _LINE, goes_on=True),
    ]
    top = _MARGIN + (len(steps) + 3) * _LINE
    lines.append(_text(_MARGIN, top, "all classes", 'font-size="14"'))
    lines += _bars(totals, top + 0.5 * _LINE, goes_on=False)
    return "\n".join([*lines, "</svg>"]) + "\n"


def _steps(facts: Mapping[str, Any], first: str, second: str) -> list[Part]:
    """Return how far each table leads ahead, the largest step first, and all of them together."""
    parts = []
    for part in facts["contributions"]:
        name = part["table"] if part["table"] == "prior" else f"table {part['table']}"
        ahead = part["nats"][first] - part["nats"][second]
        parts.append((name, ahead, _cut("; ".join(part["reads"]))))
    parts.sort(key=lambda part: -abs(part[1]))
    shown, rest = parts[:MOST_STEPS], parts[MOST_STEPS:]
    if rest:
        shown.append((f"{len(rest)} more", sum(ahead for _, ahead, _ in rest), ""))
    return shown


def _totals(facts: Mapping[str, Any]) -> list[Part]:
    """Return the sums of the classes, the largest first."""
    labels = facts["contributions"][0]["nats"]
    sums = [
        (label, sum(part["nats"][label] for part in facts["contributions"]), "") for label in labels
    ]
    return sorted(sums, key=lambda part: -part[1])[:MOST_CLASSES]


def _bars(parts: list[Part], top: float, *, goes_on: bool) -> list[str]:
    """Draw bars below one another; with `goes_on` each begins where the one before it ended."""
    at, spans = 0.0, []
    for _, nats, _ in parts:
        begin = at if goes_on else 0.0
        at = begin + nats
        spans.append((begin, at))
    low = min(0.0, *(min(span) for span in spans))
    unit = _BARS / max(max(0.0, *(max(span) for span in spans)) - low, 1e-9)
    left = _MARGIN + _LABEL
    zero, bottom = left - low * unit, top + _LINE * len(parts)
    lines = [f'<path d="M{zero:.1f} {top:.1f}V{bottom:.1f}" stroke="#9ab" stroke-dasharray="2 3"/>']
    for k, ((name, nats, words), (begin, end)) in enumerate(zip(parts, spans, strict=True)):
        y = top + k * _LINE
        x, width = left + (min(begin, end) - low) * unit, abs(end - begin) * unit
        color = "#" + "".join(f"{part:02x}" for part in (FOR if nats >= 0 else AGAINST))
        lines.append(
            f'<rect x="{x:.1f}" y="{y + 3:.1f}" width="{max(width, 1.0):.1f}" '
            f'height="{_LINE - 6:.1f}" fill="{color}"/>'
        )
        lines.append(_text(_MARGIN, y + 14, _cut(name, int(_LABEL / _CHAR)), 'fill="#223"'))
        lines.append(_text(left + _BARS + 12, y + 14, f"{nats:+.2f}", 'fill="#223"'))
        lines.append(_text(left + _BARS + 70, y + 14, words, 'fill="#456"'))
    return lines


def _text(x: float, y: float, words: str, attributes: str) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" {attributes}>{escape(printable(words))}</text>'


def _cut(words: str, most: int = _READS) -> str:
    return words if len(words) <= most else f"{words[: most - 1]}…"
