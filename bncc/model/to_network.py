"""An integer model as a Bayesian network, its probabilities from the integers."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from bncc._types import FloatArray, IntArray
from bncc.discretize.feature import Feature
from bncc.errors import NetworkError
from bncc.model.model import Model
from bncc.network.network import Network, Variable
from bncc.structure.decision_tables import TableEnsemble


@dataclass(frozen=True, eq=False)
class Export:
    """A network from a model."""

    network: Network  # The features in their order, then the class
    # Rows of tables whose costs are not those of a distribution, by more than their rounding
    # explains: in the network they add up to 1 nevertheless, so that it may decide otherwise
    n_changed: int


def network_of_model(model: Model) -> Export:
    r"""
    Return the network whose tables are those of a model.

    .. math::
       p(x_i = k \mid pa) = \frac{\exp(-2^{-B_F} q_i[pa, k])}{\sum_l \exp(-2^{-B_F} q_i[pa, l])}
    """
    structure = model.structure
    if isinstance(structure, TableEnsemble):
        raise NetworkError(
            "boosted tables are not a Bayesian network; train with --structure naive"
        )
    if structure.cycles.closing:
        raise NetworkError("the model's arcs form a cycle; train with another --structure")
    n, n_classes = model.n_features, model.n_classes
    parents: list[tuple[int, ...]] = []
    tables: list[FloatArray] = []
    n_changed = 0
    for i, of_feature in enumerate(structure.parents):
        shape = [*(model.n_states[j] for j in of_feature), model.n_states[i], n_classes]
        costs = model.tables[i].reshape(shape)
        costs = np.moveaxis(costs, -1, -2) if structure.class_is_parent[i] else costs[..., 0]
        parents.append((*of_feature, n) if structure.class_is_parent[i] else of_feature)
        table, changed = _chances(costs.reshape(-1, model.n_states[i]), model)
        tables.append(table)
        n_changed += 0 if i in structure.given else changed
    of_class = model.tables[-1] if structure.class_parents else model.prior[np.newaxis]
    table, changed = _chances(of_class, model)
    variables = [Variable(f.name, _labels(f)) for f in model.features]
    variables.append(Variable(_class_name(model), model.classes))
    network = Network(tuple(variables), (*parents, structure.class_parents), (*tables, table))
    return Export(network, n_changed + changed)


def _chances(costs: IntArray, model: Model) -> tuple[FloatArray, int]:
    """Return what costs mean, row by row, and how many rows do not add up to 1 as rounded."""
    unit = 2.0**-model.q_format.frac_bits
    least = costs.min(axis=1, keepdims=True)
    likely = np.exp(-unit * (costs - least))
    most = model.q_format.max_cost
    if model.veto is not None:
        likely[(costs >= model.veto) & (least < model.veto)] = 0
        most = _largest_finite(model)
    sums = likely.sum(axis=1)
    off = np.abs(np.log(sums) - unit * least[:, 0])
    # rounding takes or gives half a unit, clipping raises what is below the least probability
    n_clipped = (costs == most).sum(axis=1)
    slack = unit / 2 + 1e-9 + n_clipped * np.exp(unit * (0.5 - most))
    return likely / sums[:, np.newaxis], int((off > slack).sum())


def _largest_finite(model: Model) -> int:
    """Return the largest cost below the veto, at which others may have been clipped."""
    costs = np.concatenate([model.prior, *(table.ravel() for table in model.tables)])
    return int(costs[costs < (model.veto or 0)].max(initial=0))


def _class_name(model: Model) -> str:
    name = str(model.training.get("class_name") or "class")
    taken = {feature.name for feature in model.features}
    while name in taken:
        name += "_"
    return name


def _labels(feature: Feature) -> tuple[str, ...]:
    """Return a label for each state: categories, ranges of readings, or numbers."""
    if feature.kind == "state":
        return tuple(map(str, range(feature.n_states)))
    labels = list(feature.categories)
    if feature.is_numeric:
        labels = _ranges(feature.thresholds)
    if len(labels) < feature.n_states:
        extra = "missing"
        while extra in labels:
            extra += "_"
        labels.append(extra)
    return tuple(labels)


def _ranges(thresholds: Sequence[int | float]) -> list[str]:
    if not thresholds:
        return ["any"]
    inner = [f">{a!r}<={b!r}" for a, b in pairwise(thresholds)]
    return [f"<={thresholds[0]!r}", *inner, f">{thresholds[-1]!r}"]
