"""
Operations of discretizers by name: those executed in one decision, and those in the code.

They price an entry point that finds states. The weights in `bncc.lower.discretizers.weights` are
fitted by ``benchmarks/fit/fit_state_costs.py``.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import chain

import numpy as np

from bncc._types import FloatArray
from bncc.discretize.feature import Feature
from bncc.lower.discretizers.rates import Search
from bncc.lower.discretizers.steps import KIND_BITS
from bncc.lower.discretizers.trees import Branch, Guide, GuideUse, Run, Tree, nodes

STORED = "states in memory"
"""States that lines store; those that stay in registers are not."""
WORK = (
    "turns", "linear calls", "binary calls", "lines", "constants", "stores of constants",
    "markers", "keys of floats", "bits of floats", "thresholds", "thresholds of 32 bits",
    "halvings", "halvings of 32 bits", "bytes compared", "halves compared", "words compared",
    "look-ups", "nibbles", "guides of 16 bits", "guides of 32 bits", "codes",
    STORED,
)  # fmt: skip
"""Names of executed operations."""
CODE = (
    "loop", "loop of codes", "linear search", "binary search", "search of 32 bits",
    "search of floats", "search with a marker", "linear calls", "binary calls",
    "linear calls of 32 bits", "binary calls of 32 bits", "calls with a marker", "lines",
    "constants", "stores of constants", "bytes compared", "halves compared", "words compared",
    "look-ups", "nibbles", "guides of 16 bits", "guides of 32 bits", "codes", "function of codes",
    STORED,
)  # fmt: skip
"""Names of operations in the code."""


@dataclass(frozen=True)
class Counts:
    """Numbers of operations by name, and bytes of constants."""

    work: Mapping[str, float] = field(default_factory=dict)
    code: Mapping[str, float] = field(default_factory=dict)
    rom_bytes: int = 0


CONSTANT = Counts()
"""A state that no reading changes, which `constant_counts` counts with its neighbors."""
CODE_LINE = Counts({"codes": 1}, {"codes": 1})
"""A code in a line of its own, and in a turn of the loop over all codes."""
CODE_TURN = Counts({"turns": 1}, {}, 2)


def total(counts: Iterable[Counts]) -> Counts:
    """Return the sum of some counts."""
    some = tuple(counts)
    return Counts(
        _sum(each.work for each in some),
        _sum(each.code for each in some),
        sum(each.rom_bytes for each in some),
    )


def _sum(some: Iterable[Mapping[str, float]]) -> Mapping[str, float]:
    found: dict[str, float] = {}
    for name, number in chain.from_iterable(each.items() for each in some):
        found[name] = found.get(name, 0) + number
    return found


def search_counts(
    feature: Feature, search: Search, frequencies: FloatArray | None, *, is_loop: bool
) -> Counts:
    """
    Count what finds one feature's state by a search in an array, without the function.

    Shapes: `frequencies` (n_states,) float64 or None for states that are equally frequent.
    """
    n, bits = len(feature.thresholds), KIND_BITS[feature.kind]
    mean = mean_looks(feature, search, frequencies)
    unit = "thresholds" if search == "linear" else "halvings"
    has_marker, is_wide = feature.kind != "uint8", bits == 32
    work = {unit: mean, f"{unit} of 32 bits": mean * is_wide}
    work["markers"] = float(has_marker and feature.kind != "float32")
    work["keys of floats"] = float(feature.kind == "float32")
    if is_loop:
        return Counts({**work, "turns": 1}, {}, n * bits // 8 + 1 + has_marker)
    calls = f"{search} calls"
    code = {calls: 1, f"{calls} of 32 bits": is_wide, "calls with a marker": has_marker}
    return Counts({**work, calls: 1}, code, n * bits // 8)


def function_counts(kinds: Collection[str], search: Search) -> Counts:
    """Count the code of the functions that search arrays of thresholds of some kinds."""
    code = {
        f"{search} search": len(kinds),
        "search of 32 bits": sum(KIND_BITS[kind] == 32 for kind in kinds),
        "search of floats": int("float32" in kinds),
        "search with a marker": sum(kind not in ("uint8", "float32") for kind in kinds),
    }
    return Counts({}, code)


def constant_counts(places: Iterable[int]) -> Counts:
    """Count the stores of states at some places; compilers store aligned neighbors together."""
    left, n_stores = set(places), 0
    n_constants = len(left)
    for n in (4, 2, 1):
        for first in sorted(left):
            word = set(range(first, first + n))
            if first % n == 0 and word <= left:
                left -= word
                n_stores += 1
    found = {"constants": n_constants, "stores of constants": n_stores}
    return Counts(found, found)


def tree_counts(kind: str, tree: Tree, mean: float) -> Counts:
    """Count a line of comparisons, of which `mean` are met, and perhaps a look-up behind them."""
    if isinstance(tree, int):
        return CONSTANT
    work, code = _compared(kind, tree, mean)
    (run,) = [each for each in nodes(tree) if isinstance(each, Run)] or (None,)
    if run is None:
        return Counts(work, code)
    looked_up = {"look-ups": 1}
    return Counts({**work, **looked_up}, {**code, **looked_up}, len(run.states))


def nibble_counts(counts: Counts) -> Counts:
    """Count a look-up of two states to a byte instead of one."""
    one = {"nibbles": 1}
    n_bytes = (counts.rom_bytes + 1) // 2
    return Counts({**counts.work, **one}, {**counts.code, **one}, n_bytes)


def guide_counts(kind: str, guide: Guide, use: GuideUse) -> Counts:
    """Count a line with a guide."""
    bits = KIND_BITS[kind]
    work, code = _compared(kind, guide.beyond, (1 - use.inside) * (1 + use.comparisons))
    name = f"guides of {bits} bits"
    n_bytes = len(guide.entries) * bits // 8
    return Counts({**work, name: use.inside}, {**code, name: 1}, n_bytes)


def _compared(kind: str, tree: Tree, mean: float) -> tuple[dict[str, float], dict[str, float]]:
    """Return the operations of a line of comparisons, all of which are met as often."""
    work = {"lines": 1.0, "bits of floats": float(kind == "float32")}
    code = {"lines": 1.0}
    for bound in (bounds := [each.bound.last for each in nodes(tree) if isinstance(each, Branch)]):
        name = f"{width_of_bound(kind, bound)} compared"
        work[name] = work.get(name, 0) + mean / len(bounds)
        code[name] = code.get(name, 0) + 1
    return work, code


def width_of_bound(kind: str, bound: int) -> str:
    """Return the width of a number that is compared, in the plural."""
    if KIND_BITS[kind] == 32:
        return "words"
    return "bytes" if 0 <= bound <= 255 else "halves"


def mean_looks(feature: Feature, search: Search, frequencies: FloatArray | None) -> float:
    """
    Return the thresholds that a search compares, or its halvings, on average over the states.

    Shapes: `frequencies` (n_states,) float64 or None for states that are equally frequent.
    """
    n = len(feature.thresholds)
    known = np.ones(n + 1) if frequencies is None else frequencies[: n + 1]
    looks, total = np.asarray(looks_of(search, n)), known.sum()
    return float(known @ looks / total) if total else float(looks.mean())


@cache
def looks_of(search: Search, n: int) -> Sequence[int]:
    """Return the thresholds that a search among n compares, or its halvings, by state."""
    if search == "linear":
        return (*range(1, n + 1), n)
    found = [0] * (n + 1)
    parts = [(0, n, 0)]
    while parts:
        low, high, k = parts.pop()
        if low == high:
            found[low] = k
        else:
            middle = (low + high) >> 1
            parts += [(middle + 1, high, k + 1), (low, middle, k + 1)]
    return tuple(found)
