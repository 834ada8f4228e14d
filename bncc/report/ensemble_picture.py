"""Boosted tables of a trial as SVG: tables per feature, and the levels of the first tables."""

from collections import Counter
from collections.abc import Sequence

from bncc.model.table_levels import IN_WORDS, TableLevels, n_rows, read_by
from bncc.report.svg import BACKGROUND, element, monospaced, shortened, text

_MOST_TABLES, _MOST_FEATURES, _MOST_LEVELS = IN_WORDS, 12, 6
"""Largest number of drawn tables, of features with a bar, and of levels of a feature."""
_CHAR, _LINE, _GAP, _MARGIN = 6.7, 18.0, 22.0, 12.0
"""Width of a character of 11 px, height of a line, gap between tables, and margin, px."""
_NAME, _LEVEL = 16, 18
"""Longest name and level in characters; the full ones are tooltips."""
_BAR = 160.0
"""Length of the longest bar, px."""
_SHELF = 560.0
"""Width of a line of tables, px."""


def ensemble_svg(tables: Sequence[TableLevels]) -> str:
    """Draw which features some boosted tables read, and the levels of the first of them."""
    counts = Counter(name for table in tables for name, _ in read_by(table))
    bars = _bars(counts)
    top = _MARGIN + _LINE * (len(bars) + 1) + _GAP
    parts = [BACKGROUND, text(_MARGIN, _MARGIN + 8, "Tables that read each feature", font_size=12)]
    left, full = _MARGIN + (_NAME + 1) * _CHAR, max(counts.values(), default=1)
    for k, (name, n) in enumerate(bars):
        y = _MARGIN + _LINE * (k + 1) + 12
        parts.append(text(_MARGIN, y, shortened(name, _NAME), tip=name))
        bar = f"M{left:.1f} {y - 4:.1f}h{_BAR * n / full:.1f}"
        parts.append(element("path", d=bar, fill="none", stroke="#456", stroke_width=9))
        parts.append(text(left + _BAR * n / full + _CHAR, y, f"{n:,}"))
    if len(counts) > len(bars):
        y = _MARGIN + _LINE * (len(bars) + 1) + 12
        parts.append(text(_MARGIN, y, f"and {len(counts) - len(bars):,} more features"))
        top += _LINE
    shown = tables[:_MOST_TABLES]
    several = "Levels of all tables" if len(shown) == len(tables) else (
        f"Levels of the first {len(shown)} of {len(tables):,} tables"
    )  # fmt: skip
    parts.append(text(_MARGIN, top, several, font_size=12))
    drawn, width, bottom = _drawn(shown, top + _LINE)
    width = max(width, left + _BAR + 8 * _CHAR)
    return monospaced([*parts, *drawn], width, bottom + _MARGIN, font_size=11)


def _bars(counts: Counter[str]) -> list[tuple[str, int]]:
    """Return the features read by most tables, those of equal counts by name."""
    return sorted(counts.items(), key=lambda entry: (-entry[1], entry[0]))[:_MOST_FEATURES]


def _drawn(tables: Sequence[TableLevels], top: float) -> tuple[list[str], float, float]:
    """Return tables side by side in lines, with the width and the lower edge of all."""
    parts: list[str] = []
    x, y, tallest, widest = _MARGIN, top, 0.0, 0.0
    for k, table in enumerate(tables):
        lines = [(name, _cells(levels)) for name, levels in read_by(table)]
        what = "rows" if len(lines) == len(table) else "leaves"
        title = f"table {k}: {n_rows(table)} {what}"
        width = max([len(title) * _CHAR, *(_width(cells) for _, cells in lines)])
        if x > _MARGIN and x + width > _SHELF:
            x, y, tallest = _MARGIN, y + tallest + _GAP, 0.0
        parts.append(text(x, y + 10, title, font_weight="bold"))
        for j, (name, cells) in enumerate(lines):
            parts += _line(x, y + _LINE * (j + 1), name, cells)
        x, tallest = x + width + _GAP, max(tallest, _LINE * (len(lines) + 1))
        widest = max(widest, x)
    return parts, widest, y + tallest


def _cells(levels: Sequence[str]) -> list[str]:
    """Return the texts of the drawn levels, and of how many are left out."""
    left = len(levels) - _MOST_LEVELS
    return [*levels[:_MOST_LEVELS], *([f"{left} more"] if left > 0 else [])]


def _width(cells: Sequence[str]) -> float:
    return (_NAME + 1) * _CHAR + sum(map(_cell_width, cells))


def _cell_width(cell: str) -> float:
    return min(len(cell), _LEVEL) * _CHAR + 12


def _line(x: float, y: float, name: str, cells: Sequence[str]) -> list[str]:
    """Return a feature of a table and its levels."""
    parts = [text(x, y + 13, shortened(name, _NAME), tip=name)]
    at = x + (_NAME + 1) * _CHAR
    for cell in cells:
        width = _cell_width(cell)
        frame = {"x": at, "y": y, "width": width, "height": _LINE}
        parts.append(element("rect", **frame, fill="#f4f6f9", stroke="#9ab"))
        parts.append(text(at + 6, y + 13, shortened(cell, _LEVEL), tip=cell))
        at += width
    return parts
