"""The frozen integer model: what training ends with and everything else starts from."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property
from itertools import pairwise, zip_longest
from types import MappingProxyType
from typing import Any

import numpy as np

from bncc._types import IntArray
from bncc.discretize.feature import DIFFERENCE_KIND, Feature, inputs_of
from bncc.errors import ModelError
from bncc.fixed_point import QFormat
from bncc.model.adaptation import Adaptation, check_adaptation
from bncc.model.confidence import Confidence, check_confidence
from bncc.model.counters import Counters, check_counters
from bncc.model.filter import Filter, check_filter
from bncc.model.gate import Gate
from bncc.model.ranges import reading_ranges
from bncc.model.unknown import Unknown, check_unknown
from bncc.recordings.front_end import FrontEnd
from bncc.structure.decision_tables import (
    BranchingTable,
    DecisionTable,
    Lookup,
    TableEnsemble,
    has_trees,
    lookups_of,
)
from bncc.structure.graph import Structure

MAX_STATES = 65535
"""A state fits in the C's uint16_t, and one value above all states stays free."""

MAX_MAPPED_STATES = 2**24
"""Limit on the states of the features of all boosted tables, added up: each state gets a level, and
a few bytes of a file could request the levels of 65535 states a thousand times."""

MAX_DEPTH = 64
"""Limit on the nodes between the root of a decision tree and a leaf: the C nests as many blocks,
and C99 promises 127."""

_INTEGER_RANGE = {
    "int8": range(-(2**7), 2**7),
    "uint8": range(2**8),
    "int16": range(-(2**15), 2**15),
    "int32": range(-(2**31), 2**31),
}


def check_text(text: str) -> None:
    """Verify that a name or label can be printed."""
    if any("\ud800" <= letter <= "\udfff" for letter in text):
        raise ModelError(f"the name {text!a} is not valid Unicode")


def check_feature(feature: Feature) -> None:
    """Verify that a feature's rule is sound: types, order, ranges and the number of states."""
    for text in (feature.name, *feature.categories):
        check_text(text)
    name = f"feature {feature.name!r}"
    if not 1 <= feature.n_states <= MAX_STATES:
        raise ModelError(f"{name} has {feature.n_states} states; 1 .. {MAX_STATES} are supported")
    if not 0 <= feature.missing_state < feature.n_states:
        raise ModelError(
            f"{name} falls back to state {feature.missing_state}, which it does not have"
        )
    if feature.kind in _INTEGER_RANGE:
        _check_integers(name, feature.thresholds, _INTEGER_RANGE[feature.kind])
    elif feature.kind == "float32":
        _check_floats(name, feature.thresholds)
    elif feature.kind not in ("category", "state"):
        raise ModelError(f"{name} has the unknown kind {feature.kind!r}")
    if feature.thresholds and not feature.is_numeric:
        raise ModelError(f"{name} is a {feature.kind} and cannot have thresholds")
    if feature.categories and feature.kind != "category":
        raise ModelError(f"{name} is of kind {feature.kind} and cannot have categories")
    if len(set(feature.categories)) != len(feature.categories):
        raise ModelError(f"{name} has a category twice")
    if not all(a < b for a, b in pairwise(feature.thresholds)):
        raise ModelError(f"the thresholds of {name} are not strictly increasing")
    if feature.kind != "state":
        _check_n_states(name, feature)


def check_differences(features: Sequence[Feature]) -> None:
    """Verify that differences follow all inputs and are those of two integers of one type."""
    n = len(inputs_of(features))
    for feature in features[n:]:
        if feature.difference is None:
            raise ModelError(f"feature {feature.name!r} comes after a difference")
    for feature in features[n:]:
        assert feature.difference is not None
        if len(set(feature.difference)) != 2 or not all(0 <= k < n for k in feature.difference):
            raise ModelError(f"feature {feature.name!r} is not the difference of two readings")
        kinds = {features[k].kind for k in feature.difference}
        if len(kinds) != 1 or DIFFERENCE_KIND.get(kinds.pop()) != feature.kind:
            raise ModelError(
                f"feature {feature.name!r} of kind {feature.kind} does not hold the difference of "
                "its readings"
            )
        if feature.missing_state:
            raise ModelError(f"feature {feature.name!r} is a difference, which is never missing")


def check_grids(grids: TableEnsemble, n_states: Sequence[int]) -> None:
    """Verify that the grids of a sum are sound."""
    if not grids.tables:
        raise ModelError("the model's ensemble has no table")
    for t, grid in enumerate(grids.tables):
        if isinstance(grid, BranchingTable):
            check_tree(f"table {t}", grid, n_states)
        else:
            _check_grid(f"table {t}", grid, n_states)
    products = (grid for grid in grids.tables if isinstance(grid, DecisionTable))
    if sum(n_states[f] for grid in products for f in grid.features) > MAX_MAPPED_STATES:
        raise ModelError(
            f"the tables of the model read more than {MAX_MAPPED_STATES} states in all; train "
            "with fewer tables, or with columns of fewer states"
        )


def _check_grid(name: str, grid: DecisionTable, n_states: Sequence[int]) -> None:
    features, cuts = grid.features, grid.cuts
    if not features or len(set(features)) != len(features) or len(features) != len(cuts):
        raise ModelError(f"{name} does not read each feature once")
    for f, of_feature in zip(features, cuts, strict=True):
        if not 0 <= f < len(n_states):
            raise ModelError(f"{name} reads feature {f}, which does not exist")
        ends = (-1, *of_feature, n_states[f] - 1)
        if not of_feature or not all(a < b for a, b in pairwise(ends)):
            raise ModelError(f"{name} cuts feature {f} not between ascending states")


def check_tree(name: str, tree: BranchingTable, n_states: Sequence[int]) -> None:
    """Verify that nodes are in preorder, rows from left to right, and that each cut splits."""
    n_nodes = len(tree.features)
    if not n_nodes or {len(tree.cuts), len(tree.below), len(tree.above)} != {n_nodes}:
        raise ModelError(f"the decision tree of {name} does not have one cut per node")
    # What is left to visit, the next last: a place, the number of nodes above it, and the states
    # that get there.
    waiting: list[tuple[int, int, dict[int, tuple[int, int]]]] = [(0, 0, {})]
    next_node = next_row = 0
    while waiting:
        place, depth, region = waiting.pop()
        if place < 0:
            if place != -1 - next_row:
                raise ModelError(f"the rows of {name} are not the leaves of its tree in order")
            next_row += 1
            continue
        if place != next_node or place >= n_nodes:
            raise ModelError(f"the nodes of the decision tree of {name} are not in preorder")
        next_node += 1
        if depth == MAX_DEPTH:
            raise ModelError(f"the decision tree of {name} has more than {MAX_DEPTH} levels")
        f, cut = tree.features[place], tree.cuts[place]
        if not 0 <= f < len(n_states):
            raise ModelError(f"{name} reads feature {f}, which does not exist")
        first, last = region.get(f, (0, n_states[f] - 1))
        if not first <= cut < last:
            raise ModelError(f"a cut of feature {f} in the tree of {name} has nothing on one side")
        waiting.append((tree.above[place], depth + 1, {**region, f: (cut + 1, last)}))
        waiting.append((tree.below[place], depth + 1, {**region, f: (first, cut)}))
    if next_node != n_nodes:
        raise ModelError(f"the nodes of the decision tree of {name} are not in preorder")


def _check_integers(name: str, thresholds: tuple[int | float, ...], whole: range) -> None:
    for threshold in thresholds:
        # bool is an int to Python, but would print as `True` in the C
        if type(threshold) is not int or threshold not in whole:
            raise ModelError(f"{name} has the threshold {threshold!r}, outside its integer type")


def _check_floats(name: str, thresholds: tuple[int | float, ...]) -> None:
    exact = np.array([float(t) if type(t) is float else np.nan for t in thresholds])
    with np.errstate(over="ignore"):
        held = np.isfinite(exact) & (exact.astype(np.float32) == exact)
    # -0.0 would print as a float that compares like 0.0 but is another file
    held &= (exact != 0) | ~np.signbit(exact)
    if not held.all():
        wrong = thresholds[int(np.flatnonzero(~held)[0])]
        raise ModelError(f"{name} has the threshold {wrong!r}, which is not a float32 value")


def _check_n_states(name: str, feature: Feature) -> None:
    known = len(feature.categories) if feature.kind == "category" else len(feature.thresholds) + 1
    has_more = feature.n_states == known + 1 and feature.missing_state == known
    of_missing = has_more and feature.has_marker
    if feature.n_states != known and not of_missing:
        if not feature.has_marker:
            raise ModelError(
                f"{name} has {feature.n_states} states; its rule needs {known}, as a "
                f"{feature.kind} has no value for a missing reading"
            )
        raise ModelError(
            f"{name} has {feature.n_states} states and falls back to {feature.missing_state}; "
            f"its rule needs {known}, or {known + 1} with the last for missing readings"
        )


MAX_CLASSES = 255
MAX_FEATURES = 65535
MAX_TABLE_ENTRIES = 2**27
"""More than a microcontroller will ever hold; a larger model is a mistake or an attack."""


@dataclass(frozen=True, eq=False)
class Model:
    """
    A classifier in integers: a discrete Bayesian network, or another sum of tables.

    ``cost[c] = prior[c] + sum_t tables[t][row_t(x)][c]`` and the decision is the smallest class
    index of least cost. A network has a table per feature, whose row is
    ``row_parents * n_states[i] + x[i]``, its parents' states counted in mixed radix, first parent
    outermost. Where its arcs form a cycle, the decision is defined alike, but costs are no longer
    those of a distribution. Where the class has parents, its own table is the last one; its row is
    their joint state, and the prior is zero. The row of a sum's table counts the levels of its
    grid, or is a leaf of its decision tree. With a gate, the costs of an input are those of the
    prior and the first tables alone where the second smallest exceeds the smallest by the margin.

    Parameters
    ----------
    features : tuple of Feature
        The inputs and their discretization, then differences of inputs.
    classes : tuple of str
        Class labels in index order.
    structure : Structure or TableEnsemble
        Parents of every feature, or the grids of a sum.
    q_format : QFormat
        Meaning of a cost: one unit is ``2**-frac_bits`` nats.
    prior : (n_classes,) int64
        Cost of each class before any feature is read.
    tables : tuple of (n_rows_t, n_classes) int64
        One per feature, where one without the class as parent has equal columns and one of a given
        feature is zero, and the class's where it has parents; or one per grid.
    training : mapping
        How it was made: structure and parameter names, seed, errors; JSON values only.
    gate : Gate, optional
        Number of tables of a sum that decide alone where their margin is large, and that margin.
    front_end : FrontEnd, optional
        What computes the inputs from samples: its columns are the inputs, in order.
    filter : Filter, optional
        Filter over the decisions on consecutive readings.
    confidence : Confidence, optional
        Probability that a decision is right, by its margin.
    unknown : Unknown, optional
        Rule by which readings are of no known class.
    counters : Counters, optional
        Counters of decisions, and what they are to be on rows like those of training.
    adaptation : Adaptation, optional
        Rule by which the model adapts to labeled inputs.
    """

    features: tuple[Feature, ...]
    classes: tuple[str, ...]
    structure: Structure | TableEnsemble
    q_format: QFormat
    prior: IntArray
    tables: tuple[IntArray, ...]
    training: Mapping[str, Any] = field(default_factory=dict)
    gate: Gate | None = None
    front_end: FrontEnd | None = None
    filter: Filter | None = None
    confidence: Confidence | None = None
    unknown: Unknown | None = None
    counters: Counters | None = None
    adaptation: Adaptation | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "training", MappingProxyType(dict(self.training)))

    def __reduce__(self) -> tuple[type["Model"], tuple[Any, ...]]:
        # A mapping proxy cannot be pickled or copied; the constructor makes a new one.
        parts = {f.name: getattr(self, f.name) for f in fields(self)}
        return type(self), tuple({**parts, "training": dict(self.training)}.values())

    @property
    def n_features(self) -> int:
        """Number of inputs."""
        return len(self.features)

    @cached_property
    def inputs(self) -> tuple[Feature, ...]:
        """Features with readings of their own: all but differences, which come last."""
        return inputs_of(self.features)

    @property
    def has_differences(self) -> bool:
        """True if some features are differences of two readings."""
        return len(self.inputs) < self.n_features

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return len(self.classes)

    @cached_property
    def n_states(self) -> tuple[int, ...]:
        """Cardinality of each feature."""
        return tuple(feature.n_states for feature in self.features)

    @property
    def veto(self) -> int | None:
        """Cost of a probability of 0, above every sum of others; None if none is recorded."""
        veto = self.training.get("veto")
        return veto if type(veto) is int and 0 < veto <= self.q_format.max_cost else None

    @cached_property
    def lookups(self) -> tuple[Lookup, ...]:
        """Row index, or decision tree, of each table."""
        return lookups_of(self.structure, self.n_states)


def check_model(model: Model) -> None:
    """Verify that a model is whole: shapes, ranges and limits."""
    n, n_classes = model.n_features, model.n_classes
    if not 1 <= n <= MAX_FEATURES:
        raise ModelError(f"the model has {n} features; 1 .. {MAX_FEATURES} are supported")
    for feature in model.features:
        check_feature(feature)
    check_differences(model.features)
    for label in model.classes:
        check_text(label)
    if len({feature.name for feature in model.features}) != n:
        raise ModelError("two features of the model have the same name")
    if not 2 <= n_classes <= MAX_CLASSES:
        raise ModelError(f"the model has {n_classes} classes; 2 .. {MAX_CLASSES} are supported")
    if len(set(model.classes)) != n_classes:
        raise ModelError("two classes of the model have the same label")
    reading_ranges(model.features, model.training)
    _check_structure(model)
    if model.prior.shape != (n_classes,):
        raise ModelError("the model's prior does not have one cost per class")
    for t, (table, lookup) in enumerate(zip(model.tables, model.lookups, strict=True)):
        if table.shape != (lookup.n_rows, n_classes):
            asked = "parents ask" if isinstance(model.structure, Structure) else "cuts ask"
            shape = lookup.n_rows, n_classes
            raise ModelError(f"table {t} has shape {table.shape}; its {asked} for {shape}")
    for costs in (model.prior, *model.tables):
        if costs.size and (costs.min() < 0 or costs.max() > model.q_format.max_cost):
            raise ModelError(f"a cost of the model lies outside {model.q_format}")
    if model.gate is not None:
        _check_gate(model, model.gate)
    if model.front_end is not None:
        _check_front_end(model, model.front_end)
    if model.filter is not None:
        check_filter(model.filter, n_classes)
    if model.confidence is not None:
        check_confidence(model.confidence)
    if model.unknown is not None:
        check_unknown(model.unknown, model.features, n_classes)
    if model.counters is not None:
        check_counters(model.counters, n_classes, has_unknown=model.unknown is not None)
    if model.adaptation is not None:
        check_adaptation(model.adaptation, model.structure)
    if sum(table.size for table in model.tables) > MAX_TABLE_ENTRIES:
        raise ModelError(f"the model has more than {MAX_TABLE_ENTRIES} table entries")


def _check_gate(model: Model, gate: Gate) -> None:
    """Verify that a gate is before some tables of a sum, and its margin one that costs have."""
    structure = model.structure
    if not isinstance(structure, TableEnsemble) or has_trees(structure):
        raise ModelError("the model has a gate and is no sum of tables over cuts alone")
    if not 1 <= gate.tables < len(structure.tables):
        raise ModelError(
            f"the gate of the model is behind {gate.tables} of its {len(structure.tables)} tables; "
            "it needs some before it and some behind it"
        )
    if not 1 <= gate.margin <= 2**32 - 1:
        raise ModelError(
            f"the gate of the model has the margin {gate.margin}; 1 .. 2**32 - 1 are supported"
        )


def _check_front_end(model: Model, front_end: FrontEnd) -> None:
    """Verify that the columns of a front end are the inputs of a model, which are integers."""
    names = [column.name for column in front_end.columns]
    found = [feature.name for feature in model.inputs]
    if names != found:
        first = next((a for a, b in zip_longest(names, found) if a != b), None)
        raise ModelError(
            f"the model does not read the features of its front end: they differ at {first!r}"
        )
    for feature in model.inputs:
        if feature.kind not in _INTEGER_RANGE:
            raise ModelError(
                f"the model reads {feature.name!r} as {feature.kind} and not as the integer that "
                "its front end computes"
            )


def _check_structure(model: Model) -> None:
    """Verify that a structure is one of the model's features and tables."""
    structure, n = model.structure, model.n_features
    if isinstance(structure, TableEnsemble):
        check_grids(structure, model.n_states)
        if len(structure.tables) != len(model.tables):
            raise ModelError("the model's structure and tables differ in the number of tables")
        return
    if model.has_differences:
        raise ModelError("the model is a network, which cannot read differences")
    if len(structure.parents) != n or len(model.tables) != n + bool(structure.class_parents):
        raise ModelError("the model's structure and tables differ in the number of features")
    if structure.class_parents and model.prior.any():
        raise ModelError("the model's class has parents and a prior; one table must serve as both")
    for i, table in enumerate(model.tables[:n]):
        if i in structure.given and table.any():
            raise ModelError(f"table {i} has a cost, but its feature is given")
        if not structure.class_is_parent[i] and (table != table[:, :1]).any():
            raise ModelError(f"table {i} depends on the class, which is not among its parents")
