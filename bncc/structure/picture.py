"""The structure of a classifier as an SVG, children below their parents."""

from collections.abc import Sequence
from dataclasses import dataclass
from xml.sax.saxutils import escape

from bncc.structure.graph import Structure, acyclic_part, topological_order

_CHAR = 7.2
"""Width of a character of the 12 px monospaced label, in px."""
_HEIGHT, _LINE, _GAP_X, _MARGIN = 26.0, 66.0, 14.0, 16.0
"""Of a box, from line to line, between boxes, around all, px."""
_CAPTION = 24.0
"""Height of the line of text above all, px."""
_SHELF = 1600.0
"""Width after which trees go on below, px."""
_BULGE, _BULGE_LINE = 18.0, 10.0
"""How far an arc that closes a cycle leads aside, and more for each line that it climbs, px."""
BACK = "#b03a2e"
"""Color of such an arc."""
_LONGEST = 28
"""Characters of a label that are drawn; the whole name is the box's tooltip."""


@dataclass(frozen=True)
class Box:
    """Where a feature is drawn."""

    x: float  # x and y: Middle of the upper edge, px
    y: float
    width: float  # Width, px
    label: str  # The text in it


def structure_svg(
    structure: Structure,
    names: Sequence[str],
    *,
    n_states: Sequence[int] | None = None,
    caption: bool = True,
) -> str:
    """
    Draw the arcs between features as an SVG, children below their parents.

    An arc that closes a cycle is red and leads up again, around the boxes' right edges.
    """
    closing = structure.cycles.closing
    tree = _with_class(acyclic_part(structure))
    counts = ["" if n_states is None else f" ({n})" for n in n_states or names]
    if structure.class_parents:
        names, counts = [*names, "class"], [*counts, ""]
    boxes = _layout(tree, [_label(name) + n for name, n in zip(names, counts, strict=True)])
    aside = [_aside(boxes[j], boxes[i]) for j, i in closing]
    width = max([*aside, *(box.x + box.width / 2 for box in boxes)]) + _MARGIN
    height = max(box.y for box in boxes) + _HEIGHT + _MARGIN
    title = (
        f"{structure.n_features} features, {structure.n_edges} arcs between them; "
        "the class is a parent of every feature in a solid frame"
    )
    if structure.class_parents:
        title += ", and has parents itself"
    if closing:
        title += "; red arcs close cycles: no Bayesian network"
    if caption:
        width = max(width, len(title) * _CHAR + 2 * _MARGIN)
    top = 0.0 if caption else _CAPTION
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height - top:.0f}" '
        f'viewBox="0 {top:.0f} {width:.0f} {height - top:.0f}" font-family="monospace" '
        'font-size="12">',
        "<defs><marker id='tip' viewBox='0 0 8 8' refX='8' refY='4' markerWidth='7' "
        "markerHeight='7' orient='auto'><path d='M0 0L8 4L0 8z'/></marker></defs>",
        '<rect width="100%" height="100%" fill="white"/>',
    ]
    if caption:
        lines.append(f'<text x="{_MARGIN}" y="{_MARGIN + 6}">{escape(title)}</text>')
    for i, parents in enumerate(tree.parents):
        lines += [_arc(boxes[j], boxes[i]) for j in parents]
    lines += [_closing_arc(boxes[j], boxes[i]) for j, i in closing]
    for i, box in enumerate(boxes):
        lines.append(_frame(box, names[i], tree.class_is_parent[i]))
    return "\n".join([*lines, "</svg>"]) + "\n"


def _arc(parent: Box, child: Box) -> str:
    y1, y2 = parent.y + _HEIGHT, child.y
    bend = (y2 - y1) / 2
    return (
        f'<path d="M{parent.x:.1f} {y1:.1f}C{parent.x:.1f} {y1 + bend:.1f} {child.x:.1f} '
        f'{y2 - bend:.1f} {child.x:.1f} {y2:.1f}" fill="none" stroke="#456" '
        'marker-end="url(#tip)"/>'
    )


def _closing_arc(parent: Box, child: Box) -> str:
    x1, x2 = parent.x + parent.width / 2, child.x + child.width / 2
    y1, y2, aside = parent.y + _HEIGHT / 2, child.y + _HEIGHT / 2, _aside(parent, child)
    return (
        f'<path d="M{x1:.1f} {y1:.1f}C{aside:.1f} {y1:.1f} {aside:.1f} {y2:.1f} {x2:.1f} {y2:.1f}" '
        f'fill="none" stroke="{BACK}" marker-end="url(#tip)"/>'
    )


def _aside(parent: Box, child: Box) -> float:
    """Return how far to the right an arc that closes a cycle leads."""
    climbs = abs(parent.y - child.y) / _LINE
    edge = max(parent.x + parent.width / 2, child.x + child.width / 2)
    return edge + _BULGE + _BULGE_LINE * climbs


def _frame(box: Box, name: str, reads_class: bool) -> str:
    dash = "" if reads_class else ' stroke-dasharray="4 3"'
    return (
        f'<g><title>{escape(name)}</title><rect x="{box.x - box.width / 2:.1f}" '
        f'y="{box.y:.1f}" width="{box.width:.1f}" height="{_HEIGHT:.0f}" rx="5" fill="#eef3f8" '
        f'stroke="#456"{dash}/><text x="{box.x:.1f}" y="{box.y + 17:.1f}" text-anchor="middle">'
        f"{escape(box.label)}</text></g>"
    )


def _with_class(tree: Structure) -> Structure:
    """Return a graph in which a class with parents is a node without children, the last."""
    if not tree.class_parents:
        return tree
    return Structure((*tree.parents, tree.class_parents), (*tree.class_is_parent, True))


def _layout(tree: Structure, labels: Sequence[str]) -> list[Box]:
    """Place the features: depth gives the line, each tree has its width, trees fill shelves."""
    widths = [len(label) * _CHAR + 16 for label in labels]
    depth = _depths(tree)
    parents = tree.parents
    children: dict[int, list[int]] = {}
    for i in range(tree.n_features):
        if parents[i]:
            children.setdefault(parents[i][0], []).append(i)
    order = topological_order(tree)
    span, deepest = list(widths), list(depth)
    for i in reversed(order):
        below = children.get(i, [])
        span[i] = max(widths[i], sum(span[j] + _GAP_X for j in below) - _GAP_X)
        deepest[i] = max([depth[i], *(deepest[j] for j in below)])
    places = _shelves([i for i in order if not parents[i]], span, deepest)
    for i in order:
        left, top = places[i]
        for j in children.get(i, []):
            places[j] = (left, top)
            left += span[j] + _GAP_X
    return [
        Box(places[i][0] + span[i] / 2, places[i][1] + depth[i] * _LINE, widths[i], labels[i])
        for i in range(tree.n_features)
    ]


def _shelves(
    roots: Sequence[int], span: Sequence[float], deepest: Sequence[int]
) -> dict[int, tuple[float, float]]:
    """Return the upper left corner of every tree, side by side until a shelf is full."""
    places: dict[int, tuple[float, float]] = {}
    left, top, lines = _MARGIN, _MARGIN + _CAPTION, 0
    for root in roots:
        if left > _MARGIN and left + span[root] > _SHELF:
            left, top, lines = _MARGIN, top + lines * _LINE, 0
        places[root] = (left, top)
        left += span[root] + _GAP_X
        lines = max(lines, deepest[root] + 1)
    return places


def _depths(structure: Structure) -> list[int]:
    depth = [0] * structure.n_features
    for i in topological_order(structure):
        depth[i] = max((depth[j] + 1 for j in structure.parents[i]), default=0)
    return depth


def _label(name: str) -> str:
    return name if len(name) <= _LONGEST else f"{name[: _LONGEST - 1]}…"
