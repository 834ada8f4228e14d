"""The kernel of branches as C: a function of nested comparisons per tree, and a sum of its rows."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from bncc._types import IntArray
from bncc.lower.c.c99 import ArrayText, array, literal_suffix, unsigned, wrap, wrap_words
from bncc.lower.c.identifiers import c_comment
from bncc.lower.cut_conditions import CutCondition
from bncc.lower.kernels.base import KernelText
from bncc.lower.kernels.branches.layout import BranchKernel
from bncc.lower.kernels.branches.trees import Branch, branches_of
from bncc.lower.kernels.lanes.text import added, flush, lane_names
from bncc.program.ir import Program

DEEPEST = 10
"""Levels of nested comparisons that are indented, so that lines stay short."""

Condition = Callable[[int, int], CutCondition]
"""The condition that a feature's state is at least a number."""
Leaf = Callable[[int], str]
"""Prints the value that a leaf returns, from its number."""


@dataclass(frozen=True)
class TreeText:
    """A tree as a function."""

    features: str  # What it reads, for a comment
    lines: tuple[str, ...]  # Its statements, indented


def branches_text(program: Program, kernel: BranchKernel, name: str, state_bits: int) -> KernelText:
    """Print the arrays, trees and sums of the kernel of branches."""
    arrays = [_row_array(program, kernel, k) for k in range(len(kernel.rows))]
    leaf = str if kernel.leaves == "class" else _number
    context: dict[str, object] = {
        "form": kernel.leaves
        if kernel.lanes is not None
        else ("margin", "class")[kernel.leaves == "class"],
        "leaf_type": "int16_t" if kernel.leaves == "class" else unsigned(kernel.value_bits),
        "is_named_in_rows": kernel.leaves == "place",
        "trees": tuple(state_tree(program, tree, leaf) for tree in kernel.trees),
        "margin_type": unsigned(kernel.margin_bits or 8),
        "margin_limit": kernel.margin_limit,
        "most_comparisons": kernel.most_comparisons,
    }
    of_sum: tuple[ArrayText, ...] = ()
    if kernel.leaves == "class":
        of_sum, context["place_type"], context["place_trees"] = _costs_of_one(program, kernel)
    if kernel.lanes is not None:
        context |= lane_names(kernel.lanes)
    steps = list(sum_steps(kernel, name, "tree"))
    context |= {"steps": steps, "is_widened": any("_wide(" in line for s in steps for line in s)}
    return KernelText(
        template="lower/kernels/branches.c.j2",
        arrays=tuple(arrays),
        table_bytes=sum(each.n_bytes for each in arrays),
        decides=True,
        sum_arrays=of_sum,
        context=context,
    )


def reading_trees(
    program: Program, kernel: BranchKernel, condition: Condition
) -> tuple[tuple[TreeText, ...], frozenset[str]]:
    """Return the trees that compare readings, and the functions that their conditions call."""
    leaf = str if kernel.leaves == "class" else _number
    found = [reading_tree(program, tree, condition, leaf) for tree in kernel.trees]
    return tuple(text for text, _ in found), frozenset().union(*(some for _, some in found))


def reading_tree(
    program: Program, tree: Branch, condition: Condition, leaf: Leaf
) -> tuple[TreeText, frozenset[str]]:
    """Return one tree that compares readings, and the functions that its conditions call."""
    functions: set[str] = set()

    def noted(f: int, least: int) -> CutCondition:
        found = condition(f, least)
        functions.update(found.functions)
        return found

    return _tree(program, tree, noted, leaf), frozenset(functions)


def state_tree(program: Program, tree: Branch, leaf: Leaf) -> TreeText:
    """Return one tree that compares states."""
    return _tree(program, tree, _state_condition, leaf)


def _state_condition(f: int, least: int) -> CutCondition:
    return CutCondition(f"x[{f}] >= {least}U")


def _tree(program: Program, tree: Branch, condition: Condition, leaf: Leaf) -> TreeText:
    names: dict[str, None] = {}
    lines = tuple(_lines(program, tree, 1, condition, names, leaf))
    if not names:
        return TreeText("One leaf for all inputs", ("    (void)x;", *lines))
    return TreeText(", ".join(names), lines)


def _lines(
    program: Program,
    branch: Branch,
    depth: int,
    condition: Condition,
    names: dict[str, None],
    leaf: Leaf,
) -> Iterator[str]:
    """Yield the statements below a node: those above its cut nested, the others behind them."""
    pad = "    " * min(depth, DEEPEST)
    while not isinstance(branch, int):
        found = condition(branch.feature, branch.least)
        if found.constant is not None:
            branch = branch.above if found.constant else branch.below
            continue
        feature = c_comment(program.features[branch.feature].name)
        names[feature] = None
        yield f"{pad}if ({found.text}) {{ /* {feature} */"
        yield from _lines(program, branch.above, depth + 1, condition, names, leaf)
        yield f"{pad}}}"
        branch = branch.below
    yield f"{pad}return {leaf(branch)};"


def _number(value: int) -> str:
    """Print what a leaf stands for: words of lanes by their digits."""
    bits = value.bit_length()
    return f"0x{value:X}{literal_suffix(bits)}" if bits > 16 else f"{value}U"


def sum_steps(kernel: BranchKernel, name: str, tree: str) -> Iterator[list[str]]:
    """Yield the statements of every step of a sum."""
    if kernel.leaves == "class":
        return
    if kernel.lanes is None:
        of_margin = unsigned(kernel.margin_bits)
        for t in range(len(kernel.trees)):
            before = "sum + " if t else ""
            value = f"{before}{name}_{tree}{t}(x)"
            narrow = before and kernel.margin_bits < 32
            yield [f"sum = {f'({of_margin})({value})' if narrow else value};"]
        return
    for step in kernel.lanes.schedule.steps:
        if step.kind == "flush":
            yield flush(kernel.lanes, step)
            continue
        call = f"{name}_{tree}{step.number}(x)"
        if kernel.leaves == "value":
            yield list(added(kernel.lanes, step, [call]))
            continue
        if kernel.value_bits == 8:
            call = f"{name}_wide({call})"
        of_all = len(kernel.rows) == 1
        rows = f"{name}_rows{0 if of_all else step.number}"
        words = [f"{name}_rom_uint32(&row[{w}])" for w in range(kernel.n_words)]
        yield [f"row = &{rows}[{call}];", *added(kernel.lanes, step, words)]


def _row_array(program: Program, kernel: BranchKernel, k: int) -> ArrayText:
    """Return the words of rows, those of a row in a line."""
    assert kernel.lanes is not None
    rows: IntArray = kernel.rows[k]
    comment = "Different rows of all tables."
    if len(kernel.rows) > 1:
        read = (c_comment(program.features[f].name) for f in kernel.lanes.tables[k].features)
        comment = f"Different rows of the table of {', '.join(read)}."
    lines = [
        line for row in rows.tolist() for line in wrap_words(f"0x{word:08X}U," for word in row)
    ]
    n_bytes = rows.size * kernel.lanes.lowest.word_bits // 8
    return ArrayText("uint32_t", f"rows{k}", rows.size, comment, tuple(lines), n_bytes)


def _costs_of_one(
    program: Program, kernel: BranchKernel
) -> tuple[tuple[ArrayText, ...], str, tuple[TreeText, ...]]:
    """Return the costs of the rows of the only table, and the tree that finds them."""
    (table,) = program.tables
    costs = table.costs + program.prior
    n_rows, n_classes = costs.shape
    tree = branches_of(table, program.n_states, [n_classes * k for k in range(n_rows)])
    meaning = "Costs of the leaves from left to right, an entry per class."
    whole = array("leaf_costs", kernel.sum_bits, costs.ravel().tolist(), meaning)
    by_row = replace(whole, lines=tuple(line for row in costs.tolist() for line in wrap(row)))
    places = state_tree(program, tree, _number)
    return (by_row,), unsigned(_bits(n_classes * (n_rows - 1))), (places,)


def _bits(largest: int) -> int:
    return next(bits for bits in (8, 16, 32) if largest < 1 << bits)
