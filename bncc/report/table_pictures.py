"""Boosted tables and explanations of decisions as SVG."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from bncc._types import FloatArray, IntArray
from bncc.data.files import printable
from bncc.model.front import FRONT, front_of
from bncc.model.model import Model
from bncc.model.table_levels import leaf_words, level_words
from bncc.report.svg import BACKGROUND, element, hex_color, monospaced, shortened, text
from bncc.structure.decision_tables import BranchingTable

_MOST_TABLES = 12
"""Default number of drawn tables."""
_CHAR = 6.7
"""Width of a character of the 11 px monospaced text, in px."""
_LINE, _GAP, _MARGIN = 18.0, 26.0, 20.0
"""Height of a row, gap between tables, and margin, px."""
_SHELF = 1400.0
"""Width of a line of tables, px."""
_HEAD = 46.0
"""Height of a table's title and the names of its columns, px."""
_MOST_NUMBERS = 12
"""Largest number of classes for numbers in cells."""
_LONGEST = 16
"""Longest name in characters; the full one is a tooltip."""
_FOR, _AGAINST = (33, 102, 172), (178, 24, 43)
"""Colors of the strongest evidence for a class and against it."""
_MOST_STEPS = 14
"""Number of bars of an explanation, those of the largest steps; other tables share one."""
_MOST_CLASSES = 12
"""Largest number of classes with a bar, the most probable ones."""
_BAR, _LABEL, _BARS, _READS = 20.0, 130.0, 380.0, 100
"""Height of a bar, width of its name and of all bars, px; characters of what tables read."""

Bar = tuple[str, float, str]
"""A bar: name, step in nats, and the text to its right."""


@dataclass(frozen=True, eq=False)
class Sheet:
    """Content of a drawn table."""

    title: str  # Number and spread
    columns: tuple[str, ...]  # Names of its features, outermost first; none of the prior
    levels: tuple[tuple[str, ...], ...]  # Readings of the levels of each feature
    nats: FloatArray  # (n_rows, n_classes) float64: evidence of a row for a class

    @property
    def widths(self) -> tuple[float, ...]:
        """Widths of the columns of features, px."""
        cells = zip(self.columns, self.levels, strict=True)
        return tuple(max(map(len, (_cut(name), *texts))) * _CHAR + 14 for name, texts in cells)


def sum_svg(model: Model, *, show_all: bool = False) -> str:
    """Draw boosted tables: a row for each combination of levels, a column for each class."""
    sheets = [_sheet(model, t) for t in range(len(model.tables))]
    order = sorted(range(len(sheets)), key=lambda t: (-_spread(sheets[t].nats), t))
    shown = [sheets[t] for t in order[: len(sheets) if show_all else _MOST_TABLES]]
    prior = Sheet("prior", (), (), _nats(model, model.prior[None]))
    drawn = [prior, *shown]
    # Next to a front, whose sure leaves outweigh all tables, others would be pale.
    scaled = [sheet for sheet in drawn if not sheet.title.startswith(f"{FRONT},")]
    top = max(float(np.abs(sheet.nats).max()) for sheet in scaled)
    step = _class_width(model)
    places, width, height = _places(drawn, step, _class_height(model))
    title = f"{len(shown)} of {len(sheets)} tables, largest spread first"
    width = max(width, len(title) * _CHAR + 2 * _MARGIN)
    parts = [BACKGROUND, text(_MARGIN, _MARGIN + 8, title, font_size=14), *_key(top)]
    for sheet, (x, y) in zip(drawn, places, strict=True):
        table = ["", *_drawn(model, sheet, step, top), ""]
        parts.append(element("g", "\n".join(table), transform=f"translate({x:.1f} {y:.1f})"))
    return monospaced(parts, width, height, font_size=11)


def _sheet(model: Model, t: int) -> Sheet:
    lookup, nats = model.lookups[t], _nats(model, model.tables[t])
    is_front = t == 0 and front_of(model) is not None
    title = f"{FRONT if is_front else f'table {t}'}, spread {_spread(nats):.2f} nats"
    if isinstance(lookup, BranchingTable):
        words = tuple(map(printable, leaf_words(model, lookup)))
        return Sheet(title, ("leaf",), (words,), nats)
    return Sheet(
        title,
        tuple(printable(model.features[f].name) for f in lookup.features),
        tuple(tuple(map(printable, level_words(model, lookup, f))) for f in lookup.features),
        nats,
    )


def _nats(model: Model, costs: IntArray) -> FloatArray:
    """Return the evidence of rows of costs for each class in nats, with mean 0 over classes."""
    unit = 2.0**-model.q_format.frac_bits
    return np.asarray(unit * (costs.mean(axis=1, keepdims=True) - costs))


def _spread(nats: FloatArray) -> float:
    """Return the root-mean-square distance of rows from their mean, in nats."""
    return float(np.sqrt(((nats - nats.mean(axis=0)) ** 2).mean()))


def _class_width(model: Model) -> float:
    return 40.0 if model.n_classes <= _MOST_NUMBERS else 16.0


def _class_height(model: Model) -> float:
    """Return the height of the names of classes, which are rotated if they are too long."""
    longest = max(len(_cut(name)) for name in model.classes)
    return 0.0 if _fits(model) else longest * _CHAR * 0.75


def _fits(model: Model) -> bool:
    return all(len(name) * _CHAR < _class_width(model) for name in model.classes)


def _places(
    sheets: list[Sheet], step: float, names: float
) -> tuple[list[tuple[float, float]], float, float]:
    """Return the position of each sheet, side by side in lines, and the size of the page."""
    places: list[tuple[float, float]] = []
    x, y, tallest, widest = _MARGIN, _MARGIN + 54, 0.0, 0.0
    for sheet in sheets:
        width = max(sum(sheet.widths) + step * sheet.nats.shape[1], len(sheet.title) * _CHAR)
        width += names  # rotated names extend to the right
        height = _HEAD + names + _LINE * len(sheet.nats)
        if x > _MARGIN and (x + width > _SHELF or len(places) == 1):  # the prior has its own line
            x, y, tallest = _MARGIN, y + tallest + _GAP, 0.0
        places.append((x, y))
        x, tallest = x + width + _GAP, max(tallest, height)
        widest = max(widest, x)
    return places, widest, y + tallest + _MARGIN


def _drawn(model: Model, sheet: Sheet, step: float, top: float) -> list[str]:
    """Return the elements of one table."""
    left, head = sum(sheet.widths), _HEAD + _class_height(model)
    parts = [text(0, 10, sheet.title, font_weight="bold")]
    at = 0.0
    for name, width in zip(sheet.columns, sheet.widths, strict=True):
        parts.append(text(at + 4, head - 6, _cut(name), tip=name, fill="#456"))
        at += width
    for c, name in enumerate(map(printable, model.classes)):
        x, y = left + (c + 0.5) * step, head - 6
        if _fits(model):
            parts.append(text(x, y, _cut(name), tip=name, text_anchor="middle", fill="#456"))
        else:
            turned = f"rotate(-50 {x:.1f} {y:.1f})"
            parts.append(text(x, y, _cut(name), tip=name, fill="#456", transform=turned))
    parts += _level_cells(sheet, head)
    for row, nats in enumerate(sheet.nats):
        for c, value in enumerate(nats.tolist()):
            parts += _cell(left + c * step, head + row * _LINE, step, value, top)
    return parts


def _level_cells(sheet: Sheet, head: float) -> list[str]:
    """Return the cells of features: each level spans its rows."""
    parts, x, n_rows = [], 0.0, len(sheet.nats)
    n_blocks = 1
    for width, texts in zip(sheet.widths, sheet.levels, strict=True):
        n_blocks *= len(texts)
        height = _LINE * n_rows / n_blocks
        for block in range(n_blocks):
            y = head + block * height
            frame = {"x": x, "y": y, "width": width, "height": height}
            parts.append(element("rect", **frame, fill="#f4f6f9", stroke="white"))
            parts.append(_plain(x + 5, y + height / 2 + 4, texts[block % len(texts)]))
        x += width
    return parts


def _cell(x: float, y: float, step: float, value: float, top: float) -> list[str]:
    """Return the cell of a row and a class."""
    share = min(1.0, abs(value) / top) if top else 0.0
    tip, frame = element("title", f"{value:+.2f}"), {"x": x, "y": y, "width": step, "height": _LINE}
    parts = [element("rect", tip, **frame, fill=_color(value, share), stroke="white")]
    if step > 2 * _LINE:
        paint = {"fill": "white" if share > 0.55 else "#223", "pointer_events": "none"}
        words = f"{value:+.1f}"
        words = "0" if float(words) == 0 else words
        parts.append(text(x + step / 2, y + 13, words, text_anchor="middle", **paint))
    return parts


def _color(value: float, share: float) -> str:
    end = _FOR if value > 0 else _AGAINST
    return hex_color(round(255 + share * (part - 255)) for part in end)


def _key(top: float) -> list[str]:
    """Return the color key."""
    y, step, n = _MARGIN + 20, 14.0, 9
    words = f"against a class, {-top:.1f} nats"
    parts = [_plain(_MARGIN, y + 11, words)]
    x = _MARGIN + (len(words) + 1) * _CHAR
    for k in range(n):
        value = top * (2 * k / (n - 1) - 1)
        color = _color(value, abs(value) / top if top else 0.0)
        parts.append(element("rect", x=x + k * step, y=y, width=step, height=14, fill=color))
    parts.append(_plain(x + n * step + _CHAR, y + 11, f"{top:+.1f} nats, for it"))
    return parts


def _plain(x: float, y: float, words: str) -> str:
    # The space before the bracket is that of earlier versions: pictures stay the same to the byte.
    return text(x, y, words).replace('">', '" >', 1)


def _cut(name: str) -> str:
    return shortened(name, _LONGEST)


def explanation_svg(facts: Mapping[str, Any]) -> str:
    """Draw an explanation."""
    first, second = facts["decision"], facts["second"]
    steps = _steps(facts, first, second)
    totals = _totals(facts)
    reads = max(len(words) for _, _, words in steps) * _CHAR
    width = 2 * _MARGIN + _LABEL + _BARS + 70 + max(reads, 200)
    height = 2 * _MARGIN + _BAR * (len(steps) + len(totals) + 6)
    title = f"{first}, ahead of {second} by {facts['margin']:.2f}: contributions"
    top = _MARGIN + (len(steps) + 3) * _BAR
    parts = [
        BACKGROUND,
        text(_MARGIN, _MARGIN + 8, title, font_size=14),
        *_bars(steps, _MARGIN + 1.5 * _BAR, goes_on=True),
        text(_MARGIN, top, "all classes", font_size=14),
        *_bars(totals, top + 0.5 * _BAR, goes_on=False),
    ]
    return monospaced(parts, width, height, font_size=11)


def _steps(facts: Mapping[str, Any], first: str, second: str) -> list[Bar]:
    """Return the lead that each table adds, the largest step first, and that of the others."""
    parts = []
    for part in facts["contributions"]:
        name = part["table"] if part["table"] in ("prior", FRONT) else f"table {part['table']}"
        ahead = part["nats"][first] - part["nats"][second]
        parts.append((name, ahead, shortened("; ".join(part["reads"]), _READS)))
    parts.sort(key=lambda part: -abs(part[1]))
    shown, rest = parts[:_MOST_STEPS], parts[_MOST_STEPS:]
    if rest:
        shown.append((f"{len(rest)} more", sum(ahead for _, ahead, _ in rest), ""))
    return shown


def _totals(facts: Mapping[str, Any]) -> list[Bar]:
    """Return the totals of the classes, the largest first."""
    labels = facts["contributions"][0]["nats"]
    sums = [
        (label, sum(part["nats"][label] for part in facts["contributions"]), "") for label in labels
    ]
    return sorted(sums, key=lambda part: -part[1])[:_MOST_CLASSES]


def _bars(bars: list[Bar], top: float, *, goes_on: bool) -> list[str]:
    """Draw bars below one another; with `goes_on` each begins at the end of the previous one."""
    at, spans = 0.0, []
    for _, nats, _ in bars:
        begin = at if goes_on else 0.0
        at = begin + nats
        spans.append((begin, at))
    low = min(0.0, *(min(span) for span in spans))
    unit = _BARS / max(max(0.0, *(max(span) for span in spans)) - low, 1e-9)
    left = _MARGIN + _LABEL
    zero, bottom = left - low * unit, top + _BAR * len(bars)
    line = f"M{zero:.1f} {top:.1f}V{bottom:.1f}"
    parts = [element("path", d=line, stroke="#9ab", stroke_dasharray="2 3")]
    for k, ((name, nats, words), (begin, end)) in enumerate(zip(bars, spans, strict=True)):
        y = top + k * _BAR
        x, width = left + (min(begin, end) - low) * unit, max(abs(end - begin) * unit, 1.0)
        color = hex_color(_FOR if nats >= 0 else _AGAINST)
        bar = {"x": x, "y": y + 3, "width": width, "height": _BAR - 6}
        parts.append(element("rect", **bar, fill=color))
        called = shortened(name, int(_LABEL / _CHAR))
        parts.append(text(_MARGIN, y + 14, called, fill="#223"))
        parts.append(text(left + _BARS + 12, y + 14, f"{nats:+.2f}", fill="#223"))
        parts.append(text(left + _BARS + 70, y + 14, words, fill="#456"))
    return parts
