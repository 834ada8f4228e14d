"""Operations of discretizers for given readings, counted one by one."""

from collections import Counter
from collections.abc import Mapping, Sequence
from math import isnan

from bncc._types import FloatArray
from bncc.discretize.feature import Feature
from bncc.discretize.float_order import float_bits
from bncc.lower.discretizers.choice import Discretizers
from bncc.lower.discretizers.counts import (
    CODE_LINE,
    CODE_TURN,
    CONSTANT,
    constant_counts,
    looks_of,
    width_of_bound,
)
from bncc.lower.discretizers.steps import FIRST, KIND_BITS
from bncc.lower.discretizers.trees import Branch, Guide, Run, Tree


def observed_work(
    features: Sequence[Feature], plan: Discretizers, R: FloatArray
) -> Mapping[str, float]:
    """
    Return executed operations of a plan, on average over readings.

    Shapes: `R` (n_rows, n_features) float64.
    """
    found: Counter[str] = Counter()
    for i, feature in enumerate(features):
        for value in R[:, i].tolist():
            found.update(_of_reading(feature, plan, i, value))
    constants = constant_counts(
        i
        for i, feature in enumerate(features)
        if feature.is_numeric and (plan.methods[i] is None or isinstance(plan.trees[i], int))
    )
    return {**{name: number / len(R) for name, number in found.items()}, **constants.work}


def _of_reading(feature: Feature, plan: Discretizers, i: int, value: float) -> Mapping[str, float]:
    method, tree = plan.methods[i], plan.trees[i]
    if not feature.is_numeric:
        return (CODE_TURN if plan.is_loop else CODE_LINE).work
    if method is None or isinstance(tree, int):
        return CONSTANT.work
    if tree is None:
        return _of_search(feature, plan, value)
    found: Counter[str] = Counter({"lines": 1})
    found["bits of floats"] = int(feature.kind == "float32")
    if method == "nibbles":
        found["nibbles"] = 1
    number = float_bits(value) if feature.kind == "float32" else int(value)
    _walk(feature.kind, tree, number, found)
    return found


def _of_search(feature: Feature, plan: Discretizers, value: float) -> Mapping[str, float]:
    is_float, n = feature.kind == "float32", len(feature.thresholds)
    is_missing = isnan(value) if is_float else value == FIRST[feature.kind] and feature.has_marker
    state = sum(value > each for each in feature.thresholds)
    looks = 0 if is_missing else looks_of(plan.search, n)[state]
    unit = "thresholds" if plan.search == "linear" else "halvings"
    return {
        "turns" if plan.is_loop else f"{plan.search} calls": 1,
        "markers": int(feature.has_marker and not is_float),
        "keys of floats": int(is_float),
        unit: looks,
        f"{unit} of 32 bits": looks * (KIND_BITS[feature.kind] == 32),
    }


def _walk(kind: str, tree: Tree, number: int, found: Counter[str]) -> None:
    """Count the operations by which a tree finds the state of an integer."""
    while not isinstance(tree, int | Run):
        if isinstance(tree, Branch):
            found[f"{width_of_bound(kind, tree.bound.last)} compared"] += 1
            tree = tree.below if number <= tree.bound.last else tree.above
            continue
        assert isinstance(tree, Guide)
        if 0 <= (number - tree.first) >> tree.shift < len(tree.entries):
            found[f"guides of {KIND_BITS[kind]} bits"] += 1
            return
        found["words compared" if KIND_BITS[kind] == 32 else "halves compared"] += 1
        tree = tree.beyond
    found["look-ups"] += isinstance(tree, Run)
