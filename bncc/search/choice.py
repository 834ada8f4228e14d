"""
Choice among the candidates of a budget search: by error, or by time where errors are close.

The fastest within one standard error of the best is chosen, or one that is at least three times as
fast and not clearly worse. Time is the mean over the measured rows. Limits apply to the slowest
call.
"""

from collections.abc import Sequence

import numpy as np

from bncc._types import FloatArray
from bncc.resources import Preference
from bncc.search.evaluation import Evaluation
from bncc.search.objective import undominated

CLOSE = 1.0
"""Standard errors of the difference in loss, up to which a candidate is close to the best. Small
validation sets pick lucky candidates: on satimage the best had 7.9 % there and 13.0 % on test."""
CLEAR = 1.96
"""Standard errors from which on a candidate is clearly worse, p = 0.05 in McNemar's test."""
MUCH_FASTER = 1 / 3
"""Ratio to the time of the fastest close candidate up to which one that is not close, but not
clearly worse either, is chosen. It is small as some of these are clearly worse on other rows."""
NEARLY, FEW = 1.2, 50
"""Ratio and difference of times up to which the error decides: a few instructions are worth no
error."""
BY_TIME, BY_FLASH = 4, 2
"""Number of close candidates whose layouts are compared: the fastest and the smallest ones."""


def is_worse(losses: FloatArray, than: FloatArray, errors: float) -> bool:
    """
    Return whether losses are larger by some standard errors of their mean paired difference.

    It is the standard error if both were equal, and wrong decisions are whole: with McNemar's
    correction for continuity a single row is no clear difference.

    Shapes: `losses`, `than` (n_rows,) float64, of the same rows.
    """
    more = losses - than
    by = more.sum() - np.isin(more, (-1.0, 0.0, 1.0)).all()
    return bool(by > errors * np.sqrt((more**2).sum()))


def is_close(losses: FloatArray, best: Evaluation, errors: float = CLOSE) -> bool:
    """
    Return whether losses on all rows are at most some standard errors above those of the best.

    If those of the best are unknown, they are. Shapes: `losses` (n_rows,) float64.
    """
    return best.losses is None or not is_worse(losses, best.losses, errors)


def best_of(tried: Sequence[Evaluation]) -> Evaluation:
    """Return the candidate with the lowest loss among those evaluated on all folds."""
    return min(tried, key=lambda one: one.order)


def best_alone(tried: Sequence[Evaluation]) -> Evaluation:
    """
    Return the best candidate without a front or a gate, to which others are compared.

    These repeat the decisions of all tables: where they have fewer errors, it is by luck, which
    must not exclude candidates.
    """
    return best_of([one for one in tried if not one.ends_early] or tried)


def close_to_best(tried: Sequence[Evaluation], errors: float = CLOSE) -> list[Evaluation]:
    """Return the candidates within some standard errors of the best on the same rows."""
    best = best_alone(tried)
    return [one for one in tried if one is best or _is_close(one, best, errors)]


def eligible(tried: Sequence[Evaluation], ratio: float = MUCH_FASTER) -> list[Evaluation]:
    """
    Return the close candidates, and those that may be faster and are not clearly worse.

    These take at most `ratio` of the time that is expected of the fastest close one.
    """
    close = close_to_best(tried)
    most = ratio * min(one.expected_time for one in close)
    known = {id(one) for one in close}
    others = [one for one in close_to_best(tried, CLEAR) if id(one) not in known]
    return [*close, *(one for one in others if one.expected_time <= most)]


def finalists(tried: Sequence[Evaluation], prefer: Preference) -> list[Evaluation]:
    """Return the candidates whose layouts are worth a comparison."""
    best = best_of(tried)
    if prefer == "error":
        return [best]
    close = eligible(tried)
    fastest = sorted(close, key=lambda one: one.expected_time)[:BY_TIME]
    smallest = sorted(close, key=lambda one: one.price.flash)[:BY_FLASH]
    chosen = {id(one): one for one in (best, *fastest, *smallest)}
    return list(chosen.values())


def chosen_of(tried: Sequence[Evaluation], prefer: Preference) -> Evaluation:
    """Return the candidate to train on all rows."""
    if prefer == "error":
        return best_of(tried)
    close = close_to_best(tried)
    fastest = min(map(_time, close))
    much = [one for one in close_to_best(tried, CLEAR) if _time(one) <= MUCH_FASTER * fastest]
    if much:
        close, fastest = much, min(map(_time, much))
    most = max(NEARLY * fastest, fastest + FEW)
    return best_of([one for one in close if _time(one) <= most])


def front_of(tried: Sequence[Evaluation]) -> tuple[Evaluation, ...]:
    """Return the candidates that no other one beats in error, flash and time, the best first."""
    n_folds = max((len(one.errors) for one in tried), default=0)
    known = [one for one in tried if len(one.errors) == n_folds]
    costs = [(one.error, float(one.resources.flash), _time(one)) for one in known]
    first = {cost: k for k, cost in reversed([*enumerate(costs)])}
    return tuple(known[k] for k in undominated(costs) if first[costs[k]] == k)


def _time(one: Evaluation) -> float:
    typical = one.resources.typical
    return float("inf") if typical is None else typical


def _is_close(one: Evaluation, best: Evaluation, errors: float) -> bool:
    if one.losses is None or best.losses is None or len(one.errors) < len(best.errors):
        return False
    return is_close(one.losses, best, errors)
