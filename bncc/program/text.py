"""Programs as text, for `bncc inspect --ir`, golden files and people."""

import json

from bncc.discretize.feature import Feature
from bncc.program.ir import Program, Table, n_levels, table_bits
from bncc.program.ranges import cost_bounds
from bncc.structure.decision_tables import BranchingTable


def print_program(program: Program, *, rows: bool = False) -> str:
    """Return a program as text, one line per feature and per table."""
    low, high = cost_bounds(program)
    lines = [
        f"program: {len(program.features)} features, {program.n_classes} classes, "
        f"{len(program.tables)} tables, {table_bits(program)} bits, "
        f"unit 2^{-program.frac_bits} nats",
        *(f"feature {i}: {_feature(feature)}" for i, feature in enumerate(program.features)),
        f"classes: {', '.join(json.dumps(label) for label in program.classes)}",
        f"prior: {' '.join(map(str, program.prior)) if program.prior.any() else 'none'}",
    ]
    for t, table in enumerate(program.tables):
        lines.append(f"table {t}: {_table(program, table)}")
        if rows:
            lines += [f"  {r}: {' '.join(map(str, row))}" for r, row in enumerate(table.costs)]
    if program.gate is not None:
        gate = program.gate
        lines.append(f"gate: tables 0 .. {gate.tables - 1} decide with a margin of {gate.margin}")
    lines.append(f"sums: u{program.cost_bits}, {int(low.min())} .. {int(high.max())}")
    return "\n".join(lines) + "\n"


def _feature(feature: Feature) -> str:
    text = f"{json.dumps(feature.name)} {feature.kind}, {feature.n_states} states"
    if feature.is_numeric:
        text += f", thresholds [{' '.join(repr(t) for t in feature.thresholds)}]"
    if feature.kind == "category":
        text += f", categories [{' '.join(json.dumps(label) for label in feature.categories)}]"
    return f"{text}, missing -> {feature.missing_state}" if feature.has_marker else text


def _table(program: Program, table: Table) -> str:
    index = ", ".join(
        f"x{f}:{n}" + (f" of {' '.join(map(str, table.maps[f]))}" if f in table.maps else "")
        for f, n in zip(table.features, n_levels(table, program.n_states), strict=True)
    )
    if table.tree is not None:
        index = _branches(table.tree, 0)
    return (
        f"{json.dumps(table.name)}[{index}] u{table.entry_bits}, {len(table.costs)} rows, "
        f"costs {int(table.costs.min())} .. {int(table.costs.max())}"
    )


def _branches(tree: BranchingTable, place: int) -> str:
    """Print a decision tree: what is above a cut, then what is not."""
    if place < 0:
        return str(-1 - place)
    above, below = _branches(tree, tree.above[place]), _branches(tree, tree.below[place])
    return f"x{tree.features[place]} > {tree.cuts[place]} ? ({above}) : ({below})"
