"""Structure of a classifier as SVG, children below their parents, or as DOT for Graphviz."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from bncc.data.files import printable
from bncc.model.front import front_of
from bncc.model.model import Model
from bncc.report.svg import BACKGROUND, element, monospaced, shortened, shown, text
from bncc.report.table_pictures import sum_svg
from bncc.structure.decision_tables import BranchingTable, TableEnsemble
from bncc.structure.graph import Structure, acyclic_part, topological_order

_CHAR = 7.2
"""Width of a character of the 12 px monospaced label, in px."""
_HEIGHT, _LINE, _GAP_X, _MARGIN = 26.0, 66.0, 14.0, 16.0
"""Height of a box, distance of lines, gap between boxes, and margin, px."""
_CAPTION = 24.0
"""Height of the caption, px."""
_SHELF = 1600.0
"""Width of a line of trees, px."""
_BULGE, _BULGE_LINE = 18.0, 10.0
"""Distance of a closing arc from the boxes, and its increment per line that it spans, px."""
_BACK = "#b03a2e"
"""Color of an arc that closes a cycle."""
_ARROW = (
    "<defs><marker id='tip' viewBox='0 0 8 8' refX='8' refY='4' markerWidth='7' "
    "markerHeight='7' orient='auto'><path d='M0 0L8 4L0 8z'/></marker></defs>"
)
_LONGEST = 28
"""Longest label in characters; the full name is the box's tooltip."""


@dataclass(frozen=True)
class Box:
    """Position of a feature."""

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
    boxes = _layout(
        tree, [shortened(name, _LONGEST) + n for name, n in zip(names, counts, strict=True)]
    )
    aside = [_aside(boxes[j], boxes[i]) for j, i in closing]
    width = max([*aside, *(box.x + box.width / 2 for box in boxes)]) + _MARGIN
    height = max(box.y for box in boxes) + _HEIGHT + _MARGIN
    title = (
        f"{structure.n_features} features, {structure.n_edges} arcs between them; the class "
        "is a parent of every feature in a solid frame"
    )
    if structure.class_parents:
        title += ", and has parents itself"
    if closing:
        title += "; red arcs close cycles: not a Bayesian network"
    if caption:
        width = max(width, len(title) * _CHAR + 2 * _MARGIN)
    top = 0.0 if caption else _CAPTION
    parts = [_ARROW, BACKGROUND]
    if caption:
        parts.append(text(_MARGIN, _MARGIN + 6, title))
    for i, parents in enumerate(tree.parents):
        parts += [_arc(boxes[j], boxes[i]) for j in parents]
    parts += [_closing_arc(boxes[j], boxes[i]) for j, i in closing]
    for i, box in enumerate(boxes):
        parts.append(_frame(box, names[i], tree.class_is_parent[i]))
    return monospaced(parts, width, height, font_size=12, top=top)


def _arc(parent: Box, child: Box) -> str:
    y1, y2 = parent.y + _HEIGHT, child.y
    bend = (y2 - y1) / 2
    curve = (
        f"M{parent.x:.1f} {y1:.1f}C{parent.x:.1f} {y1 + bend:.1f} {child.x:.1f} "
        f"{y2 - bend:.1f} {child.x:.1f} {y2:.1f}"
    )
    return element("path", d=curve, fill="none", stroke="#456", marker_end="url(#tip)")


def _closing_arc(parent: Box, child: Box) -> str:
    x1, x2 = parent.x + parent.width / 2, child.x + child.width / 2
    y1, y2, aside = parent.y + _HEIGHT / 2, child.y + _HEIGHT / 2, _aside(parent, child)
    curve = f"M{x1:.1f} {y1:.1f}C{aside:.1f} {y1:.1f} {aside:.1f} {y2:.1f} {x2:.1f} {y2:.1f}"
    return element("path", d=curve, fill="none", stroke=_BACK, marker_end="url(#tip)")


def _aside(parent: Box, child: Box) -> float:
    """Return how far to the right an arc that closes a cycle leads."""
    climbs = abs(parent.y - child.y) / _LINE
    edge = max(parent.x + parent.width / 2, child.x + child.width / 2)
    return edge + _BULGE + _BULGE_LINE * climbs


def _frame(box: Box, name: str, reads_class: bool) -> str:
    frame = element(
        "rect", x=box.x - box.width / 2, y=box.y, width=box.width, height=round(_HEIGHT), rx=5,
        fill="#eef3f8", stroke="#456", stroke_dasharray=None if reads_class else "4 3",
    )  # fmt: skip
    label = text(box.x, box.y + 17, box.label, text_anchor="middle")
    return element("g", element("title", shown(name)) + frame + label)


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


def dot_of(model: Model) -> str:
    """Return the structure in Graphviz's language."""
    if isinstance(model.structure, TableEnsemble):
        return _dot_of_sum(model, model.structure)
    closing = set(model.structure.cycles.closing)
    red = f' [color="{_BACK}", constraint=false]'
    lines = [
        "digraph structure {",
        "  node [shape=box];",
        '  c [label="class", shape=ellipse];',
    ]
    for i, feature in enumerate(model.features):
        label = f"{_quoted(feature.name)}\\n{feature.n_states} states"
        given = ", style=dotted" if i in model.structure.given else ""
        lines.append(f'  x{i} [label="{label}"{given}];')
    for i, parents in enumerate(model.structure.parents):
        if model.structure.class_is_parent[i]:
            lines.append(f"  c -> x{i} [style=dashed];")
        lines += [f"  x{j} -> x{i}{red if (j, i) in closing else ''};" for j in parents]
    lines += [f"  x{j} -> c;" for j in model.structure.class_parents]
    return "\n".join([*lines, "}"]) + "\n"


def _dot_of_sum(model: Model, grids: TableEnsemble) -> str:
    lines = ["digraph structure {", "  node [shape=box];"]
    for f in grids.features:
        lines.append(f'  x{f} [label="{_quoted(model.features[f].name)}"];')
    front = front_of(model)
    for t, grid in enumerate(grids.tables):
        name = "front" if t == 0 and front is not None else f"table {t}"
        lines.append(f'  t{t} [label="{name}\\n{grid.n_rows} rows", shape=ellipse];')
        if isinstance(grid, BranchingTable):
            n_cuts = sorted(Counter(grid.features).items())
        else:
            n_cuts = [(f, len(cuts)) for f, cuts in zip(grid.features, grid.cuts, strict=True)]
        lines += [f'  x{f} -> t{t} [label="{n}"];' for f, n in n_cuts]
    return "\n".join([*lines, "}"]) + "\n"


def _quoted(text: str) -> str:
    return printable(text).replace("\\", "\\\\").replace('"', '\\"')


def svg_of(model: Model, *, show_all: bool = False) -> str:
    """Draw what a classifier is made of as an SVG."""
    if isinstance(model.structure, TableEnsemble):
        return sum_svg(model, show_all=show_all)
    names = [printable(feature.name) for feature in model.features]
    return structure_svg(model.structure, names, n_states=model.n_states)
