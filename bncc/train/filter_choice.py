"""Choice of a filter's prices on held-out rows, groups that no training of theirs has seen."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from bncc._types import IntArray
from bncc.data.dataset import Dataset
from bncc.discretize.feature import states_of
from bncc.errors import DataError, OptionError
from bncc.interrupts import StopRequest
from bncc.model import reference
from bncc.model.filter import (
    FILTER,
    MAX_HOLD,
    MAX_LAG,
    MAX_SWITCH,
    Filter,
    FilterEffect,
    decided,
    effect_of,
    filtered_by_price,
    held,
)
from bncc.model.model import Model
from bncc.option_ranges import plain
from bncc.progress import Progress, silence
from bncc.train.repeats import DEFAULT_FOLDS, HeldOut, held_out_scores, with_effects
from bncc.train.settings import TrainSettings
from bncc.train.train_model import TrainResult
from bncc.train.transitions import SCRIPTED, Transitions, prices_up_to, transition_costs

OverTime = str | int | None
"""A filter: ``auto``, whose price is chosen on held-out rows, a price, or None."""
AUTO = "auto"
PER_OCTAVE = 2
"""Prices that are tried between a number and its double."""
DEEPEST = 8
"""Largest price that is tried, in largest scores: evidence of so many rows of the worst score."""


def price_of(text: OverTime) -> OverTime:
    """Return ``auto``, a price, or None; refuse anything else."""
    if text is None or text == AUTO:
        return text
    if isinstance(text, str) and text.isascii() and text.isdigit():
        text = int(text)
    text = plain(text)
    if type(text) is not int or not 0 <= text <= MAX_SWITCH:
        raise OptionError(
            f"the filter is {text!r}; use {AUTO}, or the price of a switch, 0 .. {MAX_SWITCH}"
        )
    return text


def check_hold(hold: int, over_time: OverTime) -> None:
    """Refuse a number of decisions in a row that no filter can need, or one without a filter."""
    if type(hold) is not int or not 1 <= hold <= MAX_HOLD:
        raise OptionError(
            f"a switch of the filter needs {hold!r} decisions in a row; use 1 .. {MAX_HOLD}"
        )
    if hold > 1 and over_time is None:
        raise OptionError(
            f"{hold} decisions in a row need a filter; add --filter auto, or a price such as 0"
        )


def check_lag(lag: int, over_time: OverTime) -> None:
    """Refuse a lag that no filter can have, or one without a filter or a price."""
    if type(lag) is not int or not 0 <= lag <= MAX_LAG:
        raise OptionError(f"the lag of the filter is {lag!r} rows; use 0 .. {MAX_LAG}")
    if lag and over_time is None:
        raise OptionError(f"a lag of {lag} needs a filter; add --filter auto, or a price")
    if lag and over_time == 0:
        raise OptionError(
            "a lag changes no decision with --filter 0; use --filter auto, or a larger price"
        )


def check_sequences(dataset: Dataset) -> None:
    """Refuse rows whose order in time is unknown."""
    if dataset.time_sequences is None:
        raise DataError(
            "a filter needs rows in time order; name the column of the recording, device or person "
            "with --groups, whose rows are one sequence each, or use --ordered for a single one"
        )


def prices_to_try(scores: IntArray) -> list[int]:
    """Return 0 and prices in geometric steps up to several largest scores."""
    largest = min(DEEPEST * max(1, int(scores.max(initial=1))), MAX_SWITCH)
    steps = np.arange(0, PER_OCTAVE * np.log2(largest) + 1e-9)
    return [0, *sorted({round(2 ** (step / PER_OCTAVE)) for step in steps.tolist()})]


def best_price(
    rows: HeldOut,
    sequences: IntArray,
    frac_bits: int,
    hold: int = 1,
    how: Transitions = "switch",
    lag: int = 0,
) -> int:
    """
    Return the price of the fewest errors on held-out rows, the smallest of several.

    It is in units of ``2**-frac_bits`` nats, whatever the units of the trainings without a fold.
    """
    scores, per_unit = rows.in_one_unit(frac_bits)
    prices = prices_to_try(scores // per_unit)
    found = decided_by_fold(rows, sequences, frac_bits, prices, hold, how, lag)
    errors = [int((each != rows.y).sum()) for each in found]
    return prices[errors.index(min(errors))]


def decided_by_fold(
    rows: HeldOut,
    sequences: IntArray,
    frac_bits: int,
    prices: Sequence[int],
    hold: int = 1,
    how: Transitions = "switch",
    lag: int = 0,
) -> list[IntArray]:
    """
    Return the decisions on held-out rows for each of some prices, the largest ones of transitions.

    Transitions are learned without the fold of a row, as its scores are. Shapes: `sequences` (n,)
    int; returns (n,) int64 each.
    """
    scores, per_unit = rows.in_one_unit(frac_bits)
    if how == "switch":
        of_all = filtered_by_price(scores, sequences, [price * per_unit for price in prices], lag)
        return [held(each, sequences, hold) for each in of_all]
    found = np.empty((len(prices), len(scores)), dtype=np.int64)
    for fold in np.unique(rows.folds).tolist():
        is_new = rows.folds == fold
        costs = transition_costs(rows.y, sequences, ~is_new, scores.shape[1], how)
        matrices = [per_unit * prices_up_to(costs, price) for price in prices]
        # Sequences that have a row of the fold, from their start
        some = np.flatnonzero(np.isin(sequences, sequences[is_new]))
        of_some = filtered_by_price(scores[some], sequences[some], matrices, lag)
        after = np.array([held(each, sequences[some], hold) for each in of_some])
        found[:, is_new] = after[:, is_new[some]]
    return list(found)


def with_filter(
    result: TrainResult,
    dataset: Dataset,
    settings: TrainSettings,
    asked: str | int,
    *,
    hold: int = 1,
    how: Transitions = "switch",
    lag: int = 0,
    held: HeldOut | None = None,
    test: Dataset | None = None,
    tell: Progress = silence,
    stop: StopRequest | None = None,
) -> TrainResult:
    """
    Return a training whose model has a filter, with its effect in the model's record.

    Parameters
    ----------
    result : TrainResult
        A training on the rows.
    dataset : Dataset
        The rows, in time order within each sequence.
    settings : TrainSettings
        Those of the training.
    asked : str or int
        The price, or ``auto`` for the one of the fewest errors on held-out rows.
    hold : int
        Decisions in a row that a switch needs.
    how : str
        ``switch`` for one price of every switch, or what to learn prices of transitions from, the
        largest of which is the price.
    lag : int
        Rows that a decision waits for; none if the price that is chosen is 0.
    held : HeldOut or None
        Scores of rows by trainings without them; with ``auto`` they are computed if None.
    test : Dataset or None
        Test rows in time order; those of a group are a sequence.
    tell : Progress
        Progress of these trainings.
    stop : StopRequest or None
        Request to stop them early, without a choice.

    Returns
    -------
    TrainResult
        The training with a filter; the same one if it was stopped.
    """
    check_sequences(dataset)
    if held is None and asked == AUTO:
        held = held_out_scores(dataset, settings, DEFAULT_FOLDS, tell, stop)
        if held is None:
            return result
    sequences = None if held is None else held.sequences
    price, effect = asked, None
    model = result.model
    frac_bits = model.q_format.frac_bits
    if held is not None and sequences is not None:
        if price == AUTO:
            price = best_price(held, sequences, frac_bits, hold, how, lag)
        assert isinstance(price, int)
        lag = lag if price else 0
        (after,) = decided_by_fold(held, sequences, frac_bits, [price], hold, how, lag)
        effect = effect_of(held.y, held.decisions, after, sequences)
    assert isinstance(price, int)
    notes = result.notes
    if price == 0 and hold == 1 and asked == AUTO:
        notes = (*notes, NO_GAIN)
    rule = Filter(price, hold, _transitions(dataset, price, how), lag)
    model = replace(model, filter=rule)
    if rule.transitions is not None:
        notes = (*notes, SCRIPTED[how])
    on_test = None if test is None else effect_on(model, test)
    effects = {"held_out": effect, "test": on_test}
    return replace(result, model=with_effects(model, FILTER, effects), notes=notes)


def _transitions(
    dataset: Dataset, largest: int, how: Transitions
) -> tuple[tuple[int, ...], ...] | None:
    """Return the prices of transitions of all rows; None for one price, or if all are 0."""
    sequences = dataset.time_sequences
    if how == "switch" or sequences is None:
        return None
    every = np.ones(dataset.n_rows, dtype=np.bool_)
    costs = transition_costs(dataset.y, sequences, every, len(dataset.classes), how)
    prices = prices_up_to(costs, largest)
    return tuple(map(tuple, prices.tolist())) if prices.any() else None


NO_GAIN = (
    "no price of a switch has fewer errors on held-out rows, so the filter has the price 0 and "
    "changes no decision"
)
"""Note where a filter was requested."""


def effect_on(model: Model, dataset: Dataset) -> FilterEffect | None:
    """Return the effect of a model's filter on rows; None if their order in time is unknown."""
    sequences = dataset.time_sequences
    if sequences is None or model.filter is None:
        return None
    scores = reference.scores(model, states_of(model.features, dataset.table))
    after = decided(scores, sequences, model.filter)
    y = dataset.with_classes(model.classes).y
    return effect_of(y, scores.argmin(axis=1), after, sequences)
