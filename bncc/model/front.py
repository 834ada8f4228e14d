"""The sure-leaf front of boosted tables, recognized by its costs."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from bncc._types import IntArray
from bncc.model.model import Model
from bncc.structure.decision_tables import BranchingTable, TableEnsemble

FRONT = "front"
"""
Key in a model's training record: the leaves of its front, and how many of them are ``sure``.

``answers`` is the share of training rows that these decide, ``differing`` the cross-validated share
of rows that they decide differently than the tables behind them.
"""
UNSURE = -1
"""In place of a class: a leaf that leaves the decision to the tables behind the front."""


@dataclass(frozen=True, eq=False)
class ModelFront:
    """
    The first of some boosted tables, whose sure leaves alone decide.

    Shapes: `decisions` (n_leaves,) int64.
    """

    tree: BranchingTable
    decisions: IntArray  # Class of each leaf, or `UNSURE`
    most: int  # Cost of every other class in the row of a sure leaf

    @property
    def n_sure(self) -> int:
        """Number of sure leaves."""
        return int((self.decisions != UNSURE).sum())

    @property
    def words(self) -> str:
        """Description for display."""
        return f"front of {self.tree.n_rows} leaves, {self.n_sure} of them sure"


def front_of(model: Model) -> ModelFront | None:
    """
    Return the front of boosted tables, None without one.

    It is a first table of a tree whose rows are zero, or decide whatever others say: cost 0 for one
    class, and for all others one cost of more than the remaining tables and the prior add up to.
    """
    structure = model.structure
    if not isinstance(structure, TableEnsemble) or len(structure.tables) < 2:
        return None
    tree, costs = structure.tables[0], model.tables[0]
    if not isinstance(tree, BranchingTable):
        return None
    most, is_sure = int(costs.max()), costs.any(axis=1)
    n_zeros, n_most = (costs == 0).sum(axis=1), (costs == most).sum(axis=1)
    decides = (n_zeros == 1) & (n_most == model.n_classes - 1)
    others = sum(int(part.max()) for part in (model.prior, *model.tables[1:]))
    if not most > others or not decides[is_sure].all():
        return None
    return ModelFront(tree, np.where(is_sure, costs.argmin(axis=1), UNSURE), most)


def front_facts(model: Model) -> dict[str, Any] | None:
    """Return the leaves of a front, and the shares in the model's record; None without a front."""
    front = front_of(model)
    if front is None:
        return None
    record = model.training.get(FRONT)
    shares = record if isinstance(record, dict) else {}
    known = {key: shares.get(key) for key in ("answers", "differing")}
    return {
        "leaves": front.tree.n_rows,
        "sure": front.n_sure,
        **{key: value if _is_share(value) else None for key, value in known.items()},
    }


def _is_share(value: Any) -> bool:
    return type(value) in (int, float) and 0 <= value <= 1
