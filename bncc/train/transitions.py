"""Prices of the transitions of a filter, learned from the classes of rows in time order."""

from typing import Literal, get_args

import numpy as np

from bncc._types import BoolArray, FloatArray, IntArray
from bncc.errors import OptionError
from bncc.model.filter import rows_of_sequences

Transitions = Literal["switch", "dwell", "matrix"]
"""One price of every switch, or a price of each transition: by how long classes last, or as often
as it was seen."""
TRANSITIONS: tuple[Transitions, ...] = get_args(Transitions)
SCRIPTED = {
    "dwell": "the filter has learned how long classes last in these recordings; where they last "
    "longer or shorter, it decides for the wrong ones. Compare it with one price, "
    "--filter-transitions switch, on recordings of daily use",
    "matrix": "the filter has learned which class follows which in these recordings, their script "
    "if they have one. Where others follow, it decides for the wrong ones. Compare it with one "
    "price, --filter-transitions switch, on recordings without a script",
}
"""Warnings, by what is learned."""


def check_transitions(how: str, over_time: str | int | None) -> Transitions:
    """Return a way to learn prices; refuse an unknown one, or one without a filter or a price."""
    for known in TRANSITIONS:
        if how == known:
            if how != "switch" and over_time is None:
                raise OptionError(
                    "transitions need a filter; add --filter auto, or the largest price"
                )
            if how != "switch" and over_time == 0:
                raise OptionError(
                    "transitions have no price with --filter 0; use --filter auto, or the largest "
                    "price"
                )
            return known
    raise OptionError(f"transitions are {how!r}; use one of {', '.join(TRANSITIONS)}")


def transition_costs(
    y: IntArray, sequences: IntArray, is_kept: BoolArray, n_classes: int, how: Transitions
) -> FloatArray:
    """
    Return minus the logarithm of the probability of each transition, from the class of a row.

    Each transition counts once more than it was seen, in ``dwell`` a stay and a switch do. Only
    neighbors that are both kept count. Shapes: `y`, `sequences` (n,) int, `is_kept` (n,) bool;
    returns (n_classes, n_classes) float64.
    """
    counts = np.zeros((n_classes, n_classes))
    for rows in rows_of_sequences(sequences):
        before, after = rows[:-1], rows[1:]
        counted = is_kept[before] & is_kept[after] & (y[before] >= 0) & (y[after] >= 0)
        np.add.at(counts, (y[before[counted]], y[after[counted]]), 1)
    if how == "dwell":
        stays = np.diag(counts)
        stay = (stays + 1) / (counts.sum(axis=1) + 2)
        shares = np.repeat(((1 - stay) / (n_classes - 1))[:, None], n_classes, axis=1)
        np.fill_diagonal(shares, stay)
    else:
        shares = (counts + 1) / (counts.sum(axis=1, keepdims=True) + n_classes)
    return np.asarray(-np.log(shares))


def prices_up_to(costs: FloatArray, largest: int) -> IntArray:
    """
    Return the prices of transitions with these costs, of which the largest has a given one.

    The least price is 0: what all transitions cost is no matter. Equal costs have the price 0.
    Shapes: (n_classes, n_classes), returns int64.
    """
    above = costs - costs.min()
    span = above.max()
    if span == 0:
        return np.zeros(costs.shape, dtype=np.int64)
    return np.asarray(np.rint(above * (largest / span)), dtype=np.int64)
