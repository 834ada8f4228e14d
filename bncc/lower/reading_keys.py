"""
Readings as integers that loops compare with limits.

A loop has one comparison for all cuts, ``reading > limit``. Where readings have several types, or
the state of a missing reading is neither below nor above all cuts that are compared, each reading
that is used becomes a key first: an integer of one type that orders like the states. Where the
high half of a key of 32 bits decides every cut, limits are lists of those halves.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from bncc.discretize.feature import Feature
from bncc.discretize.float_order import float_key
from bncc.discretize.missing import MISSING_INT
from bncc.discretize.readings import n_known
from bncc.lower.cut_conditions import FLOAT_BITS, INF, ORDER, Compared
from bncc.lower.discretizers.functions import cut_integers
from bncc.lower.kernels.base import Kernel
from bncc.lower.kernels.cut_loop.layout import CutLoopKernel
from bncc.lower.kernels.shared.cut_places import cuts_of
from bncc.program.ir import WIDTHS, Program

CODES = ("category", "state")
WIDE = ("float32", "int32")
"""Kinds whose keys take 32 bits."""
LEAST_LOOPED, MOST_READ = 4, 2
"""Smallest number of keys that a loop forms, and most readings for each key that is compared: a
loop forms those of unused features too, while a line per key takes 20 to 30 bytes on Cortex-M."""
HALF, LOW_HALF, BIAS = 16, 0xFFFF, 1 << 15
"""Bits of the high half of a key, its low half, and the high half of the key of zero."""


@lru_cache(maxsize=64)
def used_cuts(program: Program) -> Mapping[int, tuple[int, ...]]:
    """Return by feature, ascending, the least states above the cuts of all tables, ascending."""
    found: dict[int, set[int]] = {}
    for table in program.tables:
        if table.tree is not None:
            for f, cut in zip(table.tree.features, table.tree.cuts, strict=True):
                found.setdefault(f, set()).add(cut + 1)
            continue
        for each in cuts_of(table):
            found.setdefault(each.feature, set()).update(each.least)
    return {f: tuple(sorted(found[f])) for f in sorted(found)}


@dataclass(frozen=True)
class ComparedIntegers:
    """Integers that a loop compares: readings, or keys of readings."""

    features: tuple[int, ...]  # Features that are read, ascending
    is_keys: bool  # True if readings become keys first
    bits: int  # Width of an integer
    is_signed: bool  # True if limits are signed
    is_halved: bool = False  # True if a limit is the high half of the least key that reaches a cut
    is_looped: bool = False  # True if one loop forms the keys of all features of an array

    def limit(self, feature: Feature, least: int) -> int:
        """Return the largest integer of a state below ``least``, or the half of the smallest."""
        return _half(feature, least) if self.is_halved else _limit(feature, least)

    @property
    def width(self) -> int:
        """Width of a limit."""
        return HALF if self.is_halved else self.bits

    def limit_bits(self, limits: Sequence[int]) -> int:
        """Return the least width that holds some limits, at most that of what is compared."""
        sign = int(self.is_signed)
        bits = max((k if k >= 0 else ~k).bit_length() for k in limits) + sign
        return next(width for width in WIDTHS if bits <= width)


def _limit(feature: Feature, least: int) -> int:
    """Return the largest reading, key or code of a state below ``least``."""
    if feature.kind in CODES:
        return least - 1
    if least > len(feature.thresholds):
        return _largest_known(feature.kind)
    threshold = feature.thresholds[least - 1]
    return float_key(float(threshold)) if feature.kind == "float32" else int(threshold)


def _half(feature: Feature, least: int) -> int:
    """
    Return the high half of the least unsigned key whose state is at least ``least``.

    The low half of the limit is all ones, except that of infinity, above which only a missing
    float is, the largest key.
    """
    limit = _limit(feature, least)
    if feature.kind in CODES:
        return limit + 1
    return (limit >> HALF if feature.kind in WIDE else limit) + 1 + BIAS


def _has_half(feature: Feature, least: int) -> bool:
    """Return whether the high half of a key decides a cut."""
    limit = _limit(feature, least)
    is_infinity = feature.kind == "float32" and limit == INF
    is_whole = feature.kind not in WIDE or limit & LOW_HALF == LOW_HALF or is_infinity
    return is_whole and _half(feature, least) <= LOW_HALF


def _largest_known(kind: str) -> int:
    """Return the largest key of a number that is not missing."""
    if kind == "float32":
        return INF
    largest = int(np.iinfo(kind).max)
    return largest - 1 if kind == "int32" else largest


def compared_integers(
    program: Program, compare: Compared | None, kernel: Kernel | None = None
) -> ComparedIntegers:
    """
    Return what a loop over the cuts of all tables compares.

    Limits are halves in the lists of a kernel, unless it compares by a function.
    """
    cuts = used_cuts(program)
    features = program.features
    types = {_type(feature) for feature in features}
    is_plain = can_be_plain(program)
    if is_plain and compare != "keys":
        bits, is_signed = types.pop()[1:]
        return ComparedIntegers(tuple(cuts), False, bits, is_signed)
    is_narrow = all(_fits_int16(features[f]) for f in cuts)
    if is_narrow:
        return ComparedIntegers(tuple(cuts), True, 16, True)
    has_list = kernel is not None and not (isinstance(kernel, CutLoopKernel) and kernel.is_doubled)
    is_halved = has_list and all(_has_half(features[f], k) for f in cuts for k in cuts[f])
    is_looped = _can_loop(features, cuts)
    read = tuple(range(len(features))) if is_looped else tuple(cuts)
    return ComparedIntegers(read, True, 32, not is_halved, is_halved, is_looped)


def _can_loop(features: Sequence[Feature], cuts: Mapping[int, tuple[int, ...]]) -> bool:
    """Return whether one loop forms all keys: those of an array of floats, most of them used."""
    are_alike = all(
        each.kind == "float32" and each.difference is None and not each.missing_state
        for each in features
    )
    return are_alike and LEAST_LOOPED <= len(features) <= MOST_READ * len(cuts)


@lru_cache(maxsize=64)
def can_be_plain(program: Program) -> bool:
    """Return whether a loop can compare the readings themselves, floats after a conversion."""
    cuts = used_cuts(program)
    types = {_type(feature) for feature in program.features}
    return len(types) == 1 and all(is_ordered(program.features[f], cuts[f]) for f in cuts)


def converts_once(program: Program) -> bool:
    """Return whether a loop gains from keys: else it converts a float for every cut."""
    return program.features[0].kind == "float32" and can_be_plain(program)


def is_ordered(feature: Feature, least: tuple[int, ...]) -> bool:
    """Return whether a reading itself, or a float's order, exceeds the limits of some cuts."""
    if feature.kind in CODES:
        return feature.missing_state >= least[-1]
    return feature.kind not in (*MISSING_INT, "float32") or feature.missing_state < least[0]


def has_limits(feature: Feature, least: tuple[int, ...]) -> bool:
    """Return whether integers of a reading's type separate the states of some cuts."""
    if feature.kind in (*CODES, "float32"):
        return True
    range_ = np.iinfo(feature.kind)
    limits = [int(t) for t in feature.thresholds]
    # A missing reading above all others takes the place of the largest.
    has_place = feature.kind != "int32" or feature.missing_state <= len(limits)
    is_within = all(range_.min <= limit <= range_.max for limit in limits)
    return is_within and (has_place or max(limits, default=0) < int(range_.max) - 1)


def _type(feature: Feature) -> tuple[str, int, bool]:
    """Return the kind of readings, and the width and sign of what they are compared with."""
    if feature.kind in CODES:
        bits = 8 if n_known(feature) <= 255 else 16
        return f"code{bits}", bits, False
    if feature.kind == "float32":
        return feature.kind, 32, True
    range_ = np.iinfo(feature.kind)
    return feature.kind, range_.bits, int(range_.min) < 0


def _fits_int16(feature: Feature) -> bool:
    kind, bits, _ = _type(feature)
    return bits == 8 or (kind == "int16" and not feature.has_missing_state)


def key_of(
    feature: Feature, reading: str, name: str, compared: ComparedIntegers
) -> tuple[str, frozenset[str]]:
    """Return the key of a reading in C, and the functions that it calls."""
    if not compared.is_halved:
        return _signed_key(feature, reading, name, compared.bits)
    if feature.kind in WIDE:
        key, functions = _signed_key(feature, reading, name, 2 * HALF)
        return f"{_unsigned(key)} ^ 0x{BIAS << HALF:08X}U", functions
    key, functions = _signed_key(feature, reading, name, HALF)
    if feature.kind in CODES:
        return f"{_unsigned(key)} << {HALF}U", functions
    return f"({_unsigned(key)} + {BIAS}U) << {HALF}U", functions


def _unsigned(key: str) -> str:
    return f"(uint32_t)({key})" if "(" in key[:1] or " ? " in key else f"(uint32_t){key}"


def _signed_key(feature: Feature, reading: str, name: str, bits: int) -> tuple[str, frozenset[str]]:
    cast = f"(int{bits}_t)"
    missing = feature.missing_state
    if feature.kind in CODES:
        known = n_known(feature)
        return f"({reading} < {known}U) ? {cast}{reading} : {missing}", frozenset()
    if feature.kind == "float32":
        order, both = f"{name}_{ORDER}({reading})", frozenset({FLOAT_BITS, ORDER})
        if not missing:
            return order, both
        key = _missing_key(feature, "INT32_MAX")
        bits_of = f"((uint32_t){name}_{FLOAT_BITS}({reading}) & 0x7FFFFFFFU)"
        return f"({bits_of} > 0x{INF:08X}U) ? {key} : {order}", both
    if feature.kind not in MISSING_INT or not missing:
        return f"{cast}{reading}" if feature.kind != f"int{bits}" else reading, frozenset()
    mark = f"{feature.kind.upper()}_MIN"
    known_key = reading if feature.kind == f"int{bits}" else f"{cast}{reading}"
    if feature.kind == "int32" and missing > len(feature.thresholds):
        known_key = f"(({reading} < INT32_MAX) ? {reading} : (INT32_MAX - 1))"
    key = _missing_key(feature, f"INT{bits}_MAX")
    return f"({reading} == {mark}) ? {key} : {known_key}", frozenset()


def _missing_key(feature: Feature, above_all: str) -> str:
    """Print a key with the state of missing readings, which is not the first."""
    if feature.missing_state > len(feature.thresholds):
        return above_all
    return str(cut_integers(feature)[feature.missing_state - 1] + 1)
