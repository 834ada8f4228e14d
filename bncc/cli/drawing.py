"""The structure of a classifier as a drawing: DOT text for Graphviz, or an SVG of our own."""

from bncc.cli.console import printable
from bncc.cli.sum_picture import sum_svg
from bncc.model.model import Model
from bncc.structure.decision_tables import Grids
from bncc.structure.picture import BACK, structure_svg


def dot_of(model: Model) -> str:
    """Return the structure in Graphviz's language."""
    if isinstance(model.structure, Grids):
        return _dot_of_sum(model, model.structure)
    closing = set(model.structure.cycles.closing)
    red = f' [color="{BACK}", constraint=false]'
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


def _dot_of_sum(model: Model, grids: Grids) -> str:
    lines = ["digraph structure {", "  node [shape=box];"]
    for f in grids.features:
        lines.append(f'  x{f} [label="{_quoted(model.features[f].name)}"];')
    for t, grid in enumerate(grids.tables):
        lines.append(f'  t{t} [label="table {t}\\n{grid.n_rows} rows", shape=ellipse];')
        for f, cuts in zip(grid.features, grid.cuts, strict=True):
            lines.append(f'  x{f} -> t{t} [label="{len(cuts)}"];')
    return "\n".join([*lines, "}"]) + "\n"


def _quoted(text: str) -> str:
    return printable(text).replace("\\", "\\\\").replace('"', '\\"')


def svg_of(model: Model, *, show_all: bool = False) -> str:
    """Draw what a classifier is made of as an SVG."""
    if isinstance(model.structure, Grids):
        return sum_svg(model, show_all=show_all)
    names = [printable(feature.name) for feature in model.features]
    return structure_svg(model.structure, names, n_states=model.n_states)
