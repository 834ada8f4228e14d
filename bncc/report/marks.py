"""Colors and shapes of families: told apart by those who see no colors, too."""

from collections.abc import Sequence
from dataclasses import dataclass

COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#8C8C8C")
"""Of Okabe and Ito, the darker ones first; grey for their black, to be seen on black."""

SHAPES = (
    "circle", "square", "triangle-up", "diamond", "cross", "triangle-down", "triangle-right",
    "triangle-left",
)  # fmt: skip
"""By their names in Vega."""

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
"""Of all shapes but the circle, for a size of 1."""


@dataclass(frozen=True)
class Mark:
    """How a family is drawn."""

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
