"""What summing missing features out takes of a model: its costs shifted, and an order."""

from dataclasses import dataclass, replace
from functools import lru_cache
from math import prod

import numpy as np

from bncc._types import IntArray
from bncc.errors import ModelError
from bncc.model.log_add import TABLE_BITS, LogAdd, log_add_of
from bncc.model.model import Model
from bncc.structure.decision_tables import Grids
from bncc.structure.graph import Structure, topological_order

MOST_JOINT = 4096
"""Joint states of all features that have children, at most, where the model is no forest."""
MOST_BITS = 31
"""Bits of a number beside its sign, at most."""
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
    is_forest: bool  # Whether no feature has two feature parents, and the class has none

    @property
    def widest(self) -> int:
        """Rows of the largest table."""
        return max(len(table) for table in self.tables)


def why_not(model: Model) -> str | None:
    """Return why missing features cannot be summed out of a model."""
    structure = model.structure
    if isinstance(structure, Grids):
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
    """Return a bound of the size of every number: all costs, and what additions take off."""
    log_add = _log_add(model, structure)
    costs = int(model.prior.max()) + sum(int(table.max()) for table in model.tables)
    if not _has_sums(structure):
        return costs
    # No addition takes more than a nat off, what is set aside for its rounding included.
    additions = sum(model.n_states) if _is_forest(structure) else n_joint(model, structure)
    nat = 1 << (TABLE_BITS + log_add.value_shift)
    return (costs << log_add.extra_bits) + additions * nat
