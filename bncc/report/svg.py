"""SVG: elements with escaped text, documents, and marks of families."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from xml.sax.saxutils import escape, quoteattr

from bncc.data.files import printable

_NAMESPACE = "http://www.w3.org/2000/svg"
BACKGROUND = '<rect width="100%" height="100%" fill="white"/>'


def element(tag: str, content: str | None = None, /, **attributes: object) -> str:
    """
    Return an element with its attributes in the order given.

    Underscores in names stand for hyphens, one at the end for nothing; floats get one decimal, and
    what is None is left out. The content is markup, see `shown`.
    """
    opening = tag + _given(attributes)
    return f"<{opening}/>" if content is None else f"<{opening}>{content}</{tag}>"


def _given(attributes: dict[str, object]) -> str:
    return "".join(
        f" {name.rstrip('_').replace('_', '-')}={quoteattr(printable(_value(value)))}"
        for name, value in attributes.items()
        if value is not None
    )


def _value(value: object) -> str:
    return f"{value:.1f}" if isinstance(value, float) else str(value)


def shown(text: str) -> str:
    """Return a text as markup: escaped, and without control characters, which XML has none of."""
    return escape(printable(text))


def text(x: float, y: float, words: str, *, tip: str | None = None, **attributes: object) -> str:
    """Return a line of text, with a tooltip where that says more."""
    title = "" if tip is None or tip == words else element("title", shown(tip))
    return element("text", title + shown(words), x=float(x), y=float(y), **attributes)


def document(parts: Iterable[str], **attributes: object) -> str:
    """Return a whole picture, one element a line."""
    opening = f'<svg xmlns="{_NAMESPACE}"{_given(attributes)}>'
    return "\n".join([opening, *filter(None, parts), "</svg>"]) + "\n"


def monospaced(
    parts: Iterable[str], width: float, height: float, *, font_size: int, top: float = 0.0
) -> str:
    """Return a picture whose text has characters of equal width; y begins at `top`."""
    size = {"width": round(width), "height": round(height - top)}
    box = f"0 {top:.0f} {width:.0f} {height - top:.0f}"
    return document(parts, **size, viewBox=box, font_family="monospace", font_size=font_size)


def shortened(words: str, most: int) -> str:
    """Return the first of so many characters, with an ellipsis where there are more."""
    return words if len(words) <= most else f"{words[: most - 1]}…"


def hex_color(parts: Iterable[int]) -> str:
    """Return a color by its red, green and blue, each 0 .. 255."""
    return "#" + "".join(f"{part:02x}" for part in parts)


COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#8C8C8C")
"""Palette of Okabe and Ito, darker colors first, with gray instead of black."""

SHAPES = (
    "circle", "square", "triangle-up", "diamond", "cross", "triangle-down", "triangle-right",
    "triangle-left",
)  # fmt: skip
"""Names of the shapes in Vega."""

_CORNERS: dict[str, tuple[tuple[float, float], ...]] = {
    "square": ((-0.5, -0.5), (0.5, -0.5), (0.5, 0.5), (-0.5, 0.5)),
    "triangle-up": ((0, -0.65), (0.62, 0.47), (-0.62, 0.47)),
    "diamond": ((0, -0.72), (0.6, 0), (0, 0.72), (-0.6, 0)),
    "cross": (
        (-0.2, -0.6), (0.2, -0.6), (0.2, -0.2), (0.6, -0.2), (0.6, 0.2), (0.2, 0.2),
        (0.2, 0.6), (-0.2, 0.6), (-0.2, 0.2), (-0.6, 0.2), (-0.6, -0.2), (-0.2, -0.2),
    ),
    "triangle-down": ((0, 0.65), (0.62, -0.47), (-0.62, -0.47)),
    "triangle-right": ((0.65, 0), (-0.47, 0.62), (-0.47, -0.62)),
    "triangle-left": ((-0.65, 0), (0.47, 0.62), (0.47, -0.62)),
}  # fmt: skip
"""Corners of all shapes but the circle, for a size of 1."""


@dataclass(frozen=True)
class Mark:
    """Color and shape of a family."""

    family: str  # Its name
    color: str  # As in CSS
    shape: str  # One of `SHAPES`

    def path(self, x: float = 0.0, y: float = 0.0, size: float = 1.0) -> str:
        """Return the outline in SVG's language."""
        if self.shape == "circle":
            r = 0.56 * size
            arcs = "".join(f"a{r:.3g} {r:.3g} 0 1 0 {way * 2 * r:.3g} 0" for way in (1, -1))
            return f"M{x - r:.4g} {y:.4g}{arcs}z"
        corners = [(x + size * dx, y + size * dy) for dx, dy in _CORNERS[self.shape]]
        return "M" + "L".join(f"{px:.4g} {py:.4g}" for px, py in corners) + "z"


def marks_of(families: Sequence[str]) -> tuple[Mark, ...]:
    """Give each family a color and a shape; the first 56 have a pair of their own."""
    return tuple(
        Mark(family, COLORS[k % len(COLORS)], SHAPES[k % len(SHAPES)])
        for k, family in enumerate(families)
    )
