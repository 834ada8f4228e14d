"""
The filter over decisions in time: a hidden Markov model in which switches have a price.

Its states are the classes, its observations the scores of the classifier. A step is the forward
recursion in the min-sum semiring, in integers. Every switch has one price, or each transition has
its own. Only ratios of scores to prices matter: dividing scores by a temperature is the same as
multiplying prices by it, so that one number is both. With a lag, a row is decided by rows that
follow it, too: fixed-lag smoothing on the cheapest path.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from bncc._types import IntArray
from bncc.errors import ModelError

FILTER = "filter"
"""
Key in a model's training record: what its filter does, on ``held_out`` and on ``test`` rows.

Each is None, or a `FilterEffect` as a mapping.
"""

MAX_SWITCH = 2**31 - 1
"""Largest price: sums with scores below 2**31 fit in 32 bits."""


MAX_HOLD = 200
"""Most decisions in a row that a switch can need."""
MAX_LAG = 100
"""Most rows that a decision can wait for."""
NO_DECISION = -128
"""Answer of the C where it has not decided on a row yet, or no window ends with a sample."""
Prices: TypeAlias = int | IntArray
"""The price of every switch, or that of each transition: (n_classes, n_classes) int, from a row."""


@dataclass(frozen=True)
class Filter:
    """
    The filter of a model's decisions on consecutive readings.

    Parameters
    ----------
    switch : int
        Price of a switch from one class to another, in units of a cost; with 0 decisions do not
        depend on those before.
    hold : int
        The decision switches to another class once that has been the one of least cost for so many
        rows in a row; with 1, at once.
    transitions : tuple of tuple of int or None
        Price of each transition, from the class of the row to that of the column, the largest of
        which is `switch`; None if every switch has the price `switch`, and staying has none.
    lag : int
        A row is decided once so many more have come: by the cheapest path to the last of them.
    """

    switch: int
    hold: int = 1
    transitions: tuple[tuple[int, ...], ...] | None = None
    lag: int = 0

    @property
    def prices(self) -> "Prices":
        """The price of every switch, or of each transition, (n_classes, n_classes) int64."""
        if self.transitions is None:
            return self.switch
        return np.array(self.transitions, dtype=np.int64)


def check_filter(found: Filter, n_classes: int) -> None:
    """Raise a ModelError if a filter is out of range."""
    if found.transitions is not None:
        every = [price for row in found.transitions for price in row]
        is_square = {len(row) for row in found.transitions} == {n_classes}
        is_square = is_square and len(found.transitions) == n_classes
        if not (is_square and min(every) >= 0 and max(every) == found.switch > 0):
            raise ModelError(
                "the transitions in the filter of the model are invalid: they need a row and a "
                f"column for each of {n_classes} classes, and prices of 0 up to that of a switch, "
                f"{found.switch}"
            )
    if not 0 <= found.switch <= MAX_SWITCH:
        raise ModelError(
            f"the price of a switch in the filter of the model is {found.switch}; "
            "0 .. 2**31 - 1 are supported"
        )
    if not 1 <= found.hold <= MAX_HOLD:
        raise ModelError(
            f"a switch in the filter of the model needs {found.hold} decisions in a row; "
            f"1 .. {MAX_HOLD} are supported"
        )
    if not 0 <= found.lag <= (MAX_LAG if found.switch else 0):
        raise ModelError(
            f"the filter of the model decides {found.lag} rows later; 0 .. {MAX_LAG} are "
            "supported, and 0 where a switch has no price"
        )


@dataclass(frozen=True)
class FilterEffect:
    """Errors and switches of decisions before and after a filter."""

    n: int  # Rows
    error_before: float
    error: float
    switches_before: int
    switches: int

    @property
    def words(self) -> str:
        """The figures in words."""
        return (
            f"error {100 * self.error_before:.2f} -> {100 * self.error:.2f} %, switches "
            f"{self.switches_before} -> {self.switches}"
        )


def effect_of(
    y: IntArray, before: IntArray, after: IntArray, sequences: IntArray
) -> FilterEffect | None:
    """
    Return errors and switches of decisions before and after a filter; None without rows.

    Shapes: all (n_samples,) int.
    """
    if len(y) == 0:
        return None
    return FilterEffect(
        len(y),
        float((before != y).mean()),
        float((after != y).mean()),
        switches(before, sequences),
        switches(after, sequences),
    )


def required(found: Filter | None) -> Filter:
    """Return the filter of a model, or refuse a model without one."""
    if found is None:
        raise ModelError("the model has no filter; train it with --filter auto, or with a price")
    return found


def filtered_scores(scores: IntArray, sequences: IntArray, prices: Prices) -> IntArray:
    """
    Return the scores of every class given all rows of its sequence so far.

    ``new[c] = scores[c] + min(old[c], switch)``, less the least of them, or with a price of each
    transition ``new[c] = scores[c] + min(old[a] + prices[a, c] for each a)``; ``old`` is 0 at the
    start of a sequence.

    Parameters
    ----------
    scores : (n_samples, n_classes) int
        Scores of a model, >= 0.
    sequences : (n_samples,) int
        Number of the sequence of each row; rows of one sequence are in time order.
    prices : int or (n_classes, n_classes) int
        Price of a switch, or of each transition, >= 0.

    Returns
    -------
    (n_samples, n_classes) int64
        Scores >= 0, at most the largest score of the row plus a price; 0 for the decision.
    """
    new = np.empty((len(scores), np.shape(scores)[1]), dtype=np.int64)
    for row, costs in _steps(scores, sequences, [prices]):
        new[row] = costs[0]
    return new


def filtered(scores: IntArray, sequences: IntArray, prices: Prices) -> IntArray:
    """
    Return the class of least filtered score of each row, the smallest index on ties.

    Parameters
    ----------
    scores, sequences, prices
        As in `filtered_scores`.

    Returns
    -------
    (n_samples,) int64
        Class indices.
    """
    return np.asarray(filtered_by_price(scores, sequences, [prices])[0])


def decided(scores: IntArray, sequences: IntArray, rule: Filter) -> IntArray:
    """
    Return the decisions of a filter on rows, (n_samples,) int64; arguments as `filtered`.

    With a lag, the last rows of a sequence are decided at its end, by fewer rows.
    """
    (found,) = filtered_by_price(scores, sequences, [rule.prices], rule.lag)
    return held(found, sequences, rule.hold)


def answered(scores: IntArray, sequences: IntArray, rule: Filter) -> IntArray:
    """
    Return what ``NAME_filter_next`` answers to each row, (n_samples,) int64; see `decided`.

    The decision is on the row of `lag` rows before; the answer to the first ones is `NO_DECISION`.
    """
    found = np.full(len(scores), NO_DECISION, dtype=np.int64)
    on_rows = decided(scores, sequences, rule)
    for rows in rows_of_sequences(sequences):
        found[rows[rule.lag :]] = on_rows[rows[: max(0, len(rows) - rule.lag)]]
    return found


def held(decisions: IntArray, sequences: IntArray, hold: int) -> IntArray:
    """
    Return decisions that switch once another class has come `hold` times in a row.

    The first decision of a sequence is kept. Shapes: all (n_samples,) int.
    """
    if hold == 1:
        return decisions
    found = np.array(decisions, dtype=np.int64)
    for rows in rows_of_sequences(sequences):
        shown = waiting = int(decisions[rows[0]])
        run = 0
        for row in rows.tolist():
            best = int(decisions[row])
            if best != shown:
                run = run + 1 if best == waiting else 1
                shown = best if run == hold else shown
            waiting = best
            found[row] = shown
    return found


def filtered_by_price(
    scores: IntArray, sequences: IntArray, prices: Sequence[Prices], lag: int = 0
) -> IntArray:
    """
    Return the filtered decisions for several prices, of every switch or of each transition.

    With a lag, a row has the class of the cheapest path to the row of so many rows later, the last
    of its sequence at most, with the ties of `viterbi`.
    Shapes: as `filtered`; returns (n_prices, n_samples) int64.
    """
    found = np.empty((len(prices), len(scores)), dtype=np.int64)
    if lag == 0:
        for row, costs in _steps(scores, sequences, prices):
            found[:, row] = costs.argmin(axis=1)
        return found
    for rows in rows_of_sequences(sequences):
        found[:, rows] = _lagged(np.asarray(scores)[rows], prices, lag)
    return found


def _lagged(scores: IntArray, prices: Sequence[Prices], lag: int) -> IntArray:
    """Return the decisions with a lag on one sequence, (n_prices, n_samples) int64."""
    n, n_classes = scores.shape
    best = np.empty((n, len(prices)), dtype=np.int64)
    # Class from which the cheapest path to each class of a row comes
    origins = np.empty((n, len(prices), n_classes), dtype=np.min_scalar_type(n_classes))
    before: IntArray = np.zeros((len(prices), n_classes), dtype=np.int64)
    for row, costs in _steps(scores, np.zeros(n, dtype=np.int64), prices):
        origins[row] = _origins(before, np.asarray(prices, dtype=np.int64))
        best[row], before = costs.argmin(axis=1), costs
    at = np.minimum(np.arange(n) + lag, n - 1)
    found = best[at]
    for _ in range(lag):
        rows = np.flatnonzero(at > np.arange(n))
        found[rows] = np.take_along_axis(origins[at[rows]], found[rows][:, :, None], 2)[:, :, 0]
        at[rows] -= 1
    return np.asarray(found.T)


def _origins(costs: IntArray, prices: IntArray) -> IntArray:
    """Return the class before each class on the cheapest path, itself if that is one of them."""
    n_classes = costs.shape[1]
    if prices.ndim == 1:
        stays, others = costs <= prices[:, None], costs.argmin(axis=1)[:, None]
    else:
        paths = costs[:, :, None] + prices
        stays = paths.diagonal(axis1=1, axis2=2) == paths.min(axis=1)
        others = paths.argmin(axis=1)
    return np.asarray(np.where(stays, np.arange(n_classes), others))


def _steps(
    scores: IntArray, sequences: IntArray, prices: Sequence[Prices]
) -> Iterator[tuple[int, IntArray]]:
    """Yield the number of each row with its filtered scores, (n_prices, n_classes) int64."""
    scores, sequences = np.asarray(scores, dtype=np.int64), np.asarray(sequences)
    every = np.asarray(prices, dtype=np.int64)
    switch = every[:, None]
    for rows in rows_of_sequences(sequences):
        costs = np.zeros((len(prices), scores.shape[1]), dtype=np.int64)
        for row in rows.tolist():
            if every.ndim == 1:
                costs = scores[row] + np.minimum(costs, switch)
            else:
                costs = scores[row] + (costs[:, :, None] + every).min(axis=1)
            costs -= costs.min(axis=1, keepdims=True)
            yield row, costs


def rows_of_sequences(sequences: IntArray) -> list[IntArray]:
    """Return the ascending row numbers of each sequence, (n,) int64 each."""
    order = np.argsort(sequences, kind="stable")
    ends = np.flatnonzero(np.diff(np.asarray(sequences)[order])) + 1
    return [part for part in np.split(order, ends) if len(part)]


def switches(decisions: IntArray, sequences: IntArray) -> int:
    """Return how often a decision differs from the one before it in its sequence."""
    return sum(
        int(np.count_nonzero(np.diff(np.asarray(decisions)[rows])))
        for rows in rows_of_sequences(sequences)
    )


def viterbi(scores: IntArray, sequences: IntArray, prices: Prices) -> IntArray:
    """
    Return the cheapest path of classes through each whole sequence: its scores and its transitions.

    This is offline decoding, the reference for the filter: it also uses the rows that follow, which
    a device does not have yet.

    Parameters
    ----------
    scores, sequences, prices
        As in `filtered_scores`. The first row of a sequence has no transition before it.

    Returns
    -------
    (n_samples,) int64
        Class indices. Among paths of equal cost it ends with the smallest index, and going back it
        stays where it can, else it comes from the smallest index.
    """
    scores = np.asarray(scores, dtype=np.int64)
    path = np.empty(len(scores), dtype=np.int64)
    by_class = matrix_of(prices, scores.shape[1])
    for rows in rows_of_sequences(sequences):
        costs = np.zeros((len(rows), scores.shape[1]), dtype=np.int64)
        costs[0] = scores[rows[0]]
        for k in range(1, len(rows)):
            costs[k] = scores[rows[k]] + (costs[k - 1][:, None] + by_class).min(axis=0)
        c = int(costs[-1].argmin())
        path[rows[-1]] = c
        for k in range(len(rows) - 1, 0, -1):
            before = costs[k - 1] + by_class[:, c]
            if before[c] > before.min():
                c = int(before.argmin())
            path[rows[k - 1]] = c
    return path


def matrix_of(prices: Prices, n_classes: int) -> IntArray:
    """Return the price of each transition, (n_classes, n_classes) int64, also of one price."""
    found = np.asarray(prices, dtype=np.int64)
    return found if found.ndim else found * (1 - np.eye(n_classes, dtype=np.int64))
