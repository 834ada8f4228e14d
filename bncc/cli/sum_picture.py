"""A sum of tables as an SVG: what each says for each class, by what its features read."""

from dataclasses import dataclass
from itertools import pairwise
from xml.sax.saxutils import escape

import numpy as np

from bncc._types import FloatArray, IntArray
from bncc.cli.reading_words import span
from bncc.data.files import printable
from bncc.model.model import Model
from bncc.structure.decision_tables import LookUp

MOST_TABLES = 12
"""Tables that are drawn unless all are asked for."""
_CHAR = 6.7
"""Width of a character of the 11 px monospaced text, in px."""
_LINE, _GAP, _MARGIN = 18.0, 26.0, 20.0
"""Height of a row, between tables, around all, px."""
_SHELF = 1400.0
"""Width after which tables go on below, px."""
_HEAD = 46.0
"""Height of a table's title and the names of its columns, px."""
_MOST_NUMBERS = 12
"""Classes up to which cells hold numbers."""
_LONGEST = 16
"""Characters of a name that are drawn; the whole one is a tooltip."""
FOR, AGAINST = (33, 102, 172), (178, 24, 43)
"""Colors of what speaks most for a class and most against it."""


@dataclass(frozen=True, eq=False)
class Sheet:
    """A table as it is drawn."""

    title: str  # Its number, and how far its rows are apart
    columns: tuple[str, ...]  # Names of its features, outermost first; none of the prior
    levels: tuple[tuple[str, ...], ...]  # Of each feature, what its levels stand for
    nats: FloatArray  # (n_rows, n_classes) float64: What a row says for a class

    @property
    def widths(self) -> tuple[float, ...]:
        """Of the columns of features, px."""
        cells = zip(self.columns, self.levels, strict=True)
        return tuple(max(map(len, (_cut(name), *texts))) * _CHAR + 14 for name, texts in cells)


def sum_svg(model: Model, *, show_all: bool = False) -> str:
    """Draw tables of a sum: a row for each joint level of its features, a column for each class."""
    sheets = [_sheet(model, t) for t in range(len(model.tables))]
    order = sorted(range(len(sheets)), key=lambda t: (-_spread(sheets[t].nats), t))
    shown = [sheets[t] for t in order[: len(sheets) if show_all else MOST_TABLES]]
    prior = Sheet("prior", (), (), _nats(model, model.prior[None]))
    drawn, top = [prior, *shown], max(float(np.abs(sheet.nats).max()) for sheet in [prior, *shown])
    step = _class_width(model)
    places, width, height = _places(drawn, step, _class_height(model))
    title = f"{len(shown)} of {len(sheets)} tables, those whose rows are furthest apart first"
    width = max(width, len(title) * _CHAR + 2 * _MARGIN)
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height:.0f}" '
        f'viewBox="0 0 {width:.0f} {height:.0f}" font-family="monospace" font-size="11">',
        '<rect width="100%" height="100%" fill="white"/>',
        _text(_MARGIN, _MARGIN + 8, title, 'font-size="14"'),
        *_key(top),
    ]
    for sheet, (x, y) in zip(drawn, places, strict=True):
        lines += [f'<g transform="translate({x:.1f} {y:.1f})">', *_drawn(model, sheet, step, top)]
        lines.append("</g>")
    return "\n".join([*lines, "</svg>"]) + "\n"


def _sheet(model: Model, t: int) -> Sheet:
    lookup, nats = model.lookups[t], _nats(model, model.tables[t])
    return Sheet(
        f"table {t}, rows {_spread(nats):.2f} nats apart",
        tuple(printable(model.features[f].name) for f in lookup.features),
        tuple(_levels(model, lookup, f) for f in lookup.features),
        nats,
    )


def _levels(model: Model, lookup: LookUp, f: int) -> tuple[str, ...]:
    """Return what the levels of a feature stand for."""
    starts = [*lookup.states(f), model.n_states[f]]
    ranges = pairwise(starts)
    return tuple(printable(span(model.features[f], a, b - 1)) for a, b in ranges)


def _nats(model: Model, costs: IntArray) -> FloatArray:
    """Return what rows of costs say for each class, 0 in the mean over classes."""
    unit = 2.0**-model.q_format.frac_bits
    return np.asarray(unit * (costs.mean(axis=1, keepdims=True) - costs))


def _spread(nats: FloatArray) -> float:
    """Return how far rows are from their mean: the root of the mean square, in nats."""
    return float(np.sqrt(((nats - nats.mean(axis=0)) ** 2).mean()))


def _class_width(model: Model) -> float:
    return 40.0 if model.n_classes <= _MOST_NUMBERS else 16.0


def _class_height(model: Model) -> float:
    """Return the height that names of classes take, which are turned where they are too long."""
    longest = max(len(_cut(name)) for name in model.classes)
    return 0.0 if _fits(model) else longest * _CHAR * 0.75


def _fits(model: Model) -> bool:
    return all(len(name) * _CHAR < _class_width(model) for name in model.classes)


def _places(
    sheets: list[Sheet], step: float, names: float
) -> tuple[list[tuple[float, float]], float, float]:
    """Return where each sheet begins, side by side until a shelf is full, and the page's size."""
    places: list[tuple[float, float]] = []
    x, y, tallest, widest = _MARGIN, _MARGIN + 54, 0.0, 0.0
    for sheet in sheets:
        width = max(sum(sheet.widths) + step * sheet.nats.shape[1], len(sheet.title) * _CHAR)
        width += names  # which lean over to the right
        height = _HEAD + names + _LINE * len(sheet.nats)
        if x > _MARGIN and (x + width > _SHELF or len(places) == 1):  # the prior stands alone
            x, y, tallest = _MARGIN, y + tallest + _GAP, 0.0
        places.append((x, y))
        x, tallest = x + width + _GAP, max(tallest, height)
        widest = max(widest, x)
    return places, widest, y + tallest + _MARGIN


def _drawn(model: Model, sheet: Sheet, step: float, top: float) -> list[str]:
    """Return the elements of one table."""
    left, head = sum(sheet.widths), _HEAD + _class_height(model)
    lines = [_text(0, 10, sheet.title, 'font-weight="bold"')]
    at = 0.0
    for name, width in zip(sheet.columns, sheet.widths, strict=True):
        lines.append(_text(at + 4, head - 6, _cut(name), 'fill="#456"', tip=name))
        at += width
    for c, name in enumerate(map(printable, model.classes)):
        x = left + (c + 0.5) * step
        place = 'text-anchor="middle" fill="#456"'
        if not _fits(model):
            place = f'fill="#456" transform="rotate(-50 {x:.1f} {head - 6:.1f})"'
        lines.append(_text(x, head - 6, _cut(name), place, tip=name))
    lines += _level_cells(sheet, head)
    for row, nats in enumerate(sheet.nats):
        for c, value in enumerate(nats.tolist()):
            lines += _cell(left + c * step, head + row * _LINE, step, value, top)
    return lines


def _level_cells(sheet: Sheet, head: float) -> list[str]:
    """Return the cells of features: each level as high as the rows that it is read in."""
    lines, x, n_rows = [], 0.0, len(sheet.nats)
    n_blocks = 1
    for width, texts in zip(sheet.widths, sheet.levels, strict=True):
        n_blocks *= len(texts)
        height = _LINE * n_rows / n_blocks
        for block in range(n_blocks):
            y = head + block * height
            lines.append(
                f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" '
                'fill="#f4f6f9" stroke="white"/>'
            )
            lines.append(_text(x + 5, y + height / 2 + 4, texts[block % len(texts)], ""))
        x += width
    return lines


def _cell(x: float, y: float, step: float, value: float, top: float) -> list[str]:
    """Return the cell of a row and a class."""
    share = abs(value) / top if top else 0.0
    lines = [
        f'<rect x="{x:.1f}" y="{y:.1f}" width="{step:.1f}" height="{_LINE:.1f}" '
        f'fill="{_color(value, share)}" stroke="white"><title>{value:+.2f}</title></rect>'
    ]
    if step > 2 * _LINE:
        ink = "white" if share > 0.55 else "#223"
        place = f'text-anchor="middle" fill="{ink}" pointer-events="none"'
        words = f"{value:+.1f}"
        lines.append(_text(x + step / 2, y + 13, "0" if float(words) == 0 else words, place))
    return lines


def _color(value: float, share: float) -> str:
    end = FOR if value > 0 else AGAINST
    mixed = (round(255 + share * (part - 255)) for part in end)
    return "#" + "".join(f"{part:02x}" for part in mixed)


def _key(top: float) -> list[str]:
    """Return what colors stand for."""
    y, step, n = _MARGIN + 20, 14.0, 9
    lines = [_text(_MARGIN, y + 11, f"against a class, {-top:.1f} nats", "")]
    x = _MARGIN + (len(f"against a class, {-top:.1f} nats") + 1) * _CHAR
    for k in range(n):
        value = top * (2 * k / (n - 1) - 1)
        color = _color(value, abs(value) / top if top else 0.0)
        lines.append(
            f'<rect x="{x + k * step:.1f}" y="{y}" width="{step}" height="14" fill="{color}"/>'
        )
    lines.append(_text(x + n * step + _CHAR, y + 11, f"{top:+.1f} nats, for it", ""))
    return lines


def _text(x: float, y: float, words: str, attributes: str, tip: str | None = None) -> str:
    title = "" if tip is None or tip == words else f"<title>{escape(tip)}</title>"
    return f'<text x="{x:.1f}" y="{y:.1f}" {attributes}>{title}{escape(words)}</text>'


def _cut(name: str) -> str:
    return name if len(name) <= _LONGEST else f"{name[: _LONGEST - 1]}…"
