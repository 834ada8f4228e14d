"""Range analysis of summing missing features out: bounds for every input and every gap."""

from dataclasses import dataclass

import numpy as np

from bncc._types import IntArray
from bncc.model.missing_form import MissingForm, missing_form_of, n_joint, why_not
from bncc.model.model import Model


@dataclass(frozen=True)
class Range:
    """Bounds of some numbers."""

    low: int  # low and high: None is smaller, none is larger; 0 lies between them
    high: int

    def fits(self, bits: int) -> bool:
        """Return whether all differences, and with them all numbers, fit a signed type."""
        return self.high - self.low < 1 << (bits - 1)


def missing_range(model: Model) -> Range:
    r"""
    Bound every number that occurs while missing features are summed out.

    Notes
    -----
    Every number is a sum over some features, each of them once, of the prior perhaps, of known
    features' costs and of messages. No addition of probabilities exceeds its smaller term, so the
    prior and the largest cost of every table are a bound above. Below, a term that is raised by one
    number for all states raises the message by as much, so that

    .. math:: m_i(p, c) \ge \bigoplus_k q_i[p, k, c] + \sum_j \min_k m_j(k, c):

    every feature adds the least fold of its own table at worst, if that is below 0. A sum over
    joint states has terms >= 0, as many as there are states.
    """
    form = missing_form_of(model)
    high = form.prior + sum(table.max(axis=0) for table in form.tables)
    low = _forest_low(model, form) if form.is_forest else _joint_low(model, form)
    return Range(int(low.min()), int(high.max()))


def deepest_fold(model: Model) -> int:
    """Return how far marginalization can lower a cost below that of the likeliest joint state."""
    if why_not(model) is not None:
        return 0
    form = missing_form_of(model)
    sizes = [n_joint(model, form.structure)]
    if form.is_forest:
        sizes = [model.n_states[i] for i in {i for i in form.parent if i is not None}]
    none = np.zeros(1, dtype=np.int64)
    folds = sum(int(form.log_add.least_fold([none] * n)[0]) for n in sizes)
    return -(folds >> form.log_add.extra_bits)


def _forest_low(model: Model, form: MissingForm) -> IntArray:
    total = np.zeros(model.n_classes, dtype=np.int64)
    for i in {parent for parent in form.parent if parent is not None}:
        table = form.tables[i].reshape(-1, model.n_states[i], model.n_classes)
        least = form.log_add.least_fold(np.moveaxis(table, 1, 0))
        total += np.minimum(0, least.min(axis=0))
    return total


def _joint_low(model: Model, form: MissingForm) -> IntArray:
    none = np.zeros(1, dtype=np.int64)
    return form.log_add.least_fold([none] * n_joint(model, form.structure))
