"""
Operations of straight-line code and of trees that compare readings with cuts, by name.

As in `bncc.lower.reading_lists`: those of work, and those of code.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import TypeAlias

import numpy as np

from bncc.discretize.readings import n_known
from bncc.lower.cut_conditions import Compared, CutCondition, cut_condition
from bncc.lower.kernels.branches.layout import SHORT, BranchKernel
from bncc.lower.kernels.branches.trees import Branch, Node, leaves_of, nodes
from bncc.lower.kernels.cut_packed.layout import BYTE
from bncc.lower.kernels.cuts.layout import CutKernel
from bncc.lower.kernels.lanes.layout import FEW_BYTES, REGISTERS, LaneKernel
from bncc.lower.reading_keys import ComparedIntegers, compared_integers
from bncc.lower.reading_lists import Counts, bit_shifts
from bncc.program.ir import Program, width_of

NEAR = 64
"""Bytes of readings that an AVR addresses from a pointer."""
CALLED_BYTES = 14
"""Bytes of sums that an AVR's registers hold across calls, besides two addresses."""
KEY_BYTES = 4
"""Bytes of a float's key."""

Conditions: TypeAlias = Mapping[tuple[int, int], CutCondition]
"""Comparisons by feature and least state above the cut."""


@dataclass(frozen=True)
class Visit:
    """A node of a tree."""

    feature: int  # What it compares
    least: int  # The least state above its cut
    is_first: bool  # True if no node above reads the feature
    share: float  # How often a decision visits it


def expected_visits(tree: Branch) -> Iterator[Visit]:
    """Yield the nodes of a tree whose leaves are all as likely."""
    n_leaves: dict[int, int] = {}

    def leaves_below(branch: Branch) -> int:
        return n_leaves[id(branch)] if isinstance(branch, Node) else 1

    for node in reversed(list(nodes(tree))):  # those below a node come first
        n_leaves[id(node)] = leaves_below(node.below) + leaves_below(node.above)
    waiting: list[tuple[Branch, frozenset[int]]] = [(tree, frozenset())]
    while waiting:
        each, above = waiting.pop()
        if isinstance(each, Node):
            share = leaves_below(each) / leaves_below(tree)
            yield Visit(each.feature, each.least, each.feature not in above, share)
            read = above | {each.feature}
            waiting += [(each.below, read), (each.above, read)]


def line_counts(program: Program, kernel: CutKernel) -> tuple[Counts, Counts]:
    """Count the operations of straight-line code: each comparison is one of its own."""
    read = [each for cuts in kernel.cuts for each in cuts]
    cuts = [(each.feature, least, 1.0) for each in read for least in each.least]
    conditions = _conditions(program, [(f, least) for f, least, _ in cuts])
    of, lanes = _of_comparisons(program, cuts, conditions), _of_lanes(kernel.lanes)
    n_cuts, n_tables, n_bytes = kernel.n_cuts, len(kernel.cuts), _widths(program)
    common = {
        "always": 1,
        "readings": len(read),
        "far readings": sum(each.feature * n_bytes[each.feature] >= NEAR for each in read),
        "cuts": n_cuts,
        "bytes of readings": of["bytes"],
        "ordered floats": of["ordered"],
        "int16": of["int16"],
        "long numbers": of["numbers"],
        "words": n_tables * kernel.lanes.n_words,
        "more than 8 words": n_tables * max(0, kernel.lanes.n_words - REGISTERS[1]),
        **{name: lanes[name] for name in ("flushed words", "costs", "bits of costs")},
        "compared costs": lanes["compared costs"],
        "sums without registers": lanes["sums without registers"],
        "places": n_tables if kernel.lanes.dictionary else 0,
    }
    work = {
        **common,
        "words of floats": of["word"],
        "marks": of["plain"],
        "more than 4 words": n_tables * max(0, kernel.lanes.n_words - REGISTERS[0]),
        "bits of flushes": lanes["bits of flushes"],
        "bits of compared costs": lanes["bits of compared costs"],
    }
    code = {
        **common,
        "tables": n_tables,
        "further cuts": n_cuts - len(read),
        "high bytes": of["int8"],
        "sums in memory": lanes["sums in memory"],
    }
    return work, code


def tree_counts(
    program: Program,
    kernel: BranchKernel,
    compare: Compared | None,
    visits: Iterable[Visit] | None = None,
) -> tuple[Counts, Counts]:
    """
    Count the operations of trees.

    Without visits in a decision, all leaves of a tree are as likely.
    """
    every = [each for tree in kernel.trees for each in expected_visits(tree)]
    visited = every if visits is None else list(visits)
    compared = compared_integers(program, "keys") if compare == "keys" else None
    lanes = _of_lanes(kernel.lanes)
    n_trees = len(kernel.trees) * (kernel.leaves != "class")
    n_words, is_placed = n_trees * kernel.n_words, kernel.leaves == "place"
    n_keys = len(compared.features) if compared else 0
    n_looped = n_keys if compared and compared.is_looped else 0
    of_sums = {
        "always": 1,
        "trees": n_trees,
        "words of arrays": n_words * is_placed,
        "margins": int(kernel.margin_bits > 0),
        **{name: lanes[name] for name in ("flushed words", "costs", "bits of costs")},
        "compared costs": lanes["compared costs"],
        "sums without registers": lanes["sums without registers"],
    }
    pairs = [(each.feature, each.least) for each in every]
    conditions = _conditions(program, [] if compared else pairs)
    of = _compared(program, visited, compared, conditions)
    more = max(0, kernel.n_words - REGISTERS[0])
    work = {
        **of_sums,
        "comparisons": sum(each.share for each in visited),
        "first reads": sum(each.share for each in visited if each.is_first),
        "words in the code": n_words * (not is_placed),
        "classes": int(kernel.leaves == "class"),
        "more than 4 words": n_trees * more if kernel.lanes is not None else 0,
        "bits of flushes": lanes["bits of flushes"],
        "bits of compared costs": lanes["bits of compared costs"],
        "words of floats": of["word"],
        "ordered floats": of["ordered"] + n_keys - n_looped,
        "int32": of["int32"],
        "int16": of["int16"],
        "high bytes": of["int8"],
        "long numbers": of["numbers"],
        "uint8": of["uint8"],
        "subtractions": of["subtractions"],
        "bytes of readings": of["bytes"],
        "keys": of["keys"],
        "keys in a loop": n_looped,
    }
    of = _compared(program, [replace(each, share=1.0) for each in every], compared, conditions)
    leaves = [leaf for tree in kernel.trees for leaf in leaves_of(tree)]
    first_floats = sum(
        each.is_first and program.features[each.feature].kind == "float32" for each in every
    )
    code = {
        **of_sums,
        "leaves": len(leaves),
        "long leaves": sum(leaf >= SHORT for leaf in leaves),
        "bytes of leaves": len(leaves) * kernel.value_bits // BYTE,
        "different leaves": sum(len(set(leaves_of(tree))) for tree in kernel.trees),
        "first reads of floats": 0 if compared else first_floats,
        "ordered floats": of["ordered"] + n_keys * (not n_looped),
        "long numbers": of["numbers"],
        "bytes of readings": of["bytes"],
        "far readings": of["far"],
        "keys": of["keys"],
        "keys in a loop": int(n_looped > 0),
    }
    return work, code


def _compared(
    program: Program,
    visits: Sequence[Visit],
    compared: ComparedIntegers | None,
    conditions: Conditions,
) -> Counts:
    """Count comparisons of readings, or of keys."""
    if compared is None:
        cuts = [(each.feature, each.least, each.share) for each in visits]
        return _of_comparisons(program, cuts, conditions)
    place = {f: k for k, f in enumerate(compared.features)}
    far = sum(each.share for each in visits if KEY_BYTES * place[each.feature] >= NEAR)
    none = _of_comparisons(program, [], {})
    return {**none, "keys": sum(each.share for each in visits), "far": far}


def _conditions(program: Program, cuts: Iterable[tuple[int, int]]) -> Conditions:
    return {
        (f, least): cut_condition(program.features[f], least, "x", "m") for f, least in set(cuts)
    }


def _widths(program: Program) -> list[int]:
    """Return the bytes of each reading, or of each difference of two."""
    return [
        np.dtype(each.kind).itemsize if each.is_numeric else width_of(n_known(each)) // BYTE
        for each in program.features
    ]


def _of_comparisons(
    program: Program, cuts: Sequence[tuple[int, int, float]], conditions: Conditions
) -> Counts:
    """Count comparisons of features with cuts, each as often as it says, by what they take."""
    n_bytes = _widths(program)
    found = [(conditions[f, least], f, share) for f, least, share in cuts]
    kinds = ("word", "int32", "int16", "int8", "uint8")
    return {
        **{kind: sum(share for each, _, share in found if _is(each, kind)) for kind in kinds},
        "ordered": sum(share * each.terms[3] for each, _, share in found),
        "plain": sum(share for each, _, share in found if each.sides is None),
        "numbers": sum(share * each.n_numbers for each, _, share in found),
        "subtractions": sum(share * each.n_subtractions for each, _, share in found),
        "bytes": sum(share * n_bytes[f] for _, f, share in found),
        "far": sum(share for _, f, share in found if f * n_bytes[f] >= NEAR),
        "keys": 0,
    }


def _is(condition: CutCondition, kind: str) -> bool:
    return condition.sides is not None and condition.sides[0] == kind


def _of_lanes(lanes: LaneKernel | None) -> Counts:
    """Count what sums of words take, and costs that are found in them."""
    if lanes is None:
        return dict.fromkeys(_LANES, 0)
    highest, is_compared = lanes.highest, lanes.top is not None
    levels, steps = lanes.schedule.levels, lanes.schedule.steps
    n_out = 0 if is_compared else lanes.n_classes
    n_compared = lanes.n_classes if is_compared else 0
    flushes = [step for step in steps if step.kind == "flush"]
    down = [lane * highest.lane_bits for word in highest.words for lane in range(len(word.classes))]
    odd = [
        levels[step.number].lane_bits
        for step in flushes
        for word in levels[step.level].words
        if word.is_odd
    ]
    counts = (
        lanes.flushed_words,
        sum(map(bit_shifts, odd)),
        n_out,
        0 if is_compared else sum(map(bit_shifts, down)),
        n_compared,
        n_compared * bit_shifts(highest.lane_bits),
        _bytes_beyond(lanes, CALLED_BYTES),
        _bytes_beyond(lanes, FEW_BYTES),
    )
    return dict(zip(_LANES, counts, strict=True))


_LANES = (
    "flushed words",
    "bits of flushes",
    "costs",
    "bits of costs",
    "compared costs",
    "bits of compared costs",
    "sums without registers",
    "sums in memory",
)


def _bytes_beyond(lanes: LaneKernel, n_bytes: int) -> int:
    """Return the bytes added to levels that have no registers, the most used having theirs."""
    levels, used = lanes.schedule.levels, lanes.schedule.used
    sizes = [len(each.words) * each.word_bits // BYTE for each in levels]
    totals = accumulate(sizes[level] for level in used)
    beyond = {level for level, total in zip(used, totals, strict=True) if total > n_bytes}
    return sum(sizes[step.level] for step in lanes.schedule.steps if step.level in beyond)
