"""The frozen integer model: what training ends with and everything else starts from."""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from functools import cached_property
from math import prod
from types import MappingProxyType
from typing import Any

from bncc._types import IntArray
from bncc.discretize.feature import Feature
from bncc.errors import ModelError
from bncc.fixed_point import QFormat
from bncc.model.check import check_feature, check_text
from bncc.structure.graph import Structure

MAX_CLASSES = 255
MAX_FEATURES = 65535
MAX_TABLE_ENTRIES = 2**27
"""More than a microcontroller will ever hold; a larger model is a mistake or an attack."""


@dataclass(frozen=True, eq=False)
class Model:
    """A discrete Bayesian network classifier in integers.

    ``cost[c] = prior[c] + sum_i tables[i][row_i(x)][c]`` and the decision is the smallest class
    index of least cost. The row of feature i is ``row_parents * n_states[i] + x[i]``, its
    parents' states counted in mixed radix, first parent outermost. Where the structure's arcs form
    a cycle, the decision is defined alike, but costs are no longer those of a distribution.

    Parameters
    ----------
    features : tuple of Feature
        The inputs and their discretization.
    classes : tuple of str
        Class labels in index order.
    structure : Structure
        Parents of every feature.
    q_format : QFormat
        Meaning of a cost: one unit is ``2**-frac_bits`` nats.
    prior : (n_classes,) int64
        Cost of each class before any feature is read.
    tables : tuple of (n_rows_i, n_classes) int64
        One table per feature; a feature without the class as parent has equal columns.
    training : mapping
        How it was made: structure and parameter names, seed, errors; JSON values only.
    """

    features: tuple[Feature, ...]
    classes: tuple[str, ...]
    structure: Structure
    q_format: QFormat
    prior: IntArray
    tables: tuple[IntArray, ...]
    training: Mapping[str, Any] = field(default_factory=dict)

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

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return len(self.classes)

    @cached_property
    def n_states(self) -> tuple[int, ...]:
        """Cardinality of each feature."""
        return tuple(feature.n_states for feature in self.features)


def check_model(model: Model) -> None:
    """Verify that a model is whole: shapes, ranges and limits.

    Parameters
    ----------
    model : Model
        Any model, for instance one just read from a file.

    Raises
    ------
    ModelError
        If a feature's rule is unsound, shapes disagree, a cost leaves the format, or a limit is
        exceeded.
    """
    n, n_classes, n_states = model.n_features, model.n_classes, model.n_states
    if not 1 <= n <= MAX_FEATURES:
        raise ModelError(f"the model has {n} features; 1 .. {MAX_FEATURES} are supported")
    for feature in model.features:
        check_feature(feature)
    for label in model.classes:
        check_text(label)
    if len({feature.name for feature in model.features}) != n:
        raise ModelError("two features of the model have the same name")
    if not 2 <= n_classes <= MAX_CLASSES:
        raise ModelError(f"the model has {n_classes} classes; 2 .. {MAX_CLASSES} are supported")
    if len(set(model.classes)) != n_classes:
        raise ModelError("two classes of the model have the same label")
    if len(model.structure.parents) != n or len(model.tables) != n:
        raise ModelError("the model's structure and tables disagree in the number of features")
    if model.prior.shape != (n_classes,):
        raise ModelError("the model's prior does not have one cost per class")
    for i, table in enumerate(model.tables):
        rows = n_states[i] * prod(n_states[j] for j in model.structure.parents[i])
        if table.shape != (rows, n_classes):
            raise ModelError(
                f"table {i} has shape {table.shape}; its parents ask for {(rows, n_classes)}"
            )
        if not model.structure.class_is_parent[i] and (table != table[:, :1]).any():
            raise ModelError(f"table {i} depends on the class, which is not among its parents")
    for costs in (model.prior, *model.tables):
        if costs.size and (costs.min() < 0 or costs.max() > model.q_format.max_cost):
            raise ModelError(f"a cost of the model lies outside {model.q_format}")
    if sum(table.size for table in model.tables) > MAX_TABLE_ENTRIES:
        raise ModelError(f"the model has more than {MAX_TABLE_ENTRIES} table entries")
