"""
Operations of loops over lists of cuts that are compared with readings, by name.

Each function returns those of work, executed in one decision, and those of code, printed once. The
weights are fitted by ``benchmarks/fit/fit_reading_costs.py``, in this order.
"""

from collections.abc import Iterable, Mapping
from typing import TypeAlias

import numpy as np

from bncc.lower.kernels.cut_lanes.layout import CutLanesKernel
from bncc.lower.kernels.cut_loop.layout import CutLoopKernel
from bncc.lower.kernels.cut_packed.layout import AGAIN, BYTE, MARK_BITS, MORE, CutPackedKernel
from bncc.lower.kernels.shared.packing import Part
from bncc.lower.reading_keys import ComparedIntegers, used_cuts
from bncc.program.ir import WIDTHS, Program, width_of

Counts: TypeAlias = Mapping[str, float]
"""Numbers of operations by name."""

NEAR_FRAME = 46
FULL_FRAME = 58
"""Bytes of keys and costs on the stack behind which an AVR reaches some variables, and most, of a
loop with two more instructions: it addresses 63 bytes of a frame."""
FEW_PARTS, SOME_PARTS, MANY_PARTS, MOST_PARTS = 2, 3, 5, 8
"""Sums from which on targets have no register for a loop's other variables."""
SUM_BYTES = 12
"""Bytes of sums likewise, on targets whose registers are bytes."""


def bit_shifts(bits: int) -> int:
    """Return the single shifts of a byte machine: it moves whole bytes at once."""
    return bits if bits % BYTE else 0


def packed_counts(
    program: Program, kernel: CutPackedKernel, compared: ComparedIntegers
) -> tuple[Counts, Counts]:
    """Count the operations of the packed kernel."""
    n_tables, n_cuts, n_classes = len(kernel.cuts), kernel.n_cuts, program.n_classes
    is_float, is_long = _is_float(program, compared), int(kernel.row_bytes > 1)
    limit_bytes = compared.width // BYTE
    entry_bytes = packed_entry_bits(kernel, compared) // BYTE
    n_added, has_prior = n_tables * n_classes, int(kernel.prior is not None)
    refills, refill_bits = _refills(n_classes, kernel.cost_bits)
    keys, key_code = _key_counts(program, compared)
    work = {
        "always": 1,
        "tables": n_tables,
        "cuts": n_cuts,
        "features": sum(map(len, kernel.cuts)),
        "bytes of entries": n_cuts * entry_bytes,
        "floats": n_cuts * is_float,
        "bytes of limits": n_cuts * limit_bytes,
        "costs": n_added,
        "costs of long rows": n_added * is_long,
        "bytes of sums": n_added * kernel.sum_bits // BYTE,
        "bytes of rows": n_tables * refills * is_long,
        "bits of their shifts": n_tables * refill_bits * is_long,
        "bits of costs": n_added * kernel.cost_bits * (1 + is_long),
        "classes": n_classes,
        "priors": n_classes * has_prior,
        **keys,
    }
    code = {
        "always": 1,
        "prior": has_prior,
        "long rows": is_long,
        "bytes of an entry": entry_bytes,
        "bytes of a sum": kernel.sum_bits // BYTE,
        "float": is_float,
        "bytes of a limit": limit_bytes,
        **key_code,
    }
    return work, code


def packed_entry_bits(kernel: CutPackedKernel, compared: ComparedIntegers) -> int:
    """Return the width of an entry of the list of readings."""
    place = places_of(compared)
    largest = max(place[each.feature] for cuts in kernel.cuts for each in cuts)
    return width_of((largest << MARK_BITS) | AGAIN | MORE)


def _refills(n_classes: int, cost_bits: int) -> tuple[int, int]:
    """Return the bytes of a row that are read, and the bits by which they are shifted."""
    refills = bits = left = 0
    for _ in range(n_classes):
        if left < cost_bits:
            refills, bits, left = refills + 1, bits + left, left + BYTE
        left -= cost_bits
    return refills, bits


def loop_counts(
    program: Program, kernel: CutLoopKernel, compared: ComparedIntegers
) -> tuple[Counts, Counts]:
    """Count the operations of the looped kernel."""
    sums, n_tables, n_classes = kernel.sums, len(kernel.cuts), program.n_classes
    n_parts, part_bytes, n_moves = len(sums.parts), sums.part_bits // BYTE, _moves(sums.parts)
    n_all = sum(kernel.n_cuts)
    n_doubled = n_all if kernel.is_doubled else 0
    per_table = kernel.n_cuts[0] if kernel.is_doubled else 0
    n_cuts, is_float, limit_bytes = (
        n_all - n_doubled,
        _is_float(program, compared),
        compared.width // BYTE,
    )
    n_emptied = sums.n_runs * n_classes
    sum_bytes = n_parts * part_bytes
    shifted = sum(bit_shifts(part.shift) for part in sums.parts)
    is_near, is_full = _fills_frame(program, compared, kernel.sum_bits)
    keys, key_code = _key_counts(program, compared)
    work = {
        "always": 1,
        "tables": n_tables,
        **_by_width("cuts", n_cuts, compared),
        **_by_width("cuts without strides", n_doubled, compared),
        "numbers of cuts": 0 if kernel.same_n_cuts else n_tables,
        "places": n_tables if kernel.dictionary else 0,
        "bytes of words": n_tables * sums.n_words * sums.packing.word_bits // BYTE,
        "parts": n_tables * n_parts,
        "bytes of parts": n_tables * sum_bytes,
        "moves": n_tables * n_moves,
        "bits of moves": n_tables * shifted * (part_bytes > 2),
        "bits of narrow moves": n_tables * shifted * (part_bytes <= 2),
        "more than 2 parts": n_tables * max(0, n_parts - FEW_PARTS),
        "more than 8 parts": n_tables * max(0, n_parts - MOST_PARTS),
        "bytes of entries": n_cuts * loop_entry_bits(kernel, compared) // BYTE,
        "floats": n_cuts * is_float,
        "floats without strides": n_doubled * is_float,
        "classes": n_emptied,
        "bytes of classes": n_emptied * kernel.sum_bits // BYTE,
        "bits of lanes": sums.n_runs * _lane_shifts(sums.parts) * part_bytes / 2,
        "cuts with 5 parts": n_cuts * (n_parts >= MANY_PARTS),
        "cuts without strides with 3 parts": n_doubled * (n_parts >= SOME_PARTS),
        "cuts with many bytes": n_cuts * (sum_bytes >= SUM_BYTES),
        "parts in a frame": n_tables * n_parts * is_near,
        "classes in a frame": n_classes * is_near,
        "cuts in a full frame": n_cuts * is_full,
        "cuts without strides in a full frame": n_doubled * is_full,
        **keys,
    }
    code = {
        "always": 1,
        **_by_width("cuts without strides", per_table, compared),
        "places": int(kernel.dictionary is not None),
        "parts": n_parts,
        "bytes of parts": sum_bytes,
        "moves": n_moves,
        "classes": n_classes,
        "several runs": int(sums.n_runs > 1),
        "numbers of cuts": int(not kernel.same_n_cuts),
        "numbers of rows": int(not kernel.same_n_rows),
        "float": is_float,
        "bytes of a limit": limit_bytes * (not per_table),
        "parts in a frame": n_parts * is_near,
        **key_code,
    }
    return work, code


def loop_entry_bits(kernel: CutLoopKernel, compared: ComparedIntegers) -> int:
    """Return the width of an entry of the list of readings."""
    place = places_of(compared)
    return width_of(max(max(kernel.reading_entries(t, place)) for t in range(len(kernel.cuts))))


def lanes_counts(
    program: Program, kernel: CutLanesKernel, compared: ComparedIntegers
) -> tuple[Counts, Counts]:
    """
    Count the operations of the kernel of lanes.

    Compilers know the cuts of a shape's only table: these comparisons are with constants, without a
    list.
    """
    known = [shape for shape in kernel.straight if shape.n_tables == 1]
    straight = [shape for shape in kernel.straight if shape.n_tables > 1]
    n_parts, n_moves, has_loop = len(kernel.parts), _moves(kernel.parts), int(bool(kernel.looped))
    n_tables, n_classes = len(kernel.cuts), program.n_classes
    n_looped, n_straight, n_known = (
        sum(shape.n_cuts for shape in some) for some in (kernel.looped, straight, known)
    )
    is_float, limit_bytes = _is_float(program, compared), lanes_limit_bytes(program, compared)
    shifted = sum(bit_shifts(part.shift) for part in kernel.parts)
    n_down, n_masks = _lane_shifts(kernel.parts), _masks(kernel.parts, kernel.sum_bits)
    is_near, is_full = _fills_frame(program, compared, kernel.sum_bits)
    key_bytes = compared.bits // BYTE
    keys, key_code = _key_counts(program, compared)
    n_listed = n_looped + n_straight
    sum_bytes = n_classes * kernel.sum_bits // BYTE
    # Keys that are compared nowhere else stay in registers.
    is_all = len(known) == len(kernel.shapes)
    known_cuts = {
        "bytes of known cuts": 0 if is_all else n_known * key_bytes,
        "bytes of cuts, all known": n_known * key_bytes if is_all else 0,
    }
    work = {
        "always": 1,
        "shapes in the loop": len(kernel.looped),
        "tables in the loop": sum(shape.n_tables for shape in kernel.looped),
        "cuts in the loop": n_looped,
        "tables in lines": sum(shape.n_tables for shape in straight),
        **_by_width("cuts in lines", n_straight, compared),
        "entries": n_tables * len(kernel.planes),
        "bytes of entries": n_tables * kernel.row_bytes,
        "moves": n_tables * n_moves,
        "bits of moves": n_tables * shifted,
        "floats": n_listed * is_float,
        "bytes of limits": n_listed * limit_bytes,
        "classes": n_classes,
        "bytes of classes": sum_bytes,
        "bits of lanes": n_down,
        "masks": n_masks,
        "bits of last moves": shifted,
        **known_cuts,
        "known floats": n_known * is_float,
        "more than 2 parts": n_tables * max(0, n_parts - FEW_PARTS),
        "parts in a frame": n_tables * n_parts * is_near,
        "cuts in the loop with 3 parts": n_looped * (n_parts >= SOME_PARTS),
        "cuts in lines with 2 parts": (n_straight + n_known) * (n_parts >= FEW_PARTS),
        "cuts in lines with 3 parts": (n_straight + n_known) * (n_parts >= SOME_PARTS),
        "cuts in the loop in a full frame": n_looped * is_full,
        **keys,
    }
    n_printed = sum(len(shape.strides) for shape in straight)
    copies = kernel.n_straight + has_loop
    code = {
        "always": 1,
        "loop": has_loop,
        "shapes in lines": len(straight),
        "cuts in lines": n_printed,
        "bytes of limits": (n_printed + has_loop) * limit_bytes,
        "floats": (n_printed + has_loop) * is_float,
        "joins": copies * kernel.n_joins,
        "moves": copies * n_moves,
        "classes": n_classes,
        "bytes of classes": sum_bytes,
        "masks": n_masks,
        "priors": int(np.count_nonzero(kernel.program.prior)),
        "known tables": len(known),
        "known cuts": n_known,
        "known floats": n_known * is_float,
        **known_cuts,
        "more than 2 parts": copies * max(0, n_parts - FEW_PARTS),
        "full frame": is_full,
        **key_code,
    }
    return work, code


def lanes_limit_bytes(program: Program, compared: ComparedIntegers) -> int:
    """Return the bytes of a limit where limits take the least width that holds all of them."""
    used = used_cuts(program)
    # The limits of a feature ascend, so that its first and last one decide.
    ends = {(f, least) for f, some in used.items() for least in (some[0], some[-1])}
    limits = [compared.limit(program.features[f], k) for f, k in ends]
    return compared.limit_bits(limits) // BYTE


def places_of(compared: ComparedIntegers) -> dict[int, int]:
    """Return where each feature that is read is in what is compared."""
    used = compared.features
    return {f: used.index(f) if compared.is_keys else f for f in used}


def _is_float(program: Program, compared: ComparedIntegers) -> int:
    """Return 1 if a loop makes a float an integer at every cut."""
    return int(program.features[compared.features[0]].kind == "float32" and not compared.is_keys)


def _by_width(name: str, count: int, compared: ComparedIntegers) -> Counts:
    """Count comparisons by the bits of what they compare."""
    return {f"{name} of {bits} bits": count * (compared.bits == bits) for bits in WIDTHS}


def _key_counts(program: Program, compared: ComparedIntegers) -> tuple[Counts, Counts]:
    """Count keys that are formed in lines, floats and missing ones among them, and in a loop."""
    read = [program.features[f] for f in compared.features] if compared.is_keys else []
    lines = [] if compared.is_looped else read
    floats = [each for each in lines if each.kind == "float32"]
    in_lines = {
        "keys": len(lines),
        "keys of floats": len(floats),
        "keys of floats that may be missing": sum(each.missing_state > 0 for each in floats),
    }
    n_looped = len(read) if compared.is_looped else 0
    has_keys = int(bool(read))
    return (
        {"has keys": has_keys, **in_lines, "keys in a loop": n_looped},
        {"has keys": has_keys, **in_lines, "keys in a loop": int(n_looped > 0)},
    )


def _fills_frame(program: Program, compared: ComparedIntegers, sum_bits: int) -> tuple[int, int]:
    """Return whether keys and costs fill most of a frame that is easily reached, and all of it."""
    keys = len(compared.features) * compared.bits if compared.is_keys else 0
    n_bytes = (keys + program.n_classes * sum_bits) // BYTE
    return int(n_bytes > NEAR_FRAME), int(n_bytes > FULL_FRAME)


def _moves(parts: Iterable[Part]) -> int:
    """Return the shifts and masks of a row; the first part of a word needs none."""
    return sum(1 + (not part.is_rest) for part in parts if part.shift)


def _lane_shifts(parts: Iterable[Part]) -> int:
    """Return the single shifts of a byte machine that move all lanes down."""
    return sum(
        bit_shifts(lane * part.lane_bits) for part in parts for lane in range(len(part.classes))
    )


def _masks(parts: Iterable[Part], sum_bits: int) -> int:
    """Return the lanes that are masked: all but the last of a word, unless they are as wide."""
    return sum(len(part.classes) - 1 for part in parts if part.lane_bits != sum_bits)
