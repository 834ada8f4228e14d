"""Marginalization of missing features: shifted costs, an elimination order, and bounds."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import lru_cache
from math import exp, log1p, prod

import numpy as np

from bncc._types import IntArray
from bncc.errors import ModelError
from bncc.model.model import Model
from bncc.structure.decision_tables import TableEnsemble
from bncc.structure.graph import Structure, topological_order

INDEX_BITS = 5
"""Fraction bits of a difference, as it finds its correction."""
TABLE_BITS = 8
"""Fraction bits of a correction: 200 entries, the largest 177, each in a byte."""


def _corrections() -> tuple[int, ...]:
    found: list[int] = []
    while not found or found[-1]:
        found.append(round(2**TABLE_BITS * log1p(exp(-len(found) / 2**INDEX_BITS))))
    return tuple(found[:-1])


CORRECTIONS = _corrections()
"""``round(2**8 * ln(1 + exp(-k / 2**5)))`` for k = 0, 1, ..., down to the last that is not 0."""


@dataclass(frozen=True)
class LogAdd:
    r"""
    The integer sum of two probabilities whose negative logarithms are a and b.

    .. math:: a \oplus b = \min(a, b) - 2^v\, T[\lfloor (|a - b| + 2^{s-1}) / 2^s \rfloor],
              \quad T[k] = \mathrm{rne}(2^8 \ln(1 + e^{-k / 2^5}))

    T is 0 beyond its end. Numbers have B_F + F fraction bits, at least the 8 of the table: a model
    of fewer gets F of them more, a model of more loses nothing of its costs.
    """

    extra_bits: int  # F: costs of the model are shifted left by it, >= 0
    index_shift: int  # s: differences are shifted right by it, >= 1
    value_shift: int  # v: corrections are shifted left by it, >= 0

    @property
    def reach(self) -> int:
        """Differences from here on are not corrected."""
        return (len(CORRECTIONS) << self.index_shift) - self.half

    @property
    def half(self) -> int:
        """Offset that rounds a difference to the nearest entry."""
        return 1 << (self.index_shift - 1)

    def add(self, a: IntArray, b: IntArray) -> IntArray:
        """Add two probabilities."""
        place = (np.abs(a - b) + self.half) >> self.index_shift
        table = np.array([*CORRECTIONS, 0])
        corrections = table[np.minimum(place, len(CORRECTIONS))] << self.value_shift
        return np.asarray(np.minimum(a, b) - corrections)

    def fold(self, terms: Iterable[IntArray]) -> IntArray:
        """Add probabilities from the first to the last; another order can give another sum."""
        first, *others = terms
        for term in others:
            first = self.add(first, term)
        return first

    def least_fold(self, terms: Iterable[IntArray]) -> IntArray:
        """Return a bound below the fold of terms of which each is at least the one given."""
        first, *others = terms
        for term in others:
            first = self.add(first, term) - 2 * self.half
        return first


def log_add_of(frac_bits: int) -> LogAdd:
    """Return how probabilities are added for a model."""
    bits = max(TABLE_BITS, frac_bits)
    return LogAdd(bits - frac_bits, bits - INDEX_BITS, bits - TABLE_BITS)


MOST_JOINT = 4096
"""Joint states of all features that have children, at most, where the model is no forest."""
MOST_BITS = 31
"""Bits of a number without its sign, at most."""
REMEDY = "train with rows that have such gaps, so that a missing reading is a state of its own"


@dataclass(frozen=True, eq=False)
class MissingForm:
    """A model as missing features are summed out of it."""

    structure: Structure  # The model's
    # How probabilities are added; by no additional bits where nothing is ever added
    log_add: LogAdd
    prior: IntArray  # (n_classes,) int64: The model's, in units of ``2**-(B_F + F)`` nats
    tables: tuple[IntArray, ...]  # Likewise; the class's is the last where it has parents
    upward: tuple[int, ...]  # All features, children before their parents
    # The parent of each feature, in a forest; None at its roots and in other networks
    parent: tuple[int | None, ...]
    is_forest: bool  # True if no feature has two feature parents, and the class has none

    @property
    def widest(self) -> int:
        """Rows of the largest table."""
        return max(len(table) for table in self.tables)


def why_not(model: Model) -> str | None:
    """Return why missing features cannot be summed out of a model."""
    structure = model.structure
    if isinstance(structure, TableEnsemble):
        lack = "a sum of tables, for it is no distribution"
    elif structure.given:
        lack = "a network with given features, for these have no distribution"
        remedy = f"import it with --keep all if its tables fit then, or {REMEDY}"
        return f"missing features cannot be summed out of {lack}; {remedy}"
    elif not structure.is_bayesian_network:
        lack = "a model whose arcs form a cycle, for it is no distribution"
    elif model.training.get("parameters") == "free":
        lack = "free tables, for they are no distribution"
    elif not _is_forest(structure) and (n := n_joint(model, structure)) > MOST_JOINT:
        lack = f"a network that is no forest with {n} joint states of its features that have "
        lack += f"children, more than {MOST_JOINT}"
    elif _largest(model, structure) >> MOST_BITS:
        return (
            f"missing features cannot be summed out of costs in {model.q_format}, which would take "
            "more than 32 bits; train or import it with fewer bits"
        )
    else:
        return None
    return f"missing features cannot be summed out of {lack}; {REMEDY}"


@lru_cache(maxsize=16)
def missing_form_of(model: Model) -> MissingForm:
    """Prepare a model for summing missing features out."""
    reason = why_not(model)
    if reason is not None:
        raise ModelError(reason)
    structure = model.structure
    assert isinstance(structure, Structure)  # or there had been a reason
    log_add = _log_add(model, structure)
    return MissingForm(
        structure=structure,
        log_add=log_add,
        prior=model.prior.astype(np.int64) << log_add.extra_bits,
        tables=tuple(table.astype(np.int64) << log_add.extra_bits for table in model.tables),
        upward=tuple(reversed(topological_order(structure))),
        parent=tuple(j[0] if len(j) == 1 else None for j in structure.parents),
        is_forest=_is_forest(structure),
    )


def _is_forest(structure: Structure) -> bool:
    return not structure.class_parents and all(len(some) <= 1 for some in structure.parents)


def n_joint(model: Model, structure: Structure) -> int:
    """
    Return the joint states of all features that are ever summed out: those with children.

    The class is a child of its parents.
    """
    above = {j for parents in (*structure.parents, structure.class_parents) for j in parents}
    return prod(model.n_states[j] for j in above)


def _log_add(model: Model, structure: Structure) -> LogAdd:
    usual = log_add_of(model.q_format.frac_bits)
    return usual if _has_sums(structure) else replace(usual, extra_bits=0)


def _has_sums(structure: Structure) -> bool:
    return bool(structure.n_edges or structure.class_parents)


def _largest(model: Model, structure: Structure) -> int:
    """Return a bound on the magnitude of every number: all costs, and the corrections."""
    log_add = _log_add(model, structure)
    costs = int(model.prior.max()) + sum(int(table.max()) for table in model.tables)
    if not _has_sums(structure):
        return costs
    # No addition takes more than a nat off, what is set aside for its rounding included.
    additions = sum(model.n_states) if _is_forest(structure) else n_joint(model, structure)
    nat = 1 << (TABLE_BITS + log_add.value_shift)
    return (costs << log_add.extra_bits) + additions * nat


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
