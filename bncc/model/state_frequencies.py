"""How often each state occurs, by the model's own probabilities."""

import numpy as np

from bncc._types import FloatArray
from bncc.model.model import Model
from bncc.structure.decision_tables import Grids
from bncc.structure.graph import acyclic_part, topological_order


def state_frequencies(model: Model) -> tuple[FloatArray, ...]:
    r"""
    Return how often each state of each feature is expected.

    A cost is a negative log-probability in units of the model's format, so that tables by counting
    tell how often states occurred in the training rows, up to rounding. Every feature's states are
    summed over those of its parents,

    .. math:: P(x_i \mid c) = \sum_u P(x_i \mid u, c) \prod_{j} P(u_j \mid c)

    which is exact with at most one parent beside the class. Where arcs form a cycle, all states of
    the parent in an arc that closes it count as equally frequent. Neither these sums nor tables
    that were trained to tell classes apart are such probabilities. The frequencies are then a
    guess; they say which code is fast on average, and nothing that is emitted is wrong where they
    are. A sum that is no network has no such probabilities; all states count as equally frequent.
    """
    structure = model.structure
    if isinstance(structure, Grids):
        return tuple(np.full(n, 1 / n) for n in model.n_states)
    unit = 2.0**-model.q_format.frac_bits
    given_class: dict[int, FloatArray] = {}
    for i in topological_order(acyclic_part(structure)):
        weights = np.ones((1, model.n_classes))
        for j in structure.parents[i]:
            joint = weights[:, None] * given_class.get(j, _uniform(model, j))
            weights = joint.reshape(-1, model.n_classes)
        rows = model.tables[i].reshape(-1, model.n_states[i], model.n_classes)
        given_class[i] = (_probabilities(rows, unit) * weights[:, None]).sum(axis=0)
    classes = _probabilities(model.prior[:, None], unit)[:, 0]
    return tuple(given_class[i] @ classes for i in range(model.n_features))


def _uniform(model: Model, j: int) -> FloatArray:
    return np.full((model.n_states[j], model.n_classes), 1 / model.n_states[j])


def _probabilities(costs: np.ndarray, unit: float) -> FloatArray:
    """Return what costs mean along the last axis but one, 1 in all."""
    likely = np.exp((costs.min(axis=-2, keepdims=True) - costs) * unit)
    return np.asarray(likely / likely.sum(axis=-2, keepdims=True))
