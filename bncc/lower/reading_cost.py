"""
Estimated cost of kernels that compare readings instead of states.

Terms are those of the kernel that compares states and what readings add. The weights are fitted by
``benchmarks/fit/fit_reading_costs.py``.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from bncc.lower.cost_model import OF_READINGS, Level, weighted
from bncc.lower.cut_conditions import ORDER, Compared, CutCondition, cut_condition
from bncc.lower.kernels.base import Kernel
from bncc.lower.kernels.branches.layout import BranchKernel
from bncc.lower.kernels.branches.trees import Branch, Node, leaves_of, nodes
from bncc.lower.kernels.cut_lanes.layout import CutLanesKernel
from bncc.lower.kernels.cut_loop.layout import CutLoopKernel
from bncc.lower.kernels.cut_packed.layout import AGAIN, MARK_BITS, MORE, CutPackedKernel
from bncc.lower.kernels.cuts.layout import CutKernel
from bncc.lower.reading_keys import ComparedIntegers, compared_integers, used_cuts
from bncc.program.ir import Program, width_of


@dataclass(frozen=True)
class ReadingTerms:
    """Sizes of a kernel that compares readings."""

    rom_bytes: int  # Bytes of the constants that it reads
    own_bytes: int  # Bytes of those that the kernel on states does not read
    key_bytes: int  # Bytes of stack of the integers that a loop compares
    work: tuple[float, ...]  # Terms of executed instructions, and code: of code size
    code: tuple[float, ...]


def reading_terms(
    program: Program, kernel: Kernel, compare: Compared | None = None
) -> ReadingTerms:
    """Return the terms of a kernel's variant that compares readings."""
    if isinstance(kernel, BranchKernel):
        return _of_trees(program, kernel, compare)
    if isinstance(kernel, CutKernel):
        return _of_lines(program, kernel)
    compared = compared_integers(program, compare, kernel)
    keys = compared.features if compared.is_keys else ()
    # A loop that compares floats makes them integers at every cut.
    is_float = int(program.features[compared.features[0]].kind == "float32" and not keys)
    n_floats = sum(program.features[f].kind == "float32" for f in keys)
    marks = sum(program.features[f].missing_state > 0 for f in keys)
    width = compared.width // 8
    of_keys = (len(keys), n_floats, marks)
    in_loop = tuple(LOOP_WORK * n for n in of_keys) if compared.is_looped else of_keys
    of_loop = (LOOP_CODE, LOOP_CODE, 0) if compared.is_looped else of_keys
    read: tuple[float, ...]
    unrolled: tuple[float, ...] = ()
    if isinstance(kernel, CutLoopKernel):
        n_cuts = sum(kernel.n_cuts)
        before = sum(each.size for each in kernel.entries) * kernel.entry_bits // 8
        listed = _loop_bytes(kernel, compared)
        doubled = n_cuts if kernel.is_doubled else 0
        per_table = kernel.n_cuts[0] if kernel.is_doubled else 0
        read = (n_cuts - doubled, doubled)
        unrolled = (per_table * is_float, per_table * width)
    elif isinstance(kernel, CutPackedKernel):
        n_cuts = kernel.n_cuts
        before = n_cuts * kernel.entry_bits // 8
        listed = n_cuts * _packed_bits(kernel, compared) // 8
        read = (n_cuts,)
    elif isinstance(kernel, CutLanesKernel):
        n_cuts = kernel.n_cuts
        before = kernel.rom_bytes - kernel.shared_bytes
        listed = n_cuts * width_of(max(_places(compared).values())) // 8
        read = (n_cuts,)
        width = _limit_bytes(program, compared)
    else:
        raise TypeError(f"the kernel '{kernel.family}' compares no readings")
    own_bytes = listed + n_cuts * width
    rom_bytes = kernel.rom_bytes - before + own_bytes
    of_cuts = (*(n * is_float for n in read), *(n * width for n in read))
    work = (*kernel.work, *of_cuts, *in_loop)
    code = (*kernel.code, is_float, *unrolled, *of_loop, width)
    return ReadingTerms(rom_bytes, own_bytes, len(keys) * compared.bits // 8, work, code)


def _limit_bytes(program: Program, compared: ComparedIntegers) -> int:
    """Return the bytes of a limit where limits take the least width that holds all of them."""
    used = used_cuts(program)
    # The limits of a feature ascend, so that its first and last one decide.
    ends = {(f, least) for f, some in used.items() for least in (some[0], some[-1])}
    return compared.limit_bits([compared.limit(program.features[f], k) for f, k in ends]) // 8


def _loop_bytes(kernel: CutLoopKernel, compared: ComparedIntegers) -> int:
    place = _places(compared)
    entries = [kernel.reading_entries(t, place) for t in range(len(kernel.cuts))]
    bits = width_of(max(max(some) for some in entries))
    return sum(map(len, entries)) * bits // 8


def _packed_bits(kernel: CutPackedKernel, compared: ComparedIntegers) -> int:
    place = _places(compared)
    largest = max(place[each.feature] for cuts in kernel.cuts for each in cuts)
    return width_of((largest << MARK_BITS) | AGAIN | MORE)


def _places(compared: ComparedIntegers) -> dict[int, int]:
    used = compared.features
    return {f: used.index(f) if compared.is_keys else f for f in used}


LOOP_WORK, LOOP_CODE = 1.5, 1.5
"""Keys formed line by line that take the time of one that a loop forms, and the bytes of all of
them: 43 keys of a sum of 47 tables take 9 instructions each and 30 bytes, Cortex-M4 at -O2."""
KEY_BYTES = 4
"""Bytes of a float's key."""
_KEY = CutCondition("order(x)", functions=frozenset({ORDER}))


def node_kinds(
    program: Program, read: Sequence[tuple[int, int]], compare: Compared | None
) -> tuple[tuple[int, ...], tuple[float, ...], int]:
    """
    Count what nodes compare, each a feature and the least state above its cut.

    Returns their comparisons of readings by kind, likewise the work that forms all keys, and their
    comparisons of keys.
    """
    if compare != "keys":
        found = [cut_condition(program.features[f], least, "x", "m") for f, least in read]
        return kinds_of(found), kinds_of([]), 0
    compared = compared_integers(program, compare)
    n_keys = len(compared.features) * (LOOP_WORK if compared.is_looped else 1)
    return kinds_of([]), _of_keys(n_keys), len(read)


def _of_keys(number: float) -> tuple[float, ...]:
    """Return the terms of conditions that form some keys."""
    return tuple(number * n for n in kinds_of([_KEY]))


def _of_trees(program: Program, kernel: BranchKernel, compare: Compared | None) -> ReadingTerms:
    """Return the terms of nested comparisons, in decisions by the share of each kind."""
    read = [(node.feature, node.least) for tree in kernel.trees for node in nodes(tree)]
    counts, once, n_compared = node_kinds(program, read, compare)
    share = kernel.expected_comparisons / max(1, len(read))
    of_kinds = (share * n + m for n, m in zip(counts, once, strict=True))
    work = (*kernel.work, *of_kinds, share * n_compared)
    n_read, n_floats, n_leaves = _once(program, kernel)
    in_trees = (n_read, 0 if n_compared else n_floats, n_leaves, n_compared)
    compared = compared_integers(program, compare)
    n_keys = len(compared.features) if n_compared else 0
    formed = _of_keys(LOOP_CODE if n_keys and compared.is_looped else n_keys)
    code = (*kernel.code, *(n + m for n, m in zip(counts, formed, strict=True)), *in_trees)
    return ReadingTerms(kernel.rom_bytes, 0, KEY_BYTES * n_keys, work, code)


def _once(program: Program, kernel: BranchKernel) -> tuple[int, ...]:
    """
    Count what compilers do once in a tree.

    Returns the features that no node above reads, those of them that are floats, and different
    leaves.
    """
    n_read = n_floats = n_leaves = 0
    for tree in kernel.trees:
        n_leaves += len(set(leaves_of(tree)))
        waiting: list[tuple[Branch, frozenset[int]]] = [(tree, frozenset())]
        while waiting:
            each, above = waiting.pop()
            if isinstance(each, Node):
                n_read += each.feature not in above
                is_float = program.features[each.feature].kind == "float32"
                n_floats += is_float and each.feature not in above
                read = above | {each.feature}
                waiting += [(each.below, read), (each.above, read)]
    return n_read, n_floats, n_leaves


def _of_lines(program: Program, kernel: CutKernel) -> ReadingTerms:
    """Return the terms of straight-line code: each comparison is one of its own."""
    read = [each for cuts in kernel.cuts for each in cuts]
    found = [
        cut_condition(program.features[each.feature], least, "x", "m")
        for each in read
        for least in each.least
    ]
    terms = (*kernel.work, *kinds_of(found))
    return ReadingTerms(kernel.rom_bytes, 0, 0, terms, terms)


def kinds_of(found: Sequence[CutCondition]) -> tuple[int, ...]:
    """Return how many conditions there are of each kind that takes more than a comparison."""
    n_words = sum(_is(each, "word") for each in found)
    n_ordered = sum(each.terms[3] for each in found)
    n_int32 = sum(_is(each, "int32") for each in found)
    n_int16 = sum(_is(each, "int16") for each in found)
    n_int8 = sum(_is(each, "int8") for each in found)
    n_plain = sum(each.sides is None for each in found)
    n_numbers = sum(each.n_numbers for each in found)
    return n_words, n_ordered, n_int32, n_int16, n_int8, n_plain, n_numbers


def _is(condition: CutCondition, kind: str) -> bool:
    return condition.sides is not None and condition.sides[0] == kind


def reading_work(
    program: Program,
    kernel: Kernel,
    target: str | None = None,
    level: Level = "-O2",
    compare: Compared | None = None,
) -> int:
    """Return what one decision from readings executes."""
    terms = reading_terms(program, kernel, compare).work
    return max(1, round(weighted(kernel.family + OF_READINGS, target, level, terms, which=0)))


def reading_code(
    program: Program,
    kernel: Kernel,
    target: str | None = None,
    level: Level = "-O2",
    compare: Compared | None = None,
) -> int:
    """Return the bytes of code of a classifier that only decides on readings."""
    terms = reading_terms(program, kernel, compare).code
    return max(0, round(weighted(kernel.family + OF_READINGS, target, level, terms, which=1)))
